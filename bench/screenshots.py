"""The manual's pictures of the page: ``python -m bench.screenshots`` writes ``pictures/*.png``.

A separate server serves the manual and the demo's documents with the extractive family, so that the content is real
and the same on every machine; the machine's Chromium visits it, light and dark, wide and narrow.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.async_api import Browser, Page, expect

from bench.browser import launched
from bench.serving import CITEWELL, served
from graph.evidence import Identity
from tools.library.ingestion import NewDocument
from tools.process.library import open_library
from tools.settings import load_settings

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "pictures"
WIDE = (1280, 800)
NARROW = (390, 844)
TWO_DOCUMENTS = "What is the hotel limit a night, and what is the limit for a client dinner?"
DISAGREEING = "How much is the daily meal allowance for a full day?"
NOT_THERE = "What is the wifi password of the Lisbon office?"
VIETNAMESE = "Ngày phép chưa dùng hết phải dùng trước ngày nào?"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture to take; ``scene`` prepares the page."""

    name: str
    scheme: Literal["light", "dark"]
    size: tuple[int, int]
    scene: Callable[[Page], Awaitable[None]]
    locale: str = "en-US"


def main() -> None:
    """Take all pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="citewell-pictures-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # if run as root, the account of the embedded server must be able to enter
        asyncio.run(_take_all(Path(folder)))


async def _take_all(folder: Path) -> None:
    data = folder / "data"
    await _fill(data)
    async with served(folder, data, *CITEWELL, "serve", "--port", "0", "--json") as server, launched(folder) as browser:
        for picture in PLAN:
            await _take(browser, server.url, picture)


async def _fill(data: Path) -> None:
    async with open_library(load_settings(data_dir=data)) as library:
        await library.workspaces.ensure("default")
        for path in sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "demo").glob("*.md")]):
            await library.ingestor.ingest(
                Identity(), NewDocument(name=path.name, text=path.read_text(encoding="utf-8"))
            )


async def _take(browser: Browser, url: str, picture: Picture) -> None:
    width, height = picture.size
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=picture.scheme,
        locale=picture.locale,
        has_touch=picture.size == NARROW,
        reduced_motion="reduce",
    )
    page = await context.new_page()
    await page.goto(url)
    await picture.scene(page)
    await page.wait_for_load_state("networkidle")
    path = PICTURES / f"{picture.name}.png"
    await page.screenshot(path=path, animations="disabled", caret="hide")
    print(path.relative_to(ROOT))
    await context.close()


async def _ask(page: Page, question: str) -> None:
    await page.locator("#question").fill(question)
    await page.locator("#question").press("Enter")
    await expect(page.locator(".turn").last.locator(".answer-actions, .actions").last).to_be_visible(timeout=60_000)


async def proof(page: Page) -> None:
    """Show an answer from two documents, one of them open at the row that answers."""
    await _ask(page, TWO_DOCUMENTS)
    markers = page.locator(".turn .marker")
    await markers.nth(1).click()
    await expect(page.locator(".reader mark.best").first).to_be_in_viewport()


async def touched(page: Page) -> None:
    """Show the proof of a claim on a phone."""
    await _ask(page, TWO_DOCUMENTS)
    await page.locator(".turn .marker").first.tap()
    await expect(page.locator(".reader mark.best").first).to_be_in_viewport()


async def account(page: Page) -> None:
    """Show the steps of an answer's run."""
    await _ask(page, NOT_THERE)
    await page.locator(".turn .run summary").first.click()
    await page.locator(".turn").first.scroll_into_view_if_needed()


async def answered(page: Page) -> None:
    """Show an answer whose sources disagree."""
    await _ask(page, DISAGREEING)


async def vietnamese(page: Page) -> None:
    """Show the page in Vietnamese."""
    await _ask(page, VIETNAMESE)


async def picked(page: Page) -> None:
    """Show the documents, searched, with two of them ticked."""
    shelf = page.get_by_role("region", name="Documents")
    await shelf.get_by_role("searchbox").fill("travel")
    await expect(shelf.get_by_text("Found in the texts")).to_be_visible()
    for title in ("Travel policy", "Expense guide"):
        await shelf.get_by_role("checkbox", name=title).last.check()
    await shelf.get_by_text("Sort and narrow").click()


PLAN = (
    Picture("proof-wide-light", "light", WIDE, proof),
    Picture("proof-wide-dark", "dark", WIDE, proof),
    Picture("run-wide-light", "light", WIDE, account),
    Picture("library-wide-light", "light", WIDE, picked),
    Picture("answer-narrow-dark", "dark", NARROW, answered),
    Picture("proof-narrow-light", "light", NARROW, touched),
    Picture("vietnamese-wide-dark", "dark", WIDE, vietnamese, locale="vi-VN"),
)

if __name__ == "__main__":
    main()
