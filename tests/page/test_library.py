"""The library and the selection: pages found and picked, documents brought in and deleted, and asked of."""

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, Request, Route, expect

from tests.api.conftest import HANDBOOK, TRAVEL, new_session, with_model
from tests.api.reading import events_of
from tests.page.axe import accessible
from tests.page.browsing import NARROW, Visits, offering_web
from tests.page.sites import Site, site_of
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


def file(name: str, text: str | bytes) -> Any:
    return {"name": name, "mimeType": "", "buffer": text if isinstance(text, bytes) else text.encode()}


def shelf(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Library")


def chip(page: Page, title: str) -> Locator:
    selection = page.get_by_role("group", name="What the answer draws on")
    return selection.get_by_role("listitem").filter(has_text=title)


def switch(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


async def open_library(page: Page) -> Locator:
    await page.get_by_role("button", name="Add documents").click()
    await expect(shelf(page).get_by_role("checkbox").first).to_be_visible()
    return shelf(page)


async def select(page: Page, *titles: str) -> None:
    library = await open_library(page)
    for title in titles:
        await library.get_by_role("checkbox", name=title).check()
    await library.get_by_role("button", name="Done").click()


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


def session_of(page: Page) -> str:
    return page.url.rsplit("/", 1)[1]


async def steps_of(site: Site, session_id: str) -> list[str]:
    """List the steps of a session's last run."""
    runs = (await site.client.get(f"/api/sessions/{session_id}/runs")).json()["runs"]
    stream = await site.client.get(f"/api/runs/{runs[0]['run_id']}/stream")
    return [event["step"] for event in events_of(stream) if event["type"] == "step_started"]


async def bring(page: Page, *files: Any) -> None:
    async with page.expect_file_chooser() as chooser:
        await shelf(page).get_by_role("button", name="Add files").click()
    await (await chooser.value).set_files(list(files))


def upload(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name="Uploads").get_by_role("listitem").filter(has_text=name)


async def drag(page: Page, kind: str, *files: tuple[str, str], event: str) -> None:
    await page.evaluate(DROP, [event, kind, list(files)])


async def overload(route: Route) -> None:
    await route.fulfill(status=503, content_type="application/problem+json", body=json.dumps(PROBLEM))


async def test_pages_are_found_by_title_and_text_asked_of_and_saved_with_the_session(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url)
    library = await open_library(page)
    search = library.get_by_role("searchbox", name="Search titles and texts")
    await expect(search).to_be_focused()

    await search.fill("probation")
    hit = library.get_by_role("region", name="Found in the text").get_by_role("listitem").filter(has_text="handbook")
    await hit.get_by_role("button", name="Read Staff handbook").click()
    reader = page.get_by_role("complementary", name="Document")
    await expect(reader.locator("mark").filter(has_text="It is one month during probation.")).to_be_in_viewport()
    await reader.get_by_role("button", name="Close the document").click()
    await open_library(page)

    await search.fill("travel")
    titles = library.get_by_role("region", name="Documents")
    await expect(titles.get_by_role("checkbox")).to_have_count(1)
    await titles.get_by_role("checkbox", name="Travel policy").check()
    await search.fill("probation")
    texts = library.get_by_role("region", name="Found in the text")
    found = texts.get_by_role("listitem").filter(has_text="Staff handbook")
    await expect(found).to_contain_text("Notice")
    await expect(found).to_contain_text("It is one month during probation.")
    await expect(library.get_by_role("status").filter(has_text="1 document")).to_have_count(1)
    await found.get_by_role("checkbox").check()
    await expect(library.get_by_text("2 documents selected")).to_be_visible()
    await search.fill("zyzzyva")
    await expect(library.get_by_text("No text says this.")).to_be_visible()
    await page.keyboard.press("Escape")  # clears the field, as in any field of this kind
    await expect(titles.get_by_role("checkbox", name="Travel policy")).to_be_checked()
    await page.keyboard.press("Escape")
    await expect(library).to_be_hidden()
    await expect(page.get_by_role("button", name="Add documents")).to_be_focused()

    body = await asked(page, "How long is the notice period?")
    assert body["page_ids"] == [TRAVEL, HANDBOOK]
    assert (body["search"], body["web"], body["only_selected_pages"]) == ("auto", "off", False)
    session = (await extractive_site.client.get(f"/api/sessions/{session_of(page)}")).json()
    assert session["session"]["page_ids"] == [TRAVEL, HANDBOOK]
    assert session["messages"][0]["page_ids"] == [TRAVEL, HANDBOOK]

    await page.reload()
    await expect(chip(page, "Staff handbook")).to_be_visible()
    async with page.expect_response(lambda each: each.request.method == "PATCH"):
        await page.get_by_role("button", name="Remove Travel policy").click()
    await expect(chip(page, "Travel policy")).to_have_count(0)
    await expect(page.get_by_role("button", name="Remove Staff handbook")).to_be_focused()
    session = (await extractive_site.client.get(f"/api/sessions/{session_of(page)}")).json()["session"]
    assert session["page_ids"] == [HANDBOOK]

    library = await open_library(page)
    pinned = library.get_by_role("region", name="Selected").get_by_role("checkbox", name="Staff handbook")
    await expect(pinned).to_be_checked()
    await library.get_by_role("button", name="Read Staff handbook").click()
    await expect(library).to_be_hidden()
    await expect(page.get_by_role("complementary").get_by_text("Unused leave lapses in March.")).to_be_visible()


async def test_where_to_look_is_switched_kept_and_left_to_the_pages_alone(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url, go=False)
    await offering_web(page)
    await page.goto(extractive_site.url)
    await expect(switch(page, "Only these documents")).to_be_hidden()
    await expect(page.get_by_role("combobox", name="Model")).to_be_hidden()
    await expect(switch(page, "Think")).to_be_hidden()
    await switch(page, "Web").click()
    await switch(page, "Search library").click()
    await page.reload()
    await expect(switch(page, "Web")).to_have_attribute("aria-pressed", "true")
    await expect(switch(page, "Search library")).to_have_attribute("aria-pressed", "false")
    body = await asked(page, "Who sells trains?")
    assert (body["search"], body["web"]) == ("off", "also")
    assert "search_segments" not in await steps_of(extractive_site, session_of(page))
    await switch(page, "Search library").click()
    body = await asked(page, "Which class is booked for trains?")
    assert (body["search"], body["web"]) == ("auto", "fallback")
    assert "search_segments" in await steps_of(extractive_site, session_of(page))

    async with page.expect_response(lambda each: each.request.method == "PATCH"):
        await select(page, "Travel policy")
    await switch(page, "Only these documents").click()
    await expect(switch(page, "Web")).to_be_disabled()
    await expect(switch(page, "Search library")).to_be_disabled()
    body = await asked(page, "How many days of annual leave does an employee get?")
    assert body["only_selected_pages"] is True
    assert body["page_ids"] == [TRAVEL]
    assert (body["search"], body["web"]) == ("auto", "off")
    messages = (await extractive_site.client.get(f"/api/sessions/{session_of(page)}")).json()["messages"]
    assert {source["document_id"] for source in messages[-1]["sources"]} <= {TRAVEL}
    assert messages[-1]["outcome"] == "abstained"
    # Without a page there is nothing that alone could answer: the question is asked as if it had never been limited.
    await page.get_by_role("button", name="Remove Travel policy").click()
    await expect(switch(page, "Only these documents")).to_be_hidden()
    await expect(switch(page, "Web")).to_be_enabled()
    body = await asked(page, "When does unused leave lapse?")
    assert body["only_selected_pages"] is False


async def test_the_model_is_chosen_and_one_that_is_gone_is_forgotten(
    chromium_page: Visits, model_site: Site, module_settings: Settings
) -> None:
    page = await chromium_page(model_site.url, go=False)
    await offering_web(page)
    await page.goto(model_site.url)
    model = page.get_by_role("combobox", name="Model")
    await expect(model.get_by_role("option")).to_have_text(["scripted", re.compile("^Quotes of the documents")])
    await expect(switch(page, "Think")).to_be_hidden()  # it has no thinking model
    await model.select_option(index=1)
    body = await asked(page, "When does unused leave lapse?")
    assert body["model"] == "extractive"

    kept = {"model": "sold", "thinking": True, "web": "perhaps", "library": False}
    await page.evaluate("(kept) => localStorage.setItem('citewell.options', JSON.stringify(kept))", kept)
    await page.reload()
    await expect(model).to_have_value("")
    await expect(switch(page, "Web")).to_have_attribute("aria-pressed", "false")
    await expect(switch(page, "Search library")).to_have_attribute("aria-pressed", "false")
    await switch(page, "Search library").click()
    body = await asked(page, "How long is the notice period?")
    assert (body["search"], body["web"]) == ("auto", "off")
    assert not body.keys() & {"model", "thinking"}

    named = with_model(module_settings, model_site.server)
    deep = named.models[0].model_copy(update={"thinking_model": "deep"})
    async with site_of(named.model_copy(update={"models": [deep]})) as site:
        page = await chromium_page(site.url)
        await switch(page, "Think").click()
        body = await asked(page, "How long is the notice period?")
        assert body["thinking"] is True
        assert {each.body["model"] for each in model_site.server.asked("generate_answer")[-1:]} == {"deep"}
        await page.get_by_role("combobox", name="Model").select_option(index=1)
        await expect(switch(page, "Think")).to_be_hidden()


async def test_a_marked_passage_can_be_put_away(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url)
    library = await open_library(page)
    await library.get_by_role("button", name="Read Staff handbook").click()
    text = page.get_by_role("complementary").get_by_text("Unused leave lapses in March.")
    await text.evaluate("(element) => getSelection().selectAllChildren(element)")
    await page.get_by_role("button", name="Ask about this").click()
    await expect(chip(page, "Marked passage: ")).to_be_visible()
    await expect(switch(page, "Only these documents")).to_be_visible()
    await page.get_by_role("button", name="Remove the marked passage").click()
    await expect(chip(page, "Marked passage: ")).to_have_count(0)
    body = await asked(page, "When does unused leave lapse?")
    assert "selected_text" not in body


async def test_a_change_that_is_not_saved_is_taken_back_and_told(chromium_page: Visits, extractive_site: Site) -> None:
    session_id = await new_session(extractive_site.client, page_ids=[HANDBOOK])
    page = await chromium_page(f"{extractive_site.url}/#/sessions/{session_id}", faults=[OVERLOADED])
    await expect(chip(page, "Staff handbook")).to_be_visible()
    await page.route(re.compile("/api/sessions/[^/]+$"), overload)
    library = await open_library(page)
    box = library.get_by_role("checkbox", name="Travel policy")
    await box.click()
    # The library is a modal dialog, and what it can't do has to be read and tried again in it.
    alert = library.get_by_role("alert").filter(has_text="Too much is going on.")
    await expect(alert).to_be_visible()
    await expect(box).not_to_be_checked()
    await expect(library.get_by_text("1 document selected")).to_be_visible()
    await page.unroute_all()
    await alert.get_by_role("button", name="Try again").click()
    await expect(box).to_be_checked()
    await page.reload()
    await expect(chip(page, "Travel policy")).to_be_visible()


async def test_files_are_brought_in_and_a_refusal_says_why(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url, faults=[REFUSED, OVERLOADED])
    network = await page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 400_000}
    library = await open_library(page)
    await network.send("Network.enable")
    await network.send("Network.emulateNetworkConditions", slow)
    await bring(page, file("shuttle.md", "# Shuttle\n\n" + "The shuttle leaves at noon. " * 20_000))
    progress = upload(page, "shuttle.md").get_by_role("progressbar", name="Sending shuttle.md")
    await page.wait_for_function("(bar) => bar.value > 0 && bar.value < 1", arg=await progress.element_handle())
    await expect(upload(page, "shuttle.md")).to_contain_text("%")
    await network.send("Network.emulateNetworkConditions", {**slow, "uploadThroughput": -1})
    await expect(upload(page, "shuttle.md")).to_contain_text("Added")
    await expect(progress).to_be_hidden()
    await expect(library.get_by_role("status").filter(has_text="shuttle.md was added.")).to_have_count(1)
    await expect(library.get_by_role("checkbox", name="Shuttle")).not_to_be_checked()
    await page.get_by_role("button", name="Select shuttle.md").click()
    await expect(library.get_by_role("checkbox", name="Shuttle")).to_be_checked()
    await expect(page.get_by_role("button", name="Selected: shuttle.md")).to_be_disabled()

    await bring(
        page, file("broken.pdf", "%PDF-1.4 nothing"), file("report.docx", b"PK\x03\x04\0\0"), file("void.md", "")
    )
    await expect(upload(page, "broken.pdf")).to_contain_text("The PDF is broken")
    await expect(upload(page, "report.docx")).to_contain_text("The archive is broken: it cannot be opened.")
    await expect(upload(page, "void.md")).to_contain_text("The file is empty.")
    await expect(upload(page, "void.md")).to_contain_text("Convert the file to Markdown")
    await expect(upload(page, "void.md").get_by_role("button", name="Try again: void.md")).to_be_hidden()
    await upload(page, "void.md").get_by_role("button", name="Dismiss void.md").click()
    await expect(upload(page, "void.md")).to_have_count(0)
    await accessible(page, "with uploads")

    await library.get_by_role("button", name="Paste text").click()
    await expect(library.get_by_role("textbox", name="Title")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(library.get_by_role("textbox", name="Title")).to_be_hidden()
    await expect(library.get_by_role("button", name="Paste text")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.type("Kitchen")
    await library.get_by_role("textbox", name="Text", exact=True).fill("The kitchen closes at nine.")
    await page.route("**/api/documents", overload)
    await library.get_by_role("button", name="Add text").click()
    await expect(upload(page, "Kitchen")).to_contain_text("Too much is going on. Try again in a moment.")
    await page.unroute_all()
    await upload(page, "Kitchen").get_by_role("button", name="Try again: Kitchen").click()
    await expect(upload(page, "Kitchen")).to_contain_text("Added, 1 passage")
    await expect(library.get_by_role("checkbox", name="Kitchen")).to_be_visible()


async def test_a_file_that_takes_long_is_waited_for_as_a_job(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url)
    await page.set_extra_http_headers({"Prefer": "respond-async"})
    await open_library(page)
    await bring(page, file("harbour.md", "# Harbour\n\nThe harbour has a bell."), file("torn.pdf", "%PDF-1.4 nothing"))
    await expect(upload(page, "harbour.md")).to_contain_text("Added")
    await expect(upload(page, "torn.pdf")).to_contain_text("The PDF is broken")


async def test_two_files_are_sent_at_a_time_and_each_can_be_cancelled(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url)
    library = await open_library(page)
    held: list[Route] = []

    async def hold(route: Route) -> None:
        held.append(route)

    await page.route("**/api/documents", hold)
    await bring(page, *(file(f"queue {n}.md", f"Number {n} of the queue.") for n in (1, 2, 3, 4)))
    for n, state in enumerate(("Sending", "Sending", "Waiting", "Waiting"), 1):
        await expect(upload(page, f"queue {n}.md")).to_contain_text(state)
    assert len(held) == 2
    await library.get_by_role("button", name="Cancel queue 1.md").click()
    await expect(upload(page, "queue 1.md")).to_have_count(0)
    await expect(upload(page, "queue 3.md")).to_contain_text("Sending")
    await library.get_by_role("button", name="Cancel queue 4.md").click()
    await page.keyboard.press("Escape")
    await expect(upload(page, "queue 2.md")).to_be_visible()  # what is under way is not lost with the library
    for route in held[1:]:
        await route.continue_()
    await expect(upload(page, "queue 2.md")).to_contain_text("Added")
    await expect(upload(page, "queue 3.md")).to_contain_text("Added")
    listed = (await extractive_site.client.get("/api/documents", params={"title": "queue"})).json()["documents"]
    assert {document["title"] for document in listed} == {"queue 2", "queue 3"}


async def test_files_dropped_anywhere_come_in_and_nothing_is_selected(
    chromium_page: Visits, module_settings: Settings
) -> None:
    small = module_settings.model_copy(update={"max_document_bytes": 1024})
    async with site_of(small) as site:
        page = await chromium_page(site.url, faults=[REFUSED])
        overlay = page.get_by_text("Drop files to add them to the library")
        await drag(page, "text", event="dragenter")
        await expect(overlay).to_be_hidden()
        await drag(page, "file", ("a.md", ""), event="dragenter")
        await page.locator(".library-layer").wait_for(state="attached")
        await drag(page, "file", ("a.md", ""), event="dragenter")
        await expect(overlay).to_be_visible()
        await drag(page, "file", event="dragleave")
        await expect(overlay).to_be_hidden()
        await drag(page, "file", ("a.md", ""), event="dragover")
        await expect(overlay).to_be_visible()
        files = [
            ("Parking.md", "# Parking\n\nBay nine is free."),
            ("long.txt", "word " * 300),
            ("huge.txt", "w" * 1_100_000),
        ]
        await drag(page, "file", *files, event="drop")
        await expect(overlay).to_be_hidden()
        await expect(upload(page, "Parking.md")).to_contain_text("Added")
        await expect(chip(page, "Parking")).to_have_count(0)
        await expect(upload(page, "long.txt")).to_contain_text("The file is too large: 1,500 bytes")
        await expect(upload(page, "huge.txt")).to_contain_text("The request is larger than")
        body = await asked(page, "Which bay is free?")
        assert not body.get("page_ids"), "where nothing is selected, the whole library answers"

        await open_library(page)
        await drag(page, "file", ("b.md", ""), event="dragover")
        await expect(overlay).to_be_visible()
        await drag(page, "file", ("Bicycles.md", "Bicycles stand in the yard."), event="drop")
        await expect(upload(page, "Bicycles.md").get_by_role("button", name="Select Bicycles.md")).to_be_enabled()
        await page.keyboard.press("Escape")
        await expect(chip(page, "Bicycles")).to_have_count(0)


async def test_a_deleted_document_is_gone_in_every_tab_and_marked_where_it_was_selected(
    chromium_page: Visits, extractive_site: Site
) -> None:
    made = await extractive_site.client.post("/api/documents", json={"title": "Canteen", "text": "Soup on Fridays."})
    document_id = made.json()["document_id"]
    session_id = await new_session(extractive_site.client, page_ids=[document_id, TRAVEL])
    other = await chromium_page(f"{extractive_site.url}/#/sessions/{session_id}", faults=[REFUSED])
    await open_library(other)
    page = await other.context.new_page()
    await page.goto(extractive_site.url)
    await select(page, "Canteen")
    library = await open_library(page)

    remove = library.get_by_role("button", name="Delete Canteen")
    await remove.click()
    await expect(library.get_by_text("Citations of old answers will be marked as deleted.")).to_be_visible()
    await expect(library.get_by_role("button", name="Cancel")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(remove).to_be_focused()
    await page.keyboard.press("Enter")
    await library.get_by_role("button", name="Delete", exact=True).click()
    await expect(library.get_by_role("checkbox", name="Canteen")).to_have_count(0)
    await expect(library.get_by_text("No document selected")).to_be_visible()
    await expect(library.get_by_role("checkbox").first).to_be_focused()
    assert (await extractive_site.client.get(f"/api/documents/{document_id}")).status_code == 404

    await expect(shelf(other).get_by_role("checkbox", name="Travel policy")).to_be_visible()
    await expect(shelf(other).get_by_role("region", name="Documents").get_by_text("Canteen")).to_have_count(0)
    await other.keyboard.press("Escape")
    await expect(chip(other, "Deleted document: Canteen")).to_be_visible()
    await other.reload()
    await expect(chip(other, "Deleted document")).to_be_visible()
    body = await asked(other, "Which class is booked for trains?")
    assert body["page_ids"] == [TRAVEL]
    await other.get_by_role("button", name="Remove Deleted document").click()
    await expect(chip(other, "Deleted document")).to_have_count(0)


async def test_pages_are_picked_with_the_keyboard_in_a_narrow_window(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url, viewport=NARROW, color_scheme="dark", reduced_motion="reduce")
    await page.get_by_role("button", name="Add documents").focus()
    await page.keyboard.press("Enter")
    library = shelf(page)
    search = library.get_by_role("searchbox", name="Search titles and texts")
    await expect(search).to_be_focused()
    await page.keyboard.type("policy")
    box = library.get_by_role("region", name="Documents").get_by_role("checkbox", name="Travel policy")
    await expect(library.get_by_role("region", name="Documents").get_by_role("checkbox")).to_have_count(1)
    await page.keyboard.press("ArrowDown")
    await expect(box).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(box).to_be_checked()
    await page.keyboard.press("Space")
    await expect(box).not_to_be_checked()
    await page.keyboard.press("Space")
    await page.keyboard.press("ArrowUp")
    await expect(search).to_be_focused()
    await accessible(page, "the library, narrow and dark")
    overflow = "document.scrollingElement.scrollWidth - innerWidth"
    assert await page.evaluate(overflow) <= 0
    await page.keyboard.press("Escape")
    await expect(search).to_have_value("")
    await page.keyboard.press("Escape")
    await expect(library).to_be_hidden()
    await expect(chip(page, "Travel policy")).to_be_visible()
    await expect(page.get_by_role("button", name="Add documents")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Space")
    await expect(switch(page, "Only these documents")).to_have_attribute("aria-pressed", "true")
    await accessible(page, "the selection, narrow and dark")
    assert await page.evaluate(overflow) <= 0


async def test_the_library_is_paged_invites_when_empty_and_is_read_again_after_a_failure(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url, faults=[OVERLOADED])
    documents = re.compile(r"/api/documents\?")

    async def one_a_page(route: Route) -> None:
        await route.continue_(url=route.request.url.replace("limit=50", "limit=1"))

    async def none(route: Route) -> None:
        await route.fulfill(json={"documents": [], "next_cursor": None})

    await page.route(documents, one_a_page)
    library = await open_library(page)
    await expect(library.get_by_role("checkbox")).to_have_count(1)
    await library.get_by_role("button", name="Show more").click()
    await expect(library.get_by_role("checkbox")).to_have_count(2)
    await page.keyboard.press("Escape")

    await page.route(documents, none)
    await page.get_by_role("button", name="Add documents").click()
    await expect(library.get_by_text("Your library is empty")).to_be_visible()
    await page.mouse.click(5, 5)
    await expect(library).to_be_hidden()

    await page.route(documents, overload)
    await page.get_by_role("button", name="Add documents").click()
    await expect(library.get_by_text("The library couldn't be read. Too much is going on.")).to_be_visible()
    await page.unroute_all()
    await library.get_by_role("button", name="Try again").click()
    await expect(library.get_by_role("checkbox", name="Staff handbook")).to_be_visible()


async def test_an_archive_says_what_became_of_its_files(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url)
    await open_library(page)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("ferries.md", "# Ferries\n\nThe ferry leaves at one.")
        archive.writestr("map.png", b"\x89PNG\0")
    street = "Die Straße ist für Fußgänger gesperrt.".encode("cp1252")
    await bring(page, file("island.zip", packed.getvalue()), file("street.txt", street))
    await expect(upload(page, "island.zip")).to_contain_text("Unpacked, 1 document, 1 refused")
    await expect(upload(page, "island.zip")).to_contain_text("island.zip/map.png: The file is binary, not text.")
    await expect(upload(page, "island.zip").get_by_role("button", name="Select island.zip")).to_be_hidden()
    await expect(upload(page, "street.txt")).to_contain_text("It was read as windows-1252, which is a guess")
    await expect(shelf(page).get_by_role("checkbox", name="Ferries")).to_be_visible()


async def test_office_files_are_brought_in_and_cited_by_slide_and_cell(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url)
    library = await open_library(page)
    names = ["moving-plan.docx", "equipment.xlsx", "first-week.pptx"]
    await bring(page, *(file(name, (DEMO / name).read_bytes()) for name in names))
    for name in names:
        await expect(upload(page, name)).to_contain_text("Added")
    await library.get_by_role("button", name="Done").click()

    for question, place, heading in [
        ("What is the most that a standing desk may cost?", "sheet Equipment, A4", "Sheet 1"),
        ("For how long does a newcomer have a buddy?", "slide 5", "Slide 5"),
    ]:
        await asked(page, question)
        turn = page.get_by_role("article", name=question, exact=True)
        marker = turn.get_by_role("button", name=re.compile("^Source 1"))
        await marker.hover()
        proof = page.get_by_role("dialog", name="Proof from source 1")
        await expect(proof).to_contain_text(place)
        await marker.click()
        await expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    await expect(page.get_by_text("5 slides · 5 passages")).to_be_visible()
