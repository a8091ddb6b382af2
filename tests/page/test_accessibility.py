"""Every view by axe-core, in light and dark, wide and narrow; and the whole main job with the keyboard alone."""

import asyncio
import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Locator, Page, expect

from tests.api.conftest import HANDBOOK, new_session
from tests.page.axe import accessible
from tests.page.browsing import NARROW, WIDE, Visits, asking_with
from tests.page.english import english
from tests.page.sites import JudgingModel, Site, judged_site_of
from tests.scripted_openai import Hold, Reply, Say, Think, answer, say, status
from tools.settings import Settings

LEAVE = "How many days of annual leave does every employee get a year?"
CITED = [f"{HANDBOOK}:0"]
SUPPORTED = "Every employee gets 25 days of annual leave a year."
UNVERIFIED = "Annual leave lapses in March for every employee in probation."
CONTRADICTED = "Unused leave lapses in May."
UNSUPPORTED = "The canteen serves soup on Fridays."
WRONG = "Every employee gets 30 days of annual leave a year."


def section(text: str) -> dict[str, Any]:
    return {"text": text, "source_ids": CITED}


def script_every_verdict(site: Site, hold: Hold, repairing: Hold) -> None:
    """Script an answer with a claim of each verdict, and a section that is repaired; held in the midst of its text.

    It is held in its first repair too, after which the claims that failed are withdrawn.
    """
    kept = [f"{SUPPORTED} {CONTRADICTED}", f"{SUPPORTED} {UNSUPPORTED}"]
    written = answer(*(section(text) for text in [WRONG, UNVERIFIED, *kept]), cut=20)
    steps = [Think("They ask about leave."), *written.steps[:6], hold, *written.steps[6:]]
    site.server.script(replace(written, steps=steps), to="generate_answer")
    revised = [{"section": number, **section(text)} for number, text in enumerate([SUPPORTED, *kept], 1)]
    repair = say(json.dumps({"sections": revised}))
    site.server.script(replace(repair, steps=[repairing, *repair.steps]), to="revise_sections")


async def ask(page: Page, question: str) -> None:
    await page.get_by_role("textbox", name="Your question").fill(question)
    await page.keyboard.press("Enter")


def marker(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile("^Source "))


async def test_an_answer_while_it_is_written_and_when_it_is_proven(
    chromium_page: Visits, module_settings: Settings
) -> None:
    hold, repairing = Hold(), Hold()
    with JudgingModel() as server:
        server.verdicts = {WRONG: "contradicted", CONTRADICTED: "contradicted", UNSUPPORTED: "unsupported"}
        async with judged_site_of(module_settings, server) as site:
            script_every_verdict(site, hold, repairing)
            page = await chromium_page(site.url, reduced_motion="reduce", permissions=[])
            await accessible_as_it_is_written(page, hold, repairing)
            await page.close()  # before its server, which it would miss


async def accessible_as_it_is_written(page: Page, hold: Hold, repairing: Hold) -> None:
    await expect(page.get_by_role("button", name="Staff handbook")).to_be_visible()
    await accessible(page, "before the first question")
    await ask(page, LEAVE)
    await asyncio.to_thread(hold.wait_reached)
    await expect(page.get_by_role("article").get_by_text("Every employee gets 30")).to_be_visible()
    await accessible(page, "while it is written")
    hold.release()
    await asyncio.to_thread(repairing.wait_reached)
    for verdict in ("quoted", "unverified", "contradicted", "unsupported"):
        await expect(page.locator(f".sections .claim.{verdict}").first).to_be_visible()
    await accessible(page, "every verdict, while failed claims are repaired")
    repairing.release()
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    for made in (page.locator("ins"), page.get_by_role("list", name="Steps"), page.get_by_role("table")):
        await page.evaluate("for (const each of document.querySelectorAll('article details')) each.open = true")
        await expect(made.first).to_be_visible()
    await accessible(page, "proven, all unfolded: the run, what was revised, the sources")
    await page.get_by_role("button", name="Unverified. Why?").click()
    await expect(page.locator(".passage-card.why")).to_be_visible()
    await accessible(page, "why a claim is not proven", [WIDE])
    await marker(page).first.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("group", name="Proof from source 1").first).to_be_visible()
    await accessible(page, "the proof of a claim", [WIDE])
    await page.get_by_role("group", name="Proof from source 1").first.get_by_role("button", name="Read").click()
    await expect(page.get_by_role("complementary", name="Document").locator("mark").first).to_be_visible()
    await accessible(page, "reading a document")
    await page.keyboard.press("Escape")
    await page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    await page.get_by_role("button", name="Copy", exact=True).click()
    await expect(page.get_by_role("dialog", name="Copy as Markdown")).to_be_visible()
    await accessible(page, "a text to be copied by hand")


