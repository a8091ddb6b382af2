"""Benchmark of the page in a browser: the first load, a session of 200 sections and a document of two megabytes.

The machine's own Chromium opens each and scrolls it from top to bottom with the wheel. Every figure is the median of
several runs, each in a separate browser context.
"""

import asyncio
import json
import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Page

from bench.browser import Frames, Wire, launched, start_trace, stop_trace, visited
from bench.corpus import Corpus
from bench.figures import Figure, figure, percentile
from bench.scripted_server import SECTIONS
from bench.serving import served
from bench.sse_client import Connection
from graph.evidence import Identity
from tools.library.ingestion import NewDocument
from tools.process.library import open_library
from tools.settings import Settings, load_settings

SEED = 11
DOCUMENT = "5f0c2f0e-7f0b-4b38-9a53-0f1f7f3f2a01"
DOCUMENT_BYTES = 2_000_000
TURNS = 50
LOADS = 7
LATENCY = 100  # milliseconds, of a server on another continent
RUNS = 3
WHEEL = 1200  # CSS pixels per turn
WHEEL_TURNS = 10  # between two checks for the bottom
LONG = 50  # milliseconds
LONGEST = 200
KILOBYTE = 1e3
PATIENCE = 120  # seconds

# Records the duration of each frame, and the time of the last click.
WATCH = """
const times = (globalThis.benchFrames = []);
let last = performance.now();
requestAnimationFrame(function tick() {
  const now = performance.now();
  times.push(now - last);
  last = now;
  requestAnimationFrame(tick);
});
addEventListener("click", (event) => (globalThis.benchClick = event.timeStamp), true);
"""
# Evaluated once per frame: the milliseconds since the navigation or since the click; 0 until the content is visible.
SESSION_SEEN = """() => {
  const sections = document.querySelectorAll(".turn .section");
  const last = sections[sections.length - 1];
  return sections.length >= %d && last.textContent.trim() && last.offsetHeight ? performance.now() : 0;
}"""
QUOTE_SEEN = """() => {
  const mark = document.querySelector(".reader mark.current")?.getBoundingClientRect();
  const around = document.querySelector(".reader .text")?.getBoundingClientRect();
  return mark && mark.height && mark.top >= around.top && mark.top + 16 <= around.bottom
    ? performance.now() - globalThis.benchClick : 0;
}"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
AT_TOP = '() => (document.querySelector("[data-bench]").scrollTop === 0 ? 1 : 0)'
# The page's content security policy blocks Playwright's own wait for a condition.
WAIT = "new Promise((seen) => (function ask() { const at = (%s)(); at ? seen(at) : requestAnimationFrame(ask); })())"
MARK_SCROLLER = """(element) => {
  const ways = /auto|scroll/;
  const scrolls = (each) => each.scrollHeight > each.clientHeight && ways.test(getComputedStyle(each).overflowY);
  while (!scrolls(element)) element = element.parentElement;
  element.dataset.bench = "";
  element.scrollTo(0, 0);
}"""


@dataclass(frozen=True, slots=True)
class Scrolled:
    """One run: milliseconds until readable, frames while opening, frames and their times while scrolling."""

    seen: float
    opening: Frames
    scrolling: Frames
    times: list[float]


async def run(folder: Path) -> list[Figure]:
    """Measure the first load, the session and the document. Raises NotAvailable if there is no browser."""
    async with launched(folder) as browser:
        data = folder / "data"
        questions, size = await _fill(load_settings(data_dir=data))
        async with served(folder, data, "-m", "bench.scripted_server", "page") as server:
            session_id = await _converse(server.url, questions)
            await _guided(server.url)
            address = f"{server.url}/#/sessions/{session_id}"
            loads = [await _load(browser, server.url) for _ in range(LOADS)]
            far = [await _load(browser, server.url, latency=LATENCY) for _ in range(LOADS)]
            sessions = [await _visit(browser, address, _open_session) for _ in range(RUNS)]
            heaps = [await _heap(browser, address) for _ in range(RUNS)]
            documents = [await _visit(browser, address, _open_document) for _ in range(RUNS)]
    return [
        figure("first load", statistics.median(wire.bytes for wire, _ in loads) / KILOBYTE, "KB", at_most=110),
        figure("its requests", statistics.median(len(wire.urls) for wire, _ in loads), "", at_most=20),
        figure("first contentful paint", statistics.median(paint for _, paint in loads), "ms"),
        figure(f"the same, {LATENCY} ms away", statistics.median(paint for _, paint in far), "ms", at_most=700),
        *_figures(f"session of {TURNS * SECTIONS} sections", sessions),
        figure(f"session of {TURNS * SECTIONS} sections: heap", statistics.median(heaps), "MB", at_most=12),
        figure("the document's size", size / KILOBYTE, "KB"),
        *_figures("document", documents),
    ]


def _figures(name: str, runs: list[Scrolled]) -> list[Figure]:
    middle = statistics.median
    return [
        figure(f"{name}: to its text", middle(each.seen for each in runs), "ms"),
        figure(
            f"{name}, opening: longest scripting in a frame",
            middle(each.opening.longest() for each in runs),
            "ms",
            at_most=LONGEST,
        ),
        figure(
            f"{name}, scrolling: frames over {LONG} ms of scripting",
            middle(each.scrolling.over(LONG) for each in runs),
            "",
            at_most=0,
        ),
        figure(
            f"{name}, scrolling: longest scripting in a frame",
            middle(each.scrolling.longest() for each in runs),
            "ms",
            at_most=LONG,
        ),
        figure(f"{name}, scrolling: frame time p95", middle(percentile(each.times, 0.95) for each in runs), "ms"),
    ]


async def _load(browser: Browser, url: str, *, latency: int = 0) -> tuple[Wire, float]:
    """Open the page with an empty cache; return its traffic and the milliseconds to the first contentful paint.

    ``latency`` is added to each request, in milliseconds.
    """
    async with visited(browser) as page:
        wire = await Wire.of(page)
        session = await page.context.new_cdp_session(page)
        slow = {"offline": False, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1}
        await session.send("Network.enable")
        await session.send("Network.emulateNetworkConditions", slow)
        await page.goto(url, wait_until="networkidle")
        return wire, await _seen(page, PAINTED)


async def _visit(browser: Browser, address: str, way: Callable[[Browser, Page, str], Awaitable[Scrolled]]) -> Scrolled:
    async with visited(browser) as page:
        await page.add_init_script(WATCH)
        return await way(browser, page, address)


async def _open_session(browser: Browser, page: Page, address: str) -> Scrolled:
    await start_trace(browser, page)
    await page.goto(address)
    seen = await _seen(page, SESSION_SEEN % (TURNS * SECTIONS))
    opening = await stop_trace(browser)
    return await _scroll(browser, page, ".turn", seen, opening)


async def _heap(browser: Browser, address: str) -> float:
    """Open the session; return the megabytes of what its scripts still hold."""
    async with visited(browser) as page:
        await page.goto(address)
        await _seen(page, SESSION_SEEN % (TURNS * SECTIONS))
        session = await page.context.new_cdp_session(page)
        await session.send("HeapProfiler.collectGarbage")
        return float((await session.send("Runtime.getHeapUsage"))["usedSize"]) / KILOBYTE**2


async def _open_document(browser: Browser, page: Page, address: str) -> Scrolled:
    """Open the document with a marker of the last answer, whose first quote is near the document's end."""
    await page.goto(address)
    await _seen(page, SESSION_SEEN % (TURNS * SECTIONS))
    marker = page.locator(".turn").last.locator("button.marker").first
    await marker.scroll_into_view_if_needed()
    await start_trace(browser, page)
    await marker.click()
    seen = await _seen(page, QUOTE_SEEN)
    opening = await stop_trace(browser)
    return await _scroll(browser, page, ".reader .segment", seen, opening)


