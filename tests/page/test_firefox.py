"""The page in the machine's Firefox: the whole main job, as a reader does it, without an error on the console."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.api.conftest import new_session
from tests.page import firefox
from tests.page.browsing import NARROW, WIDE, Visits
from tests.page.english import english
from tests.page.laid_out import cut_texts, laid_out, shortened
from tests.page.sites import Site
from tests.page.test_layout_measures import stands_at_four_sizes
from tests.page.test_offline import OFFLINE, is_kept, keep, line_to
from tests.page.test_reader import BEFORE, LAPSE, answered, marked_is, put
from tests.page.test_reader import QUOTE as KESTREL
from tests.page.test_reconnect import FIRST, QUESTION, SECOND, ask, held, sections, shown, shows_what_is_stored
from tests.scripted_openai import Hold

SOUP = "The canteen serves pumpkin soup on Fridays."
MENU = f"# Canteen, its menu, and who may eat there at which of its hours\n\n{SOUP}\n"
LOST = ("NetworkError", "can.t establish a connection", "Loading failed", "interrupted while the page was loading")
SIDEWAYS = "document.documentElement.scrollWidth - innerWidth"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
async def firefox_browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    async with firefox.launched(tmp_path_factory.mktemp("firefox")) as browser:
        yield browser


@pytest.fixture
async def firefox_page(firefox_browser: Browser) -> AsyncIterator[Visits]:
    visits = Visits(firefox_browser)
    yield visits
    await visits.end()


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your question")


def reader(page: Page) -> Locator:
    return page.locator(".reader")


async def test_a_file_is_brought_in_asked_about_and_its_proof_read(firefox_page: Visits, model_site: Site) -> None:
    page = await firefox_page(model_site.url)
    await expect(page.get_by_role("list", name="Begin with a document")).to_contain_text("Staff handbook")
    await expect(field(page)).to_be_focused()
    await bring_in(page)

    hold = Hold()
    model_site.server.script(held(sections(FIRST, SECOND), hold), to="generate_answer")
    await ask(page, QUESTION)
    await asyncio.to_thread(hold.wait_reached)
    await expect(shown(page)).to_contain_text(FIRST)
    await expect(shown(page).locator(".marker")).to_have_count(1)
    await page.reload()
    await expect(shown(page)).to_contain_text(FIRST)
    hold.release()
    assert await shows_what_is_stored(page, model_site.client) == [FIRST, SECOND]

    await laid_out(page)
    markers = shown(page).locator(".marker")
    await expect(markers).to_have_count(2)
    await markers.first.click()
    proof = page.get_by_role("group", name="Proof from source 1")
    await expect(proof).to_contain_text(FIRST)
    await markers.first.click()
    await expect(proof).to_have_count(0)
    await markers.last.click()
    await page.get_by_role("group", name="Proof from source").get_by_role("button", name="Read").click()
    await expect(reader(page).locator("mark", has_text=SECOND)).to_be_in_viewport()
    await reader(page).get_by_role("button", name="Close the document").click()
    await expect(reader(page)).to_be_hidden()
    await expect(markers.last).to_be_focused()

    turn = page.get_by_role("article").last
    await turn.locator(".run summary").first.click()
    await expect(turn.get_by_role("list", name="Steps").get_by_role("listitem").first).to_be_visible()
    await expect(turn.locator(".run svg").first).to_be_visible()


async def bring_in(page: Page) -> None:
    """Bring a file in, see it beside the conversation and find what it says."""
    library = page.get_by_role("region", name="Documents")
    await expect(library.get_by_text("Travel policy").first).to_be_visible()
    file = {"name": "menu.md", "mimeType": "text/markdown", "buffer": MENU.encode()}
    await library.locator("input[type=file]").first.set_input_files([file])
    await expect(library.get_by_text("Canteen").first).to_be_visible()
    await expect(library.get_by_role("checkbox", name="Canteen")).to_be_visible()
    assert await cut_texts(page) == []
    assert await shortened(page, ".row .name") == 1
    await library.get_by_role("searchbox").fill("pumpkin soup")
    await expect(library.get_by_text(SOUP)).to_be_visible()
    await library.get_by_role("searchbox").fill("")


async def test_at_four_sizes_a_question_is_at_the_top_and_nothing_is_cut(
    firefox_page: Visits, extractive_site: Site
) -> None:
    await stands_at_four_sizes(firefox_page, extractive_site)


async def test_sessions_a_narrow_window_and_the_dark(firefox_page: Visits, model_site: Site) -> None:
    for title in ("Leave in Firefox", "Trains in Firefox"):
        await new_session(model_site.client, title=title)
    page = await firefox_page(model_site.url)
    listed = page.get_by_role("navigation", name="Sessions")
    await listed.get_by_role("searchbox").fill("in firefox")
    await expect(listed.get_by_role("link")).to_have_count(2)
    await listed.get_by_role("link", name="Leave in Firefox").click()
    await listed.get_by_role("searchbox").fill("")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Leave in Firefox")
    await listed.get_by_role("button", name="Actions for “Leave in Firefox”").click()
    await page.get_by_role("menuitem", name="Rename").click()
    await page.keyboard.type("Holidays")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Holidays")
    await page.evaluate("history.back()")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Citewell")

    light = await page.evaluate(BACKGROUND)
    await page.get_by_role("button", name="Settings").click()
    await page.get_by_role("menuitemradio", name="Dark").click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert await page.evaluate(BACKGROUND) != light

    await page.set_viewport_size(NARROW)
    model_site.server.script(sections(FIRST), to="generate_answer")
    await ask(page, QUESTION)
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    await laid_out(page)
    await shown(page).locator(".marker").click()
    await shown(page).locator(".passage-card").get_by_role("button", name="Read").click()
    await expect(reader(page).locator("mark", has_text=FIRST)).to_be_in_viewport()
    assert await page.evaluate(SIDEWAYS) <= 0
    await reader(page).get_by_role("button", name="Close the document").click()
    await page.get_by_role("button", name="Show the sessions").click()
    await expect(listed.get_by_role("link", name="Holidays")).to_be_in_viewport()
    for _ in range(12):  # and out of the page, as Firefox goes
        await page.keyboard.press("Tab")
    await page.keyboard.press("Escape")
    await expect(listed).to_be_hidden()
    await page.set_viewport_size(WIDE)
    await page.goto(f"{model_site.url}/links/forged")
    await expect(page.get_by_role("heading", level=1)).to_have_text(english("viewer.shut"))


async def test_a_connection_that_is_lost_comes_back_and_the_page_goes_on(
    firefox_page: Visits, model_site: Site
) -> None:
    """Firefox tells of a broken stream in its own way; what a killed server's run becomes is seen in Chromium."""
    hold = Hold()
    model_site.server.script(held(sections(FIRST, SECOND), hold), to="generate_answer")
    async with line_to(model_site) as line:
        page = await firefox_page(line.url, faults=LOST)
        await ask(page, QUESTION)
        await expect(shown(page)).to_contain_text(FIRST)
        await asyncio.to_thread(hold.wait_reached)
        line.cut()
        await expect(page.get_by_role("status").filter(has_text="Connection lost.")).to_be_visible()
        assert len((await laid_out(page))["bars"]) == 1
        line.mend()
        hold.release()
        await expect(page.get_by_text("Connected again.")).to_be_visible()
        assert await shows_what_is_stored(page, model_site.client) == [FIRST, SECOND]


