"""The reader: a document beside the answer, at the quote and with nothing marked but the quote."""

import asyncio
import json
import re
from itertools import count
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, LIBRARY, new_session
from tests.page.axe import accessible
from tests.page.browsing import NARROW, PATIENCE, WIDE, Visits
from tests.page.english import english
from tests.page.sites import Site
from tests.scripted_openai import answer
from tools.library.ingestion import NewDocument

_numbers = count(1)
DESK = {"width": 1440, "height": 900}
DOWN = "(each) => each.scrollTop"
CURRENT = ".reader mark.current"
QUOTE = "The kestrel of Hallgrim nests on the north tower."
BEFORE = "😀🏖️ 员工每年有二十五天年假。👩‍👩‍👧 Nghỉ phép năm.\n\n"
LEAVE = "Every employee gets 25 days of annual leave a year."
LAPSE = "Unused leave lapses in March."
NOTICE = "The notice period is three months."
# Where what is marked most stands in the text of the document, in code points, and whether all of it is in sight.
MARKED = """() => {
  const marks = [...document.querySelectorAll(".reader mark.current")];
  const segments = [...document.querySelectorAll(".reader .segment")];
  const range = document.createRange();
  range.setStart(segments[0], 0);
  range.setEndBefore(marks[0]);
  const before = segments.map((segment) => { const own = document.createRange(); own.selectNodeContents(segment);
    return range.intersectsNode(segment) ? (own.compareBoundaryPoints(Range.END_TO_END, range) > 0
      && own.setEnd(range.endContainer, range.endOffset), own.toString()) : ""; }).join("");
  const around = document.querySelector(".reader .text").getBoundingClientRect();
  const boxes = marks.map((mark) => mark.getBoundingClientRect());
  const quote = marks.map((mark) => mark.textContent).join("");
  const seen = boxes.every((box) => box.height && box.top >= around.top && box.bottom <= around.bottom);
  return { start: [...before].length, quote, seen, scrolled: document.querySelector(".reader .text").scrollTop };
}"""


async def put(site: Site, text: str, *, document_id: str | None = None, **more: Any) -> str:
    """Store a document with a title of its own; gives its id."""
    title = more.pop("title", f"Document {next(_numbers)}")
    new = NewDocument(document_id=document_id, title=title, text=text, **more)
    report = await site.citewell.library.ingestor.ingest(Identity(), new)
    return report.document_id


async def answered(site: Site, document_id: str, *texts: str) -> tuple[str, list[dict[str, Any]]]:
    """Ask, and be answered with these texts; gives the address of the session, and the citations of its answer."""
    raw = (await site.client.get(f"/api/documents/{document_id}/raw-text")).json()
    sections = [{"text": text, "source_ids": cited(raw, text)} for text in texts or [QUOTE]]
    site.server.script(answer(*sections), to="generate_answer")
    session_id = await new_session(site.client)
    body = {"question": "Where does the kestrel of Hallgrim nest?", "page_ids": [document_id], "stream": False}
    told = (
        await site.client.post(f"/api/sessions/{session_id}/runs", json=body | {"only_selected_pages": True})
    ).json()
    assert told["outcome"] == "answered", told
    return f"{site.url}/#/sessions/{session_id}", told["message"]["citations"]


def cited(raw: dict[str, Any], text: str) -> list[str]:
    """Name the segment that holds the first sentence of a text."""
    first = text.split(". ")[0].rstrip(".")
    index = next(segment["segment_index"] for segment in raw["segments"] if first in segment["text"])
    return [f"{raw['document_id']}:{index}"]


def marker(page: Page, number: int = 0) -> Locator:
    return page.get_by_role("article").last.get_by_role("button", name=re.compile("^Source ")).nth(number)


