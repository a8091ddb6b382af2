"""The documents beside the conversation: found, ticked, added by jobs, deleted and brought back, thousands of them."""

import asyncio
import io
import json
import re
import zipfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import pytest
from playwright.async_api import Error as BrowserError
from playwright.async_api import Locator, Page, Request, Route, expect

from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, TRAVEL, new_session, with_model
from tests.page.axe import accessible
from tests.page.browsing import NARROW, Visits, offering_web
from tests.page.english import english
from tests.page.sites import Site, site_of
from tests.scripted_openai import ScriptedOpenAI
from tests.unit.placed_pdf import column, placed_pdf
from tools.library.ingestion import NewDocument
from tools.library.reading import WiredDocument
from tools.settings import Settings

DEMO = Path(__file__).parents[2] / "docs" / "demo"
REFUSED = "Failed to load resource: the server responded with a status of 4"
OVERLOADED = "Failed to load resource: the server responded with a status of 503"
PROBLEM = {
    "code": "overloaded",
    "detail": "Too much is going on.",
    "suggestion": "Try again in a moment.",
    "retryable": True,
}
DROP = """([type, kind, files]) => {
  const transfer = new DataTransfer();
  if (kind === "text") transfer.setData("text/plain", "a passage");
  for (const [name, text] of files) transfer.items.add(new File([text], name));
  document.querySelector("main").dispatchEvent(
    new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
}"""
MANY = 230


def file(name: str, text: str | bytes) -> Any:
    return {"name": name, "mimeType": "", "buffer": text if isinstance(text, bytes) else text.encode()}


def shelf(page: Page) -> Locator:
    return page.get_by_role("region", name="Documents")


def box(page: Page, title: str) -> Locator:
    return shelf(page).get_by_role("grid").get_by_role("checkbox", name=title, exact=True)


def scope(page: Page) -> Locator:
    return page.get_by_role("group", name=english("selection.label")).locator(".scope")


def chip(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=f"Ask {name} no longer alone")


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your question")


def search(page: Page) -> Locator:
    return shelf(page).get_by_role("searchbox", name=english("shelf.search"))


def incoming(page: Page, name: str = "") -> Locator:
    whole = shelf(page).get_by_role("region", name="Being added")
    return whole.get_by_role("listitem").filter(has_text=name) if name else whole


async def asked(page: Page, question: str) -> dict[str, Any]:
    """Ask, wait until the answer is stored, and give what was asked with."""
    async with page.expect_request(lambda each: each.method == "POST" and each.url.endswith("/runs")) as sent:
        await page.get_by_role("textbox", name="Your question").fill(question)
        await page.keyboard.press("Enter")
    turn = page.get_by_role("article", name=question, exact=True)
    await expect(turn.get_by_role("button", name="Answer again")).to_be_visible()
    request: Request = await sent.value
    body: dict[str, Any] = request.post_data_json
    return body


async def add(page: Page, way: str) -> None:
    await shelf(page).get_by_role("button", name="Add", exact=True).click()
    await page.get_by_role("menuitem", name=way).click()


async def bring(page: Page, *files: Any, way: str = "Files…") -> None:
    async with page.expect_file_chooser() as chooser:
        await add(page, way)
    await (await chooser.value).set_files(files[0] if isinstance(files[0], Path) else list(files))


async def drag(page: Page, kind: str, *files: tuple[str, str], event: str) -> None:
    await page.evaluate(DROP, [event, kind, list(files)])


async def overload(route: Route) -> None:
    await route.fulfill(status=503, content_type="application/problem+json", body=json.dumps(PROBLEM))


async def test_the_documents_are_read_once_when_the_page_opens(extractive_site: Site, chromium_page: Visits) -> None:
    page = await chromium_page(extractive_site.url, go=False)
    read: list[str] = []
    page.on("request", lambda request: read.append(request.url))
    await page.clock.install()
    await page.goto(extractive_site.url)
    await page.get_by_role("textbox", name="Your question").click()
    await expect(box(page, "Staff handbook")).to_be_visible()
    await page.clock.run_for(10_000)
    await page.evaluate("fetch('/api/me').then((reply) => reply.text())")  # after whatever was asked until then
    assert len([url for url in read if "/api/documents?" in url and "count=true" in url]) == 1, read


