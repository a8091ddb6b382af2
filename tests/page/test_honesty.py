"""What the page says is true: of what was searched, of what can be, of what was read, and of sources that disagree.

The letters are those of the review's case F3, each a thing that an earlier page said and that was not so.
"""

import json
import re
from typing import Any

from playwright.async_api import Locator, Page, expect

from graph.evidence import Identity
from tests.api.conftest import new_session
from tests.page.browsing import Visits, offering_web
from tests.page.english import english
from tests.page.sites import Site
from tests.page.test_asking import answered, ask
from tests.page.test_shelf import DROP
from tools.library.ingestion import NewDocument

NOWHERE = "Who won the chess championship on the moon?"
LEAVE = "How many days of annual leave does an employee get?"
MUSEUM = "The museum is open to visitors on {} days a week."


async def put(site: Site, title: str, text: str) -> str:
    new = NewDocument(name=f"{title}.md", title=title, text=text)
    return (await site.citewell.library.ingestor.ingest(Identity(), new)).document_id


async def asked_by_wire(site: Site, question: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    """Ask past the page; give the session's address and the reply."""
    session_id = await new_session(site.client)
    body = {"question": question, "stream": False, **fields}
    reply = (await site.client.post(f"/api/sessions/{session_id}/runs", json=body)).json()
    return f"{site.url}/#/sessions/{session_id}", reply


async def steps(page: Page) -> Locator:
    await page.locator(".run > summary").last.click()
    return page.locator(".steps").last


async def test_a_what_was_not_searched_is_not_said_to_have_been(chromium_page: Visits, extractive_site: Site) -> None:
    address, reply = await asked_by_wire(extractive_site, LEAVE, search="off", web="also")
    assert (reply["outcome"], reply["stop_reason"]) == ("abstained", "search_failed")
    assert (reply["message"]["refusal"]["library"], reply["message"]["refusal"]["web_failed"]) == (False, True)
    assert "library" not in reply["message"]["answer"]
    page = await chromium_page(address)
    panel = page.locator(".panel.calm")
    await expect(panel).to_contain_text(english("apart.refusal.withoutLibrary.search_failed"))
    shown = await steps(page)
    await expect(shown).to_contain_text(english("problems.web_not_configured"))
    for untrue in ("library answers alone", "nothing about this in the library", "SERPER"):
        await expect(page.get_by_text(untrue)).to_have_count(0)


async def test_b_a_web_search_that_is_not_set_up_is_not_offered(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url, go=False)
    await page.add_init_script("localStorage.setItem('citewell.options', JSON.stringify({ web: true }))")
    await page.goto(extractive_site.url)
    switch = page.get_by_role("button", name="Web (not set up)")
    await expect(switch).to_be_disabled()
    await expect(switch).to_have_attribute("aria-pressed", "false")
    await expect(switch).to_have_attribute("title", english("selection.hints.noWeb"))
    async with page.expect_request(re.compile("/runs$")) as sent:
        asked = await ask(page, LEAVE)
    body = (await sent.value).post_data_json
    assert body is not None
    assert body["web"] == "off"
    await answered(asked)
    await expect(asked.get_by_text("web", exact=False)).to_have_count(0)
    await offering_web(page)
    await page.reload()
    await expect(page.get_by_role("button", name="Web", exact=True)).to_have_attribute("aria-pressed", "true")


async def test_c_a_library_that_was_filled_is_not_said_to_be_empty(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url, go=False)
    empty = {"body": json.dumps({"documents": [], "next_cursor": None, "total": 0}), "content_type": "application/json"}
    await page.route(re.compile(r"/api/documents\?"), lambda route: route.fulfill(**empty))
    await page.goto(extractive_site.url)
    says_so = page.locator(".empty").get_by_text(english("ways.first")), page.get_by_text(english("shelf.empty"))
    for said in says_so:
        await expect(said).to_be_visible()
    await page.unroute_all()
    files = [[name, f"The lamp of {name} turns."] for name in ("one.md", "two.md")]
    await page.evaluate(DROP, ["dragenter", "files", files])
    await page.locator(".drop").wait_for(state="attached")  # it is loaded when a file first comes near
    await page.evaluate(DROP, ["dragover", "files", files])
    await expect(page.get_by_text(english("shelf.drop"))).to_be_visible()
    await page.evaluate(DROP, ["drop", "files", files])
    await expect(page.get_by_role("list", name="Begin with a document")).to_contain_text("two")
    for said in says_so:
        await expect(said).to_be_hidden()


async def test_d_what_came_nearest_has_no_share_that_reads_like_a_proof(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url)
    asked = await ask(page, NOWHERE)
    await answered(asked)
    await expect(asked.get_by_role("heading", name="What came nearest")).to_be_visible()
    nearest = await asked.locator(".nearest .title").all_inner_texts()
    text = await asked.inner_text()
    assert "%" not in text
    assert "Library" not in text
    assert text.count(english("answer.abstained")) == text.count("Searched for:") == 1
    assert all(text.count(f"{title} >") == 0 for title in nearest), "the refusal's own sentence would repeat them"
    await page.reload()
    await expect(page.locator(".panel").get_by_text("Searched for:")).to_be_visible()
    await expect(page.locator(".sections .section:visible")).to_have_count(0)


async def test_e_small_talk_quotes_nothing(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url)
    asked = await ask(page, "Hello!")
    await answered(asked)
    await expect(asked.get_by_text(english("answer.stopReasons.no_retrieval_needed"))).to_be_visible()
    await (await steps(page)).wait_for()
    await page.locator(".account > summary").last.click()
    await expect(asked.get_by_text(english("run.account.fixed"))).to_be_visible()
    await expect(asked.get_by_text("Quotes", exact=False)).to_have_count(0)


async def test_f_sources_that_disagree_are_one_amber_card_and_nothing_is_green(
    chromium_page: Visits, extractive_site: Site
) -> None:
    for title, days in (("House rules of the museum", 6), ("Visitor leaflet", 5)):
        await put(extractive_site, title, MUSEUM.format(days))
    page = await chromium_page(extractive_site.url)
    asked = await ask(page, "On how many days a week is the museum open to visitors?")
    await answered(asked)
    for _ in ("live", "reloaded"):
        card = asked.locator(".disagreements")
        await expect(asked.get_by_text("Sources disagree on 1 point")).to_be_visible()
        await expect(card.locator(".value")).to_have_text(["5", "6"])
        await expect(card.locator(".title")).to_have_text(["Visitor leaflet", "House rules of the museum"])
        await expect(card.locator(".date")).to_have_count(0)  # the day on which each was stored says nothing
        text = await asked.inner_text()
        assert [text.count(MUSEUM.format(days)) for days in (6, 5)] == [1, 1], text
        await expect(asked.locator(".worth.unsure")).to_have_count(1)
        await page.reload()
    await card.get_by_role("button", name="Read in the document").first.click()
    await expect(page.locator(".reader mark").first).to_have_text(MUSEUM.format(5))


async def test_h_documents_that_were_read_in_part_are_told_with_the_answer(
    chromium_page: Visits, extractive_site: Site
) -> None:
    long = "\n\n".join(f"## Lamp {at}\n\n{f'Lamp {at} of the tower turns at night. ' * 60}" for at in range(24))
    ids = [await put(extractive_site, f"Lamps {name}", f"{long}\n\nOf {name}.") for name in ("A", "B", "C")]
    address, reply = await asked_by_wire(extractive_site, "When does lamp 3 turn?", page_ids=ids, search="off")
    assert len(reply["message"]["pages"]["cut"]) == 3
    page = await chromium_page(address)
    told = page.locator(".limits").get_by_text("3 of the 3 selected documents")
    await expect(told).to_be_visible()
    await told.click()
    await expect(page.locator(".limits li")).to_have_count(3)
    await expect(page.locator(".limits li").first).to_contain_text(re.compile(r"only in part: \d+ of \d+ passages"))