async def test_what_was_read_is_there_without_network(firefox_page: Visits, model_site: Site) -> None:
    model_site.server.script(sections(FIRST, SECOND), to="generate_answer")
    async with line_to(model_site) as line:
        page = await firefox_page(line.url, service_workers="allow", faults=LOST)
        await ask(page, QUESTION)
        await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
        await keep(page)
        for path in ("/api/sessions/", "/v1/models"):
            await is_kept(page, path)
        await page.reload()
        await expect(shown(page)).to_contain_text(SECOND)
        line.cut()
        await page.reload()
        await expect(page.get_by_role("status").filter(has_text=OFFLINE)).to_be_visible()
        await expect(shown(page)).to_contain_text(SECOND)


async def test_back_and_forward_lead_through_quotes_and_documents(firefox_page: Visits, model_site: Site) -> None:
    text = "\n\n".join([KESTREL, BEFORE * 60, LAPSE, BEFORE * 60])
    address, [first, other] = await answered(model_site, await put(model_site, text), KESTREL, LAPSE)
    page = await firefox_page(address, viewport=NARROW)
    await shown(page).locator(".marker").first.click()
    await page.get_by_role("button", name="Read in the document").first.click()
    await marked_is(page, first)
    await reader(page).get_by_role("button", name="Next quote").click()
    await marked_is(page, other)
    for go, quote in (("back", KESTREL), ("back", None), ("forward", KESTREL), ("forward", LAPSE)):
        await page.evaluate(f"history.{go}()")
        if quote is None:
            await expect(reader(page)).to_be_hidden()
            await expect(shown(page)).to_contain_text(KESTREL)
            assert await page.evaluate("location.href") == address
        else:
            await expect(reader(page).locator("mark.current")).to_have_text(quote)
            await expect(reader(page).locator("mark.current")).to_be_in_viewport()
    assert await page.evaluate(SIDEWAYS) <= 0
