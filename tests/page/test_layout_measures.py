"""How steady the page stands, as the browser measures it: at four sizes, and while it and a long session come."""

from playwright.async_api import Page, expect

from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, new_session
from tests.page.browsing import Visits
from tests.page.laid_out import cut_texts, laid_out
from tests.page.sites import Site
from tests.scripted_openai import answer
from tools.library.ingestion import NewDocument

SIZES = ((1440, 900), (1024, 768), (844, 390), (390, 844))
BELOW_THE_TOP = 48  # pixels that a question may stand below the line above it
TURNS = 50
PROVEN = 3
FILLING = "Whoever comes later rings the bell beside the door, and waits until the keeper has come down the stairs. "
MOST_SHIFT = 0.05
QUESTION = "When does unused leave lapse?"
# What room a passage has above and below what proves in it.
ROOM = """(marks) => marks.flatMap((mark) => {
  const [inner, outer] = [mark, mark.closest(".passage-shown")].map((each) => each.getBoundingClientRect());
  return [inner.top - outer.top, outer.bottom - inner.bottom];
})"""
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


async def settled(page: Page) -> None:
    """Wait until the documents stand beside the conversation, which come last."""
    await expect(page.get_by_role("region", name="Documents").get_by_role("row").first).to_be_visible()


async def test_at_four_sizes_a_question_is_at_the_top_and_nothing_is_cut(
    chromium_page: Visits, extractive_site: Site
) -> None:
    await stands_at_four_sizes(chromium_page, extractive_site)


async def stands_at_four_sizes(visits: Visits, site: Site) -> None:
    session_id = await new_session(site.client)
    ask = {"question": QUESTION, "stream": False}
    await site.client.post(f"/api/sessions/{session_id}/runs", json=ask)
    page = await visits(f"{site.url}/#/sessions/{session_id}", viewport={"width": 1440, "height": 900})
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    await settled(page)
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        await page.locator(".question").scroll_into_view_if_needed()
        measured = await laid_out(page)
        assert measured["question"] - measured["rows"][0]["bottom"] <= BELOW_THE_TOP, (width, height, measured)
        assert await cut_texts(page) == [], (width, height)


async def test_nothing_moves_as_the_page_and_a_session_come(
    chromium_page: Visits, extractive_site: Site, model_site: Site
) -> None:
    session_id = await new_session(extractive_site.client)
    for _ in range(TURNS):
        body = {"question": QUESTION, "stream": False}
        await extractive_site.client.post(f"/api/sessions/{session_id}/runs", json=body)
    for site, address, turns in (
        (extractive_site, "/", 0),
        (extractive_site, f"/#/sessions/{session_id}", TURNS),
        (extractive_site, f"/#/documents/{HANDBOOK}", 0),
        (model_site, f"/#/sessions/{await proven(model_site)}", PROVEN),
    ):
        page = await chromium_page(site.url, go=False, viewport={"width": 1440, "height": 900})
        await page.add_init_script(SHIFTS)
        await page.goto(f"{site.url}{address}")
        await page.reload()
        if turns:
            await expect(page.locator(".turn")).to_have_count(turns)
            await expect(page.locator(".turn").last).to_be_in_viewport()
        cards = page.locator(".turn").last.locator(".passage-card")
        if site is model_site:
            await expect(cards.locator(".passage-shown.cut-above")).not_to_have_count(0)
        if HANDBOOK in address:
            await expect(page.locator(".reader").get_by_text("The notice period is three months.")).to_be_visible()
        else:
            await settled(page)
        await page.wait_for_load_state("networkidle")
        shifted = await page.evaluate("window.shifted")
        if site is model_site:
            room = await cards.locator("mark.best").evaluate_all(ROOM)
            assert room, "passages"
            assert min(room) >= 0, "what proves is never cut"
        assert sum(value for value, _ in shifted) <= MOST_SHIFT, (address, shifted)


async def proven(site: Site) -> str:
    """Have a session whose answers stand on a long passage each, which has more to show than the text beside it."""
    session_id = await new_session(site.client)
    for turn in range(PROVEN):
        rules = [f"Rule {turn}{at} says that the gate {at} of the yard is shut at {at} sharp." for at in range(8)]
        text = "\n\n".join(f"## Yard {turn}{at}\n\n{FILLING * 3}{rule} {FILLING}" for at, rule in enumerate(rules))
        new = NewDocument(name=f"yard-{turn}.md", title=f"Yard {turn}", text=text)
        document_id = (await site.citewell.library.ingestor.ingest(Identity(), new)).document_id
        raw = (await site.client.get(f"/api/documents/{document_id}/raw-text")).json()
        ids = [f"{document_id}:{each['segment_index']}" for each in raw["segments"]]
        site.server.script(answer(*({"text": rule, "source_ids": ids} for rule in rules)), to="generate_answer")
        body = {"question": QUESTION, "page_ids": [document_id], "only_selected_pages": True, "stream": False}
        told = (await site.client.post(f"/api/sessions/{session_id}/runs", json=body)).json()
        assert told["outcome"] == "answered", told
    site.server.unscript()
    return session_id
