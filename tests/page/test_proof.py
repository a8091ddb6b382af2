"""The proof in an answer: verdicts, markers and their cards, revisions, and what has become of quotes since."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from io import BytesIO
from itertools import count
from typing import Any

import pypdfium2
import pytest
from playwright.async_api import Locator, Page, expect

from evals.scripted_replies import claims_to_judge, judged
from graph.evidence import Identity
from tests.api.conftest import new_session, with_model
from tests.judging import pass_exam
from tests.page.axe import accessible
from tests.page.browsing import NARROW, Visits
from tests.page.english import english
from tests.page.sites import Site, site_of
from tests.scripted_openai import Hold, ModelRequest, Reply, ScriptedOpenAI, answer, say
from tools.judges.examiner import without_background_exam
from tools.library.ingestion import NewDocument
from tools.settings import Settings

_numbers = count(1)
LEAVE = "Every employee gets 25 days of annual leave a year."
LAPSE = "Unused leave lapses in March."
REPORTS = "Anna reports to Ben."
TEXT = f"# On leave\n\n{LEAVE} {LAPSE} {REPORTS}\n"
WRONG = "Unused leave lapses in June."
TURNED = "Ben reports to Anna."
UNSAID_BY_ANY = "Penguins cannot fly."
SPRING = "Leave that is unused is gone in spring."
LEFT_OUT = (LEAVE, TURNED, "Unused leave lapses in May.")
VERDICTS = {WRONG: "contradicted", UNSAID_BY_ANY: "unsupported", "Whales cannot fly.": "unsupported"}
QUESTION = "How many days of annual leave are there, when do they lapse, and who reports to whom?"
ROOMY = {"width": 1440, "height": 900}  # with room beside the text
STYLES = """(pieces) => pieces.map((piece) => {
  const { textDecorationLine, textDecorationStyle } = getComputedStyle(piece);
  return `${textDecorationLine} ${textDecorationStyle}`;
})"""

# A section's view, apart from any run.
GROWING = """async () => {
  const main = [...document.scripts].map((script) => script.src).find((src) => src.endsWith("/main.js"));
  const { sectionView } = await import(main.replace("main.js", "views/section.js"));
  const unwatched = { watch: () => {} };
  const view = sectionView({ conversation: { turns: unwatched }, reading: unwatched });
  const around = document.createElement("div");
  around.className = "growing answer";
  around.append(view.element);
  document.body.prepend(around);
  const written = { text: "One.", sourceIds: [], claims: null, grounded: true, done: false, before: null, removed: [] };
  const answer = { outcome: null, sources: [{}], sections: [] };
  globalThis.grow = (text, more) => view.show({ ...written, text, ...more }, answer);
  grow("One.", {});
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
}"""


class Judge(ScriptedOpenAI):
    """The scripted model, which supports what it neither doubts nor leaves out."""

    def _next(self, request: ModelRequest) -> Reply:
        if request.prompt != "judge_claims":
            return super()._next(request)
        claims = claims_to_judge(request)
        said = {at: judged(VERDICTS.get(text, "supported")) for at, text in claims.items() if text not in LEFT_OUT}
        return say(json.dumps(said))


@pytest.fixture(scope="module")
async def module_judged_site(module_settings: Settings) -> AsyncIterator[Site]:
    with Judge() as server:
        settings = without_background_exam(with_model(module_settings, server))
        model = settings.models[0].model_copy(update={"model": "examined"})  # the database has another site's exams too
        settings = settings.model_copy(update={"models": [model]})
        async with site_of(settings, server) as site:
            await pass_exam(site.citewell, settings)
            yield site


@pytest.fixture
def judged_site(module_judged_site: Site) -> Iterator[Site]:
    """A deployment whose model judges, and has passed its exam; what a test leaves unsaid goes with it."""
    yield module_judged_site
    module_judged_site.server.unscript()


async def put(site: Site, text: str = TEXT, **more: Any) -> str:
    """Store a document with a title of its own; gives its id."""
    new = NewDocument(name="handbook.md", title=f"Handbook {next(_numbers)}", text=text, **more)
    return (await site.citewell.library.ingestor.ingest(Identity(), new)).document_id


async def segments(site: Site, document_id: str) -> list[str]:
    raw = (await site.client.get(f"/api/documents/{document_id}/raw-text")).json()
    return [f"{document_id}:{segment['segment_index']}" for segment in raw["segments"]]


def rewritten(*texts: str, ids: list[str]) -> Reply:
    """Script what sections that failed are written anew as; an empty text gives one up."""
    sections = [{"section": n, "text": text, "source_ids": ids if text else []} for n, text in enumerate(texts, 1)]
    return say(json.dumps({"sections": sections}))


async def answered(site: Site, document_id: str, *texts: str, cites: bool = True) -> str:
    """Ask, and be answered with sections that no repair mends; gives the address of the session."""
    ids = await segments(site, document_id)
    sections = [{"text": text, "source_ids": ids if cites else []} for text in texts]
    site.server.script(answer(*sections), to="generate_answer")
    site.server.script(*[rewritten(*texts, ids=ids if cites else []) for _ in range(3)], to="revise_sections")
    session_id = await new_session(site.client)
    body = {"question": QUESTION, "page_ids": [document_id], "only_selected_pages": True, "stream": False}
    told = (await site.client.post(f"/api/sessions/{session_id}/runs", json=body)).json()
    site.server.unscript()
    assert told["outcome"] == "answered", told
    return f"{site.url}/#/sessions/{session_id}"


async def held_in_repair(site: Site, text: str) -> tuple[str, Hold]:
    """Store a document, and script an answer about it that is held while its failed claims are written anew, in vain.

    They are shown with their verdicts until the hold is released, and withdrawn then.
    """
    document_id, hold = await put(site), Hold()
    ids = await segments(site, document_id)
    site.server.script(answer({"text": text, "source_ids": ids}), to="generate_answer")
    again = rewritten(text, ids=ids)
    site.server.script(replace(again, steps=[hold, *again.steps]), again, again, to="revise_sections")
    return document_id, hold


async def in_repair(site: Site, page: Page, text: str) -> Hold:
    """Ask on a page, and wait until its answer is held."""
    document_id, hold = await held_in_repair(site, text)
    session_id = await new_session(site.client, page_ids=[document_id])
    await page.goto(f"{site.url}/#/sessions/{session_id}")
    await expect(page.get_by_title(await title(site), exact=True).first).to_be_visible()
    await page.get_by_role("textbox", name="Your question").fill(QUESTION)
    await page.keyboard.press("Enter")
    await asyncio.to_thread(hold.wait_reached)
    await expect(page.locator(".claim.contradicted")).to_have_text(WRONG)
    return hold


async def withdrawn(page: Page, hold: Hold, *kept: str) -> None:
    """Let the repair end, and see that of the claims these alone are left."""
    hold.release()
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    await expect(page.locator(".section .claim")).to_have_text(kept)
    await expect(page.get_by_text(english("answer.stopReasons.repairs_used_up"))).to_be_visible()
    await expect(page.locator(".faults li")).to_have_count(0)


def markers(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile("^Source "))


def cards(page: Page) -> Locator:
    return page.locator(".passage-card:visible")


def reader(page: Page) -> Locator:
    return page.locator(".reader:visible")


async def test_each_verdict_is_told_by_a_line_a_sign_and_words(chromium_page: Visits, judged_site: Site) -> None:
    page = await chromium_page(judged_site.url)
    text = f"{LEAVE} {WRONG} {TURNED} {SPRING} {UNSAID_BY_ANY} Whales cannot fly."
    hold = await in_repair(judged_site, page, text)
    await expect(markers(page).first).to_be_visible()
    claims = {"quoted": LEAVE, "contradicted": WRONG, "unverified": TURNED, "supported": SPRING}
    for verdict, text in claims.items():
        await expect(page.locator(f".claim.{verdict}")).to_have_text(text)
    await expect(page.locator(".claim.unsupported")).to_have_text([UNSAID_BY_ANY, "Whales cannot fly."])
    drawn = await page.locator(".section .claim").evaluate_all(STYLES)
    lines = ["none solid", "underline wavy", "underline dotted", "none solid", "underline dashed", "underline dashed"]
    assert drawn == lines
    assert [await marker.get_attribute("aria-label") for marker in await markers(page).all()] == [
        f"Source 1, {await title(judged_site)}: {word}" for word in ("Quoted", "Unverified", "Supported")
    ]
    signs = page.get_by_role("button", name=re.compile(r"Why\?$"))
    assert [await sign.get_attribute("aria-label") for sign in await signs.all()] == [
        "Contradicted. Why?",
        "Unverified. Why?",
        "Unsupported. Why?",  # one for both, which are so for the same reason
    ]
    paths = [await sign.locator("path").get_attribute("d") for sign in (await signs.all())[:3]]
    assert len(set(paths)) == 3
    await expect(markers(page).first.locator("path")).to_have_count(0)  # the tick is a judge's
    await expect(page.locator(".faults li")).to_have_text(
        [
            re.compile(f"^Contradicted: {re.escape(english('proof.means.contradicted'))}"),
            re.compile(f"^Unsupported, 2 times: {re.escape(english('proof.means.unsupported'))}"),
        ]
    )
    await signs.nth(1).click()
    await expect(cards(page)).to_contain_text(english("proof.means.unverified"))
    await signs.nth(1).click()
    await expect(cards(page)).to_have_count(0)
    await signs.nth(0).click()
    await expect(cards(page)).to_contain_text("50 of 50 test statements")
    await withdrawn(page, hold, LEAVE, TURNED, SPRING)


async def test_what_a_judge_says_before_its_exam_takes_marks_away_and_ticks_nothing(
    chromium_page: Visits, model_site: Site
) -> None:
    said = {at: judged(verdict) for at, verdict in enumerate(("supported", "contradicted", "supported"), start=1)}
    model_site.server.script(*[say(json.dumps(said))] * 2, to="judge_claims")
    page = await chromium_page(await answered(model_site, await put(model_site), f"{LEAVE} {WRONG} {SPRING}"))
    await expect(markers(page)).to_have_count(2)
    assert [await marker.get_attribute("aria-label") for marker in await markers(page).all()] == [
        f"Source 1, {await title(model_site)}: {word}" for word in ("Quoted", "Checked")
    ]
    await expect(page.locator(".claim.contradicted")).to_have_text(WRONG)
    await expect(page.get_by_role("button", name=re.compile(r"Why\?$"))).to_have_count(1)
    await expect(page.locator(".worth")).to_have_text(
        re.compile("1 of 3 statements quoted exactly, 1 checked by .+, 1 in doubt")
    )
    await page.locator(".run > summary").click()
    await expect(page.get_by_text(english("answer.marks"))).to_be_visible()
    await page.locator(".account > summary").click()
    await expect(page.locator("details.account")).to_contain_text(re.compile("Checked by .+ not been tested"))


async def title_of(site: Site, document_id: str) -> str:
    return str((await site.client.get(f"/api/documents/{document_id}")).json()["title"])


async def title(site: Site) -> str:
    [newest] = (await site.client.get("/api/documents", params={"limit": 1})).json()["documents"]
    return str(newest["title"])


async def test_proof_stands_beside_its_sentence_and_opens_the_document(chromium_page: Visits, model_site: Site) -> None:
    document_id = await put(model_site, url="https://wiki.example/handbook")
    row = "A lamp may cost 9 euros."
    prices = await put(model_site, text="# Prices\n\n| Item | Price |\n|---|---|\n| Lamp | 9 € |\n| Rope | 4 € |\n")
    address = await answered(model_site, document_id, LEAVE, LAPSE, REPORTS)
    page = await chromium_page(address, viewport=ROOMY)
    shown = cards(page)
    await expect(shown).to_have_count(1)
    await expect(shown.locator("p", has_text=LEAVE)).to_have_count(1)
    await expect(page.locator(".margin mark.best")).to_have_text([LEAVE, LAPSE, REPORTS])
    for part in (await title_of(model_site, document_id), "On leave", LEAVE):
        await expect(shown.first).to_contain_text(part)
    sentence, card = await markers(page).first.bounding_box(), await shown.bounding_box()
    assert sentence is not None
    assert card is not None
    assert abs(card["y"] - sentence["y"]) <= 8, "in step with its first sentence"
    assert card["x"] > sentence["x"]
    await expect(shown.first.get_by_role("link", name="Open the original")).to_have_attribute(
        "href", "https://wiki.example/handbook#on-leave"
    )
    await markers(page).nth(1).hover()
    await expect(page.locator(".claim.shown")).to_have_text(LAPSE)
    await expect(page.locator(".passage-card.lit")).to_contain_text(LAPSE)
    await page.mouse.move(5, 5)
    await expect(page.locator(".claim.shown")).to_have_count(0)
    await accessible(page, "an answer with its proof beside it")
    await page.emulate_media(media="print")
    assert set(await page.locator(".margin mark.best").evaluate_all(STYLES)) == {"underline solid"}
    await page.emulate_media(media="null")

    await markers(page).nth(1).click()
    await expect(reader(page).locator("mark.current")).to_have_text(LAPSE)
    await expect(reader(page).get_by_text("2 of 3")).to_be_visible()
    await expect(page.locator(".marker[aria-current=true]")).to_have_count(1)
    await markers(page).nth(2).click()
    await expect(reader(page).locator("mark.current")).to_have_text(REPORTS)
    await reader(page).get_by_role("button", name="Close the document").click()
    await expect(page.locator(".marker[aria-current]")).to_have_count(0)

    await page.goto(await answered(model_site, prices, row))
    await expect(page.locator(".margin th")).to_have_text(["Item", "Price"])
    await expect(page.locator(".margin tr", has=page.locator("mark"))).to_have_text(["Lamp9 €"])
    paper = pypdfium2.PdfDocument(BytesIO(await page.pdf(format="A4")))[0].get_textpage().get_text_bounded()
    for part in (row, "statement", "Handbook", "Prices", "Item", "9 €"):
        assert part in paper, part


async def test_the_keyboard_alone_reads_the_proof(chromium_page: Visits, judged_site: Site) -> None:
    page = await chromium_page(await answered(judged_site, await put(judged_site), f"{LEAVE} {TURNED}"))
    first, sign = markers(page).first, page.get_by_role("button", name="Unverified. Why?")
    await expect(first).to_be_visible()
    await page.locator(".section").evaluate("(section) => { section.tabIndex = -1; section.focus(); }")
    await page.keyboard.press("Tab")
    await expect(first).to_be_focused()
    await expect(page.locator(".claim.shown")).to_have_text(LEAVE)
    shown = cards(page)
    await page.keyboard.press("Enter")
    await expect(shown.locator("mark.best")).to_have_text(LEAVE)
    await expect(first).to_have_attribute("aria-expanded", "true")
    await expect(first).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(shown.get_by_role("button", name="Read in the document")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(shown).to_have_count(0)
    await expect(first).to_be_focused()
    await sign.focus()
    await page.keyboard.press("Space")
    await expect(shown).to_contain_text(english("proof.means.unverified"))
    await page.keyboard.press("Enter")
    await expect(sign).to_have_attribute("aria-expanded", "false")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(shown.locator("mark.best")).to_have_text(REPORTS)
    await page.keyboard.press("Tab")  # to the sign
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(reader(page).locator("mark.current")).to_have_text(REPORTS)


async def test_a_finger_unfolds_the_proof_below_its_sentence(chromium_page: Visits, model_site: Site) -> None:
    long = [
        f"Rule {number} of the house says that door {number} is shut at {number} sharp." for number in range(10, 30)
    ]
    document_id = await put(model_site, text=" ".join([*long, LEAVE]))
    page = await chromium_page(
        await answered(model_site, document_id, *long[:3], LEAVE), viewport=NARROW, has_touch=True
    )
    await expect(markers(page).last).to_be_visible()
    shown = cards(page)
    await expect(shown).to_have_count(0)
    for marker in await markers(page).all():
        await expect(marker).to_have_attribute("aria-expanded", "false")
        await marker.tap()
        await expect(marker).to_have_attribute("aria-expanded", "true")
    await expect(shown).to_have_count(4)
    for index, text in enumerate([*long[:3], LEAVE]):
        await expect(shown.nth(index).locator("mark.best")).to_have_text(text)
        assert await shown.nth(index).evaluate("(card) => card.previousElementSibling.matches('.behind')")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await accessible(page, "proof below its sentences")
    await markers(page).first.tap()
    await expect(shown).to_have_count(3)
    await shown.last.get_by_role("button", name="Read in the document").tap()
    await expect(reader(page).locator("mark.current")).to_have_text(LEAVE)


async def test_what_matching_found_says_so_and_claims_end_where_they_end(
    chromium_page: Visits, model_site: Site
) -> None:
    text = f"😀 🏖️👩‍👩‍👧\n\n- **{LEAVE}**\n- {LAPSE[:7]}*{LAPSE[7:12]}*{LAPSE[12:]} `x` 𠮷 {REPORTS}"
    page = await chromium_page(await answered(model_site, await put(model_site), text, cites=False))
    await expect(markers(page)).not_to_have_count(0)
    await expect(page.locator(".section li strong .claim")).to_have_text(LEAVE)
    behind = "(button) => button.parentElement.previousSibling.textContent"
    assert await markers(page).first.evaluate(behind) == LEAVE
    await markers(page).first.click()
    await expect(cards(page).locator("mark.best")).to_have_text(LEAVE)
    await expect(cards(page)).to_contain_text(english("proof.origins.matched"))


async def test_an_old_session_marks_what_moved_changed_and_is_gone(chromium_page: Visits, model_site: Site) -> None:
    staying, going = await put(model_site), await put(model_site, text=f"{REPORTS}\n")
    one, other = [
        await answered(model_site, document_id, *texts)
        for document_id, *texts in ((staying, LEAVE, LAPSE), (going, REPORTS))
    ]
    page = await chromium_page(one, faults=["status of 404"])  # the page that the session had selected
    await expect(markers(page)).to_have_count(2)
    await expect(page.get_by_role("button", name=re.compile("Moved|Changed|Deleted"))).to_have_count(0)
    changed = {"title": "Handbook", "text": f"A preface.\n\n{LEAVE}\n"}
    assert (await model_site.client.put(f"/api/documents/{staying}", json=changed)).status_code == 200
    assert (await model_site.client.delete(f"/api/documents/{going}")).is_success
    await page.reload()
    shown = cards(page)
    moved = page.get_by_role("button", name=re.compile("Quoted, Moved$"))
    await moved.click()
    await expect(shown).to_contain_text(english("proof.since.moved"))
    await expect(shown.locator("mark.best")).to_have_text(LEAVE)
    await moved.click()
    await expect(shown).to_have_count(0)
    gone = page.get_by_role("button", name=re.compile("Quoted, Changed$"))
    await gone.click()
    await expect(shown).to_contain_text(english("proof.since.changed"))
    await expect(shown.locator(".text")).to_have_text(LAPSE)
    assert [
        await each.evaluate("(button) => getComputedStyle(button, '::before').borderStyle") for each in (moved, gone)
    ] == [
        "dashed",
        "dashed",
    ]
    await page.goto(other)
    deleted = page.get_by_role("button", name=re.compile("Quoted, Deleted$"))
    await deleted.click()
    await expect(shown).to_contain_text("The document is gone")
    await expect(shown.locator(".text")).to_have_text(REPORTS)
    await expect(shown.get_by_role("button", name="Read in the document")).to_have_count(0)


async def test_a_revision_shows_what_changed_and_a_withdrawal_what_was_said(
    chromium_page: Visits, judged_site: Site
) -> None:
    document_id = await put(judged_site)
    ids = await segments(judged_site, document_id)
    linked = f"{LEAVE} [All of it](https://evil.example/?q=secret) is here."
    texts = [linked, WRONG, UNSAID_BY_ANY]
    judged_site.server.script(answer(*({"text": text, "source_ids": ids} for text in texts)), to="generate_answer")
    for _ in range(3):
        judged_site.server.script(rewritten(LAPSE, "", ids=ids), to="revise_sections")
    session_id = await new_session(judged_site.client, page_ids=[document_id])
    page = await chromium_page(f"{judged_site.url}/#/sessions/{session_id}")
    await expect(page.get_by_title(await title(judged_site), exact=True).first).to_be_visible()
    await page.get_by_role("textbox", name="Your question").fill(QUESTION)
    await page.keyboard.press("Enter")
    # What the run told is still there once the stored answer has come.
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    await expect(page.locator(".section:visible .text")).to_have_text([re.compile(re.escape(LEAVE)), re.compile(LAPSE)])
    changed = page.locator("details", has=page.get_by_text("Revised after checking"))
    await changed.locator("summary").click()
    await expect(changed.locator("del")).to_have_text("June")
    await expect(changed.locator("ins")).to_have_text("March")
    await expect(changed.locator("p")).to_have_text("Unused leave lapses in JuneMarch.")
    withdrawn = page.locator("details", has=page.get_by_text("One part was taken out"))
    await expect(withdrawn.get_by_text(UNSAID_BY_ANY)).to_be_hidden()
    await withdrawn.locator("summary").click()
    await expect(withdrawn.get_by_text(UNSAID_BY_ANY)).to_be_visible()
    left_out = page.get_by_text(f"{english('proof.removed.link')} https://evil.example")
    await expect(left_out).to_be_visible()
    await expect(page.locator(".section a")).to_have_count(0)

    # The answer is stored without it; the run's log brings it back to whoever opens that.
    await page.reload()
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    for told in (changed, withdrawn, left_out):
        await expect(told).to_have_count(0)
    await page.locator(".run > summary").click()
    for told in (changed, withdrawn, left_out):
        await expect(told).to_be_visible()
    await changed.locator("summary").click()
    await expect(changed.locator("del")).to_have_text("June")


async def test_verdicts_are_told_in_the_readers_language(chromium_page: Visits, judged_site: Site) -> None:
    differs = "Unused leave lapses in May."
    page = await chromium_page(await answered(judged_site, await put(judged_site), f"{LEAVE} {differs}"))
    for language, said, why in (
        ("vi", "Chưa xác minh. Vì sao?", "Câu này là một câu trong nguồn, chỉ khác: “March” → “May”"),
        ("zh", "未证实。为什么？", "这句话是来源中的一句，只差：“March” → “May”"),
    ):
        await page.evaluate("(language) => localStorage.setItem('citewell.language', language)", language)
        await page.reload()
        await page.get_by_role("button", name=said).click()
        await expect(cards(page)).to_contain_text(why)


FORMS = f"""## Leave

