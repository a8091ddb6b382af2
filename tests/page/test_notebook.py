"""Answers and passages are pinned to a note, read again where they stand, put in order, and taken along."""

import asyncio
import re

from playwright.async_api import expect

from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, new_session
from tests.page.axe import accessible
from tests.page.browsing import NARROW, PATIENCE, Visits
from tests.page.english import english
from tests.page.sites import Site
from tests.scripted_openai import answer
from tools.library.ingestion import NewDocument

QUESTION = "How long may a heron stand on the jetty?"
STAYS = "A heron may stand on the jetty for nine hours."
FEE = "The fee for a heron is two fish."


async def asked(site: Site) -> tuple[str, str]:
    """Store a document, ask about it, and give the address of the session and the document's id."""
    new = NewDocument(name="herons.md", title="Rules for herons", text=f"# Stays\n\n{STAYS}\n\n# Fees\n\n{FEE}\n")
    document = (await site.citewell.library.ingestor.ingest(Identity(), new)).document_id
    session = await new_session(site.client)
    body = {"question": QUESTION, "page_ids": [document], "min_score": 0, "stream": False}
    assert (await site.client.post(f"/api/sessions/{session}/runs", json=body)).json()["outcome"] == "answered"
    return f"{site.url}/#/sessions/{session}", document


async def test_what_is_pinned_is_read_again_in_its_place_and_taken_along(
    extractive_site: Site, chromium_page: Visits
) -> None:
    address, document = await asked(extractive_site)
    page = await chromium_page(address)
    await page.get_by_role("button", name=english("notes.pinAnswer")).click()
    await expect(page.get_by_role("status").filter(has_text=QUESTION)).to_be_visible()
    fee = {"document_id": document, "quote": FEE}
    [note] = (await extractive_site.client.get("/api/notes")).json()["notes"]
    await extractive_site.client.post(f"/api/notes/{note['note_id']}/entries", json=fee)

    await page.get_by_role("button", name="Notes", exact=True).click()
    notes = page.get_by_role("dialog", name="Notes")
    await accessible(page, "the list of notes")
    await notes.get_by_role("button", name=QUESTION).click()
    entries = notes.locator(".pinned")
    await expect(entries).to_have_count(2)
    await expect(entries.first.get_by_role("heading")).to_have_text(QUESTION)
    await expect(entries.last).to_contain_text(FEE)
    await accessible(page, "a note")

    await entries.last.get_by_role("button", name=re.compile("Rules for herons . Fees")).click()
    await expect(notes).to_have_count(0)
    await expect(page.locator(".reader mark", has_text=FEE).first).to_be_visible()
    quote = entries.last.get_by_role("button", name=re.compile("Rules for herons . Fees"))
    await page.go_back()
    await expect(quote).to_be_focused()
    await page.go_forward()
    await expect(notes).to_have_count(0)
    await page.get_by_role("button", name=english("sessions.open")).click()
    await page.get_by_role("button", name="Notes", exact=True).click()
    await notes.get_by_role("button", name=QUESTION).click()
    await quote.click()  # what is read already lies beneath the note, too
    await expect(notes).to_have_count(0)
    await page.go_back()
    await expect(quote).to_be_focused()
    await page.go_back()
    await expect(notes).to_have_count(0)
    await page.go_back()
    await expect(entries).to_have_count(2)
    await entries.last.get_by_role("button", name=re.compile("^More about")).click()
    await page.get_by_role("menuitem", name=english("notes.up")).click()
    await expect(entries.first).to_contain_text(FEE)
    await expect(entries.first.get_by_role("button").first).to_be_focused()
    await notes.get_by_label(english("notes.title")).fill("Herons")
    await notes.get_by_label(english("notes.text")).fill("They **pay**.")
    await page.reload()  # before a pause
    async with asyncio.timeout(PATIENCE / 1000):
        stored = {"text": ""}
        while not stored["text"]:
            stored = (await extractive_site.client.get(f"/api/notes/{note['note_id']}")).json()["note"]
    await page.reload()
    await expect(notes.get_by_label(english("notes.text"))).to_have_value("They **pay**.")
    await notes.get_by_label(english("notes.share")).check()
    async with page.expect_download() as saved:
        await notes.get_by_role("button", name=english("notes.save")).click()
        await page.get_by_role("menuitem", name=english("along.md")).click()
    file = (await (await saved.value).path()).read_text("utf-8")
    assert "# Herons" in file
    assert "They **pay**." in file
    assert file.index(FEE) < file.index(STAYS)
    await page.keyboard.press("Escape")
    await expect(notes).to_have_count(0)
    await expect(page).to_have_url(address)
    stored = (await extractive_site.client.get(f"/api/notes/{note['note_id']}")).json()["note"]
    assert stored["shared"] is True


