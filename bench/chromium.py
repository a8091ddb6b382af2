"""The machine's own Chromium, and what came over the network for a page in it.

Nothing leaves the machine: the browser resolves no name but its own, knows no proxy and asks nobody for updates.
"""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from bench.figures import NotHere

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
        raise NotHere("no Chromium: install Debian's package chromium, or name another by CHROMIUM")
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
