"""The list of sessions: opened, found, renamed, deleted, beside the conversation or as a drawer over it."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.api.conftest import new_session
from tests.page.axe import accessible
from tests.page.browsing import NARROW, Visits
from tests.page.english import english
from tests.page.sites import Site
from tests.scripted_openai import Hold, Reply

FAILED = ("Failed to load resource",)
REFUSED = ("status of 409", "status of 404")


def listed(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Sessions")


def link(page: Page, title: str) -> Locator:
    return listed(page).get_by_role("link", name=title)


async def choose(page: Page, title: str, entry: str) -> None:
    """Choose from a session's menu."""
    await link(page, title).hover()
    await listed(page).get_by_role("button", name=f"Actions for “{title}”").click()
    await page.get_by_role("menuitem", name=entry).click()


async def dated(site: Site, session_id: str, days: int) -> None:
    """Have a session used last so many days ago."""
    assert site.settings.database_url is not None
    when = datetime.now(UTC) - timedelta(days=days)
    url = site.settings.database_url.get_secret_value()
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("UPDATE sessions SET updated_at = %s WHERE session_id = %s", (when, session_id))


@pytest.fixture(autouse=True)
async def no_sessions(module_model_site: Site) -> AsyncIterator[None]:
    """Begin and end without sessions."""
    yield
    for session in (await module_model_site.client.get("/api/sessions?limit=100")).json()["sessions"]:
        await module_model_site.client.delete(f"/api/sessions/{session['session_id']}")


async def test_sessions_are_grouped_opened_renamed_and_deleted(chromium_page: Visits, model_site: Site) -> None:
    client = model_site.client
    titles = ("Hội nghị", "Kế hoạch cũ", "Đi lại", "Plan")
    oldest, old, yesterday, plan = [await new_session(client, title=title) for title in titles]
    await dated(model_site, oldest, days=(datetime.now(UTC) - datetime(2024, 1, 15, tzinfo=UTC)).days)
    await dated(model_site, old, days=3)
    await dated(model_site, yesterday, days=1)
    page = await chromium_page(model_site.url, faults=REFUSED)
    tab = await page.context.new_page()
    await tab.goto(f"{model_site.url}/#/sessions/{plan}")
    await page.bring_to_front()
    ages = ("Today", "Plan"), ("Yesterday", "Đi lại"), ("Last 7 days", "Kế hoạch cũ"), ("January 2024", "Hội nghị")
    for day, title in ages:
        await expect(listed(page).get_by_role("list", name=day).get_by_role("link")).to_have_text([title])

    search = page.get_by_role("searchbox", name="Search sessions")
    await search.fill("ke hoach")
    await expect(listed(page).get_by_role("status")).to_have_text("1 session found")
    await expect(listed(page).get_by_role("link")).to_have_text(["Kế hoạch cũ"])
    await search.fill("nothing of that name")
    await expect(listed(page).get_by_role("status")).to_have_text("0 sessions found")
    await search.fill("")
    await expect(listed(page).get_by_role("link")).to_have_count(4)

    await link(page, "Plan").click()
    await expect(link(page, "Plan")).to_have_attribute("aria-current", "page")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Plan")
    assert await page.title() == "Plan · Citewell"

    await choose(page, "Plan", "Rename")
    name = page.get_by_role("textbox", name="Title of the session")
    await expect(name).to_be_focused()
    await name.fill("x" * 300)
    await expect(name).to_have_value("x" * 255)
    await name.fill("  ")
    await page.keyboard.press("Enter")
    await expect(name).to_have_attribute("aria-invalid", "true")
    await page.keyboard.press("Escape")
    await expect(link(page, "Plan")).to_be_visible()
    await choose(page, "Plan", "Rename")
    await name.fill("Better <b>plan</b>")
    await page.keyboard.press("Enter")
    for each in (page, tab):
        await expect(link(each, "Better <b>plan</b>")).to_be_visible()
        await expect(each.get_by_role("heading", level=1)).to_have_text("Better <b>plan</b>")
        await expect(each).to_have_title("Better <b>plan</b> · Citewell")
    assert (await client.get(f"/api/sessions/{plan}")).json()["session"]["title"] == "Better <b>plan</b>"

    await choose(page, "Better <b>plan</b>", "Delete")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Citewell")
    await expect(link(page, "Better <b>plan</b>")).to_have_count(0)
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Better <b>plan</b>")
    assert (await client.get(f"/api/sessions/{plan}")).status_code == 200
    await choose(page, "Better <b>plan</b>", "Delete")
    await page.get_by_role("status").get_by_role("button", name="Close").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Citewell")
    await expect(listed(page).get_by_role("link")).to_have_count(3)
    # The other tab had it open: it says what became of it, and shows a new one.
    await expect(tab.get_by_text(english("sessions.gone"))).to_be_visible()
    await expect(tab.get_by_role("heading", level=1)).to_have_text("Citewell")
    await expect(listed(tab).get_by_role("link")).to_have_count(3)