async def test_answers_that_are_none(chromium_page: Visits, model_site: Site) -> None:
    page = await chromium_page(model_site.url, reduced_motion="reduce", faults=["Failed to load", "net::ERR"])
    await asking_with(page, effort="thorough")  # a model grades in no other
    model_site.server.script(*[say(json.dumps({"relevant": []}))] * 4, to="grade_segments")
    await ask(page, LEAVE)
    await expect(page.locator(".worth.dash")).to_be_visible()
    model_site.server.unscript()
    model_site.server.script(*[status(500)] * 3, to="generate_answer")
    await ask(page, LEAVE)
    await expect(page.get_by_text("The answer failed", exact=True).first).to_be_visible()
    await accessible(page, "an abstention and a failure")

    hold = Hold()
    model_site.server.script(Reply(steps=[Say('{"sections": [{"text": "Every '), hold]), to="generate_answer")
    await ask(page, LEAVE)
    await asyncio.to_thread(hold.wait_reached)
    await page.route("**/api/runs/*/stream", lambda route: route.abort())
    await page.reload()
    await expect(page.get_by_text("Connection lost.")).to_be_visible()
    await accessible(page, "a connection that is lost")
    hold.release()


async def test_the_library(chromium_page: Visits, model_site: Site) -> None:
    page = await chromium_page(model_site.url, reduced_motion="reduce", faults=["status of 4"])
    shelf = page.get_by_role("region", name="Documents")
    await expect(shelf.get_by_role("checkbox", name="Travel policy")).to_be_visible()
    await page.locator("input[type=file]").first.set_input_files(
        [
            {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"no pdf"},
            {"name": "menu.md", "mimeType": "text/markdown", "buffer": b"Soup on Fridays."},
        ]
    )
    await expect(shelf.get_by_text("Not added", exact=True)).to_be_visible()
    await shelf.get_by_role("button", name="Add", exact=True).click()
    await page.get_by_role("menuitem", name="A text…").click()
    await shelf.get_by_text("Sort and narrow").click()
    await accessible(page, "the documents, a text to be pasted and a file refused", [WIDE])
    await shelf.get_by_role("checkbox", name="Menu").check()
    await shelf.get_by_role("searchbox").fill("travel")
    await expect(shelf.get_by_text("Found in the texts")).to_be_visible()
    await shelf.get_by_role("row").first.get_by_role("button", name="Delete Travel policy").click()
    undo = page.get_by_role("button", name="Undo")
    await expect(undo).to_be_visible()
    await accessible(page, "the documents, searched, and one deleted", [WIDE])
    await undo.click()
    await expect(shelf.get_by_role("checkbox", name="Travel policy").first).to_be_visible()


async def test_sessions_settings_and_the_key(chromium_page: Visits, model_site: Site) -> None:
    for title in ("Leave", "Trains"):
        await new_session(model_site.client, title=title)
    page = await chromium_page(model_site.url, reduced_motion="reduce", faults=["status of 401"])
    listed = page.get_by_role("navigation", name="Sessions")
    await expect(listed.get_by_role("link", name="Trains")).to_be_visible()
    await page.get_by_role("button", name="Settings").click()
    await expect(page.get_by_role("menu", name="Settings")).to_be_visible()
    await accessible(page, "the settings", [WIDE])
    await page.keyboard.press("Escape")
    for entry in ("Rename", "Choose several"):
        await listed.get_by_role("button", name="Actions for “Leave”").first.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("menuitem", name=entry)).to_be_visible()
        await accessible(page, "a session's menu", [WIDE])
        await page.get_by_role("menuitem", name=entry).click()
        await accessible(page, f"a session: {entry}", [WIDE])
        await page.keyboard.press("Escape")
    await expect(listed.get_by_role("checkbox")).to_have_count(0)
    await page.set_viewport_size(NARROW)
    await page.get_by_role("button", name="Show the sessions").click()
    await expect(listed.get_by_role("link", name="Trains")).to_be_visible()
    await accessible(page, "the sessions as a drawer", [NARROW])

    await page.route(
        lambda url: urlsplit(url).path.startswith(("/api/", "/v1/")),
        lambda route: route.fulfill(status=401, json={"code": "not_authenticated"}),
    )
    await page.reload()
    await expect(page.get_by_label("API key")).to_be_visible()
    await accessible(page, "asked for a key")


