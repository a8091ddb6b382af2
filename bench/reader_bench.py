"""Benchmark of a reader's five tasks: the acts and seconds that each takes in the page, on a phone where it says so.

An act is a click, a tap, a key that does something, a press of Back or a change to another window; typing a text is
none. Nobody thinks or looks for a button here, so that the seconds are the page's and the server's. On the page before,
a comparison was a question to each of the two documents, and a note another window to paste into.
"""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect

from bench.browser import launched
from bench.figures import Figure, compared, figure
from bench.serving import CITEWELL, served
from graph.evidence import Identity
from tools.library.ingestion import NewDocument
from tools.process.library import open_library
from tools.settings import load_settings

WIDE = ViewportSize(width=1440, height=900)
PHONE = ViewportSize(width=390, height=844)
PATIENCE = 60_000  # milliseconds
LIBRARY = {
    "Harbour rules": """# Harbour rules
## Moorings
A visiting boat pays 24 euros a night. The fee is due before ten in the morning.
## Speed
No boat goes faster than 3 knots inside the wall. The pilot boat is exempt.
## Noise
Engines are off between ten at night and six in the morning.""",
    "Marina guide": """# Marina guide
## Fees
A visiting boat pays 31 euros a night, electricity included. Children under twelve sleep free.
## Washing
The laundry opens at eight in the morning. A wash costs 4 euros.
## Pets
Dogs stay on a lead on every pier.""",
}
FOLDER = {
    "ferry.md": "# Ferry\nThe ferry to Holm leaves at a quarter past nine.",
    "bus.md": "# Bus\nThe bus to the station leaves every twenty minutes.",
    "bikes.md": "# Bicycles\nA bicycle costs 12 euros a day at the kiosk.",
}
PRICE = "How much does a visiting boat pay a night?"
THREE = (PRICE, "How fast may a boat go inside the wall?", "At which hour of the morning does the laundry open?")
FERRY = "When does the ferry to Holm leave?"
# Medians of three runs on the page of 30 November 2026 (1b80f769), on a machine of two cores: acts, and seconds.
BEFORE = {
    "find the proof of a sentence": (2, 1.30),
    "compare two documents": (7, 3.11),
    "collect three passages into a note": (17, 1.95),
    "ask on a phone, read, and come back": (5, 0.70),
    "add a folder and ask": (4, 4.25),
}


class Reader:
    """Somebody at a page, whose acts are counted."""

    def __init__(self, page: Page, folder: Path, *, touches: bool) -> None:
        self.page = page
        self.folder = folder
        self.touches = touches
        self.acts = 0

    async def press(self, target: Locator) -> None:
        """Click or tap."""
        self.acts += 1
        await (target.tap() if self.touches else target.click())

    async def key(self, name: str) -> None:
        """Press a key that does something."""
        self.acts += 1
        await self.page.keyboard.press(name)

    async def back(self) -> None:
        """Press the browser's Back."""
        self.acts += 1
        await self.page.go_back()

    async def ask(self, question: str) -> Locator:
        """Ask, and wait until the answer is whole; return its turn."""
        field = self.page.locator("#question")
        if not await field.evaluate("(field) => field === document.activeElement"):
            await self.press(field)
        await field.fill(question)
        await self.key("Enter")
        turn = self.page.locator(".turn").last
        await expect(turn.get_by_role("heading", level=2)).to_have_text(question)
        await expect(turn.get_by_role("button", name="Answer again")).to_be_visible()
        return turn


async def run(folder: Path) -> list[Figure]:
    """Do each task in a library and a browser of its own. Raises NotAvailable if there is no browser."""
    expect.set_options(timeout=PATIENCE)
    measured: list[Figure] = []
    (folder / "trip").mkdir()
    for name, text in FOLDER.items():
        (folder / "trip" / name).write_text(text, encoding="utf-8")
    data = folder / "data"
    async with open_library(load_settings(data_dir=data)) as library:
        await library.workspaces.ensure("default")
        for title, text in LIBRARY.items():
            await library.ingestor.ingest(Identity(), NewDocument(name=f"{title}.md", title=title, text=text))
    async with launched(folder) as browser, served(folder, data, *CITEWELL, "serve", "--port", "0", "--json") as server:
        await _timed(browser, server.url, folder, find_proof)  # the first question opens what later ones find open
        for task, name in TASKS.items():
            measures = await _timed(browser, server.url, folder, task)
            for told, value, before, unit in zip(("acts", "time"), measures, BEFORE[name], ("", "s"), strict=True):
                measured.append(compared(figure(f"{name}: {told}", value, unit), {"before": before}))
    return measured


