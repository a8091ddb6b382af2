"""Answers are taken along: saved, shared, printed; and a reader says what they are worth."""

from io import BytesIO
from itertools import count
from pathlib import Path

import httpx
import pypdfium2
from playwright.async_api import Page, expect

from graph.evidence import Identity
from tests.api.conftest import new_session
from tests.page.axe import accessible
from tests.page.browsing import NARROW, Visits
from tests.page.english import english
from tests.page.sites import Site
from tools.library.ingestion import NewDocument

_numbers = count(1)
QUESTION = "How many days of shore leave does a lighthouse keeper get?"
ATTACK = "<img src=x onerror=pwned()> ![x](https://evil.example/x)"
LEAVE = f"Every lighthouse keeper gets 25 days {ATTACK} of shore leave a year."


async def asked(site: Site, questions: int = 1) -> str:
    """Store a document, ask about it, and give the address of the session."""
    text = f"# On shore leave\n\n{LEAVE}\n\nUnused shore leave lapses in March.\n"
    new = NewDocument(name="handbook.txt", title=f"Handbook <b>{next(_numbers)}", text=text)
    document = (await site.citewell.library.ingestor.ingest(Identity(), new)).document_id
    session = await new_session(site.client)
    for _ in range(questions):
        body = {"question": QUESTION, "page_ids": [document], "min_score": 0, "stream": False}
        assert (await site.client.post(f"/api/sessions/{session}/runs", json=body)).status_code == 200
    return f"{site.url}/#/sessions/{session}"


async def feedback_of(site: Site, address: str) -> dict[str, object] | None:
    session = address.rpartition("/")[2]
    messages = (await site.client.get(f"/api/sessions/{session}")).json()["messages"]
    given: dict[str, object] | None = messages[-1]["feedback"]
    return given


async def choose(page: Page, menu: str, entry: str) -> None:
    await page.get_by_role("button", name=menu).click()
    await page.get_by_role("menuitem", name=entry).click()


async def test_a_reader_says_what_an_answer_is_worth(extractive_site: Site, chromium_page: Visits) -> None:
    address = await asked(extractive_site)
    page = await chromium_page(address)
    good = page.get_by_role("button", name="Good answer")
    poor = page.get_by_role("button", name="Poor answer")
    await expect(good).to_have_attribute("aria-pressed", "false")
    await good.click()
    await expect(good).to_have_attribute("aria-pressed", "true")
    await expect(page.get_by_text(english("along.said.up"))).to_be_attached()
    await page.reload()
    await expect(good).to_have_attribute("aria-pressed", "true")
    await poor.click()
    sheet = page.get_by_role("dialog", name=english("feedback.title"))
    await expect(poor).to_have_attribute("aria-pressed", "true")
    await accessible(page, "the dialog")
    back = sheet.get_by_role("button", name=english("feedback.withdraw"))
    await expect(back).to_have_count(0)
    await sheet.get_by_label(english("feedback.reasons.invented")).check()
    meant = sheet.get_by_label(english("feedback.claim"))
    await meant.select_option(index=1)
    await sheet.get_by_label("In your words").fill("It is 28 days.")
    await sheet.get_by_role("button", name="Send").click()
    await expect(sheet).to_have_count(0)
    await expect(poor).to_be_focused()
    given = await feedback_of(extractive_site, address)
    assert given is not None
    assert (given["rating"], given["reason_code"], given["text"]) == ("down", "invented", "It is 28 days.")
    assert isinstance(given["claim"], dict)
    assert given["claim"]["section_index"] == 0
    await page.reload()
    await poor.click()
    await expect(sheet.get_by_label(english("feedback.reasons.invented"))).to_be_checked()
    await expect(meant.locator("option:checked")).to_contain_text("25 days")
    await expect(sheet.get_by_label("In your words")).to_have_value("It is 28 days.")
    await back.click()
    await expect(poor).to_have_attribute("aria-pressed", "false")
    await expect(good).to_have_attribute("aria-pressed", "false")
    assert await feedback_of(extractive_site, address) is None


