"""Benchmark of the documents beside the conversation: 5,000 of them, scrolled, searched, narrowed, grouped and ticked.

The machine's own Chromium scrolls the whole list with the wheel, and does the rest as a reader would. Scripting is that
of the main thread in each frame. Every figure is the median of several visits, each in a separate browser context.
"""

import asyncio
import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, expect

from bench.browser import Frames, launched, start_trace, stop_trace, visited
from bench.corpus import Corpus
from bench.figures import Figure, figure
from bench.serving import CITEWELL, served
from graph.evidence import Identity
from tools.library.ingestion import NewDocument
from tools.process.library import open_library
from tools.settings import Settings, load_settings

SEED = 17
DOCUMENTS = 5_000
FOLDERS = 40
SUBJECTS = 100
TYPES = ("md", "txt", "html")
PART_OF_NAMES = "499"
RUNS = 3
WHEEL = 1200  # CSS pixels per turn
WHEEL_TURNS = 10  # between two checks for the bottom
LONG = 50  # milliseconds
PATIENCE = 180  # seconds
BOTTOM = "(element) => element.scrollTop + element.clientHeight >= element.scrollHeight - 2"
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@dataclass(frozen=True, slots=True)
class Visited:
    """The frames of what was done in one visit, and how many rows the page held while it was scrolled."""

    frames: dict[str, Frames]
    rows: int


async def run(folder: Path) -> list[Figure]:
    """Measure the list. Raises NotAvailable if there is no browser."""
    async with launched(folder) as browser:
        data = folder / "data"
        await _fill(load_settings(data_dir=data))
        async with served(folder, data, *CITEWELL, "serve", "--port", "0", "--json") as server:
            visits = [await _visit(browser, server.url) for _ in range(RUNS)]
    middle = statistics.median
    figures = [
        figure("documents", DOCUMENTS, ""),
        figure("rows in the page at a time", middle(each.rows for each in visits), ""),
    ]
    for done in visits[0].frames:
        frames = [each.frames[done] for each in visits]
        figures += [
            figure(f"{done}: frames over {LONG} ms of scripting", middle(f.over(LONG) for f in frames), "", at_most=0),
            figure(f"{done}: longest scripting in a frame", middle(f.longest() for f in frames), "ms", at_most=LONG),
        ]
    return figures


async def _fill(settings: Settings) -> None:
    """Ingest the documents, of several types, in folders."""
    subjects = [(each.title, each.bodies()[0][:200]) for each in Corpus(SEED).documents(SUBJECTS)]
    documents = (
        NewDocument(
            name=f"folder {number % FOLDERS:02}/{title} {number}.{TYPES[number % len(TYPES)]}",
            title=f"{title} {number}",
            data=f"{title} {number}. {text}".encode(),
        )
        for number, (title, text) in zip(range(DOCUMENTS), cycle(subjects), strict=False)
    )
    stored = 0
    async with open_library(settings) as library:
        await library.workspaces.ensure("default")
        async for report in library.ingestor.ingest_many(Identity(), documents):
            stored += report.status == "created"
    assert stored == DOCUMENTS, f"{stored} documents were stored"


async def _visit(browser: Browser, url: str) -> Visited:
    async with visited(browser) as page:
        shelf = page.get_by_role("region", name="Documents")
        frames = {}

        async def traced(name: str, doing: Callable[[], Awaitable[None]]) -> None:
            await start_trace(browser, page)
            await doing()
            await page.evaluate(SETTLED)
            frames[name] = await stop_trace(browser)

        grid = shelf.get_by_role("grid")
        await traced("opened", lambda: _open(page, grid, url))
        rows = await shelf.get_by_role("row").count()
        await traced("scrolled from top to bottom", lambda: _scroll(page, grid))
        await traced("searched by name, letter by letter", lambda: _search(shelf, grid))
        await traced("narrowed to a type", lambda: _narrow(shelf, grid))
        await traced("grouped by folder, and scrolled", lambda: _group(page, shelf, grid))
        await traced("1,000 ticked", lambda: _tick(shelf))
        return Visited(frames, rows)


async def _open(page: Page, grid: Locator, url: str) -> None:
    await page.goto(url)
    await _holds(grid, DOCUMENTS)
    await expect(grid.get_by_role("checkbox").first).to_be_visible()


async def _holds(grid: Locator, rows: int) -> None:
    await expect(grid).to_have_attribute("aria-rowcount", str(rows), timeout=PATIENCE * 1000)


async def _scroll(page: Page, grid: Locator) -> None:
    box = await grid.bounding_box()
    assert box is not None
    await grid.evaluate("(element) => element.scrollTo(0, 0)")
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    async with asyncio.timeout(PATIENCE):
        while not await grid.evaluate(BOTTOM):
            for _ in range(WHEEL_TURNS):
                await page.mouse.wheel(0, WHEEL)
    await expect(grid.locator("[aria-busy]")).to_have_count(0)


async def _search(shelf: Locator, grid: Locator) -> None:
    field = shelf.get_by_role("searchbox")
    await field.press_sequentially(PART_OF_NAMES, delay=80)
    await _holds(grid, sum(PART_OF_NAMES in str(number) for number in range(DOCUMENTS)))
    await field.fill("")
    await _holds(grid, DOCUMENTS)


async def _narrow(shelf: Locator, grid: Locator) -> None:
    await shelf.get_by_text("Sort and narrow").click()
    types = shelf.get_by_role("combobox", name="Type", exact=True)
    await types.select_option(index=1)
    await expect(grid).not_to_have_attribute("aria-rowcount", str(DOCUMENTS))
    await types.select_option(index=0)
    await _holds(grid, DOCUMENTS)


async def _group(page: Page, shelf: Locator, grid: Locator) -> None:
    await shelf.get_by_role("checkbox", name="By folder").check()
    await _holds(grid, DOCUMENTS + FOLDERS)
    await _scroll(page, grid)


async def _tick(shelf: Locator) -> None:
    await shelf.get_by_role("button", name="Tick all", exact=True).first.click()
    await expect(shelf.get_by_text("1,000 ticked")).to_be_visible()