async def _seen(page: Page, condition: str) -> float:
    async with asyncio.timeout(PATIENCE):
        return float(await page.evaluate(WAIT % condition))


async def _scroll(browser: Browser, page: Page, inside: str, seen: float, opening: Frames) -> Scrolled:
    """Scroll the scrollable ancestor of an element with the wheel from top to bottom."""
    await page.locator(inside).first.evaluate(MARK_SCROLLER)
    scroller = page.locator("[data-bench]")
    await _seen(page, AT_TOP)
    box = await scroller.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.evaluate("globalThis.benchFrames.length = 0")
    await start_trace(browser, page)
    bottom = "(element) => element.scrollTop + element.clientHeight >= element.scrollHeight - 2"
    async with asyncio.timeout(PATIENCE):
        while not await scroller.evaluate(bottom):
            for _ in range(WHEEL_TURNS):
                await page.mouse.wheel(0, WHEEL)
    scrolling = await stop_trace(browser)
    times: list[float] = await page.evaluate("globalThis.benchFrames")
    return Scrolled(seen, opening, scrolling, times)


async def _fill(settings: Settings) -> tuple[list[str], int]:
    """Ingest the document; return a question per turn, the last one about the last segment, and the size in bytes."""
    corpus = Corpus(SEED)
    parts: list[str] = []
    bodies: list[str] = []
    while sum(map(len, parts)) < DOCUMENT_BYTES:
        [document] = corpus.documents(1)
        parts.append(document.text)
        bodies.extend(document.bodies())
    text = "\n\n".join(parts)
    async with open_library(settings) as library:
        await library.ingestor.ingest(Identity(), NewDocument(document_id=DOCUMENT, title="Two megabytes", text=text))
    chosen = bodies[:: -(len(bodies) // TURNS)][:TURNS][::-1]
    return [corpus.question(body) for body in chosen], len(text.encode())


async def _guided(url: str) -> None:
    """Wait until the guides are made, which the page would ask for again meanwhile."""
    connection = await Connection.open(url)
    async with asyncio.timeout(PATIENCE):
        while json.loads(await connection.get("/api/suggestions"))["status"] != "ready":
            pass  # each waits for them a moment itself
    connection.close()


async def _converse(url: str, questions: list[str]) -> str:
    """Ask the questions in one session; return its id. Raises AssertionError if an answer lacks sections."""
    connection = await Connection.open(url)
    session_id = str(json.loads(await connection.post("/api/sessions", {}))["session_id"])
    for question in questions:
        await connection.stream(
            f"/api/sessions/{session_id}/runs", {"question": question, "search": "always", "min_score": 0}
        )
    session = json.loads(await connection.get(f"/api/sessions/{session_id}?limit=100"))
    connection.close()
    sections = sum(len(message["sections"]) for message in session["messages"])
    assert sections == TURNS * SECTIONS, f"{sections} sections"
    return session_id
