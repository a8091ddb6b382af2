"""Chromium for benchmarks and tests: launch it, and read from a trace what a page costs the main thread.

Nothing leaves the machine: the browser resolves no name but its own, knows no proxy and asks for no updates.
"""

import json
import os
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import AsyncIterator, Iterator
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


@asynccontextmanager
async def launched(home: Path, *flags: str) -> AsyncIterator[Browser]:
    """Start the browser, with a home of its own and nothing else of the environment.

    It is what CHROMIUM names, or the first on the PATH. Raises NotHere where there is none.
    """
    found = (shutil.which(name) for name in (os.environ.get("CHROMIUM") or "", *NAMES))
    path = next((path for path in found if path is not None), None)
    if path is None:
        raise NotAvailable("no Chromium: install Debian's package chromium, or name another by CHROMIUM")
    root = os.geteuid() == 0
    environment: dict[str, str | float | bool] = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path,
            args=[*QUIETLY, *flags, *(["--no-sandbox"] if root else [])],
            chromium_sandbox=not root,
            env=environment,
        )
        try:
            yield browser
        finally:
            await browser.close()


class Wire:
    """What came over the network for a page, headers among it."""

    def __init__(self) -> None:
        self.bytes = 0
        self.urls: list[str] = []

    @classmethod
    async def of(cls, page: Page) -> "Wire":
        """Count from now on."""
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
FRAME = "AnimationFrame"  # those of the Long Animation Frames API, but of any length
TASKS = ("ThreadControllerImpl::RunTask",)
SCRIPTS = ("EvaluateScript", "v8.evaluateModule", "FunctionCall", "v8.callFunction", "RunMicrotasks")
INTERSECTIONS = "IntersectionObserverController::computeIntersections"  # of content that is laid out as it comes near
DRAWING = ("UpdateLayoutTree", "Layout", "PrePaint", "Paint", "Layerize", "Commit", "HitTest", INTERSECTIONS)
MILLISECOND = 1000  # of a trace's microseconds


@asynccontextmanager
async def visited(browser: Browser) -> AsyncIterator[Page]:
    """Open a page in a context of its own, which has nothing in its cache."""
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
        """Return the most of one frame."""
        return max(self.scripting, default=0.0)

    def over(self, limit: float) -> int:
        """Count the frames with more than so much of it."""
        return sum(each > limit for each in self.scripting)


async def start_trace(browser: Browser, page: Page) -> None:
    """Record what the page's main thread does."""
    await browser.start_tracing(page=page, categories=TRACED)


async def stop_trace(browser: Browser) -> Frames:
    """Read what was recorded since."""
    return frames_of(json.loads(await browser.stop_tracing())["traceEvents"])


def frames_of(events: list[dict[str, Any]]) -> Frames:
    """Add up each frame's scripting: all that the main thread did, but for the browser's own style, layout and paint.

    Reading JSON, collecting garbage and all else that has no name of its own counts as scripting, and so does a layout
    that a script forced. Time is the thread's own: waiting for a core of a busy machine is none of it. What lies
    between the ends of two frames belongs to the second of them.
    """
    thread = _main_thread(events)
    own = sorted((each for each in events if (each["pid"], each["tid"]) == thread), key=lambda each: each["ts"])
    ends = [each["ts"] for each in own if _ends_frame(each)]
    busy = [0.0] * (len(ends) + 1)  # the last is what came behind every frame
    for sign, spans in ((1, _outermost(own, TASKS)), (-1, _drawing(own))):
        for span in spans:
            for frame, share in _shares(ends, span):
                busy[frame] += sign * share * span.work / MILLISECOND
    return Frames(busy)


def _main_thread(events: list[dict[str, Any]]) -> tuple[int, int]:
    """Return the process and thread that drew the most frames: the page's own. Raises AssertionError where none did."""
    counts = Counter((each["pid"], each["tid"]) for each in events if _ends_frame(each))
    assert counts, "the browser told of no frame"
    [(thread, _)] = counts.most_common(1)
    return thread


def _ends_frame(event: dict[str, Any]) -> bool:
    return bool(event["name"] == FRAME and event["ph"] == "e")


@dataclass(frozen=True, slots=True)
class _Span:
    """When something ran, and how long the thread worked meanwhile."""

    start: float
    end: float
    work: float


def _outermost(events: list[dict[str, Any]], names: tuple[str, ...]) -> list[_Span]:
    """List when events of these names ran that lie in no other of them."""
    spans: list[_Span] = []
    for each in events:
        if each["name"] in names and each["ph"] == "X" and (not spans or each["ts"] >= spans[-1].end):
            spans.append(_Span(each["ts"], each["ts"] + each.get("dur", 0), each.get("tdur", each.get("dur", 0))))
    return spans


def _drawing(events: list[dict[str, Any]]) -> list[_Span]:
    """List when the browser drew by itself, and no script made it."""
    scripts = _outermost(events, SCRIPTS)
    kept, at = [], 0
    for span in _outermost(events, DRAWING):
        while at < len(scripts) and scripts[at].end <= span.start:
            at += 1
        if at == len(scripts) or scripts[at].start >= span.end:
            kept.append(span)
    return kept


def _shares(ends: list[float], span: _Span) -> Iterator[tuple[int, float]]:
    """Share a span out to the frames that it lies in."""
    start, place = span.start, bisect_right(ends, span.start)
    while start < span.end:
        until = min(span.end, ends[place]) if place < len(ends) else span.end
        yield place, (until - start) / (span.end - span.start)
        start, place = until, place + 1
