"""Chromium for benchmarks and tests: launch it, and read the main thread's cost of a page from a trace.

Nothing leaves the machine: the browser resolves only loopback names, uses no proxy and checks for no updates.
"""

import json
import os
import shlex
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from bench.figures import NotAvailable

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIETLY = (
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--proxy-server=direct://",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)
# Under the address bar of every window, seen or not, Chromium loads two pages of its own: half of what a page costs.
# And it starts a process in reserve for each context, which no page of ours ever needs.
UNSEEN = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "SpareRendererForSitePerProcess")
# Playwright disables features too, and of two lists Chromium heeds only the last.
STARTER = """#!/bin/sh
for each do
  shift
  case $each in --disable-features=*) each=$each,{features} ;; esac
  set -- "$@" "$each"
done
exec {browser} "$@"
"""


@asynccontextmanager
async def launched(home: Path, *flags: str, names: Sequence[str] = NAMES) -> AsyncIterator[Browser]:
    """Start the browser with its own home folder and a minimal environment.

    The browser is the one that CHROMIUM names, or the first of ``names`` on the PATH. Raises NotAvailable if there is
    none.
    """
    found = (shutil.which(name) for name in (os.environ.get("CHROMIUM") or "", *names))
    path = next((path for path in found if path is not None), None)
    if path is None:
        raise NotAvailable("no Chromium: install Debian's package chromium, or name another by CHROMIUM")
    starter = home / "browser"
    starter.write_text(STARTER.format(features=",".join(UNSEEN), browser=shlex.quote(path)))
    starter.chmod(0o700)
    root = os.geteuid() == 0
    environment: dict[str, str | float | bool] = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=starter,
            args=[*QUIETLY, *flags, *(["--no-sandbox"] if root else [])],
            chromium_sandbox=not root,
            env=environment,
        )
        try:
            yield browser
        finally:
            await browser.close()


class Wire:
    """The network traffic of a page, including headers."""

    def __init__(self) -> None:
        self.bytes = 0
        self.urls: list[str] = []

    @classmethod
    async def of(cls, page: Page) -> "Wire":
        """Count the traffic of a page from now on."""
        wire = cls()
        session = await page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", lambda event: wire.urls.append(event["request"]["url"]))
        session.on("Network.loadingFinished", wire._finished)
        await session.send("Network.enable")
        return wire

    def _finished(self, event: dict[str, Any]) -> None:
        self.bytes += int(event["encodedDataLength"])


WINDOW = {"width": 1280, "height": 800}
TRACED = ["devtools.timeline", "toplevel", "v8"]
FRAME = "AnimationFrame"  # as in the Long Animation Frames API, but of any length
TASKS = ("ThreadControllerImpl::RunTask",)
SCRIPTS = ("EvaluateScript", "v8.evaluateModule", "FunctionCall", "v8.callFunction", "RunMicrotasks")
INTERSECTIONS = "IntersectionObserverController::computeIntersections"  # layout of approaching content
DRAWING = ("UpdateLayoutTree", "Layout", "PrePaint", "Paint", "Layerize", "Commit", "HitTest", INTERSECTIONS)
MILLISECOND = 1000  # in a trace's microseconds


@asynccontextmanager
async def visited(browser: Browser) -> AsyncIterator[Page]:
    """Open a page in a new context with an empty cache."""
    context = await browser.new_context(viewport={"width": WINDOW["width"], "height": WINDOW["height"]}, locale="en-US")
    try:
        yield await context.new_page()
    finally:
        await context.close()


@dataclass(frozen=True, slots=True)
class Frames:
    """Milliseconds of scripting in each frame of a page's main thread."""

    scripting: list[float]

    def longest(self) -> float:
        """Return the maximum of one frame."""
        return max(self.scripting, default=0.0)

    def over(self, limit: float) -> int:
        """Return the number of frames with more than ``limit`` milliseconds."""
        return sum(each > limit for each in self.scripting)


async def start_trace(browser: Browser, page: Page) -> None:
    """Start recording the page's main thread."""
    await browser.start_tracing(page=page, categories=TRACED)


async def stop_trace(browser: Browser) -> Frames:
    """Stop recording and return the frames."""
    return frames_of(json.loads(await browser.stop_tracing())["traceEvents"])


def frames_of(events: list[dict[str, Any]]) -> Frames:
    """Return the scripting time of each frame: all main-thread work except the browser's style, layout and paint.

    JSON parsing, garbage collection and all unnamed work count as scripting, and so does a layout that a script forced.
    Times are thread times, without waits for a core of a busy machine. Work between the ends of two frames belongs to
    the second one.
    """
    thread = _main_thread(events)
    own = sorted((each for each in events if (each["pid"], each["tid"]) == thread), key=lambda each: each["ts"])
    ends = [each["ts"] for each in own if _ends_frame(each)]
    busy = [0.0] * (len(ends) + 1)  # the last entry is work after the last frame
    for sign, spans in ((1, _outermost(own, TASKS)), (-1, _drawing(own))):
        for span in spans:
            for frame, share in _shares(ends, span):
                busy[frame] += sign * share * span.work / MILLISECOND
    return Frames(busy)


def _main_thread(events: list[dict[str, Any]]) -> tuple[int, int]:
    """Return the process and thread with the most frames: the page's own. Raises AssertionError if there is none."""
    counts = Counter((each["pid"], each["tid"]) for each in events if _ends_frame(each))
    assert counts, "the trace has no frame"
    [(thread, _)] = counts.most_common(1)
    return thread


def _ends_frame(event: dict[str, Any]) -> bool:
    return bool(event["name"] == FRAME and event["ph"] == "e")


@dataclass(frozen=True, slots=True)
class _Span:
    """An interval of the trace, and the thread's working time in it."""

    start: float
    end: float
    work: float


def _outermost(events: list[dict[str, Any]], names: tuple[str, ...]) -> list[_Span]:
    """Return the intervals of the named events that are not nested in another of them."""
    spans: list[_Span] = []
    for each in events:
        if each["name"] in names and each["ph"] == "X" and (not spans or each["ts"] >= spans[-1].end):
            spans.append(_Span(each["ts"], each["ts"] + each.get("dur", 0), each.get("tdur", each.get("dur", 0))))
    return spans


def _drawing(events: list[dict[str, Any]]) -> list[_Span]:
    """Return the intervals in which the browser drew without being forced by a script."""
    scripts = _outermost(events, SCRIPTS)
    kept, at = [], 0
    for span in _outermost(events, DRAWING):
        while at < len(scripts) and scripts[at].end <= span.start:
            at += 1
        if at == len(scripts) or scripts[at].start >= span.end:
            kept.append(span)
    return kept


def _shares(ends: list[float], span: _Span) -> Iterator[tuple[int, float]]:
    """Distribute an interval over the frames that it overlaps."""
    start, place = span.start, bisect_right(ends, span.start)
    while start < span.end:
        until = min(span.end, ends[place]) if place < len(ends) else span.end
        yield place, (until - start) / (span.end - span.start)
        start, place = until, place + 1