async def test_documents_are_found_ticked_asked_alone_and_saved_with_the_session(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url, go=False)
    await offering_web(page)
    await page.goto(extractive_site.url)
    await expect(scope(page)).to_have_text("All documents")
    await expect(shelf(page).get_by_text("Nothing ticked: all answer")).to_be_visible()
    await expect(page.get_by_role("button", name="Web", exact=True)).to_be_enabled()
    await expect(page.get_by_role("combobox", name="Model")).to_be_hidden()
    body = await asked(page, "Which class is booked for trains?")
    assert (body["page_ids"], body["only_selected_pages"], body["search"]) == ([], False, "auto")

    await search(page).fill("probation")
    hit = shelf(page).get_by_role("region", name="Found in the texts").get_by_role("listitem").filter(has_text="Notice")
    await expect(hit).to_contain_text("It is one month during probation.")
    await expect(shelf(page).get_by_text(english("shelf.nothing"))).to_be_visible()
    await hit.get_by_role("button", name="Read Staff handbook").click()
    reader = page.get_by_role("complementary", name="Document")
    await expect(reader.locator("mark").filter(has_text="It is one month during probation.")).to_be_in_viewport()
    await expect(shelf(page)).to_be_hidden()
    await reader.get_by_role("button", name="Close the document").click()
    await hit.get_by_role("checkbox", name="Staff handbook").check()
    await search(page).fill("TRAVEL pol")
    await expect(shelf(page).get_by_role("status").filter(has_text="1 found")).to_have_count(1)
    await box(page, "Travel policy").check()
    await expect(shelf(page).get_by_text("2 ticked")).to_be_visible()
    await expect(scope(page)).to_have_text("2 documents")
    await expect(page.get_by_role("button", name="Web", exact=True)).to_be_disabled()
    body = await asked(page, "How long is the notice period?")
    assert (body["page_ids"], body["only_selected_pages"]) == ([HANDBOOK, TRAVEL], True)
    assert (body["search"], body["web"]) == ("auto", "off")
    path = f"/api/sessions/{page.url.rsplit('/', 1)[1]}"
    assert (await extractive_site.client.get(path)).json()["session"]["page_ids"] == [HANDBOOK, TRAVEL]

    await page.reload()
    await expect(scope(page)).to_have_text("2 documents")
    await expect(box(page, "Travel policy")).to_be_checked()
    async with page.expect_response(lambda each: each.request.method == "PATCH"):
        await box(page, "Travel policy").uncheck()
    await expect(chip(page, "Staff handbook")).to_be_visible()
    async with page.expect_response(lambda each: each.request.method == "PATCH"):
        await page.get_by_role("button", name="Ask all documents again").click()
    await expect(scope(page)).to_have_text("All documents")
    await expect(scope(page)).to_be_focused()
    assert (await extractive_site.client.get(path)).json()["session"]["page_ids"] == []

    await shelf(page).get_by_role("button", name="Read Staff handbook").click()
    text = page.get_by_role("complementary").get_by_text("Unused leave lapses in March.")
    await text.evaluate("(element) => getSelection().selectAllChildren(element)")
    await page.get_by_role("button", name="Ask about this").click()
    await expect(page.get_by_role("listitem").filter(has_text="Marked passage: ")).to_be_visible()
    await page.get_by_role("button", name="Remove the marked passage").click()
    await expect(page.get_by_role("listitem").filter(has_text="Marked passage: ")).to_have_count(0)
    await scope(page).click()
    await expect(shelf(page)).to_be_visible()
    await shelf(page).get_by_role("button", name="Close the documents").click()
    await expect(shelf(page)).to_be_hidden()
    await page.reload()
    await expect(scope(page)).to_have_attribute("aria-expanded", "false")
    await page.get_by_role("button", name="Documents", exact=True).click()
    await expect(box(page, "Staff handbook")).to_be_visible()


@pytest.fixture
async def models_site(module_settings: Settings) -> AsyncIterator[Site]:
    """A deployment with a model that can't think, which is the default, and one that can."""
    with ScriptedOpenAI() as server:
        settings = with_model(module_settings, server)
        thinker = settings.models[0].model_copy(update={"name": "thinker", "thinking_model": "deep"})
        models = [*settings.models, thinker]
        async with site_of(settings.model_copy(update={"models": models}), server) as site:
            yield site


async def test_the_model_is_chosen_and_one_that_is_gone_is_forgotten(chromium_page: Visits, models_site: Site) -> None:
    page = await chromium_page(models_site.url, go=False)
    await offering_web(page)
    await page.goto(models_site.url)
    model = page.get_by_role("combobox", name="Model")
    think = page.get_by_role("button", name="Think", exact=True)
    names = ["scripted", "thinker", re.compile("^Quotes of the documents")]
    await expect(model.get_by_role("option")).to_have_text(names)
    await expect(think).to_be_hidden()  # it has no thinking model
    await model.select_option(index=2)
    body = await asked(page, "When does unused leave lapse?")
    assert body["model"] == "extractive"

    kept = {"model": "sold", "thinking": True, "web": "perhaps", "library": False}
    await page.evaluate("(kept) => localStorage.setItem('citewell.options', JSON.stringify(kept))", kept)
    await page.reload()
    await expect(model).to_have_value("")
    await expect(page.get_by_role("button", name="Web", exact=True)).to_have_attribute("aria-pressed", "false")
    body = await asked(page, "How long is the notice period?")
    assert (body["search"], body["web"]) == ("auto", "off")
    assert not body.keys() & {"model", "thinking"}
    await page.get_by_role("button", name="Web", exact=True).click()
    assert (await asked(page, "Who sells trains?"))["web"] == "fallback"
    await model.select_option(index=1)
    for pressed in ("true", "false"):  # as it was kept
        await expect(think).to_have_attribute("aria-pressed", pressed)
        await think.click()
    body = await asked(page, "Where is second class booked?")
    assert body["thinking"] is True
    assert {each.body["model"] for each in models_site.server.asked("generate_answer")[-1:]} == {"deep"}
    await model.select_option(index=2)
    await expect(think).to_be_hidden()