def reader(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Document")


async def read(page: Page, how: str = "click") -> None:
    """Read the document of the first marker, which unfolds its passage first where that is not in sight."""
    card = page.get_by_role("button", name="Read in the document").first
    if await page.locator(".reader").is_visible():
        return await getattr(marker(page), how)()
    if not await card.is_visible():
        await getattr(marker(page), how)()
        await expect(card.or_(page.locator(".reader")).first).to_be_visible()
    if not await page.locator(".reader").is_visible():
        await getattr(card, how)()


async def text_of(site: Site, document_id: str) -> str:
    raw = (await site.client.get(f"/api/documents/{document_id}/raw-text")).json()
    return "".join(segment["text"] for segment in raw["segments"])


async def marked_is(page: Page, citation: dict[str, Any]) -> None:
    """Wait until a citation's quote is in sight and stays there, and see that exactly its offsets are marked most."""
    await expect(page.locator(CURRENT).first).to_be_in_viewport()
    found = before = None
    async with asyncio.timeout(PATIENCE / 1000):
        while found is None or found != before or not found["seen"]:
            before, found = found, await page.evaluate(MARKED)
            await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert (found["start"], found["quote"]) == (citation["start"], citation["quote"])


async def test_a_marker_opens_its_document_at_the_quote(chromium_page: Visits, model_site: Site) -> None:
    text = BEFORE * 30 + QUOTE + "\n\n" + BEFORE * 30
    document_id = await put(model_site, text, title="Birds", url="https://birds.example/kestrel")
    address, [citation] = await answered(model_site, document_id)
    page = await chromium_page(address)
    await read(page)
    await expect(reader(page).get_by_role("heading", name="Birds")).to_be_visible()
    assert citation["quote"] == QUOTE
    await marked_is(page, citation)
    assert "".join(await page.locator(".reader .segment").all_text_contents()) == await text_of(model_site, document_id)
    await expect(reader(page).get_by_text("1 of 1")).to_be_visible()
    await expect(reader(page).get_by_role("link", name="Original")).to_have_attribute(
        "href", "https://birds.example/kestrel"
    )
    tab = reader(page).get_by_role("link", name="New tab")
    await expect(tab).to_have_attribute("rel", "noopener noreferrer")
    async with page.context.expect_page() as opening:
        await tab.click()
    opened = await opening.value
    assert opened.url.startswith(f"{model_site.url}/#/documents/{document_id}?quote={citation['start']}-")
    await expect(opened.locator(CURRENT)).to_have_text(QUOTE)
    await opened.close()
    await reader(page).get_by_role("button", name="Close the document").click()
    await expect(reader(page)).to_be_hidden()


async def test_a_quote_that_runs_over_segments_is_marked_as_one(chromium_page: Visits, model_site: Site) -> None:
    document_id = await put(model_site, BEFORE + QUOTE + " It hunts at dusk.")
    address, [citation] = await answered(model_site, document_id)
    page = await chromium_page(address, go=False)
    await page.route("**/raw-text", in_small_segments)
    await page.goto(address)
    await read(page)
    await marked_is(page, citation)
    assert await page.locator(CURRENT).count() > 5
    assert await page.locator("#segment-3").count() == 1


async def in_small_segments(route: Route) -> None:
    """Cut a document as a deployment with tiny segments would."""
    reply = await (await route.fetch()).json()
    text = "".join(segment["text"] for segment in reply["segments"])
    reply["segments"] = [
        {"segment_index": at // 8, "page_idx": None, "start": at, "end": len(text[: at + 8]), "text": text[at : at + 8]}
        for at in range(0, len(text), 8)
    ]
    await route.fulfill(json=reply)


async def test_the_quotes_of_an_answer_are_gone_through_with_the_keyboard(
    chromium_page: Visits, model_site: Site
) -> None:
    address, _ = await answered(model_site, HANDBOOK, NOTICE, LEAVE, LAPSE, NOTICE)
    page = await chromium_page(address, reduced_motion="reduce")
    await marker(page).focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Read in the document").press("Enter")
    await expect(page.locator(CURRENT)).to_have_text(NOTICE)
    await expect(reader(page).get_by_role("region", name="Text of the document")).to_be_focused()
    await accessible(page, "a document beside the answer", [WIDE])
    assert sorted(await page.locator(".reader mark").all_text_contents()) == sorted([LEAVE, LAPSE, NOTICE])
    await expect(reader(page).get_by_text("3 of 3")).to_be_visible()
    for quote, place in ((LAPSE, "2 of 3"), (LEAVE, "1 of 3"), (LEAVE, "1 of 3")):
        await reader(page).get_by_role("button", name="Previous quote").press("Enter")
        await expect(page.locator(CURRENT)).to_have_text(quote)
        await expect(reader(page).get_by_text(place)).to_be_visible()
    await reader(page).get_by_role("button", name="Next quote").press("Enter")
    await expect(page.locator(CURRENT)).to_have_text(LAPSE)
    await page.keyboard.press("Escape")
    await expect(reader(page)).to_be_hidden()
    await expect(marker(page)).to_be_focused()

    row = page.get_by_role("region", name="Documents").get_by_role("row").filter(has_text="Staff handbook")
    await row.press("Enter")  # it is hidden by what it opens
    await expect(reader(page).get_by_role("region", name="Text of the document")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(reader(page)).to_be_hidden()
    await expect(row).to_be_focused()
    await row.press("Enter")
    await expect(reader(page)).to_be_visible()
    await page.get_by_role("textbox", name="Your question").click()
    await page.keyboard.press("Escape")
    await expect(reader(page)).to_be_hidden()


async def test_a_document_that_has_changed_since(chromium_page: Visits, model_site: Site) -> None:
    document_id = await put(model_site, f"{QUOTE} It hunts at dusk.", title="Birds of Hallgrim")
    address, [citation] = await answered(model_site, document_id)
    page = await chromium_page(address, faults=["404"])
    await read(page)
    await marked_is(page, citation)

    await put(model_site, f"{BEFORE}New words come first. {QUOTE}", document_id=document_id, title="Birds of Hallgrim")
    await read(page)
    await expect(reader(page).get_by_text(english("reader.standing.moved"))).to_be_visible()
    await expect(page.locator(CURRENT)).to_have_text(QUOTE)
    await page.reload()
    await read(page)
    await expect(reader(page).get_by_text(english("reader.standing.moved"))).to_be_visible()
    text = await text_of(model_site, document_id)
    await marked_is(page, {"start": text.index(QUOTE), "quote": QUOTE})

    await put(model_site, f"{BEFORE}The kestrel left.", document_id=document_id, title="Birds of Hallgrim")
    for again in (False, True):
        if again:
            await page.reload()
        await read(page)
        await expect(reader(page).get_by_text(english("reader.standing.changed"))).to_be_visible()
        await expect(reader(page).get_by_text(QUOTE)).to_be_visible()
        await expect(reader(page).get_by_text("The kestrel left.")).to_be_visible()
        assert await page.locator(".reader mark").count() == 0

    await model_site.client.delete(f"/api/documents/{document_id}")
    for again in (False, True):
        if again:
            await page.reload()
        await read(page)
        await expect(reader(page).get_by_text("This document is gone")).to_be_visible()
        await expect(reader(page).get_by_text(QUOTE)).to_be_visible()
        await expect(reader(page).get_by_text("The kestrel left.")).to_have_count(0)


async def test_a_narrow_window_has_the_document_over_all_of_it(chromium_page: Visits, model_site: Site) -> None:
    document_id = await put(model_site, QUOTE)
    address, [citation] = await answered(model_site, document_id)
    page = await chromium_page(address, viewport=NARROW)
    await read(page)
    sheet = page.get_by_role("dialog", name="Document")
    await expect(sheet.get_by_role("region", name="Text of the document")).to_be_focused()
    await marked_is(page, citation)
    await accessible(page, "a document over the window", [NARROW])
    assert await sheet.bounding_box() == {"x": 0, "y": 0, **NARROW}
    for _ in range(12):  # nothing else can be reached
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.matches('body, .reader *')")
    await page.keyboard.press("Escape")
    await expect(sheet).to_be_hidden()
    await expect(marker(page)).to_be_focused()


@pytest.mark.parametrize("size", [NARROW, DESK], ids=["narrow", "wide"])
async def test_back_and_forward_lead_through_quotes_and_documents(
    chromium_page: Visits, model_site: Site, size: dict[str, int]
) -> None:
    text = "\n\n".join([QUOTE, BEFORE * 60, LAPSE, BEFORE * 60])
    document_id = await put(model_site, text)
    address, [first, other] = await answered(model_site, document_id, QUOTE, LAPSE)
    page = await chromium_page(address, viewport=size, reduced_motion="reduce")
    await steps_through(page, address, document_id, first, other)
    if size == NARROW:
        return
    await page.go_forward()
    await marked_is(page, first)
    asked, read = page.locator("main"), page.locator(".reader")
    widths = [await each.evaluate("(each) => each.clientWidth") for each in (asked, read)]
    assert widths[1] > 1.4 * widths[0]
    assert await page.evaluate("document.scrollingElement.scrollHeight <= innerHeight")


async def steps_through(
    page: Page, address: str, document_id: str, first: dict[str, Any], other: dict[str, Any]
) -> None:
    """Go from an answer to its passage, the document and another quote in it, back, and on again; end at that quote."""
    asked = page.get_by_role("article").get_by_text("Where does the kestrel of Hallgrim nest?")
    text = reader(page).or_(page.get_by_role("dialog", name="Document")).get_by_role("region")
    await read(page)
    await marked_is(page, first)
    at_first = page.url
    assert at_first.startswith(f"{address}/documents/{document_id}?quote={first['start']}-")
    await page.get_by_role("button", name="Next quote").click()
    await marked_is(page, other)
    at_other = page.url
    assert f"quote={other['start']}-" in at_other
    box = await text.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + 90, box["y"] + 90)
    before = place = await text.evaluate(DOWN)
    await page.mouse.wheel(0, 90)
    async with asyncio.timeout(PATIENCE / 1000):
        while place == before:
            place = await text.evaluate(DOWN)
    await page.go_back()
    await marked_is(page, first)
    assert page.url == at_first
    await page.go_back()
    await expect(page.locator(".reader")).to_be_hidden()
    await expect(asked).to_be_visible()
    assert page.url == address
    await page.go_forward()
    await marked_is(page, first)
    await page.go_forward()
    await expect(page.locator(CURRENT)).to_have_text(LAPSE)
    assert await text.evaluate(DOWN) == place
    await page.reload()
    await marked_is(page, other)
    await page.get_by_role("button", name="Close the document").click()
    await expect(page.locator(".reader")).to_be_hidden()
    assert page.url == address
    tab = await page.context.new_page()
    await tab.goto(at_other)  # as it is opened by whoever got it
    await marked_is(tab, other)
    await tab.get_by_role("button", name="Close the document").click()
    await expect(marker(tab)).to_be_visible()
    await expect(tab).to_have_url(address)


async def test_on_a_phone_drawers_are_steps_and_a_swipe_leads_between_answer_and_document(
    chromium_page: Visits, model_site: Site
) -> None:
    document_id = await put(model_site, QUOTE + "\n\n" + BEFORE * 60, title="Birds")
    address, [citation] = await answered(model_site, document_id)
    page = await chromium_page(address, viewport=NARROW, has_touch=True, reduced_motion="reduce")
    await expect(marker(page)).to_be_visible()
    for opener, drawer in (("Show the sessions", "Sessions"), ("Documents", "Documents")):
        await page.get_by_role("button", name=opener, exact=True).click()
        inside = page.locator("nav.sessions, section.shelf").and_(page.get_by_label(drawer, exact=True))
        await expect(inside).to_be_visible()
        await page.go_back()
        await expect(inside).to_be_hidden()
        assert page.url == address
        await page.go_forward()
        await expect(inside).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(inside).to_be_hidden()
        await expect(page.get_by_role("button", name=opener, exact=True)).to_be_visible()
    await read(page, "tap")
    await marked_is(page, citation)
    text = page.get_by_role("dialog", name="Document").get_by_role("region")
    await text.evaluate("(each) => each.scrollTo(0, 700)")
    bar = page.get_by_role("button", name="Document: Birds")
    await swipe(page, 60, 330)
    await expect(page.locator(".reader")).to_be_hidden()
    await expect(bar).to_be_visible()
    await accessible(page, "an answer whose document was read", [NARROW])
    for lead in (lambda: swipe(page, 330, 60), bar.click):
        await lead()
        await expect(page.locator(CURRENT)).to_have_text(QUOTE)
        assert await text.evaluate(DOWN) == 700
        assert await page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        await page.go_back()
        await expect(page.locator(".reader")).to_be_hidden()
        assert page.url == address


async def swipe(page: Page, start: int, end: int) -> None:
    """Draw a finger over the middle of the page."""
    session = await page.context.new_cdp_session(page)
    for kind, points in (
        ("touchStart", [{"x": start, "y": 420}]),
        ("touchMove", [{"x": end, "y": 425}]),
        ("touchEnd", []),
    ):
        await session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


async def test_a_question_about_what_is_selected(chromium_page: Visits, model_site: Site) -> None:
    text = f"{BEFORE}{QUOTE} It hunts at dusk.\n\n" + "The long end of this text goes on and on. " * 40
    document_id = await put(model_site, text, title="Selected birds")
    address, _ = await answered(model_site, document_id)
    page = await chromium_page(address)
    await read(page)
    box = await page.locator(CURRENT).bounding_box()
    assert box is not None
    await page.mouse.click(box["x"] + 2, box["y"] + 5)
    for _ in range(7):
        await page.keyboard.press("Shift+ArrowRight")
    about = reader(page).get_by_role("button", name="Ask about this passage")
    await expect(about).to_have_count(0)  # a caret is nowhere but where a browser is told to browse with it

    await page.mouse.dblclick(box["x"] + 40, box["y"] + 10)
    await about.click()
    await expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
    await expect(page.locator("form").get_by_text("kestrel")).to_be_visible()
    async with page.expect_request("**/runs") as asking:
        await page.keyboard.type("What is it?")
        await page.keyboard.press("Enter")
    sent = json.loads((await asking.value).post_data or "")
    assert sent["selected_text"] == "kestrel"

    await page.mouse.click(box["x"] + 2, box["y"] + 5)
    await reader(page).get_by_role("region").press("End")
    last = page.locator(".reader .segment").last
    edge = await last.bounding_box()
    assert edge is not None
    await page.keyboard.down("Shift")
    await page.mouse.click(edge["x"] + 200, edge["y"] + edge["height"] - 10)
    await page.keyboard.up("Shift")
    await expect(
        reader(page).get_by_text(re.compile("1,000 characters at most; 1,[0-9]{3} are selected"))
    ).to_be_visible()
    await expect(about).to_have_count(0)

    await reader(page).get_by_role("button", name="Ask about this quote").click()
    await expect(page.locator("form").get_by_text(QUOTE)).to_be_visible()


async def test_a_quote_near_the_end_of_two_megabytes(chromium_page: Visits, model_site: Site) -> None:
    lines = (f"Line {number} of a long chronicle tells of the year {1000 + number % 997}." for number in range(37_000))
    text = "\n".join(lines) + f"\n\n{QUOTE}\n\nThe end comes soon. The end is here."
    assert len(text) > 2_000_000
    document_id = await put(model_site, text, title="A chronicle")
    address, [citation] = await answered(model_site, document_id)
    page = await chromium_page(address)
    await read(page)
    await marked_is(page, citation)
    assert await page.locator(".reader .segment").count() > 1000


async def test_a_document_of_the_library_is_read_from_its_start(chromium_page: Visits, model_site: Site) -> None:
    [_, travel] = LIBRARY
    page = await chromium_page(model_site.url)
    await page.get_by_role("button", name=f"Read {travel.title}").click()
    await expect(reader(page).get_by_text("Second class is booked for trains.")).to_be_visible()
    await expect(reader(page).get_by_role("button", name="Next quote")).to_have_count(0)
    await expect(reader(page).get_by_role("link", name="Original")).to_have_count(0)
    assert await page.locator(".reader mark").count() == 0
