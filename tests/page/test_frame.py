"""The page's frame: its settings, its addresses, its landmarks, and the key that it asks for."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest
from playwright.async_api import Page, Route, expect

from tests.api.conftest import new_session
from tests.page.browsing import NARROW, Visits
from tests.page.english import english
from tests.page.laid_out import cut_texts, laid_out, shortened
from tests.page.sites import Site, site_of
from tools.auth.api_keys import ApiKeys
from tools.settings import AuthSettings, Settings

UNKNOWN = "00000000-0000-4000-8000-000000000000"
NOT_FOUND = ("status of 404",)
REFUSED = ("status of 401",)
QUESTION = "When does unused leave lapse?"
HIGH = {"width": 1440, "height": 900}
SMALL = {"width": 320, "height": 568}
BELOW_THE_TOP = 48  # pixels that a question may stand below the line above it
LONG = (
    "Row and Column Access Control Support for Whoever Asks in Several Lines",
    "قواعد السفر والإقامة للموظفين في الشركة وكل ما يتعلق بها من تفاصيل وأحكام طويلة",
)


@pytest.fixture
async def keyed_site(settings: Settings) -> AsyncIterator[Site]:
    async with site_of(settings.model_copy(update={"auth": AuthSettings(mode="keys")})) as site:
        yield site


@pytest.fixture
async def key(keyed_site: Site) -> str:
    library = keyed_site.citewell.library
    return await ApiKeys(library.database, library.workspaces).create("default", "ann")


async def title_is(page: Page, text: str) -> None:
    await expect(page.get_by_role("heading", level=1)).to_have_text(text)


async def settings_entry(page: Page, name: str, entry: str) -> None:
    await page.get_by_role("button", name=name).click()
    await page.get_by_role("menuitemradio", name=entry).click()


async def test_language_and_theme_are_chosen_and_kept(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url, color_scheme="light")
    tab = await page.context.new_page()
    await tab.goto(extractive_site.url)
    await page.bring_to_front()
    root = page.locator("html")
    light = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    await page.get_by_role("button", name="Settings").focus()
    await page.keyboard.press("ArrowDown")
    await expect(page.get_by_role("menuitemradio", name="Match system")).to_be_focused()
    await expect(page.get_by_role("menuitemradio", name="Match system")).to_have_attribute("aria-checked", "true")
    await page.keyboard.press("End")
    await expect(page.get_by_role("menuitem", name="Keyboard shortcuts")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("menu")).to_have_count(0)
    await expect(page.get_by_role("button", name="Settings")).to_be_focused()
    await settings_entry(page, "Settings", "Dark")
    for each in (page, tab):
        await expect(each.locator("html")).to_have_attribute("data-theme", "dark")
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    await page.reload()
    await expect(root).to_have_attribute("data-theme", "dark")

    await page.get_by_role("textbox", name="Your question").fill("Bản nháp")
    await settings_entry(page, "Settings", "Tiếng Việt")
    await expect(root).to_have_attribute("lang", "vi")
    await expect(page.get_by_role("button", name="Phiên mới", exact=True)).to_be_visible()
    await expect(page.get_by_role("textbox", name="Câu hỏi của bạn")).to_have_value("Bản nháp")
    await settings_entry(page, "Cài đặt", "Theo hệ thống")
    await expect(root).not_to_have_attribute("data-theme", re.compile(".*"))
    await settings_entry(page, "Cài đặt", "English")
    await expect(page.get_by_role("button", name="New session", exact=True)).to_be_visible()


async def test_every_session_has_an_address(chromium_page: Visits, extractive_site: Site) -> None:
    client = extractive_site.client
    first, second = [await new_session(client, title=title) for title in ("First", "Second")]
    page = await chromium_page(f"{extractive_site.url}/#/sessions/{UNKNOWN}", faults=NOT_FOUND)
    await expect(page.get_by_text(english("sessions.gone"))).to_be_visible()
    await title_is(page, "Citewell")
    await expect(page).to_have_url(re.compile(r"/$"))
    sessions = page.get_by_role("navigation", name="Sessions")
    await sessions.get_by_role("link", name="First").click()
    await title_is(page, "First")
    await expect(page).to_have_title("First · Citewell")
    await sessions.get_by_role("link", name="Second").click()
    await title_is(page, "Second")
    await page.get_by_role("button", name="New session", exact=True).click()
    await title_is(page, "Citewell")
    await expect(page).to_have_title("Citewell")
    for go, title in ((page.go_back, "Second"), (page.go_back, "First"), (page.go_forward, "Second")):
        await go()
        await title_is(page, title)
    await expect(page).to_have_url(re.compile(second))
    # Another browser deletes both: the one on show, and the one to which the way leads back.
    for session_id in (first, second):
        assert (await client.delete(f"/api/sessions/{session_id}")).status_code == 204
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await title_is(page, "Citewell")
    await page.go_back()
    await title_is(page, "Citewell")
    await expect(sessions.get_by_role("link", name=re.compile("First|Second"))).to_have_count(0)

    await page.reload()
    await expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
    await page.get_by_role("link", name="Skip to the question").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
    await expect(page).to_have_url(re.compile(r"/$"))


async def test_the_conversation_has_all_the_room_that_is_free(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url, viewport=HIGH, faults=("net::ERR", "Failed to load"))
    await page.get_by_role("textbox", name="Your question").fill(QUESTION)
    await laid_out(page)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    for size in (HIGH, NARROW, SMALL):
        await page.set_viewport_size(size)
        measured = await laid_out(page)
        assert measured["question"] - measured["rows"][0]["bottom"] <= BELOW_THE_TOP, measured

    async def break_off(route: Route) -> None:
        reply = await route.fetch()
        body = await reply.body()
        await route.fulfill(response=reply, body=body[: len(body) // 2])

    await page.route(re.compile("/api/sessions/.*/runs$"), break_off)
    await page.route("**/api/runs/*/stream*", lambda route: route.abort())
    await page.get_by_role("textbox", name="Your question").fill("How long is the notice period?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Connection lost.")).to_be_visible()
    for size in (NARROW, HIGH):
        await page.set_viewport_size(size)
        assert len((await laid_out(page))["bars"]) == 1


async def test_what_is_too_long_for_its_line_is_cut_at_its_end(chromium_page: Visits, extractive_site: Site) -> None:
    sessions = [await new_session(extractive_site.client, title=title) for title in LONG]
    page = await chromium_page(extractive_site.url, go=False)

    async def lengthen(route: Route) -> None:
        reply = await route.fetch()
        told = await reply.json()
        for title, document in zip(LONG, told["documents"], strict=True):
            document.update(title=title, file_name=f"the-{title}.md", folder=title)
        document.update(owner="me", places=[{"kind": "folder", "path": title, "trouble": "unreadable"}])
        await route.fulfill(response=reply, json=told)

    await page.route(re.compile(r"/api/documents\?"), lengthen)
    await page.goto(f"{extractive_site.url}/#/sessions/{sessions[0]}")
    shelf = page.get_by_role("region", name="Documents")
    await page.get_by_role("textbox", name="Your question").click()
    await expect(shelf.get_by_role("checkbox", name=LONG[0])).to_be_visible()
    assert await cut_texts(page) == []
    assert await shortened(page, ".row .name") == len(LONG)
    row = shelf.get_by_role("row").first
    await row.hover()  # what deletes it comes beside its title
    remove = await row.get_by_role("button", name="Delete").bounding_box()
    name = await row.get_by_role("button", name="Read").bounding_box()
    assert remove is not None
    assert name is not None
    assert name["x"] + name["width"] <= remove["x"]
    await page.set_viewport_size(NARROW)
    await page.get_by_role("button", name="Documents", exact=True).click()
    await expect(shelf).to_be_visible()
    assert await cut_texts(page) == []
    assert await shortened(page, ".row .name") == len(LONG)


async def test_a_deployment_with_keys_shows_nothing_before_a_good_one(
    chromium_page: Visits, keyed_site: Site, key: str
) -> None:
    async with httpx.AsyncClient(base_url=keyed_site.url, headers={"X-Api-Key": key}, trust_env=False) as client:
        session_id = await new_session(client, title="Secret plan")
    page = await chromium_page(f"{keyed_site.url}/#/sessions/{session_id}", faults=REFUSED)
    field = page.get_by_label("API key")
    await expect(page.get_by_role("heading", level=1)).to_have_text(english("lock.title"))
    await expect(page.get_by_text("citewell keys create")).to_be_visible()
    await expect(field).to_be_focused()
    await expect(page.get_by_role("navigation")).to_be_hidden()
    await expect(page.get_by_text("Secret plan")).to_have_count(0)
    await field.fill("cw_wrong")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert").filter(has_text=english("lock.wrong"))).to_be_visible()
    await expect(field).to_have_attribute("aria-invalid", "true")
    await field.fill(key)
    await page.get_by_role("button", name="Open").click()
    await title_is(page, "Secret plan")
    await expect(page.get_by_role("link", name="Secret plan")).to_be_visible()
    await page.get_by_role("textbox", name="Your question").fill("When does unused leave lapse?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    await page.reload()
    await title_is(page, "Secret plan")
    assert key not in await page.evaluate("JSON.stringify(localStorage) + document.cookie")

    await page.get_by_role("button", name="Settings").click()
    await page.get_by_role("menuitem", name="Forget the key").click()
    await expect(field).to_be_visible()
    await expect(page.get_by_text("Secret plan")).to_have_count(0)
    assert key not in await page.evaluate("JSON.stringify(sessionStorage)")
