"""Pictures of the page: ``python -m bench.screenshots`` writes the manual's own to ``pictures/``.

One of them is a question from the first screen to the quote in its document, in ten frames. With a folder it takes each
state there instead, in two sizes, light and dark, for somebody to look at. A separate server serves the manual and the
demo's documents without a model, another the demo's with a scripted one, so that the content is real and the same on
every machine; the machine's Chromium visits them.
"""

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.async_api import Browser, BrowserContext, FilePayload, Page, Route, ViewportSize, expect

from bench.browser import launched
from bench.newcomer import knowing
from bench.serving import CITEWELL, served
from evals.scripted_endpoint import ModelRequest, Reply, answer, say, scripted_endpoint
from evals.scripted_replies import claims_to_judge, judged, shown_segments
from graph.evidence import Identity
from tools.library.ingestion import NewDocument
from tools.process.library import open_library
from tools.settings import load_settings

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "pictures"
DEMO = ROOT / "docs" / "demo"
Size = tuple[int, int]
WIDE, LARGE, NARROW = (1280, 800), (1440, 900), (390, 844)
FRAME_MS, LAST_FRAME_MS = 1_100, 4_000
PATIENCE = 30_000  # milliseconds
TWO_DOCUMENTS = "What is the hotel limit a night, and what is the limit for a client dinner?"
DISAGREEING = "How much is the daily meal allowance for a full day?"
NOT_THERE = "What is the wifi password of the Lisbon office?"
VIETNAMESE = "Ngày phép chưa dùng hết phải dùng trước ngày nào?"
HOTEL = "What may a hotel cost?"
BEARS = "hotel limit is 140 euros"
OWN_WORDS = (
    "A night may cost up to 140 euros with breakfast, and 195 euros in Paris or Zurich.",
    "A room above the limit is paid by the traveller, unless a trade fair fills the town and the travel desk confirms"
    " that nothing else was to be had.",
    "The minibar is free.",
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the manual; ``scene`` prepares the page."""

    name: str
    scheme: Literal["light", "dark"]
    size: Size
    scene: Callable[[Page], Awaitable[None]]
    locale: str = "en-US"


def main(arguments: Sequence[str]) -> None:
    """Take the manual's pictures, or those of each state into the folder that is named."""
    expect.set_options(timeout=PATIENCE)
    with tempfile.TemporaryDirectory(prefix="citewell-pictures-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # if run as root, the account of the embedded server must be able to enter
        if arguments:
            into = Path(arguments[0])
            into.mkdir(parents=True, exist_ok=True)
            asyncio.run(_states(Path(folder), into))
        else:
            asyncio.run(_manual(Path(folder)))


async def _manual(folder: Path) -> None:
    data = folder / "data"
    await _fill(data, [*(ROOT / "docs").glob("*.md"), *DEMO.glob("*.md")])
    async with served(folder, data, *CITEWELL, "serve", "--port", "0", "--json") as server, launched(folder) as browser:
        for picture in PLAN:
            context = await _context(browser, picture.size, picture.locale)
            page = await context.new_page()
            await page.emulate_media(color_scheme=picture.scheme)
            await page.goto(server.url)
            await picture.scene(page)
            await _keep(page, PICTURES / f"{picture.name}.png")
            await context.close()
        await _frames(browser, server.url, PICTURES / "question-in-ten-frames.webp")


async def _states(folder: Path, into: Path) -> None:
    async with scripted_endpoint(replies) as scripted, launched(folder) as browser:
        model = {"name": "scripted", "base_url": scripted.base_url, "model": "scripted"}
        with_model = {"CITEWELL_MODELS": json.dumps([model]), "CITEWELL_DEFAULT_MODEL": "scripted"}
        with_model |= {"CITEWELL_JUDGE__EXAM": "auto"}
        for kind, states, settings in (("quotes", QUOTES, {}), ("model", OF_MODEL, with_model)):
            data = folder / kind
            await _fill(data, [*DEMO.iterdir(), ROOT / "docs" / "page.md"])
            async with served(folder, data, *CITEWELL, "serve", "--port", "0", "--json", settings=settings) as server:
                for name, scene in states.items():
                    for size in (LARGE, NARROW):
                        await _state(browser, server.url, into, name, size, scene)


async def _state(
    browser: Browser, url: str, into: Path, name: str, size: Size, scene: Callable[[Page], Awaitable[None]]
) -> None:
    context = await _context(browser, size, LOCALES.get(name, "en-US"))
    page = await context.new_page()
    try:
        await page.goto(url, wait_until="networkidle")
        await scene(page)
    except Exception as fault:  # noqa: BLE001  # one state that can't be reached leaves the others to be seen
        print(f"{name} at {size[0]}: {str(fault).splitlines()[0]}")
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        await _keep(page, into / f"{name}-{size[0]}-{scheme}.png")
    await context.close()


async def _context(browser: Browser, size: Size, locale: str) -> BrowserContext:
    context = await browser.new_context(
        viewport=ViewportSize(width=size[0], height=size[1]),
        locale=locale,
        has_touch=size == NARROW,
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    return context


async def _keep(page: Page, path: Path) -> None:
    await page.wait_for_load_state("networkidle")
    await page.screenshot(path=path, animations="disabled", caret="hide")
    print(path.name)


async def _fill(data: Path, paths: Sequence[Path]) -> None:
    async with open_library(load_settings(data_dir=data)) as library:
        await library.workspaces.ensure("default")
        for path in sorted(paths):
            await library.ingestor.ingest(Identity(), NewDocument(name=path.name, data=path.read_bytes()))


def replies(request: ModelRequest) -> Reply:
    """Answer in three sentences of one's own, the last of which nothing bears, and be sensible in all else."""
    if request.prompt == "generate_answer":
        bearing = [name for name, text in shown_segments(request.text).items() if BEARS in text]
        if not bearing:
            raise ValueError(f"no passage that is shown says {BEARS!r}: mend BEARS as docs/demo is worded now")
        return answer({"text": " ".join(OWN_WORDS), "source_ids": bearing[:1]})
    claims = claims_to_judge(request)
    if OWN_WORDS[-1] in claims.values():
        bears = {number: claim != OWN_WORDS[-1] for number, claim in claims.items()}
        return say(json.dumps({at: judged("supported" if told else "unsupported") for at, told in bears.items()}))
    return knowing(request)


async def _frames(browser: Browser, url: str, path: Path) -> None:
    """Keep one question, from the empty page to the quote in its document, as ten pictures in one."""
    context = await _context(browser, WIDE, "en-US")
    page = await context.new_page()
    frames: list[Image.Image] = []

    async def frame() -> None:
        shot = Image.open(BytesIO(await page.screenshot(animations="disabled")))
        frames.append(shot.convert("RGB").resize((960, 600), Image.Resampling.LANCZOS))

    await page.goto(url, wait_until="networkidle")
    await frame()
    field = page.locator("#question")
    for quarter in (1, 2, 3, 4):
        await field.fill(TWO_DOCUMENTS[: len(TWO_DOCUMENTS) * quarter // 4])
        await frame()
    await field.press("Enter")
    await expect(page.locator(".turn .question")).to_be_visible()
    await frame()
    await _answered(page)
    await frame()
    marker = page.locator(".turn .marker").nth(1)
    await marker.hover()
    await frame()
    await marker.click()
    await expect(page.locator(".reader")).to_be_visible()
    await frame()
    await expect(page.locator(".reader mark.best").first).to_be_in_viewport()
    await page.mouse.move(5, 5)
    await page.wait_for_load_state("networkidle")
    await frame()
    times = [FRAME_MS] * (len(frames) - 1) + [LAST_FRAME_MS]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=times, loop=0, quality=70, method=6)
    print(path.name)
    await context.close()


async def _answered(page: Page) -> None:
    await expect(page.locator(".turn").last.locator(".answer-actions, .actions").last).to_be_visible()


async def _ask(page: Page, question: str) -> None:
    await page.locator("#question").fill(question)
    await page.locator("#question").press("Enter")
    await expect(page.locator(".turn .question").last).to_contain_text(question)
    await _answered(page)


def asking(*questions: str) -> Callable[[Page], Awaitable[None]]:
    """Make a scene that asks, and shows the beginning of the last answer."""

    async def scene(page: Page) -> None:
        for question in questions:
            await _ask(page, question)
        await page.locator(".turn").last.scroll_into_view_if_needed()

    return scene


def reading(title: str) -> Callable[[Page], Awaitable[None]]:
    """Make a scene that reads a document."""

    async def scene(page: Page) -> None:
        await _documents(page)
        await page.get_by_role("button", name=f"Read {title}").first.click()
        await expect(page.locator(".reader [data-start], .reader td, .reader .text p").first).to_be_visible()

    return scene


async def _documents(page: Page) -> None:
    shelf = page.get_by_role("region", name="Documents")
    button = page.get_by_role("button", name="Documents", exact=True)
    if await button.get_attribute("aria-expanded") != "true":
        await button.click()
    await expect(shelf.get_by_role("row").first).to_be_visible()


async def nothing(page: Page) -> None:
    """Show what is there before anything is done."""


async def empty(page: Page) -> None:
    """Show a library that holds nothing yet."""

    async def none(route: Route) -> None:
        reply = await (await route.fetch()).json()
        await route.fulfill(json={**reply, "documents": [], "total": 0, "next_cursor": None})

    await page.route(re.compile(r"/api/documents\?"), none)
    await page.reload(wait_until="networkidle")


async def proof(page: Page) -> None:
    """Show an answer from two documents, one of them open at the row that answers."""
    await _ask(page, TWO_DOCUMENTS)
    markers = page.locator(".turn .marker")
    await markers.nth(1).click()
    await expect(page.locator(".reader mark.best").first).to_be_in_viewport()


async def opened(page: Page) -> None:
    """Show the quote of an answer in its document."""
    await _ask(page, TWO_DOCUMENTS)
    await page.locator(".turn .marker").first.click()
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
    await expect(page.locator(".turn .run").get_by_role("list", name="Steps")).to_be_visible()
    await page.locator(".turn .run").first.evaluate("(run) => run.scrollIntoView({ block: 'start' })")


async def guided(page: Page) -> None:
    """Show the guide that follows where a summary was asked for."""
    await _ask(page, "Summarise the travel policy")
    await page.locator(".follow-ups section").first.scroll_into_view_if_needed()


async def picked(page: Page) -> None:
    """Show the documents, searched, with two of them ticked."""
    await _documents(page)
    shelf = page.get_by_role("region", name="Documents")
    await shelf.get_by_role("searchbox").fill("travel")
    await expect(shelf.get_by_text("Found in the texts")).to_be_visible()
    for title in ("Travel policy", "Expense guide"):
        await shelf.get_by_role("checkbox", name=title).last.check()
    await shelf.get_by_text("Sort and narrow").click()


async def adding(page: Page) -> None:
    """Show files that came in, one of them refused."""
    await _documents(page)
    shelf = page.get_by_role("region", name="Documents")
    await shelf.get_by_role("button", name="Add", exact=True).click()
    async with page.expect_file_chooser() as chosen:
        await page.get_by_role("menuitem", name="Files…").click()
    files = {"ferry.md": b"# Ferry\n\nIt leaves at nine.", "empty.md": b"", "scan.png": b"\x89PNG\r\n\x1a\n"}
    await (await chosen.value).set_files([FilePayload(name=n, mimeType="", buffer=b) for n, b in files.items()])
    await expect(shelf.get_by_text("not added").first).to_be_visible()


async def _tick(page: Page, *titles: str) -> None:
    await _documents(page)
    for title in titles:
        await page.get_by_role("region", name="Documents").get_by_role("checkbox", name=title).first.check()


async def compared(page: Page) -> None:
    """Show two documents side by side."""
    await _tick(page, "Travel policy", "Welcome sheet")
    await page.get_by_role("button", name="Compare", exact=True).click()
    await page.get_by_label("By what?").fill(DISAGREEING)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog").get_by_role("cell").first).to_be_visible()


async def cards(page: Page) -> None:
    """Show a card to learn from."""
    await _tick(page, "Company words")
    await page.get_by_role("button", name="Cards", exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name="Show the answer").click()


async def collected(page: Page) -> None:
    """Show a collection that is being made."""
    await _tick(page, "Travel policy", "Expense guide")
    await page.get_by_role("button", name="Put in a collection").click()
    await page.get_by_role("menuitem").last.click()
    await page.get_by_role("textbox", name="Name of the collection").fill("Travelling")


async def card(page: Page) -> None:
    """Show the card of a document."""
    await _documents(page)
    await page.get_by_role("row").filter(has_text="Travel policy").hover()
    await page.get_by_role("button", name="What to do with Travel policy").click()
    await expect(page.get_by_role("dialog")).to_be_visible()


async def mentioned(page: Page) -> None:
    """Show what is listed behind an at."""
    await page.locator("#question").press_sequentially("@e")
    await expect(page.get_by_role("option").first).to_be_visible()


async def noted(page: Page) -> None:
    """Show a note with an answer pinned to it."""
    await _ask(page, TWO_DOCUMENTS)
    await page.get_by_role("button", name="Pin this answer to a note").click()
    choice = page.get_by_role("dialog").get_by_role("listitem").first
    await expect(choice.or_(page.get_by_text("Pinned to")).first).to_be_visible()
    if await choice.is_visible():
        await choice.get_by_role("button").click()
        await expect(page.get_by_text("Pinned to")).to_be_visible()
    await sessions(page)
    await page.get_by_role("button", name="Notes", exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name=TWO_DOCUMENTS[:30]).first.click()
    await expect(page.locator(".pinned").first).to_be_visible()


async def keys(page: Page) -> None:
    """Show the sheet of keys."""
    await page.locator("main").click(position={"x": 5, "y": 300})
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).to_be_visible()


async def sessions(page: Page) -> None:
    """Show the sessions."""
    menu = page.get_by_role("button", name="Show the sessions")
    if await menu.is_visible():
        await menu.click()


async def settings(page: Page) -> None:
    """Show the menu of settings."""
    await page.get_by_role("button", name="Settings").click()


async def lost(page: Page) -> None:
    """Show a connection that is lost in the middle of an answer."""

    async def break_off(route: Route) -> None:
        reply = await route.fetch()
        body = await reply.body()
        await route.fulfill(response=reply, body=body[: len(body) // 2])

    await page.route(re.compile("/api/sessions/.*/runs$"), break_off)
    await page.route("**/api/runs/*/stream*", lambda route: route.abort())
    await page.locator("#question").fill(TWO_DOCUMENTS)
    await page.locator("#question").press("Enter")
    await expect(page.get_by_text("Connection lost.")).to_be_visible()


LOCALES = {"vietnamese": "vi-VN", "arabic": "ar", "chinese": "zh-CN"}
QUOTES: dict[str, Callable[[Page], Awaitable[None]]] = {
    "empty": empty,
    "beginning": nothing,
    "passage": asking("How early are flights booked?"),
    "two-documents": asking(TWO_DOCUMENTS),
    "table": asking("How much does a standing desk cost?"),
    "disagreeing": asking(DISAGREEING),
    "refused": asking(NOT_THERE),
    "summary": guided,
    "conversation": asking(HOTEL, "And in Paris?", "Who approves a trip of six days?"),
    "quote": opened,
    "document": reading("Travel policy"),
    "sheet": reading("equipment"),
    "slides": reading("Your first week"),
    "word": reading("Moving plan"),
    "book": reading("Company words"),
    "documents": picked,
    "adding": adding,
    "card": card,
    "collection": collected,
    "mention": mentioned,
    "compared": compared,
    "cards": cards,
    "note": noted,
    "run": account,
    "keys": keys,
    "sessions": sessions,
    "settings": settings,
    "lost": lost,
    "vietnamese": asking(VIETNAMESE),
    "arabic": asking(DISAGREEING),
}
OF_MODEL: dict[str, Callable[[Page], Awaitable[None]]] = {
    "model-beginning": nothing,
    "model-answer": asking(HOTEL, HOTEL),
}
PLAN = (
    Picture("proof-wide-light", "light", WIDE, proof),
    Picture("proof-wide-dark", "dark", WIDE, proof),
    Picture("run-wide-light", "light", WIDE, account),
    Picture("library-wide-light", "light", WIDE, picked),
    Picture("answer-narrow-dark", "dark", NARROW, asking(DISAGREEING)),
    Picture("proof-narrow-light", "light", NARROW, touched),
    Picture("vietnamese-wide-dark", "dark", WIDE, asking(VIETNAMESE), locale="vi-VN"),
)

if __name__ == "__main__":
    main(sys.argv[1:])
