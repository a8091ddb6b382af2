"""Ticked documents are compared side by side, and learned by cards, each with its proof."""

import json

from playwright.async_api import Page, expect

from evals.scripted_replies import judged
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK
from tests.page.axe import accessible
from tests.page.browsing import Visits
from tests.page.english import english
from tests.page.sites import Site
from tests.scripted_openai import answer, say
from tools.library.ingestion import NewDocument

QUESTION = "How many days of annual leave does an employee get?"
OLD = "Every employee gets 20 days of annual leave a year."
TERM = "<dl><dt>Floor host</dt><dd>The person who opens the office in the morning.</dd></dl>"


async def ticked(page: Page, *titles: str) -> None:
    for title in titles:
        await page.get_by_role("checkbox", name=title).check()


async def test_documents_are_quoted_side_by_side_and_their_terms_are_cards(
    extractive_site: Site, chromium_page: Visits
) -> None:
    for title, text in (("Old handbook", f"<h1>Leave</h1><p>{OLD}</p>"), ("Words", f"<h1>Words</h1>{TERM}")):
        new = NewDocument(name=f"{title}.html", title=title, text=text, media_type="text/html")
        await extractive_site.citewell.library.ingestor.ingest(Identity(), new)
    page = await chromium_page(extractive_site.url)
    await ticked(page, "Staff handbook", "Old handbook", "Travel policy")
    await page.get_by_role("button", name=english("studies.compare"), exact=True).click()
    dialog = page.get_by_role("dialog", name=english("studies.compareTitle"))
    await dialog.get_by_label(english("studies.by")).fill(QUESTION)
    await page.keyboard.press("Enter")
    cells = dialog.get_by_role("cell")
    await expect(cells).to_have_count(3)
    await expect(cells.filter(has_text="25 days")).to_have_count(1)
    await expect(cells.filter(has_text=english("studies.nothing"))).to_have_count(1)
    await accessible(page, "a comparison")
    await cells.filter(has_text="20 days").get_by_role("button", name="Old handbook").click()
    await expect(page.locator(".reader mark", has_text="20 days").first).to_be_visible()
    await page.go_back()
    await expect(cells.filter(has_text="20 days")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Clear").click()
    await ticked(page, "Words")
    await page.get_by_role("button", name="Cards", exact=True).click()
    cards = page.get_by_role("dialog", name="Flashcards")
    await expect(cards.get_by_role("heading", name="Floor host")).to_be_visible()
    await expect(cards.get_by_text("opens the office")).to_have_count(0)
    await cards.get_by_role("button", name=english("studies.show")).click()
    await expect(cards.get_by_text("opens the office")).to_be_visible()
    await accessible(page, "a card")


async def test_what_is_closed_is_given_up_and_what_fails_is_no_longer_waited_for(
    extractive_site: Site, chromium_page: Visits
) -> None:
    page = await chromium_page(extractive_site.url, faults=["Cannot read properties of undefined"])
    await ticked(page, "Staff handbook", "Travel policy")
    dialog = page.get_by_role("dialog", name=english("studies.compareTitle"))
    make = dialog.get_by_role("button", name=english("studies.compare"))

    async def compare() -> None:
        await page.get_by_role("button", name=english("studies.compare"), exact=True).click()
        await dialog.get_by_label(english("studies.by")).fill(QUESTION)
        await make.click()

    await page.route("**/api/comparisons", lambda _: None)  # it takes for ever
    await compare()
    await expect(make).to_be_disabled()
    async with page.expect_event("requestfailed"):
        await page.keyboard.press("Escape")
    await page.go_forward()
    await expect(dialog).to_have_count(0)
    await page.go_back()

    await page.unroute("**/api/comparisons")
    await page.route("**/api/comparisons", lambda route: route.fulfill(json={"rows": [{}], "documents": []}))
    await compare()
    await expect(make).to_be_enabled()
    await expect(dialog.get_by_role("status")).to_be_empty()
    await page.keyboard.press("Escape")

    none = {"by": "model", "cards": [], "dropped": 0}
    await page.route("**/api/flashcards", lambda route: route.fulfill(json=none))
    await page.get_by_role("button", name="Cards", exact=True).click()
    await expect(page.get_by_role("dialog").get_by_text(english("studies.noneFound"))).to_be_visible()


async def test_a_models_points_are_rows_and_what_is_not_confirmed_is_said_to_be_left_out(
    model_site: Site, chromium_page: Visits
) -> None:
    old = NewDocument(name="old.md", title="Older handbook", text=f"# Leave\n\n{OLD}\n")
    document = (await model_site.citewell.library.ingestor.ingest(Identity(), old)).document_id
    rows = [{"segment_id": f"{document}:0", "quote": OLD, "question": QUESTION}]
    model_site.server.script(say(json.dumps({"questions": rows})), to="propose_questions")
    said = {"text": "An employee has **25** days off.", "source_ids": [f"{HANDBOOK}:0"]}
    wrong = {"text": "An employee has 30 days off.", "source_ids": [f"{document}:0"]}
    model_site.server.script(answer(said), to="generate_answer", when="25 days")
    model_site.server.script(answer(wrong), to="generate_answer", when="20 days")
    doubt = say(json.dumps({"1": judged("contradicted")}))
    model_site.server.script(doubt, to="judge_claims", when="30 days off")
    page = await chromium_page(model_site.url)
    await ticked(page, "Staff handbook", "Older handbook")
    await page.get_by_role("button", name=english("studies.compare"), exact=True).click()
    dialog = page.get_by_role("dialog", name=english("studies.compareTitle"))
    await dialog.get_by_role("button", name=english("studies.compare")).click()
    await expect(dialog.get_by_role("rowheader", name=QUESTION)).to_be_visible()
    cells = dialog.get_by_role("cell")
    await expect(cells.filter(has_text="An employee has 25 days off.")).to_contain_text("25 days of annual leave")
    await expect(cells.filter(has_text=english("studies.doubted"))).to_have_count(1)
    await accessible(page, "a comparison by a model")