async def _timed(
    browser: Browser, url: str, folder: Path, task: Callable[[Reader], Awaitable[None]]
) -> tuple[float, float]:
    phone = task is phone_and_back
    context = await _context(browser, phone=phone)
    try:
        page = await context.new_page()
        await page.goto(url, wait_until="networkidle")
        reader = Reader(page, folder, touches=phone)
        began = time.monotonic()
        await task(reader)
        return reader.acts, time.monotonic() - began
    finally:
        await context.close()


async def _context(browser: Browser, *, phone: bool) -> BrowserContext:
    context = await browser.new_context(
        viewport=PHONE if phone else WIDE, has_touch=phone, locale="en-US", reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE)
    return context


async def find_proof(reader: Reader) -> None:
    """Ask, and see the sentence that answers marked in its document."""
    turn = await reader.ask(PRICE)
    await reader.press(turn.locator(".marker").first)
    await expect(reader.page.locator(".reader mark").first).to_be_in_viewport()


async def compare_two(reader: Reader) -> None:
    """See what each of two documents says of one thing, each under its own title."""
    shelf = reader.page.get_by_role("region", name="Documents")
    for title in LIBRARY:
        await reader.press(shelf.get_by_role("grid").get_by_role("checkbox", name=title, exact=True))
    await reader.press(shelf.get_by_role("button", name="Compare", exact=True))
    by = reader.page.get_by_label("By what?")
    await by.fill(PRICE)
    await reader.key("Enter")
    cells = reader.page.get_by_role("dialog").get_by_role("cell")
    for said in ("24 euros", "31 euros"):
        await expect(cells.filter(has_text=said)).to_be_visible()


async def note_three(reader: Reader) -> None:
    """Have three passages, each with where it is from, in one note, and see it."""
    for at, question in enumerate(THREE):
        turn = await reader.ask(question)
        await reader.press(turn.get_by_role("button", name="Pin this answer to a note"))
        if at:
            await reader.press(reader.page.get_by_role("dialog").get_by_role("button", name=PRICE))
        await expect(reader.page.get_by_text("Pinned to").first).to_be_visible()
    await reader.press(reader.page.get_by_role("button", name="Notes", exact=True))
    await reader.press(reader.page.get_by_role("dialog").get_by_role("button", name=PRICE))
    for said in ("euros a night", "3 knots", "at eight"):
        await expect(reader.page.locator(".pinned").filter(has_text=said).first).to_be_visible()


async def phone_and_back(reader: Reader) -> None:
    """Ask on a phone, read the proof in its document, and come back to the answer by Back."""
    turn = await reader.ask(PRICE)
    marker = turn.locator(".marker").first
    await reader.press(marker)
    document = reader.page.locator(".reader mark").first
    proof = reader.page.get_by_role("button", name="Read in the document").first
    await expect(document.or_(proof)).to_be_visible()
    if not await document.is_visible():
        await reader.press(proof)
    await expect(document).to_be_in_viewport()
    await reader.back()
    if not await marker.is_visible():  # Back left the session
        await reader.press(reader.page.get_by_role("button", name="Sessions").first)
        await reader.press(reader.page.get_by_role("navigation", name="Sessions").get_by_role("link").first)
    await expect(marker).to_be_in_viewport()


async def add_and_ask(reader: Reader) -> None:
    """Add a folder of three files, and ask what one of them says."""
    shelf = reader.page.get_by_role("region", name="Documents")
    await reader.press(shelf.get_by_role("button", name="Add", exact=True))
    async with reader.page.expect_file_chooser() as chosen:
        await reader.press(reader.page.get_by_role("menuitem", name="A folder…"))
    await (await chosen.value).set_files(reader.folder / "trip")
    await expect(shelf.get_by_text("3 documents added").first).to_be_visible()
    await expect(await reader.ask(FERRY)).to_contain_text("a quarter past nine")


TASKS: dict[Callable[[Reader], Awaitable[None]], str] = {
    find_proof: "find the proof of a sentence",
    compare_two: "compare two documents",
    note_three: "collect three passages into a note",
    phone_and_back: "ask on a phone, read, and come back",
    add_and_ask: "add a folder and ask",
}
