"""The machine's own Chromium, and pages in it whose every fault fails the test that opened them.

Nothing leaves the machine: the browser resolves no name but its own, knows no proxy and asks nobody for updates.
"""

import os
import re
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request, async_playwright
from playwright.async_api import Error as BrowserError

SKIPPED = "without its browser"  # .ci/run looks for these words
NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 15_000  # milliseconds that a page has for what must happen
WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 390, "height": 844}
QUIETLY = (
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-gpu",
    "--disable-gpu-rasterization",
    "--disable-smooth-scrolling",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--proxy-server=direct://",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)
# Chromium tells the console of a violation, but not of one that a policy only reports, nor always in these words.
TELL_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`violation of ${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));
"""


def chromium() -> str | None:
    """Find the browser: what CHROMIUM names, or the first on the PATH."""
    found = (shutil.which(name) for name in (os.environ.get("CHROMIUM") or "", *NAMES))
    return next((path for path in found if path is not None), None)


@asynccontextmanager
async def launched(home: Path) -> AsyncIterator[Browser]:
    """Start the browser, with a home of its own and nothing else of the environment; skip where there is none."""
    path = chromium()
    if path is None:
        pytest.skip(f"{SKIPPED}: install Debian's package chromium, or name another by CHROMIUM")
    root = os.geteuid() == 0
    environment: dict[str, str | float | bool] = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path,
            args=[*QUIETLY, *(["--no-sandbox"] if root else [])],
            chromium_sandbox=not root,
            env=environment,
        )
        try:
            yield browser
        finally:
            await browser.close()


class Visit:
    """A browser context on one origin, and all that went wrong in it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context = context
        self.faults: list[str] = []
        self._expected: list[str] = []
        self._origin = _origin(url)
        context.on("console", self._heard)
        context.on("weberror", lambda error: self.faults.append(f"uncaught: {error.error}"))
        context.on("request", self._requested)
        context.on("dialog", self._asked)

    def expect_fault(self, *patterns: str) -> None:
        """Let pass what any of these patterns finds."""
        self._expected.extend(patterns)

    def unexpected(self) -> list[str]:
        """List the faults that no pattern lets pass."""
        return [fault for fault in self.faults if not any(re.search(each, fault) for each in self._expected)]

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            place = message.location
            self.faults.append(f"console {message.type}: {message.text} ({place.get('url')}:{place.get('lineNumber')})")

    def _requested(self, request: Request) -> None:
        if _origin(request.url) != self._origin:
            self.faults.append(f"a request to elsewhere: {request.method} {request.url[:200]}")

    async def _asked(self, dialog: Dialog) -> None:
        self.faults.append(f"a dialog of the browser: {dialog.type} {dialog.message}")
        await dialog.dismiss()


class Visits:
    """Opens pages, each in a context of its own, which is as a browser of its own."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._visits: list[Visit] = []

    async def __call__(self, url: str, *, go: bool = True, faults: Iterable[str] = (), **options: Any) -> Page:
        """Open ``url``, or make ready to where ``go`` is False; ``faults`` are patterns of those that may happen.

        The options are Playwright's of a context: viewport, color_scheme, locale, has_touch, reduced_motion and so on.
        """
        given = {"viewport": WIDE, "locale": "en-US", "timezone_id": "UTC", "service_workers": "block", **options}
        context = await self._browser.new_context(**given)
        visit = Visit(context, url)
        visit.expect_fault(*faults)
        self._visits.append(visit)
        context.set_default_timeout(PATIENCE)
        await context.add_init_script(TELL_VIOLATIONS)
        page = await context.new_page()
        if go:
            await page.goto(url)
        return page

    def of(self, page: Page) -> Visit:
        """Give the visit that a page belongs to."""
        return next(visit for visit in self._visits if visit.context == page.context)

    async def keep(self, folder: Path) -> list[Path]:
        """Take a picture of every page that can still be seen."""
        pages = [page for visit in self._visits for page in visit.context.pages]
        kept = []
        for number, page in enumerate(pages, 1):
            with suppress(BrowserError):
                path = folder / f"page-{number}.png"
                await page.screenshot(path=path, timeout=5_000)
                kept.append(path)
        return kept

    async def end(self) -> None:
        """Close every page; fail where anything went wrong in one."""
        for visit in self._visits:
            await visit.context.close()
        faults = [fault for visit in self._visits for fault in visit.unexpected()]
        if faults:
            pytest.fail("The page did what it must not:\n" + "\n".join(faults), pytrace=False)


class Transfer:
    """What a page has loaded: the bytes that came over the network, headers among them, and the addresses."""

    def __init__(self) -> None:
        self.bytes = 0
        self.urls: list[str] = []

    @classmethod
    async def of(cls, page: Page) -> "Transfer":
        """Count from now on."""
        transfer = cls()
        session = await page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", lambda event: transfer.urls.append(event["request"]["url"]))
        session.on("Network.loadingFinished", transfer._finished)
        await session.send("Network.enable")
        return transfer

    def _finished(self, event: dict[str, Any]) -> None:
        self.bytes += int(event["encodedDataLength"])


def _origin(url: str) -> str:
    parts = urlsplit(url.removeprefix("blob:"))
    return f"{parts.scheme}://{parts.netloc}"
