"""A beginning and a way on: questions that are offered, guides, keys, skip links, history by text, pinned sessions."""

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Locator, Page, expect

from graph.evidence import Identity
from tests.api.conftest import new_session
from tests.api.test_guides import TERMS, WORDS
from tests.page.axe import accessible
from tests.page.browsing import WIDE, Visits
from tests.page.english import english
from tests.page.sites import Site
from tools.library.ingestion import NewDocument

SLIP = "What is a green slip?"
MOST_TABS = 10  # from the top of the page to the first citation


@pytest.fixture(autouse=True)
async def words(extractive_site: Site) -> AsyncIterator[None]:
    """A document with questions, and no sessions when the test ends."""
    document = NewDocument(document_id=WORDS, name="words.md", title="Company words", text=TERMS)
    await extractive_site.citewell.library.ingestor.ingest(Identity(), document)
    yield
    for session in (await extractive_site.client.get("/api/sessions?limit=100")).json()["sessions"]:
        await extractive_site.client.delete(f"/api/sessions/{session['session_id']}")


def question(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your question")


def sessions(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Sessions")


async def test_questions_are_offered_to_begin_with_and_to_go_on_with(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url)
    await expect(question(page)).to_be_focused()
    offered = page.get_by_role("list", name=english("ways.suggestions"))
    await expect(offered.get_by_role("listitem")).to_have_count(3)
    await expect(offered.get_by_role("button", name=SLIP)).to_contain_text("from Company words")
    await accessible(page, "questions to begin with")
    documents = page.get_by_role("list", name=english("conversation.begin"))
    await documents.get_by_role("button", name="Sales", exact=True).click()
    reader = page.get_by_role("complementary", name="Document")
    await expect(reader.locator("mark").first).to_have_text("Sales")
    await page.keyboard.press("Escape")
    await offered.get_by_role("button", name=SLIP).click()
    await expect(page.locator(".turn").get_by_role("heading", level=2)).to_have_text(SLIP)
    await expect(question(page)).to_be_focused()
    onward = page.get_by_role("list", name="Go on with")
    await expect(onward.get_by_role("button", name="What is a floor host?")).to_be_visible()
    await accessible(page, "questions to go on with", [WIDE])
    await onward.get_by_role("button", name="What is a floor host?").click()
    await expect(page.locator(".turn")).to_have_count(2)
    await expect(onward.get_by_role("button")).to_have_text(["What is the tide table?"])

    await page.locator(".marker").first.click()
    await reader.get_by_text("Guide to this document").click()
    said = reader.get_by_role("button", name="The words of this page are used in every meeting")
    await expect(said).to_be_visible()
    await expect(reader.get_by_role("button", name="Sales", exact=True)).to_be_visible()
    await accessible(page, "the guide to a document")
    await said.click()
    await expect(reader.locator("mark").first).to_contain_text("The words of this page are used in every meeting")
    own = reader.get_by_role("list", name=english("ways.guide.questions"))
    await own.get_by_role("button", name="What is the tide table?").click()
    await expect(page.get_by_role("button", name="Answer again")).to_have_count(3)


async def test_keys_and_skip_links_lead_where_they_say(chromium_page: Visits, extractive_site: Site) -> None:
    made = [await new_session(extractive_site.client, title=f"Session {number}") for number in range(22)]
    ask = {"question": SLIP, "stream": False}
    await extractive_site.client.post(f"/api/sessions/{made[5]}/runs", json=ask)
    page = await chromium_page(f"{extractive_site.url}/#/sessions/{made[5]}")
    await expect(page.locator(".marker").first).to_be_visible()
    await expect(sessions(page).get_by_role("link")).to_have_count(22)
    await page.locator(".skip").first.focus()  # which is the first stop
    stops = 1
    while not await page.evaluate("document.activeElement.matches('.marker')"):
        await page.keyboard.press("Tab")
        stops += await page.evaluate("document.activeElement !== document.body")
        assert stops <= MOST_TABS
    await page.keyboard.press("Escape")

    await page.locator(".skip").first.focus()
    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_role("button", name="Skip to the answer")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator(".answer")).to_be_focused()
    await page.keyboard.press("d")
    await expect(page.locator(".run > summary")).to_be_focused()
    await expect(page.locator(".all-sources")).to_be_visible()
    await page.keyboard.press("m")
    await expect(page.locator(".marker").first).to_be_focused()
    await page.keyboard.press("Escape")
    await page.keyboard.press("/")
    await expect(question(page)).to_be_focused()
    await page.keyboard.type("a?/n")
    await expect(question(page)).to_have_value("a?/n")
    await page.locator(".answer").focus()
    await page.keyboard.press("s")
    await expect(page.get_by_role("searchbox", name="Search sessions")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(sessions(page).get_by_role("link").first).to_be_focused()
    await page.keyboard.press("ArrowRight")
    await expect(sessions(page).get_by_role("button", name=re.compile("^Actions for")).first).to_be_focused()

    await page.locator(".answer").focus()
    await page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    await expect(sheet.get_by_text("Next citation")).to_be_visible()
    await accessible(page, "the sheet of keys")
    await sheet.get_by_role("checkbox").uncheck()
    await page.keyboard.press("Escape")
    await expect(sheet).to_have_count(0)
    await expect(page.locator(".answer")).to_be_focused()
    await page.keyboard.press("/")
    await expect(page.locator(".answer")).to_be_focused()


async def test_history_is_found_by_its_text_and_pinned(chromium_page: Visits, extractive_site: Site) -> None:
    old, _ = [await new_session(extractive_site.client, title=title) for title in ("Old words", "Another")]
    await extractive_site.client.post(f"/api/sessions/{old}/runs", json={"question": SLIP, "stream": False})
    await new_session(extractive_site.client, title="Newest")
    page = await chromium_page(extractive_site.url)
    links = sessions(page).get_by_role("link")
    await expect(links).to_have_count(3)
    await page.get_by_role("searchbox", name="Search sessions").fill("SUPPL")
    await expect(links).to_have_count(1)
    await expect(links.locator("mark")).to_have_text("suppl")
    await expect(sessions(page).get_by_role("status")).to_have_text("1 session found")
    await accessible(page, "sessions that were found", [WIDE])
    await page.get_by_role("searchbox", name="Search sessions").fill("")
    await expect(links).to_have_count(3)

    await links.filter(has_text="Old words").hover()
    await sessions(page).get_by_role("button", name="Actions for “Old words”").click()
    await page.get_by_role("menuitem", name="Pin", exact=True).click()
    pinned = sessions(page).get_by_role("list", name="Pinned").get_by_role("link")
    await expect(pinned).to_have_text(["Old words"])
    await expect(links.first).to_have_text("Old words")
    await page.reload()
    await expect(pinned).to_have_text(["Old words"])
    await pinned.hover()
    await sessions(page).get_by_role("button", name="Actions for “Old words”").click()
    await page.get_by_role("menuitem", name="Unpin").click()
    await expect(sessions(page).get_by_role("list", name="Pinned")).to_have_count(0)
