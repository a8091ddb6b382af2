"""Pages in the machine's own Chromium, whose every fault fails the test that opened them."""

import json
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request, Route
from playwright.async_api import Error as BrowserError

from bench import browser as browser_module
from bench.figures import NotAvailable

SKIPPED = "without its browser"  # .ci/run looks for these words
PATIENCE = 15_000  # milliseconds that a page has for what must happen
WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 390, "height": 844}
# The shell is the engine without the windows that nobody sees: a page costs a fifth less.
NAMES = ("chromium-headless-shell", *browser_module.NAMES)
# Drawing by the processor alone takes a third less of it than a graphics card that is only pretended.
WITHOUT_CARD = ("--disable-gpu", "--disable-gpu-rasterization", "--disable-smooth-scrolling", "--in-process-gpu")
# Chromium tells the console of a violation, but not of one that a policy only reports, nor always in these words.
TELL_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`violation of ${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));
"""


@asynccontextmanager
async def launched(home: Path) -> AsyncIterator[Browser]:
    """Start the browser; skip where there is none."""
    async with AsyncExitStack() as stack:
        try:
            browser = await stack.enter_async_context(browser_module.launched(home, *WITHOUT_CARD, names=NAMES))
        except NotAvailable as reason:
            pytest.skip(f"{SKIPPED}: {reason}")
        yield browser


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
            for page in visit.context.pages:  # a reply that is being changed on its way may come to nobody any more
                await page.unroute_all(behavior="ignoreErrors")
            await visit.context.close()
        faults = [fault for visit in self._visits for fault in visit.unexpected()]
        if faults:
            pytest.fail("The page did what it must not:\n" + "\n".join(faults), pytrace=False)


async def asking_with(page: Page, **fields: Any) -> None:
    """Add fields to the body of every question that the page asks from now on."""

    async def filled_in(route: Route) -> None:
        if route.request.method != "POST":
            return await route.continue_()
        await route.continue_(post_data=json.dumps({**route.request.post_data_json, **fields}))

    await page.route(re.compile("/api/sessions/.*/runs$"), filled_in)


async def offering_web(page: Page) -> None:
    """Let the page believe that a search of the web is set up."""

    async def with_web(route: Route) -> None:
        reply = await route.fetch()
        await route.fulfill(response=reply, json={**await reply.json(), "web": True})

    await page.route("**/api/me", with_web)


def _origin(url: str) -> str:
    parts = urlsplit(url.removeprefix("blob:"))
    return f"{parts.scheme}://{parts.netloc}"
