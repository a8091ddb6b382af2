"""The chooser of workspaces: sessions and library follow it, it is remembered, and it is used by keys alone."""

import re

from playwright.async_api import Page, Route, expect

from graph.evidence import Identity
from tests.page.axe import WIDE, accessible
from tests.page.browsing import Visits
from tests.page.english import english
from tests.page.sites import Site
from tools.library.new_documents import NewDocument
from tools.settings import Settings

OTHER = "Thư viện"


async def choose(page: Page, current: str, name: str) -> None:
    """Choose a workspace by keys, and wait until the page is loaded anew in it."""
    await page.get_by_role("button", name=f"Workspace: {current}").focus()
    await page.keyboard.press("ArrowDown")
    entry = page.get_by_role("menuitemradio", name=name)
    await expect(page.get_by_role("menuitemradio", name=current)).to_have_attribute("aria-checked", "true")
    await entry.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name=f"Workspace: {name}")).to_be_visible()


async def test_sessions_and_library_follow_the_chosen_workspace(
    chromium_page: Visits, extractive_site: Site, module_settings: Settings
) -> None:
    library = extractive_site.citewell.library
    page = await chromium_page(extractive_site.url)
    await expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    await expect(page.get_by_role("button", name="Workspace")).to_have_count(0)  # one workspace is no choice

    await library.workspaces.create(OTHER)
    document = NewDocument(text="The ferry leaves at nine.", title="Ferry times")
    await library.ingestor.ingest(Identity(OTHER, module_settings.user), document)
    await page.reload()
    await page.get_by_role("textbox", name="Your question").fill("When does unused leave lapse?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    own = page.get_by_role("navigation").get_by_role("link")
    await expect(own).to_have_count(1)

    await choose(page, "default", OTHER)
    await expect(own).to_have_count(0)
    await expect(page.get_by_role("button", name="Answer again")).to_have_count(0)
    await expect(page.get_by_role("button", name="Ferry times", exact=True)).to_be_visible()
    await page.get_by_role("textbox", name="Your question").fill("When does the ferry leave?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("The ferry leaves at nine.").first).to_be_visible()

    await page.reload()
    await expect(page.get_by_role("button", name=f"Workspace: {OTHER}")).to_be_visible()
    await expect(page.get_by_text("The ferry leaves at nine.").first).to_be_visible()
    await choose(page, OTHER, "default")
    await expect(own).to_have_count(1)
    await expect(page.get_by_role("button", name="Ferry times", exact=True)).to_have_count(0)


async def test_a_question_to_an_empty_library_leads_to_the_library(
    chromium_page: Visits, extractive_site: Site
) -> None:
    await extractive_site.citewell.library.workspaces.create("Empty shelf")
    page = await chromium_page(extractive_site.url)
    await choose(page, "default", "Empty shelf")
    empty = page.locator(".empty")
    await expect(empty.get_by_text(english("ways.first"))).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("^Add"))).to_have_count(1)
    await accessible(page, "an empty workspace")
    await page.get_by_role("button", name="Workspace: Empty shelf").click()
    await accessible(page, "the list of workspaces", [WIDE])
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Workspace: Empty shelf")).to_be_focused()
    await page.get_by_role("textbox", name="Your question").fill("When does the ferry leave?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text(english("answer.stopReasons.library_empty")).first).to_be_visible()
    await page.get_by_role("button", name="New session").click()
    await expect(empty.get_by_text(english("ways.first"))).to_be_visible()
    await empty.get_by_role("button", name=english("ways.add")).click()
    await page.get_by_role("menuitem", name="A text…").click()
    await empty.get_by_role("textbox", name="Title (optional)").fill("Ferry times")
    await empty.get_by_role("textbox", name="Text", exact=True).fill("The ferry leaves at nine.")
    await accessible(page, "a text that is pasted before the first question")
    await empty.get_by_role("button", name="Add the text").click()
    await expect(page.get_by_role("region", name="Documents").get_by_text("1 document added")).to_be_visible()
    await expect(empty.get_by_role("button", name="Ferry times", exact=True)).to_be_visible()
    await expect(empty.get_by_text(english("ways.quotes"))).to_contain_text("citewell model add")
    await expect(empty.get_by_role("button", name=english("ways.add"))).to_have_count(0)

    async def reads_alone(route: Route) -> None:
        reply = await route.fetch()
        await route.fulfill(response=reply, json={**await reply.json(), "scopes": ["ask", "read"]})

    await page.route("**/api/me", reads_alone)
    await page.reload()
    await expect(empty.get_by_text(english("ways.quotes"))).to_contain_text(english("ways.askForModel"))
    await choose(page, "Empty shelf", "default")
    await page.route(re.compile(r"/api/documents\?"), lambda route: route.fulfill(json={"documents": [], "total": 0}))
    await page.reload()
    await expect(empty.get_by_text(english("ways.firstOfOthers"))).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("^Add"))).to_have_count(0)


async def test_a_low_screen_leaves_room_for_the_answer(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url)
    for width, height, left in ((320, 256, 90), (844, 200, 60)):
        await page.set_viewport_size({"width": width, "height": height})
        await expect(page.get_by_role("textbox", name="Your question")).to_be_visible()
        box = await page.locator(".conversation").bounding_box()
        assert box is not None
        assert box["height"] >= left
        field = await page.get_by_role("textbox", name="Your question").bounding_box()
        assert field is not None
        assert field["y"] + field["height"] <= height


async def test_a_remembered_workspace_that_is_gone_is_forgotten(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url, faults=("status of 404",))
    await page.evaluate("localStorage.setItem('citewell.workspace', sessionStorage['citewell.workspace'] = 'gone')")
    await page.reload()
    await expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    await expect(page.get_by_role("button", name="Staff handbook", exact=True)).to_be_visible()
    await page.wait_for_function("localStorage.getItem('citewell.workspace') === null")