async def test_marked_words_are_pinned_on_a_phone_and_what_changed_since_is_told(
    extractive_site: Site, chromium_page: Visits
) -> None:
    _, document = await asked(extractive_site)
    page = await chromium_page(f"{extractive_site.url}/#/documents/{document}", viewport=NARROW)
    await page.get_by_text(FEE).first.select_text()
    await page.get_by_role("button", name=english("notes.pinWords")).click()
    dialog = page.get_by_role("dialog", name=english("notes.pinTo"))
    await expect(dialog.or_(page.locator(".toast"))).to_be_visible()
    if await dialog.count():
        await dialog.get_by_role("button", name=english("notes.begin")).click()
    await expect(page.locator(".toast", has_text="Rules for herons")).to_be_visible()
    new = NewDocument(document_id=document, title="Rules for herons", text="# Fees\n\nThe fee is one fish.\n")
    await extractive_site.citewell.library.ingestor.ingest(Identity(), new)
    await page.goto(extractive_site.url)
    await page.get_by_role("button", name=english("sessions.open")).click()
    await page.get_by_role("button", name="Notes", exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name="Rules for herons").first.click()
    entry = page.locator(".pinned")
    await expect(entry).to_contain_text(FEE)
    await expect(entry).to_contain_text(english("proof.since.changed"))
    await accessible(page, "a note on a phone")
    await entry.get_by_role("button", name=re.compile("^More about")).click()
    await page.get_by_role("menuitem", name=english("notes.remove")).click()
    await expect(page.get_by_text(english("notes.empty"))).to_be_visible()
    delete = page.get_by_role("button", name=english("notes.delete"))
    await delete.click()
    await page.get_by_role("button", name=english("notes.sure")).click()
    await expect(page.get_by_role("dialog").get_by_role("button", name=english("notes.begin"))).to_be_visible()


async def test_a_sentence_is_pinned_with_its_passage(model_site: Site, chromium_page: Visits) -> None:
    said = {"text": "You get **25 days** of leave. Journeys are long.", "source_ids": [f"{HANDBOOK}:0"]}
    model_site.server.script(answer(said), to="generate_answer")
    session = await new_session(model_site.client)
    body = {"question": "How much annual leave do I get?", "page_ids": [HANDBOOK], "stream": False}
    run = (await model_site.client.post(f"/api/sessions/{session}/runs", json=body)).json()
    assert run["outcome"] == "answered", run
    page = await chromium_page(f"{model_site.url}/#/sessions/{session}", viewport={"width": 1440, "height": 900})
    card = page.locator(".margin").get_by_role("group").first
    await card.hover()
    await card.get_by_role("button", name=english("notes.pin"), exact=True).click()
    pinned = page.get_by_role("dialog", name=english("notes.pinTo")).or_(page.locator(".toast"))
    await expect(pinned).to_be_visible()
    if await page.get_by_role("dialog").count():
        await page.get_by_role("dialog").get_by_role("button", name=english("notes.begin")).click()
    await expect(page.locator(".toast")).to_be_visible()
    [note, *_] = (await model_site.client.get("/api/notes")).json()["notes"]
    [entry] = (await model_site.client.get(f"/api/notes/{note['note_id']}")).json()["entries"]
    assert [each["text"] for each in entry["sections"]] == ["You get **25 days** of leave."]
    assert "25 days" in entry["claims"][0]["citations"][0]["quote"]


async def test_who_administers_ends_that_a_note_of_another_is_shared(
    extractive_site: Site, chromium_page: Visits
) -> None:
    ann, notes = Identity(user="ann"), extractive_site.citewell.library.notes
    note = await notes.create(ann, "What Ann found", "Herons pay.")
    await notes.change(ann, note.note_id, shared=True)
    page = await chromium_page(extractive_site.url)
    await page.get_by_role("button", name="Notes", exact=True).click()
    shown = page.get_by_role("dialog", name="Notes")
    await shown.get_by_role("button", name="What Ann found").click()
    await expect(shown.get_by_text("Herons pay.")).to_be_visible()
    await expect(shown.get_by_label(english("notes.text"))).to_have_count(0)
    await shown.get_by_label(english("notes.share")).uncheck()
    await expect(shown.get_by_role("button", name=english("notes.begin"))).to_be_visible()
    await expect(shown.get_by_role("button", name="What Ann found")).to_have_count(0)
    assert (await notes.get(ann, note.note_id))[0].shared is False