async def test_several_sessions_are_deleted_at_once_and_come_back(chromium_page: Visits, model_site: Site) -> None:
    client = model_site.client
    titles = [f"Plan number {number} for the very long journey to the sea and back again" for number in range(4)]
    for title in titles:
        await new_session(client, title=title)
    page = await chromium_page(model_site.url, faults=REFUSED)
    first = listed(page).get_by_role("link").first
    await expect(first).to_be_visible()
    lines = await first.locator(".name").evaluate(
        "each => each.clientHeight / parseFloat(getComputedStyle(each).lineHeight)"
    )
    assert round(lines) == 2
    await choose(page, titles[2], "Choose several")
    ticks = listed(page).get_by_role("checkbox")
    await expect(ticks).to_have_count(4)
    await expect(ticks.nth(1)).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Space")
    bar = listed(page).get_by_role("group", name="Choose several")
    await expect(bar.get_by_role("status")).to_have_text("2 chosen")
    await accessible(page, "sessions that are chosen")
    await bar.get_by_role("button", name="Delete").click()
    links = listed(page).get_by_role("link")
    await expect(links).to_have_count(2)
    await expect(links.last).to_be_focused()
    await page.get_by_role("button", name="Undo").click()
    await expect(links).to_have_count(4)

    await choose(page, titles[2], "Choose several")
    await bar.get_by_role("button", name="Cancel").click()
    await expect(links).to_have_count(4)
    await choose(page, titles[0], "Choose several")
    await ticks.nth(0).check()
    await bar.get_by_role("button", name="Delete").click()
    await expect(links).to_have_count(2)
    # Whoever leaves wants nothing back.
    await page.goto("about:blank")
    await until_listed(model_site, 2)


async def until_listed(site: Site, count: int) -> None:
    async with asyncio.timeout(60):
        while True:
            if len((await site.client.get("/api/sessions")).json()["sessions"]) == count:
                return
            await asyncio.sleep(0.05)


async def test_a_session_that_is_answering_is_marked_and_stays(chromium_page: Visits, model_site: Site) -> None:
    client, hold = model_site.client, Hold()
    session_id = await new_session(client, title="Busy")
    model_site.server.script(Reply(steps=[hold]), to="answer_directly")
    question = {"question": "hello", "stream": False, "on_disconnect": "continue"}
    asking = asyncio.create_task(client.post(f"/api/sessions/{session_id}/runs", json=question))
    await asyncio.to_thread(hold.wait_reached)
    page = await chromium_page(model_site.url, faults=REFUSED)
    await expect(listed(page).get_by_role("link", name="Busy is answering")).to_be_visible()
    await choose(page, "Busy", "Delete")
    notice = page.get_by_role("alert").filter(has_text="answering")
    await expect(notice).to_contain_text("Wait for the session")
    await notice.get_by_role("button", name="Close").click()
    await expect(notice).to_have_count(0)
    await expect(link(page, "Busy")).to_be_visible()
    hold.release()
    await asking
    await expect(listed(page).get_by_role("img", name="is answering")).to_have_count(0)


async def test_many_sessions_come_page_by_page_and_a_search_finds_the_last(
    chromium_page: Visits, model_site: Site
) -> None:
    client = model_site.client
    oldest = await new_session(client, title="Needle")
    await asyncio.gather(*(new_session(client, title=f"Session {number}") for number in range(55)))
    await dated(model_site, oldest, days=2)
    page = await chromium_page(model_site.url, faults=FAILED)
    links = listed(page).get_by_role("link")
    await expect(links).to_have_count(50)
    await listed(page).get_by_role("button", name="Show more").click()
    await expect(links).to_have_count(56)
    await expect(listed(page).get_by_role("button", name="Show more")).to_have_count(0)
    await page.reload()
    await expect(links).to_have_count(50)
    await page.get_by_role("searchbox", name="Search sessions").fill("needle")
    await expect(links).to_have_text(["Needle"])
    await expect(listed(page).get_by_role("status")).to_have_text("1 session found")

    async def fail(route: Route) -> None:
        await route.fulfill(status=503, content_type="text/plain", body="away")

    await page.route("**/api/sessions?**", fail)
    await page.reload()
    await expect(listed(page).get_by_role("alert")).to_contain_text(english("sessions.failed"))
    await page.unroute("**/api/sessions?**")
    await listed(page).get_by_role("button", name="Try again").click()
    await expect(links).to_have_count(50)


async def test_on_a_narrow_window_the_sessions_are_a_drawer(chromium_page: Visits, model_site: Site) -> None:
    await new_session(model_site.client, title="Plan")
    page = await chromium_page(model_site.url, viewport=NARROW)
    opener = page.get_by_role("button", name="Show the sessions")
    await expect(listed(page)).to_be_hidden()
    await opener.click()
    await expect(listed(page).get_by_role("button", name="Close")).to_be_focused()
    for _ in range(12):
        await page.keyboard.press("Tab")
        assert await page.evaluate("!document.activeElement.closest('main')")
    await page.keyboard.press("Escape")
    await expect(listed(page)).to_be_hidden()
    await expect(opener).to_be_focused()
    await page.keyboard.press("Enter")
    await page.mouse.click(NARROW["width"] - 10, 400)
    await expect(listed(page)).to_be_hidden()
    await opener.click()
    await link(page, "Plan").click()
    await expect(listed(page)).to_be_hidden()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Plan")
    assert await page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
