"""How steady the page stands, as browsers measure it: at four sizes in both, and while it and a long session come."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from playwright.async_api import Browser, Page, expect

from tests.api.conftest import HANDBOOK, new_session
from tests.page import firefox
from tests.page.browsing import Visits
from tests.page.laid_out import cut_texts, laid_out
from tests.page.sites import Site

SIZES = ((1440, 900), (1024, 768), (844, 390), (390, 844))
BELOW_THE_TOP = 48  # pixels that a question may stand below the line above it
TURNS = 50
MOST_SHIFT = 0.05
QUESTION = "When does unused leave lapse?"
# What a reader sees move without having done anything; a press or a key would excuse it.
SHIFTS = """
window.shifted = [];
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) {
    const moved = each.sources.map(({ node }) => (node?.nodeType === 1 ? node : node?.parentElement)?.className);
    if (!each.hadRecentInput) window.shifted.push([each.value, moved]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture(params=["chromium", "firefox"])
async def visits(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Visits]:
    """Pages in either browser; Firefox is started for its one test."""
    async with AsyncExitStack() as stack:
        if request.param == "firefox":
            browser = await stack.enter_async_context(firefox.launched(tmp_path_factory.mktemp("firefox")))
        opened = Visits(browser)
        yield opened
        await opened.end()


async def settled(page: Page) -> None:
    """Wait until the documents stand beside the conversation, which come last."""
    await expect(page.get_by_role("region", name="Documents").get_by_role("row").first).to_be_visible()


async def test_at_four_sizes_a_question_is_at_the_top_and_nothing_is_cut(visits: Visits, extractive_site: Site) -> None:
    session_id = await new_session(extractive_site.client)
    ask = {"question": QUESTION, "stream": False}
    await extractive_site.client.post(f"/api/sessions/{session_id}/runs", json=ask)
    page = await visits(f"{extractive_site.url}/#/sessions/{session_id}", viewport={"width": 1440, "height": 900})
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    await settled(page)
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        await page.locator(".question").scroll_into_view_if_needed()
        measured = await laid_out(page)
        assert measured["question"] - measured["rows"][0]["bottom"] <= BELOW_THE_TOP, (width, height, measured)
        assert await cut_texts(page) == [], (width, height)


async def test_nothing_moves_as_the_page_and_a_long_session_come(chromium_page: Visits, extractive_site: Site) -> None:
    session_id = await new_session(extractive_site.client)
    for _ in range(TURNS):
        body = {"question": QUESTION, "stream": False}
        await extractive_site.client.post(f"/api/sessions/{session_id}/runs", json=body)
    page = await chromium_page(extractive_site.url, go=False, viewport={"width": 1440, "height": 900})
    await page.add_init_script(SHIFTS)
    for address in ("/", f"/#/sessions/{session_id}", f"/#/documents/{HANDBOOK}"):
        await page.goto(f"{extractive_site.url}{address}")
        await page.reload()
        if session_id in address:
            await expect(page.locator(".turn")).to_have_count(TURNS)
            await expect(page.locator(".turn").last).to_be_in_viewport()
        if HANDBOOK in address:
            await expect(page.locator(".reader").get_by_text("The notice period is three months.")).to_be_visible()
        else:
            await settled(page)
        await page.wait_for_load_state("networkidle")
        shifted = await page.evaluate("window.shifted")
        assert sum(value for value, _ in shifted) <= MOST_SHIFT, (address, shifted)