async def test_what_can_not_be_saved_or_read_is_told_and_tried_again(
    chromium_page: Visits, extractive_site: Site
) -> None:
    session_id = await new_session(extractive_site.client, page_ids=[HANDBOOK])
    page = await chromium_page(f"{extractive_site.url}/#/sessions/{session_id}", faults=[OVERLOADED])
    await expect(chip(page, "Staff handbook")).to_be_visible()
    await page.route(re.compile("/api/sessions/[^/]+$"), overload)
    await box(page, "Travel policy").click()
    alert = page.get_by_role("alert").filter(has_text="Too much is going on.")
    await expect(alert).to_be_visible()
    await expect(box(page, "Travel policy")).not_to_be_checked()
    await expect(shelf(page).get_by_text("1 ticked")).to_be_visible()
    await page.unroute_all()
    await alert.get_by_role("button", name="Try again").click()
    await expect(box(page, "Travel policy")).to_be_checked()

    await page.route(re.compile(r"/api/documents\?"), overload)
    await search(page).fill("policy")
    await expect(shelf(page).get_by_text(f"{english('shelf.failed')} {PROBLEM['detail']}")).to_be_visible()
    await page.unroute_all()
    await shelf(page).get_by_role("button", name="Try again").click()
    await expect(box(page, "Staff handbook")).to_have_count(0)
    await expect(box(page, "Travel policy")).to_be_visible()