async def test_an_answer_and_a_session_are_saved_as_files(
    extractive_site: Site, chromium_page: Visits, tmp_path: Path
) -> None:
    address = await asked(extractive_site, questions=2)
    page = await chromium_page(address)
    for menu, entry, suffix, holds in (
        ("Save or share this answer", "Save as Markdown", ".md", b"[^1]: "),
        ("Save or share the session", "Save as a Word file", ".docx", b"word/footnotes.xml"),
        ("Save or share the session", "Save as a report with all proof", ".html", b"Content-Security-Policy"),
    ):
        async with page.expect_download() as downloading:
            await page.get_by_role("button", name=menu).last.hover()
            await page.get_by_role("button", name=menu).last.click()
            await page.get_by_role("menuitem", name=entry).click()
        download = await downloading.value
        assert download.suggested_filename == f"{QUESTION.rstrip('?')}{suffix}"
        await download.save_as(tmp_path / f"file{suffix}")
        saved = (tmp_path / f"file{suffix}").read_bytes()
        assert holds in saved
        if suffix == ".md":
            assert saved.decode().count(f"## {QUESTION}") == 1, "one answer, not the session"
    # The report opens without a server, asks for nothing, and runs nothing of what its texts say.
    report = await chromium_page(extractive_site.url, go=False)
    await report.set_content((tmp_path / "file.html").read_text("utf-8"))
    await expect(report.get_by_role("heading", name="Statements").first).to_be_visible()
    await expect(report.locator("img, script")).to_have_count(0)
    await expect(report.locator("mark").filter(has_text="Every lighthouse keeper").first).to_be_attached()
    await accessible(report, "the report")


async def test_a_session_is_shared_by_a_link_that_can_be_ended(extractive_site: Site, chromium_page: Visits) -> None:
    address = await asked(extractive_site)
    page = await chromium_page(address, viewport=NARROW)
    await choose(page, "Save or share the session", "Share by a link…")
    dialog = page.get_by_role("dialog", name="Share the session")
    await expect(dialog.get_by_text("There are none.")).to_be_visible()
    await expect(dialog.get_by_label("For", exact=True).locator("option")).to_have_text(["people of this workspace"])
    await expect(dialog.get_by_label("Ends after")).to_have_value("604800")
    await dialog.get_by_label("Ends after").select_option("an hour")
    await dialog.get_by_role("button", name="Make a link").click()
    field = dialog.get_by_label("The link", exact=True)
    await expect(field).to_be_visible()
    url = await field.input_value()
    await expect(dialog.get_by_role("listitem")).to_have_count(1)
    await accessible(page, "the dialog")
    shared = await chromium_page(url)
    await expect(shared.get_by_role("heading", level=2, name=QUESTION)).to_be_visible()
    await expect(shared.locator("mark").filter(has_text="Every lighthouse keeper").first).to_be_attached()
    await expect(shared.locator("img, script, form")).to_have_count(0)
    await accessible(shared, "the share")
    await dialog.get_by_role("button", name="End this link").click()
    await expect(dialog.get_by_text("There are none.")).to_be_visible()
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(url)).status_code == 404
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name=english("along.session"))).to_be_focused()


async def test_a_long_session_prints_whole_without_what_is_for_the_screen(
    extractive_site: Site, chromium_page: Visits
) -> None:
    page = await chromium_page(await asked(extractive_site, questions=12))
    await expect(page.locator(".turn")).to_have_count(12)
    printed = pypdfium2.PdfDocument(BytesIO(await page.pdf(format="A4")))
    texts = [each.get_textpage().get_text_bounded() for each in printed]
    words = " ".join(" ".join(texts).split())
    assert words.count(QUESTION) == 13, "the title, and each question"
    assert words.count("Every lighthouse keeper gets 25 days") >= 12
    assert words.count("Handbook <b>") >= 12, "where each is quoted from"
    assert words.count("passage, quoted exactly") >= 12, "what each is worth"
    for screen in ("Ask your library", "Answer again", "New session", "Good answer"):
        assert screen not in words
    assert all(text.strip() for text in texts), "no page is empty"