async def test_what_opens_over_a_narrow_window(chromium_page: Visits, model_site: Site) -> None:
    page = await chromium_page(
        model_site.url, reduced_motion="reduce", viewport=NARROW, faults=["Failed to load", "ERR"]
    )
    model_site.server.script(answer(section(SUPPORTED)), to="generate_answer")
    await ask(page, LEAVE)
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    await marker(page).first.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("group", name="Proof from source 1")).to_be_visible()
    await accessible(page, "the proof of a claim", [NARROW])
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Settings").click()
    await expect(page.get_by_role("menu", name="Settings")).to_be_visible()
    await accessible(page, "the settings", [NARROW])
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Edit the question").click()
    await expect(page.get_by_role("textbox", name=english("conversation.editing"))).to_be_focused()
    await accessible(page, "a question that is edited")
    await page.keyboard.press("Escape")

    await page.reload()
    await page.locator(".run summary").first.click()
    await expect(page.get_by_role("list", name="Steps").get_by_role("listitem").first).to_be_visible()
    await accessible(page, "the run of an older answer")
    await page.route("**/raw-text", lambda route: route.abort())
    await marker(page).first.click()
    await page.get_by_role("group", name="Proof from source 1").get_by_role("button", name="Read").click()
    await expect(page.locator(".reader").get_by_role("alert")).not_to_be_empty()
    await accessible(page, "a document that could not be read")
    await page.locator(".reader").get_by_role("button", name="Close the document").click()
    await page.route("**/api/sessions/*", lambda route: route.abort())
    await page.get_by_role("button", name="Show the sessions").click()
    await page.get_by_role("navigation").get_by_role("button", name="Actions for").first.click()
    await expect(page.get_by_role("menu")).to_be_visible()
    await accessible(page, "a session's menu", [NARROW])
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("status").get_by_role("button", name="Close").click()
    await expect(page.get_by_role("alert").filter(has_text=english("notices.unreachable"))).to_be_visible()
    await accessible(page, "a notice of what failed")


async def test_pages_of_documents_and_links(chromium_page: Visits, model_site: Site) -> None:
    page = await chromium_page(model_site.url, go=False, faults=["status of 404"])
    # As without scripts, where nothing leads on to the page.
    await page.route("**/page/*/to_*.js", lambda route: route.fulfill(content_type="text/javascript", body=""))
    await page.goto(f"{model_site.url}/documents/{HANDBOOK}#segment-0")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Staff handbook")
    await accessible(page, "a document's own page")
    await page.goto(f"{model_site.url}/links/forged")
    await expect(page.get_by_role("heading", level=1)).to_have_text(english("viewer.shut"))
    await accessible(page, "a link that does not open")


class Keys:
    """A keyboard, and where its focus goes: always to something, and always seen."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.page.keyboard.press(key)
            await self.page.evaluate(SETTLED)
            faults = await self.page.evaluate(FOCUS)
            assert faults == [], f"after {key}"

    async def reach(self, wanted: Locator, key: str = "Tab", most: int = 60) -> None:
        """Press a key until the focus is where it is wanted."""
        for _ in range(most):
            if await wanted.count() and await wanted.evaluate("(each) => each === document.activeElement"):
                return
            await self.press(key)
        raise AssertionError(f"{most} presses of {key} reach no {wanted}")


SETTLED = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
FOCUS = """
() => {
  const focused = document.activeElement;
  if (!focused || focused === document.body) return ["the focus is lost"];
  const around = getComputedStyle(focused.closest(".entry, .field, .search") ?? focused);
  const drawn = [getComputedStyle(focused), around].some(({ outlineStyle }) => outlineStyle !== "none");
  const { width, height, bottom, right, top, left } = focused.getBoundingClientRect();
  const seen = width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  const called = focused.cloneNode().outerHTML;
  return [!drawn && `no focus is drawn: ${called}`, !seen && `out of sight: ${called}`].filter(Boolean);
}
"""


async def test_the_main_job_with_the_keyboard_alone(chromium_page: Visits, model_site: Site) -> None:
    other = await new_session(model_site.client, title="Another matter")
    page = await chromium_page(model_site.url)
    await expect(page.get_by_role("link", name="Another matter")).to_be_visible()
    keys = Keys(page)
    question = page.get_by_role("textbox", name="Your question")
    await expect(question).to_be_focused()
    await keys.reach(page.get_by_role("link", name="Skip to the question"), "Shift+Tab")
    await keys.press("Enter")
    await expect(question).to_be_focused()
    await page.keyboard.type(LEAVE)
    await keys.press("Enter")
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    await expect(question).to_be_focused()

    await keys.reach(marker(page).first, "Shift+Tab")
    await keys.press("Enter", "Tab", "Enter")
    reader = page.get_by_role("complementary", name="Document")
    await expect(reader.locator("mark").first).to_be_visible()
    await keys.press("Shift+Tab", "Tab", "Escape")
    await expect(reader).to_be_hidden()
    await expect(marker(page).first).to_be_focused()

    shelf = page.get_by_role("region", name="Documents")
    await keys.reach(shelf.get_by_role("searchbox"))
    await expect(shelf.get_by_role("checkbox", name="Travel policy")).to_be_visible()
    await keys.press("ArrowDown")
    await keys.press("Space")
    await expect(shelf.get_by_text("1 ticked")).to_be_visible()
    await keys.reach(page.get_by_role("button", name="Ask all documents again"), "Shift+Tab")
    await keys.press("Enter")
    await expect(page.get_by_role("button", name="All documents")).to_be_focused()

    await keys.reach(page.locator(".session .open[aria-current]"), "Shift+Tab")
    await keys.press("ArrowDown")
    await expect(page.get_by_role("link", name="Another matter")).to_be_focused()
    await keys.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Another matter")
    assert page.url.endswith(other)
    await keys.press("Tab")