async def test_files_texts_and_addresses_are_added_and_what_is_to_be_said_of_them_is_said(
    chromium_page: Visits, extractive_site: Site, tmp_path: Path
) -> None:
    page = await chromium_page(extractive_site.url, faults=[REFUSED, OVERLOADED])
    await bring(
        page, file("shuttle.md", "# Shuttle\n\nIt leaves at noon."), file("void.md", ""), file("a.pdf", "%PDF-1.4")
    )
    await expect(incoming(page)).to_contain_text("1 document added · 2 not added")
    await expect(incoming(page, "void.md")).to_contain_text("The file is empty.")
    await expect(incoming(page, "a.pdf")).to_contain_text(english("shelf.incoming.refusals.file_broken"))
    await expect(incoming(page, "a.pdf").get_by_role("button", name="Try again")).to_be_hidden()
    await expect(incoming(page).get_by_role("status")).to_contain_text("a.pdf was not added: ")
    await expect(box(page, "Shuttle")).not_to_be_checked()
    await incoming(page).get_by_role("button", name="Put away void.md").click()
    await expect(incoming(page, "void.md")).to_have_count(0)
    await incoming(page).get_by_role("button", name="Put away", exact=True).click()
    await expect(incoming(page)).to_be_hidden()

    street = "Die Straße ist für Fußgänger gesperrt.".encode("cp1252")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("ferries.md", "# Ferries\n\nThe ferry leaves at one.")
        archive.writestr("map.png", b"\x89PNG\0")
    again = [file("shuttle.md", "# Shuttle\n\nIt leaves at noon."), file("bus.md", "# Shuttle\n\nIt leaves at noon.")]
    await bring(page, again[0])
    await expect(incoming(page, "shuttle.md")).to_contain_text(english("shelf.incoming.notes.same"))
    await expect(incoming(page).locator(".count")).to_have_text("1 already there")
    await bring(page, again[1], file("street.txt", street), file("island.zip", packed.getvalue()))
    await expect(incoming(page, "bus.md")).to_contain_text(english("shelf.incoming.notes.renamed"))
    await expect(incoming(page, "street.txt")).to_contain_text("read as windows-1252")
    await expect(incoming(page, "island.zip/map.png")).to_contain_text(english("shelf.incoming.refusals.file_picture"))
    await expect(box(page, "Ferries")).to_be_visible()
    await incoming(page).get_by_role("button", name="Put away", exact=True).click()

    await bring(page, file("bus.md", "Buses are another matter."))
    await expect(incoming(page, "bus.md")).to_contain_text(english("shelf.incoming.notes.twin"))
    replace = english("shelf.incoming.replaceName", name="bus.md")
    await incoming(page).get_by_role("button", name=replace).click()
    await expect(box(page, "Shuttle")).to_have_count(0)
    await expect(box(page, "bus")).to_be_visible()
    await page.get_by_role("button", name="Undo").click()
    await expect(box(page, "Shuttle")).to_be_visible()

    await add(page, "A text…")
    await expect(shelf(page).get_by_role("textbox", name="Title")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(shelf(page).get_by_role("button", name="Add", exact=True)).to_be_focused()
    await add(page, "A text…")
    await page.keyboard.type("Kitchen")
    await shelf(page).get_by_role("textbox", name="Text", exact=True).fill("The kitchen closes at nine.")
    await page.route("**/api/documents", overload)
    await shelf(page).get_by_role("button", name="Add the text").click()
    await expect(incoming(page, "Kitchen")).to_contain_text(PROBLEM["detail"])
    await page.unroute_all()
    await incoming(page).get_by_role("button", name="Try again: Kitchen").click()
    await expect(box(page, "Kitchen")).to_be_visible()

    fetched = {"document_id": HANDBOOK, "name": "", "title": "Handbook", "status": "created", "segments": 1}

    async def fetch(route: Route) -> None:
        assert route.request.post_data_json == {"url": "https://wiki.example/handbook"}
        await route.fulfill(json=fetched)

    await page.route("**/api/documents", fetch)
    await add(page, "A web address…")
    await shelf(page).get_by_role("textbox", name="Address").fill("https://wiki.example/handbook")
    await page.keyboard.press("Enter")
    await expect(incoming(page, "https://wiki.example/handbook")).to_contain_text("Added")

    async def follow(route: Route) -> None:
        await route.fulfill(json={"source_id": HANDBOOK, "syncing": False, "documents": 12})

    await page.route(re.compile("/api/sources"), follow)
    await add(page, "A web address…")
    await shelf(page).get_by_role("textbox", name="Address").fill("https://wiki.example/")
    await shelf(page).get_by_role("combobox", name="How much").select_option("site")
    await shelf(page).get_by_role("textbox", name="Address").press("Enter")
    await expect(incoming(page).get_by_text("12 pages added.")).to_be_visible()

    (tmp_path / "plans" / "old").mkdir(parents=True)
    (tmp_path / "plans" / "old" / "desks.csv").write_text("item,euros\ndesk,300\n")
    (tmp_path / "plans" / "Moving day.md").write_text("Desks come on Monday.")
    await bring(page, tmp_path / "plans", way="A folder…")
    await expect(box(page, "desks")).to_be_visible()
    await shelf(page).get_by_text("Sort and narrow").click()
    await shelf(page).get_by_role("combobox", name="Folder").select_option(label="plans/old (1)")
    await expect(shelf(page).get_by_role("grid").get_by_role("checkbox")).to_have_count(1)
    await shelf(page).get_by_role("combobox", name="Folder").select_option(label="All folders")
    await shelf(page).get_by_role("combobox", name="Type").select_option(label="Table (1)")
    await expect(shelf(page).get_by_role("grid").get_by_role("checkbox")).to_have_count(1)


async def test_all_and_one_are_paused_cancelled_and_taken_up_again(
    chromium_page: Visits, extractive_site: Site
) -> None:
    jobs, worker = extractive_site.citewell.library.jobs, extractive_site.citewell.library.job_worker
    texts = [f"Early bird {n} of {uuid4()}.".encode() for n in range(1, 7)]
    wired = [WiredDocument.of(NewDocument(name=f"early {n}.md", data=text)) for n, text in enumerate(texts, start=1)]
    await worker.close()  # six short files may be read before a pause comes
    job_id = await jobs.submit(Identity(), wired)
    await jobs.pause(Identity(), job_id)
    worker.start()
    page = await chromium_page(extractive_site.url)
    await expect(incoming(page)).to_contain_text(re.compile(r"\d of 6 · Paused"))  # what was begun elsewhere
    await incoming(page).get_by_role("button", name="Go on").click()
    await expect(incoming(page)).to_contain_text("6 documents added")
    await incoming(page).get_by_role("button", name="Put away", exact=True).click()

    held: list[Route] = []
    gate = asyncio.Event()

    async def hold(route: Route) -> None:
        held.append(route)
        await gate.wait()
        with suppress(BrowserError):  # it was called back
            await route.continue_()

    await page.route("**/api/jobs", hold)
    await bring(page, *(file(f"queue {n}.md", f"Number {n} of the queue. " * n) for n in range(1, 46)))
    await expect(incoming(page)).to_contain_text("0 of 45")
    await expect(incoming(page).get_by_role("progressbar", name="How much is added")).to_be_visible()
    await expect(incoming(page, "queue 1.md")).to_contain_text("Sending")
    await incoming(page).get_by_role("button", name="and 42 more").click()
    await expect(incoming(page, "queue 45.md")).to_contain_text("Waiting")
    assert len(held) == 2, "two batches are sent at a time"
    await incoming(page).get_by_role("button", name="Cancel queue 45.md").click()
    await incoming(page).get_by_role("button", name="Pause").click()
    await expect(incoming(page)).to_contain_text("0 of 44 · Paused")
    await incoming(page).get_by_role("button", name="Cancel all").click()
    await expect(incoming(page)).to_be_hidden()

    await bring(page, *(file(f"row {n}.md", f"Row {n} of the boat.") for n in (1, 2, 3)))
    await expect(incoming(page, "row 2.md")).to_contain_text("Sending")
    await incoming(page).get_by_role("button", name="Cancel row 2.md").click()
    await expect(incoming(page, "row 2.md")).to_have_count(0)
    gate.set()  # the two that had left with it go again
    await expect(incoming(page)).to_contain_text("2 documents added")
    listed = (await extractive_site.client.get("/api/documents", params={"q": "row"})).json()["documents"]
    assert {document["title"] for document in listed} == {"row 1", "row 3"}


async def test_files_dropped_anywhere_come_in_and_nothing_is_ticked(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url, faults=[REFUSED])
    await shelf(page).get_by_role("button", name="Close the documents").click()
    overlay = page.get_by_text(english("shelf.drop"))
    await drag(page, "text", event="dragenter")
    await expect(overlay).to_be_hidden()
    await drag(page, "file", ("a.md", ""), event="dragenter")
    await expect(overlay).to_be_visible()
    await drag(page, "file", event="dragleave")
    await expect(overlay).to_be_hidden()

    sent = 0

    async def too_large(route: Route) -> None:
        nonlocal sent
        sent += 1
        if sent in (2, 3):  # first all three, and then each by itself
            return await route.continue_()
        body = json.dumps({"code": "request_too_large", "detail": "The request is larger than 1 MB."})
        await route.fulfill(status=413, content_type="application/problem+json", body=body)

    await page.route(re.compile("/api/(jobs|documents)$"), too_large)
    files = [("Parking.md", "# Parking\n\nBay nine is free."), ("Lifts.md", "The lift is slow."), ("huge.txt", "w")]
    await drag(page, "file", *files, event="drop")
    await expect(overlay).to_be_hidden()
    # What is too large together goes by itself, and only the one is refused.
    await expect(incoming(page)).to_contain_text("2 documents added · 1 not added")
    await expect(incoming(page, "huge.txt")).to_contain_text(english("shelf.incoming.refusals.request_too_large"))
    await expect(box(page, "Parking")).not_to_be_checked()
    body = await asked(page, "Which bay is free?")
    assert not body.get("page_ids"), "where nothing is ticked, the whole library answers"


async def test_thousands_are_listed_grouped_and_ticked_by_keyboard_as_far_as_they_are_in_sight(
    chromium_page: Visits, extractive_site: Site
) -> None:
    library = extractive_site.citewell.library
    await library.workspaces.ensure("Many")
    made = [
        NewDocument(name=f"folder {n % 3}/note {n:03}.md", title=f"Note {n:03}", data=f"Note {n} is short.".encode())
        for n in range(MANY)
    ]
    async for report in library.ingestor.ingest_many(Identity("Many"), made):
        assert report.status == "created"
    page = await chromium_page(extractive_site.url, go=False, reduced_motion="reduce")
    await page.add_init_script("sessionStorage.setItem('citewell.workspace', 'Many')")
    await page.goto(extractive_site.url)
    grid, rows = shelf(page).get_by_role("grid"), shelf(page).get_by_role("row")
    await expect(grid).to_have_attribute("aria-rowcount", str(MANY))
    await shelf(page).get_by_text("Sort and narrow").click()
    await shelf(page).get_by_role("combobox", name="Sort by").select_option("title")
    await expect(rows.first).to_contain_text("Note 000")
    assert await rows.count() < 40
    await search(page).press("ArrowDown")
    await expect(rows.first).to_be_focused()
    await page.keyboard.press("End")
    last = rows.and_(grid.locator(f'[aria-rowindex="{MANY}"]'))
    await expect(last).to_be_focused()
    await expect(last).to_contain_text(f"Note {MANY - 1}")
    await page.keyboard.press("Space")
    await expect(last).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Shift+Space")
    await expect(shelf(page).get_by_text("3 ticked")).to_be_visible()
    await page.keyboard.press("ArrowRight")
    await expect(box(page, f"Note {MANY - 3}")).to_be_focused()
    await page.keyboard.press("Home")
    await page.keyboard.press("ArrowUp")
    await expect(search(page)).to_be_focused()

    await shelf(page).get_by_role("checkbox", name="By folder").check()
    await expect(grid).to_have_attribute("aria-rowcount", str(MANY + 3))
    await expect(rows.first).to_contain_text("folder 0")
    await expect(rows.nth(1)).to_contain_text("Note 000")
    await shelf(page).get_by_role("button", name="Tick all in folder 0").click()
    await expect(shelf(page).get_by_text("79 ticked")).to_be_visible()
    await search(page).press("ArrowDown")
    await page.keyboard.press("PageDown")
    await page.keyboard.press("Control+a")
    await expect(shelf(page).get_by_text(f"{MANY} ticked")).to_be_visible()
    await expect(shelf(page).get_by_text("More than 100 documents are ticked")).to_be_visible()
    await grid.evaluate("(element) => (element.scrollTop = 78 * 56)")
    await expect(grid.locator(".head").get_by_text("folder 1", exact=True)).to_be_in_viewport()
    await accessible(page, "many documents, grouped and ticked")

    await shelf(page).get_by_role("button", name="Delete", exact=True).click()
    await expect(page.get_by_text(f"Deleted {MANY} documents.")).to_be_visible()
    await expect(shelf(page).get_by_text("Your library is empty")).to_be_visible()
    await expect(scope(page)).to_have_text("All documents")
    await page.get_by_role("button", name="Undo").click()
    await expect(grid).to_have_attribute("aria-rowcount", str(MANY + 3))
    await expect(scope(page)).to_have_text(f"{MANY} documents")


async def test_what_is_deleted_is_gone_in_every_tab_comes_back_and_is_marked_where_it_was_ticked(
    chromium_page: Visits, extractive_site: Site
) -> None:
    made = await extractive_site.client.post("/api/documents", json={"title": "Canteen", "text": "Soup on Fridays."})
    document_id = made.json()["document_id"]
    session_id = await new_session(extractive_site.client, page_ids=[document_id, TRAVEL])
    other = await chromium_page(f"{extractive_site.url}/#/sessions/{session_id}", faults=[REFUSED])
    await expect(box(other, "Canteen")).to_be_checked()
    page = await other.context.new_page()
    await page.goto(extractive_site.url)
    await box(page, "Canteen").focus()
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("Delete")
    await expect(page.get_by_text("Deleted Canteen.")).to_be_visible()
    await expect(box(page, "Canteen")).to_have_count(0)
    assert (await extractive_site.client.get(f"/api/documents/{document_id}")).status_code == 404
    await expect(box(other, "Canteen")).to_have_count(0)
    await expect(shelf(other).get_by_text("1 ticked document is gone")).to_be_visible()
    await page.get_by_role("button", name="Undo").click()
    await expect(box(page, "Canteen")).to_be_visible()
    await expect(box(other, "Canteen")).to_be_visible()
    await extractive_site.client.delete(f"/api/documents/{document_id}")
    await other.reload()
    await expect(scope(other)).to_have_text("1 document1 gone")
    body = await asked(other, "Which class is booked for trains?")
    assert body["page_ids"] == [TRAVEL]
    await shelf(other).get_by_role("button", name="Untick").click()
    await expect(chip(other, "Travel policy")).to_be_visible()


async def test_in_a_narrow_window_the_documents_are_a_drawer_for_readers_without_what_writes(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(
        extractive_site.url, go=False, viewport=NARROW, color_scheme="dark", reduced_motion="reduce"
    )

    async def reader(route: Route) -> None:
        reply = await route.fetch()
        await route.fulfill(json={**await reply.json(), "scopes": ["ask", "read"]})

    await page.route("**/api/me", reader)
    await page.goto(extractive_site.url)
    await expect(shelf(page)).to_be_hidden()
    await scope(page).focus()
    await page.keyboard.press("Enter")
    await expect(search(page)).to_be_focused()
    await expect(shelf(page).get_by_role("button", name="Add", exact=True)).to_be_hidden()
    await page.keyboard.type("policy")
    await expect(shelf(page).get_by_role("grid").get_by_role("checkbox")).to_have_count(1)
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Space")
    await expect(box(page, "Travel policy")).to_be_checked()
    await expect(shelf(page).get_by_role("button", name=re.compile("^Delete"))).to_have_count(0)
    await accessible(page, "the drawer of documents", [NARROW])
    assert await page.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0
    await page.keyboard.press("Escape")
    await expect(shelf(page)).to_be_hidden()
    await expect(scope(page)).to_be_focused()
    await expect(chip(page, "Travel policy")).to_be_visible()
    await scope(page).click()
    await shelf(page).get_by_role("button", name="Read Travel policy").first.click()
    await expect(shelf(page)).to_be_hidden()
    await expect(page.get_by_role("heading", name="Travel policy").first).to_be_visible()


async def test_office_files_are_brought_in_and_cited_by_slide_and_cell(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url)
    names = ["moving-plan.docx", "equipment.xlsx", "first-week.pptx"]
    await bring(page, *(file(name, (DEMO / name).read_bytes()) for name in names))
    await expect(incoming(page)).to_contain_text("3 documents added")
    shown: list[tuple[str, str, Literal["tab", "heading"], str]] = [
        ("What is the most that a standing desk may cost?", "sheet Equipment, A4", "tab", "Equipment"),
        ("For how long does a newcomer have a buddy?", "slide 5", "heading", "Slide 5"),
    ]
    for question, place, role, name in shown:
        await asked(page, question)
        turn = page.get_by_role("article", name=question, exact=True)
        marker = turn.get_by_role("button", name=re.compile("^Source 1"))
        await expect(turn.locator(".quoted-from").first).to_contain_text(place)
        await marker.click()
        await expect(page.get_by_role(role, name=name, exact=True)).to_be_visible()
        await expect(page.locator(".reader mark.current").first).to_be_in_viewport()
    await expect(page.locator(".reader").get_by_text("5 slides", exact=True)).to_be_visible()


async def shifted(page: Page) -> float:
    """Give how far what stood had moved by itself."""
    return float(
        await page.evaluate("""() => new Promise((resolve) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const each of list.getEntries()) if (!each.hadRecentInput) sum += each.value;
            resolve(sum);
          }).observe({ type: "layout-shift", buffered: true });
          setTimeout(() => resolve(sum), 500);
        })""")
    )


async def test_a_collection_is_made_filled_asked_alone_shared_and_deleted(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url)
    await expect(shelf(page).get_by_role("grid").get_by_role("checkbox").first).to_be_visible()
    assert await shifted(page) <= 0.05
    await search(page).fill("staff")
    await box(page, "Staff handbook").check()
    await shelf(page).get_by_role("button", name=english("collections.put")).click()
    await page.get_by_role("menuitem", name=english("collections.make")).click()
    name = shelf(page).get_by_role("textbox", name=english("collections.name"))
    await expect(name).to_be_focused()
    await accessible(page, "the form of a collection")
    await name.fill("House rules")
    await page.keyboard.press("Enter")
    alone = shelf(page).get_by_role("checkbox", name="Ask House rules alone")
    await expect(shelf(page).get_by_text("1 document", exact=True)).to_be_visible()
    await shelf(page).get_by_role("button", name=english("shelf.clearLabel")).click()
    await alone.check()
    await expect(scope(page)).to_have_text(english("selection.only"))
    body = await asked(page, "Which class is booked for trains?")
    assert (body["page_ids"], len(body["collection_ids"]), body["only_selected_pages"]) == ([], 1, True)
    turn = page.get_by_role("article", name="Which class is booked for trains?", exact=True)
    await expect(turn).not_to_contain_text("Second class is")
    await alone.uncheck()
    await turn.get_by_role("button", name="Edit the question").click()
    await turn.get_by_role("textbox", name=english("conversation.editing")).fill("Which class is booked for planes?")
    async with page.expect_request(lambda each: each.method == "POST" and each.url.endswith("/runs")) as sent:
        await page.keyboard.press("Enter")
    edited: dict[str, Any] = (await sent.value).post_data_json
    assert (edited["page_ids"], edited["collection_ids"]) == ([], body["collection_ids"])
    await expect(page.get_by_role("group", name="Versions of the question")).to_contain_text("2 of 2")
    await alone.check()

    await page.reload()
    await expect(alone).to_be_checked()
    await search(page).fill("travel")
    await (
        shelf(page)
        .get_by_role("row")
        .filter(has_text="Travel policy")
        .drag_to(
            shelf(page).get_by_role("listitem").filter(has=page.get_by_role("checkbox", name="Ask House rules alone"))
        )
    )
    await expect(shelf(page).get_by_text("2 documents", exact=True)).to_be_visible()
    await search(page).fill("")
    await shelf(page).get_by_role("button", name=re.compile("^House rules")).click()
    await expect(shelf(page).get_by_role("grid").get_by_role("checkbox")).to_have_count(2)
    await bring(page, file("curfew.md", "# Curfew\n\nThe gate is shut at ten."))
    await expect(box(page, "Curfew")).to_be_visible()
    await asked(page, "When is the gate shut?")
    await expect(page.get_by_role("article", name="When is the gate shut?", exact=True)).to_contain_text("at ten")

    await shelf(page).get_by_role("button", name="What to do with House rules").click()
    await page.get_by_role("menuitem", name=english("collections.edit")).click()
    await name.fill("Rules of the house")
    await shelf(page).get_by_label(english("collections.shared")).check()
    await shelf(page).get_by_role("button", name="Save").click()
    await expect(shelf(page).get_by_text("3 documents · shared")).to_be_visible()
    await expect(page.get_by_role("button", name="Ask Rules of the house no longer alone")).to_be_visible()
    other = await page.context.new_page()
    await other.goto(page.url)
    await expect(other.get_by_role("button", name="Ask Rules of the house no longer alone")).to_be_visible()
    alone = shelf(page).get_by_role("checkbox", name="Ask Rules of the house alone")
    for at in range(2):
        await shelf(page).get_by_role("button", name="What to do with Rules of the house").click()
        await page.get_by_role("menuitem", name=english("collections.delete")).click()
        await expect(scope(page)).to_have_text("All documents")
        await expect(alone).to_have_count(0)
        await expect(shelf(page).get_by_role("button", name="Add", exact=True)).to_be_focused()
        await page.get_by_role("button", name=("Undo", "Close")[at], exact=True).last.click()
        await expect(alone).to_have_count(1 - at)
        if not at:
            await expect(alone).to_be_checked()
            await expect(shelf(page).get_by_text("3 documents · shared")).to_be_visible()
            await expect(box(page, "Curfew")).to_be_visible()
            await expect(scope(other)).to_have_text(english("selection.only"))
    await expect(scope(other)).to_have_text("Only these1 gone")
    await field(other).fill("Which class is booked for trains?")
    await other.keyboard.press("Enter")
    await expect(other.get_by_role("alert").filter(has_text=english("selection.lost"))).to_be_visible()
    await expect(field(other)).to_have_value("Which class is booked for trains?")
    await other.get_by_role("button", name=english("selection.clear")).click()
    body = await asked(other, "Which class is booked by trains?")
    assert (body["only_selected_pages"], body["page_ids"]) == (False, [])


async def test_what_is_typed_behind_an_at_is_asked_alone_until_backspace_takes_it_away(
    chromium_page: Visits, extractive_site: Site
) -> None:
    kept = {"name": "Way out", "document_ids": [TRAVEL]}
    await extractive_site.client.post("/api/collections", json=kept)
    page = await chromium_page(extractive_site.url)
    field = page.get_by_role("textbox", name="Your question")
    options = page.get_by_role("listbox", name=english("collections.mention.label")).get_by_role("option")
    await field.press_sequentially("ask ann@trav")
    await field.fill("")
    await field.press_sequentially("@way")
    await expect(options).to_have_text(re.compile("^Way out"))
    await accessible(page, "the list behind an at")
    await page.keyboard.press("Escape")
    await expect(options).to_have_count(0)
    await field.fill("")
    await field.press_sequentially("@staff h")
    await expect(options.first).to_have_attribute("aria-selected", "true")
    await expect(field).to_have_attribute("aria-activedescendant", str(await options.first.get_attribute("id")))
    await field.fill("")
    await field.press_sequentially("@t")
    await expect(options.filter(has_not_text="Travel").first).to_be_visible()
    await field.press_sequentially("ravel")
    await page.keyboard.press("Enter")  # before the list is that of the word
    await expect(field).to_have_value("")
    told = page.get_by_role("status").filter(has_text="Travel policy is asked alone")
    await expect(told).to_have_count(1)
    await page.keyboard.press("Backspace")
    await expect(chip(page, "Travel policy")).to_have_count(0)
    await expect(told).to_have_count(0)
    await field.press_sequentially("@staff h")
    await page.keyboard.press("Enter")
    await expect(chip(page, "Staff handbook")).to_be_visible()
    await field.press_sequentially("@way")
    await options.filter(has_text="Way out").click()
    await expect(field).to_be_focused()
    chips = page.get_by_role("button", name=re.compile("no longer alone$"))
    await expect(chips).to_have_count(2)
    await page.keyboard.press("Backspace")
    await expect(chips).to_have_count(1)
    await expect(scope(page)).to_have_text(english("selection.only"))
    await field.press_sequentially("What of @staff")
    await expect(options.first).to_contain_text("Staff handbook")
    await page.keyboard.press("Tab")
    await expect(field).to_have_value("What of Staff handbook ")
    body = await asked(page, "When does unused leave lapse?")
    assert (body["page_ids"], len(body["collection_ids"])) == ([HANDBOOK], 1)


async def test_a_card_says_what_a_document_is_and_its_title_is_changed_in_its_place(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url)
    await bring(page, file("scan 7.pdf", placed_pdf([column(72, 700, ["The lantern is lit at dusk."])])))
    title = "The rules of the lighthouse of the northern coast, as they were agreed upon by all of its keepers"
    await expect(box(page, "scan 7")).to_be_visible()
    await bring(page, file("later.md", "# Later\n\nThe tide comes later."))
    await expect(box(page, "Later")).to_be_visible()
    await shelf(page).get_by_role("row").filter(has_text="scan 7").hover()
    await shelf(page).get_by_role("button", name="What to do with scan 7").click()
    card = page.get_by_role("dialog", name="scan 7")
    await expect(card.get_by_role("img", name=english("collections.card.page"))).to_be_visible()
    await expect(card).to_contain_text("by you")
    await accessible(page, "the card of a document")
    unchanged = shelf(page).get_by_role("row").nth(2)  # the renamed one comes first
    await unchanged.evaluate("row => (row.stays = true)")
    await card.get_by_role("button", name=english("collections.card.rename")).click()
    await card.get_by_role("textbox", name=english("collections.card.title")).fill(title)
    await page.keyboard.press("Enter")
    card = page.get_by_role("dialog", name=title)
    await expect(card.get_by_role("heading", name=title)).to_be_visible()
    await page.keyboard.press("Escape")
    row = shelf(page).get_by_role("row").filter(has_text=title)
    await expect(row).to_be_focused()
    assert await unchanged.evaluate("row => row.stays === true"), "a row that shows the same is not made anew"
    cut = """(row) => {
      const [name, ...facts] = [".name", ".fact.type bdi", ".fact.time bdi"].map((each) => row.querySelector(each));
      const { textOverflow, display, textAlign } = getComputedStyle(name);
      return [textOverflow, display, name.scrollLeft, facts.map((each) => each.scrollWidth > each.clientWidth + 1)];
    }"""
    assert await row.evaluate(cut) == ["ellipsis", "block", 0, [False, False]]
    await asked(page, "When is the lantern lit?")
    await expect(page.get_by_role("article", name="When is the lantern lit?", exact=True)).to_contain_text(title)


async def test_what_texts_say_stands_below_the_names_and_news_are_counted_as_they_are(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url, faults=[REFUSED])
    await search(page).fill("probation")
    found = shelf(page).get_by_role("region", name="Found in the texts")
    await expect(found).to_be_visible()
    said = await shelf(page).get_by_text(english("shelf.nothing")).bounding_box()
    texts = await found.bounding_box()
    assert said is not None
    assert texts is not None
    assert texts["y"] - (said["y"] + said["height"]) < 40
    await search(page).fill("")

    await bring(page, file("news.md", "# News\n\nIt rains."))
    await expect(box(page, "News")).to_be_visible()
    await incoming(page).get_by_role("button", name="Put away", exact=True).click()
    picture = file("harbour.jpg", b"\xff\xd8\xff\xe0\x10JFIF")  # damaged, and so like a text
    await bring(page, file("news.md", "# News\n\nIt rains."), file("more.md", "# More\n\nIt snows."), picture)
    told = incoming(page).get_by_role("status")
    await expect(told).to_contain_text("1 document was added. 1 document was there already. harbour.jpg was not added:")
    await expect(incoming(page, "harbour.jpg").locator(".why")).to_have_text(
        english("shelf.incoming.refusals.file_picture")
    )
    await expect(incoming(page).get_by_role("listitem").first).to_contain_text("harbour.jpg")
