"""The machine's own Firefox, driven as Chromium is: by Playwright, over WebDriver BiDi."""

import os
import shlex
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

NAMES = ("firefox-esr", "firefox")
SKIPPED = "without Firefox"  # .ci/run looks for these words
RELAY = Path(__file__).parent / "firefox_relay.py"
MOUSE = 2 | 4  # fine, and able to hover; a machine without a screen has none
QUIETLY: dict[str, str | float | bool] = {
    "app.normandy.enabled": False,
    "app.update.auto": False,
    "browser.newtab.preload": False,
    "browser.newtabpage.enabled": False,
    "browser.safebrowsing.downloads.remote.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.startup.page": 0,  # empty, as every new tab
    "captivedetect.canonicalURL": "",
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.ipc.processPrelaunch.enabled": False,  # a process in reserve for each that a test opens
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disabled": True,
    "network.proxy.type": 0,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
    "ui.allPointerCapabilities": MOUSE,
    "ui.prefersReducedMotion": 1,
    "ui.primaryPointerCapabilities": MOUSE,
}


@asynccontextmanager
async def launched(home: Path) -> AsyncIterator[Browser]:
    """Start the Firefox that FIREFOX names, or the first on the PATH; skip where there is none."""
    found = (shutil.which(name) for name in (os.environ.get("FIREFOX") or "", *NAMES))
    path = next((path for path in found if path is not None), None)
    if path is None:
        pytest.skip(f"{SKIPPED}: install Debian's package firefox-esr, or name another by FIREFOX")
    relayed = home / "firefox"
    relayed.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(RELAY), path])} "$@"\n')
    relayed.chmod(0o755)
    async with async_playwright() as playwright:
        browser = await playwright.firefox.launch(
            channel="moz-firefox",
            executable_path=relayed,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"},
            firefox_user_prefs=QUIETLY,
        )
        try:
            yield browser
        finally:
            await browser.close()