| What | Until |
|------|------:|
| Unused leave | **March** |

> {LEAVE}

1. First ask Ben.
2. ~~Then wait.~~

- [x] Anna knows

```sql
SELECT days FROM leave;
```

الإجازة خمسة وعشرون يوما."""


async def test_an_answer_has_the_forms_of_markdown_with_markers_in_their_places(
    chromium_page: Visits, model_site: Site
) -> None:
    page = await chromium_page(await answered(model_site, await put(model_site), FORMS))
    section = page.locator(".section .text")
    await expect(section.get_by_role("heading", name="Leave", level=3)).to_be_visible()
    await expect(section.get_by_role("columnheader")).to_have_text(["What", "Until"])
    row = section.get_by_role("row").nth(1)
    await expect(row.get_by_role("cell").first).to_have_text("Unused leave")
    await expect(row.locator("td.right strong")).to_have_text("March")
    quote = section.locator("blockquote")
    await expect(quote.locator(".claim.quoted")).to_have_text(LEAVE)
    await expect(quote.get_by_role("button", name=re.compile("^Source "))).to_be_visible()
    await expect(section.locator("ol > li s")).to_have_text("Then wait.")
    await expect(section.get_by_role("checkbox", disabled=True)).to_be_checked()
    arabic = section.get_by_text("الإجازة")
    assert await arabic.evaluate("(text) => getComputedStyle(text.closest('p')).direction") == "rtl"
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await section.get_by_role("button", name="Copy", exact=True).click()
    await expect(section.get_by_role("button", name="Copied")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == "SELECT days FROM leave;"


async def test_a_section_is_shown_as_it_grows_and_says_that_it_is_checked(
    chromium_page: Visits, modules_site: Site
) -> None:
    page = await chromium_page(modules_site.url)
    await expect(page.locator(".shelf")).to_be_visible()  # the last of the modules, or the site would end before it
    await page.evaluate(GROWING)
    section = page.locator(".growing .section")

    async def grow(text: str, **more: Any) -> None:
        await page.evaluate("([text, more]) => grow(text, more)", [text, more])

    await grow("One.\n\n**Two")
    await expect(section.locator("p")).to_have_text(["One.", "Two"])
    first = await section.locator("p").first.element_handle()
    assert first is not None
    await grow("One.\n\n**Two** and `thr")
    await expect(section.locator(".text")).to_have_text("One.Two and thr")
    await expect(section.locator("strong")).to_have_text("Two")
    assert await first.evaluate("(paragraph) => paragraph.isConnected"), "what is written stays as it is"
    await expect(section.get_by_text(english("proof.checking"))).to_have_count(0)
    await grow("One.\n\n**Two** and `three`.", done=True)
    await expect(section.get_by_text(english("proof.checking"))).to_be_visible()
    await expect(section.locator("code")).to_have_text("three")
    claim = {"start": 0, "end": 4, "text": "One.", "verdict": "unsupported", "reasons": ["as yet unheard of"]}
    await grow("One.\n\n**Two** and `three`.", done=True, claims=[{**claim, "citations": []}])
    await expect(section.get_by_text(english("proof.checking"))).to_have_count(0)
    await expect(section.locator("[lang=en]")).to_have_text("as yet unheard of")
