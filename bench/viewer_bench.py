"""Benchmark of the viewer: a PDF of 1,000 pages from a marker of an answer to the quote that is marked on its page.

The floor beside it is PDF.js alone, in the same browser over the same ranges: open the file, draw that page.
"""

import asyncio
import json
import statistics
from pathlib import Path

from playwright.async_api import Browser, Page

from bench.browser import Frames, Wire, launched, start_trace, stop_trace, visited
from bench.corpus import Corpus
from bench.figures import Figure, figure
from bench.manual_pages import Sentences, pdf_of
from bench.page_bench import WAIT, WATCH
from bench.serving import served
from bench.sse_client import Connection
from graph.evidence import Identity
from tools.library.ingestion import NewDocument
from tools.process.library import open_library
from tools.settings import Settings, load_settings

SEED = 18
DOCUMENT = "5f0c2f0e-7f0b-4b38-9a53-0f1f7f3f2a02"
PAGES = 1000
SHARE = 0.7  # of the document that is before the quote
RUNS = 5
MOST_SECONDS = 1.5
PATIENCE = 120  # seconds
MEGABYTE = 1e6

# The page is drawn with the mark on it, both in sight: milliseconds since the click, 0 before.
MARKED = """() => {
  const mark = document.querySelector(".reader mark.box.current");
  const around = document.querySelector(".reader .text")?.getBoundingClientRect();
  const box = mark?.getBoundingClientRect();
  const canvas = mark?.closest(".sheet")?.querySelector("canvas");
  if (!box?.height || box.top < around.top || box.bottom > around.bottom || !canvas?.width) return 0;
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height / 4);
  return data.some((value, at) => at % 4 < 3 && value < 128) ? performance.now() - globalThis.benchClick : 0;
}"""
ALONE = """async ([version, path, size, number]) => {
  const began = performance.now();
  const pdf = await import(`/page/${version}/vendor/pdf/pdf.js`);
  const url = new URL("worker.js", pdf.folder).href;
  const policy = trustedTypes.createPolicy("pdf-worker", { createScriptURL: (address) => address });
  const worker = new pdf.PDFWorker({ port: new Worker(policy.createScriptURL(url), { type: "module" }) });
  const range = new pdf.PDFDataRangeTransport(size, null);
  range.requestDataRange = async (begin, end) => {
    const reply = await fetch(path, { headers: { Range: `bytes=${begin}-${Math.min(end, size) - 1}` } });
    range.onDataRange(begin, new Uint8Array(await reply.arrayBuffer()));
  };
  const wanted = { range, worker, rangeChunkSize: 2 ** 18, disableAutoFetch: true, disableStream: true };
  const file = await pdf.getDocument(wanted).promise;
  const page = await file.getPage(number);
  const canvas = document.createElement("canvas");
  const viewport = page.getViewport({ scale: 1 });
  Object.assign(canvas, { width: viewport.width, height: viewport.height });
  await page.render({ canvas, viewport }).promise;
  return performance.now() - began;
}"""


async def run(folder: Path) -> list[Figure]:
    """Measure from marker to marked quote. Raises NotAvailable if there is no browser."""
    async with launched(folder) as browser:
        data = folder / "data"
        question, page_number, size = await _fill(load_settings(data_dir=data))
        async with served(folder, data, "-m", "bench.scripted_server", "page") as server:
            session_id = await _ask(server.url, question)
            address = f"{server.url}/#/sessions/{session_id}"
            opened = [await _open(browser, address) for _ in range(RUNS)]
            alone = [await _alone(browser, server.url, size, page_number) for _ in range(RUNS)]
    return [
        figure("the PDF", size / MEGABYTE, "MB"),
        figure("its page that the quote is on", page_number, ""),
        figure(
            "from marker to marked quote",
            statistics.median(seconds for seconds, *_ in opened),
            "s",
            at_most=MOST_SECONDS,
        ),
        figure("PDF.js alone, to that page", statistics.median(alone), "s"),
        figure("requests from the click on", statistics.median(len(wire.urls) for _, wire, _ in opened), ""),
        figure("bytes from the click on", statistics.median(w.bytes for _, w, _ in opened) / MEGABYTE, "MB"),
        figure("longest scripting in a frame", statistics.median(f.longest() for *_, f in opened), "ms"),
    ]


async def _open(browser: Browser, address: str) -> tuple[float, Wire, Frames]:
    """Click on the first marker; return the seconds to the marked quote, the traffic and the frames since the click."""
    async with visited(browser) as page:
        await page.add_init_script(WATCH)
        await page.goto(address)
        marker = page.locator("button.marker").first
        await marker.scroll_into_view_if_needed()
        wire = await Wire.of(page)
        await start_trace(browser, page)
        await marker.click()
        seen = await _seen(page, MARKED)
        return seen / 1000, wire, await stop_trace(browser)


async def _alone(browser: Browser, url: str, size: int, number: int) -> float:
    async with visited(browser) as page:
        await page.goto(url, wait_until="networkidle")
        version = await page.evaluate("document.querySelector('link[rel=stylesheet]').href.split('/').at(-2)")
        path = f"{url}/api/documents/{DOCUMENT}/original"
        return float(await page.evaluate(ALONE, [version, path, size, number])) / 1000


async def _seen(page: Page, condition: str) -> float:
    async with asyncio.timeout(PATIENCE):
        return float(await page.evaluate(WAIT % condition))


async def _fill(settings: Settings) -> tuple[str, int, int]:
    """Ingest the PDF; return a question about a page of it, the number of that page, and the size in bytes."""
    data = pdf_of(Sentences(SEED), PAGES)
    async with open_library(settings) as library:
        await library.ingestor.ingest(Identity(), NewDocument(document_id=DOCUMENT, name="large.pdf", data=data))
        raw = await library.documents.raw_text(Identity(), DOCUMENT)
    segment = raw["segments"][int(SHARE * len(raw["segments"]))]
    assert segment["page_idx"] is not None
    return Corpus(SEED).question(segment["text"]), segment["page_idx"] + 1, len(data)


async def _ask(url: str, question: str) -> str:
    """Ask in a new session; return its id."""
    connection = await Connection.open(url)
    session_id = str(json.loads(await connection.post("/api/sessions", {}))["session_id"])
    asked = {"question": question, "search": "always", "min_score": 0}
    await connection.stream(f"/api/sessions/{session_id}/runs", asked)
    connection.close()
    return session_id
