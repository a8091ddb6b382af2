"""Asking, and the answer as a whole: what a reader sees of both, and can do with them."""

import asyncio
import json
import re
from dataclasses import replace
from typing import Any
from uuid import uuid4

from playwright.async_api import Locator, Page, Route, expect

from tests.api.conftest import HANDBOOK, new_session
from tests.page.browsing import NARROW, Visits, asking_with
from tests.page.english import english
from tests.page.sites import JudgingModel, Site, judged_site_of
from tests.scripted_openai import Hold, Reply, Say, answer, say, status
from tools.settings import Settings

LEAVE = "Every employee gets 25 days of annual leave a year."
LAPSE = "Unused leave lapses in March."
ASKED = "How many days of annual leave does an employee get?"
# The end of the conversation is in sight.
AT_THE_END = """() => {
  const view = document.querySelector("main section");
  return view.scrollHeight > view.clientHeight && view.scrollHeight - view.clientHeight - view.scrollTop < 2;
}"""
UNKNOWN = "Who won the chess championship on the moon?"


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your question")


async def ask(page: Page, question: str) -> Locator:
    """Ask a question, and give its turn."""
    await field(page).fill(question)
    await page.keyboard.press("Enter")
    return turn(page, question)


def turn(page: Page, question: str) -> Locator:
    return page.get_by_role("article", name=question, exact=True)


async def answered(asked: Locator) -> None:
    """Wait until a turn's answer is there and stored."""
    await expect(asked.get_by_role("button", name="Answer again")).to_be_visible()


def section(*claims: str) -> dict[str, Any]:
    return {"text": " ".join(claims), "source_ids": [f"{HANDBOOK}:0"]}


def held(written: Reply, hold: Hold, after: int) -> Reply:
    return replace(written, steps=[*written.steps[:after], hold, *written.steps[after:]])


async def test_a_question_from_the_first_word_to_the_copied_answer(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url, permissions=["clipboard-read", "clipboard-write"])
    send = page.get_by_role("button", name="Ask", exact=True)
    await expect(page.get_by_text(english("page.claim"))).to_be_visible()
    await page.get_by_role("list", name="Begin with a document").get_by_text("Staff handbook").click()
    await expect(field(page)).to_be_focused()
    await expect(send).to_be_disabled()

    await page.keyboard.type("When does")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("unused leave lapse?")
    await expect(field(page)).to_have_value("When does\nunused leave lapse?")
    await page.reload()
    await expect(field(page)).to_have_value("When does\nunused leave lapse?")
    await expect(send).to_be_enabled()
    await field(page).evaluate("field => (field.value = 'When does\\u0007 unused\\r\\n leave\\ud800 lapse?')")
    await field(page).dispatch_event("input")
    await expect(field(page)).to_have_value("When does unused\n leave lapse?")

    await page.get_by_role("list", name="Begin with a document").get_by_text("Staff handbook").click()
    asked = await ask(page, "When does unused leave lapse?")
    await answered(asked)
    await expect(asked.get_by_role("heading", level=2)).to_have_text("When does unused leave lapse?")
    await expect(asked.get_by_text("1 selected document · Staff handbook")).to_be_visible()
    await expect(asked.get_by_text("Quoted from Staff handbook")).to_be_visible()
    await expect(asked.locator(".worth")).to_contain_text("quoted exactly")
    await expect(field(page)).to_have_value("")
    await expect(field(page)).to_be_focused()
    await expect(send).to_be_disabled()

    await asked.get_by_role("button", name="Copy", exact=True).click()
    await expect(asked.get_by_role("button", name="Copied")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == (
        "Every employee gets 25 days of annual leave a year. Unused leave lapses in March.[^1]\n\n"
        '[^1]: "Unused leave lapses in March." — '
        "Staff handbook › Leave, <https://wiki.example/handbook#leave>\n"
    )
    await asked.locator(".run > summary").click()
    await asked.locator(".all-sources").get_by_role("button", name="Staff handbook").click()
    await expect(page.get_by_role("complementary", name=re.compile("Staff handbook|Document"))).to_be_visible()


async def test_too_long_a_question_says_by_how_much(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url)
    send = page.get_by_role("button", name="Ask", exact=True)
    await field(page).fill("🦊" * 9_400)
    await expect(page.get_by_text("characters left")).to_have_count(0)
    await field(page).fill("🦊" * 9_990)
    await expect(page.get_by_text("10 characters left")).to_be_visible()
    await field(page).fill("🦊" * 10_002)
    await expect(page.get_by_text("Too long by 2 characters")).to_be_visible()
    await expect(send).to_be_disabled()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("article")).to_have_count(0)


async def test_an_abstention_says_why_and_shows_what_came_nearest(chromium_page: Visits, extractive_site: Site) -> None:
    page = await chromium_page(extractive_site.url, viewport=NARROW, has_touch=True)
    asked = await ask(page, UNKNOWN)
    await expect(asked.get_by_text(english("answer.abstained"))).to_be_visible()
    await expect(asked.get_by_text(english("answer.stopReasons.nothing_relevant"))).to_be_visible()
    nearest = asked.get_by_role("heading", name="What came nearest").locator("..").get_by_role("listitem")
    await expect(nearest.first).to_contain_text(re.compile("class|leave"))
    assert await page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    await expect(asked.get_by_role("button", name="Edit the question")).to_have_css("opacity", "1")
    await nearest.first.get_by_role("button").tap()
    await expect(page.locator(".reader").get_by_role("heading", level=2)).to_be_visible()


async def test_an_answer_streams_is_stopped_and_another_waits_behind_it(
    chromium_page: Visits, model_site: Site
) -> None:
    hold = Hold()
    two = answer(section(LEAVE), section("Never finished."))
    model_site.server.script(held(two, hold, len(two.steps) - 8), to="generate_answer")
    model_site.server.script(answer(section(LAPSE)), to="generate_answer")
    page = await chromium_page(model_site.url)
    first = await ask(page, ASKED)
    await asyncio.to_thread(hold.wait_reached)
    await expect(first.locator(".claim.quoted")).to_have_text(LEAVE)
    await expect(first.get_by_role("button", name="Answer again")).to_be_hidden()
    stop = page.locator("form").get_by_role("button", name="Stop")
    await expect(stop).to_be_visible()

    await field(page).fill("When does unused leave lapse?")
    await page.get_by_role("button", name="Ask next").click()
    second = turn(page, "When does unused leave lapse?")
    await expect(second.get_by_text("Waiting: next in line")).to_be_visible()
    await expect(field(page)).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(first.get_by_text("Stopped by you.")).to_be_visible()
    await expect(first.get_by_text(english("answer.cancelledKept"))).to_be_visible()
    await expect(first.locator(".section .text")).to_have_count(1)
    await expect(first.locator(".claim.quoted")).to_have_text(LEAVE)
    await expect(first.get_by_role("button", name="Source 1, Staff handbook: Quoted")).to_be_visible()
    await answered(second)
    await expect(second.get_by_text(LAPSE)).to_be_visible()
    await expect(stop).to_be_hidden()
    await expect(page.get_by_role("article")).to_have_count(2)


async def test_another_answer_and_another_question_stand_beside_the_old_ones(
    chromium_page: Visits, model_site: Site
) -> None:
    for text in (LEAVE, LAPSE, "The notice period is three months.", "Goodbye."):
        model_site.server.script(answer(section(text)), to="generate_answer")
    page = await chromium_page(model_site.url)
    asked = await ask(page, ASKED)
    await answered(asked)
    await asked.get_by_role("button", name="Answer again").click()
    versions = asked.get_by_role("group", name="Versions of the answer")
    await expect(versions).to_contain_text("2 of 2")
    await expect(asked.locator(".sections")).to_contain_text(LAPSE)
    await versions.get_by_role("button", name="Previous version").click()
    await expect(asked.locator(".sections")).to_contain_text(LEAVE)
    await expect(versions).to_contain_text("1 of 2")
    await expect(page.get_by_text(english("conversation.aside"))).to_be_visible()
    await page.get_by_role("button", name="Show the newest").click()
    await expect(versions).to_contain_text("2 of 2")
    await expect(page.get_by_text(english("conversation.aside"))).to_be_hidden()

    edit = asked.get_by_role("button", name="Edit the question")
    await edit.focus()
    await page.keyboard.press("Enter")
    editing = asked.get_by_role("textbox", name=english("conversation.editing"))
    await expect(editing).to_be_focused()
    await expect(editing).to_have_value(ASKED)
    await page.keyboard.press("Escape")
    await expect(edit).to_be_focused()
    await page.keyboard.press("Enter")
    await editing.fill("How long is the notice period?")
    await page.keyboard.press("Enter")
    other = turn(page, "How long is the notice period?")
    await answered(other)
    await expect(asked).to_have_count(0)
    await expect(other.locator(".sections")).to_contain_text("three months")
    questions = other.get_by_role("group", name="Versions of the question")
    await expect(questions).to_contain_text("2 of 2")
    await questions.get_by_role("button", name="Previous version").click()
    await expect(asked.locator(".sections")).to_contain_text(LAPSE)
    await expect(other).to_have_count(0)


async def test_an_answer_that_failed_says_so_and_is_tried_again(chromium_page: Visits, model_site: Site) -> None:
    model_site.server.script(*[status(500, "the model is ill")] * 3, to="generate_answer")
    model_site.server.script(answer(section(LEAVE)), to="generate_answer")
    page = await chromium_page(model_site.url)
    asked = await ask(page, ASKED)
    await expect(asked.get_by_text("The answer failed")).to_be_visible()
    await expect(asked.locator(".panel")).to_contain_text(re.compile("model", re.IGNORECASE))
    await asked.get_by_role("button", name="Try again").click()
    await answered(asked)
    await expect(asked.locator(".sections")).to_contain_text(LEAVE)
    await expect(asked.get_by_text("The answer failed")).to_be_hidden()

    # Another answer that fails leaves the old one where it was, and says so.
    model_site.server.script(*[status(500)] * 3, to="generate_answer")
    await asked.get_by_role("button", name="Answer again").click()
    await expect(page.locator(".failure").get_by_text("The answer failed")).to_be_visible()
    await expect(asked.locator(".sections")).to_contain_text(LEAVE)
    await page.get_by_role("button", name="Try again").click()
    await expect(asked.get_by_role("group", name="Versions of the answer")).to_contain_text("2 of 2")
    await expect(page.get_by_text("The answer failed")).to_be_hidden()


async def test_a_question_that_could_not_be_asked_is_not_lost(chromium_page: Visits, model_site: Site) -> None:
    page = await chromium_page(model_site.url, faults=["ERR_FAILED", "503"])
    down = re.compile("/api/sessions/.*/runs$")

    async def unreachable(route: Route) -> None:
        await (route.abort() if route.request.method == "POST" else route.continue_())

    async def overloaded(route: Route) -> None:
        problem = {"code": "overloaded", "detail": "Too many wait.", "suggestion": "Wait a little.", "retryable": True}
        await route.fulfill(status=503, content_type="application/problem+json", body=json.dumps(problem))

    await page.route(down, unreachable)
    await field(page).fill(ASKED)
    await page.keyboard.press("Enter")
    await expect(page.get_by_text(english("notices.unreachable")).first).to_be_visible()
    await expect(field(page)).to_have_value(ASKED)
    await page.route(down, overloaded)  # before the other one goes: without any, requests are let through for a moment
    await page.unroute(down, unreachable)
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Too many wait.")).to_be_visible()
    await expect(page.get_by_text("Wait a little.")).to_be_visible()
    await expect(field(page)).to_have_value(ASKED)
    await page.unroute(down)
    await page.get_by_role("button", name="Try again").click()
    await answered(turn(page, ASKED))
    await expect(field(page)).to_have_value("")
    await expect(page.get_by_text("Too many wait.")).to_be_hidden()


async def test_a_limit_that_cut_an_answer_short_is_said(chromium_page: Visits, module_settings: Settings) -> None:
    wrong = "Unused leave lapses in June."
    with JudgingModel() as server:
        server.verdicts[wrong] = "contradicted"
        server.script(answer(section(LEAVE, wrong)), to="generate_answer")
        async with judged_site_of(module_settings, server) as site:
            page = await chromium_page(site.url)
            await asking_with(
                page, budget={"model_calls": 2}
            )  # writing and judging take them, and leave none to repair
            asked = await ask(page, ASKED)
            await answered(asked)
            await expect(asked.locator(".sections")).to_contain_text(LEAVE)
            await expect(asked.locator(".section .text")).not_to_contain_text("June")
            await expect(asked.get_by_text(english("answer.stopReasons.budget_model_calls"))).to_be_visible()
            await page.close()  # before its server, which it would miss


async def test_text_of_the_models_own_and_what_the_answer_lacked_are_said(
    chromium_page: Visits, model_site: Site
) -> None:
    session = await new_session(model_site.client)
    asked = {"question": UNKNOWN, "answer_from": "library_then_model", "web": "fallback", "page_ids": [str(uuid4())]}
    model_site.server.script(*[say('{"sections": []}')] * 3, to="generate_answer")
    ran = await model_site.client.post(f"/api/sessions/{session}/runs", json={**asked, "stream": False})
    sections = ran.json()["message"]["sections"]
    assert [section["grounded"] for section in sections] == [False] * len(sections)
    page = await chromium_page(f"{model_site.url}/#/sessions/{session}", faults=["404 .*/api/documents/"])
    shown = page.get_by_role("group", name="Answer", exact=True)
    await expect(shown.get_by_text(english("answer.ungrounded"))).to_have_count(1)
    await expect(shown.locator(".ungrounded")).to_have_count(len(sections))
    await expect(shown.locator(".marker")).to_have_count(0)
    unread = "1 selected document was not read: not found, or no room was left."
    await expect(shown.locator(".limit")).to_have_text([unread])  # its steps are not read yet
    await page.locator("details.run summary").first.click()
    await expect(shown.locator(".limit")).to_have_text([english("answer.limits.failed.noWeb"), unread])


async def test_the_beginning_stays_in_sight_and_the_end_where_it_is_wanted(
    chromium_page: Visits, model_site: Site
) -> None:
    hold, more, again = Hold(), Hold(), Hold()
    one, two, three = (
        " ".join(f"{word} {number} is said." for number in range(100)) for word in ("One", "Two", "Three")
    )
    said = [Say(one), hold, Say(two), more, Say(three), again, Say(" The end.")]
    model_site.server.script(Reply(said), to="answer_directly")
    page = await chromium_page(model_site.url, viewport={"width": 800, "height": 400})
    asked = await ask(page, "Hello")
    await asyncio.to_thread(hold.wait_reached)
    await expect(asked).to_contain_text("One 98 is said.")
    view = page.get_by_role("region", name="Conversation")
    latest = page.get_by_role("button", name="Jump to the latest")
    await expect(latest).to_be_visible()
    await expect(asked.get_by_role("heading", name="Hello")).to_be_in_viewport(ratio=1)
    await expect(asked.get_by_text("One 0 is said.")).to_be_in_viewport()

    await latest.click()
    await expect(latest).to_be_hidden()
    hold.release()
    await asyncio.to_thread(more.wait_reached)
    await expect(asked).to_contain_text("Two 98 is said.")
    await page.wait_for_function(AT_THE_END)

    await view.hover()
    await page.mouse.wheel(0, -900)
    await expect(latest).to_be_visible()
    before = await view.evaluate("view => view.scrollTop")
    more.release()
    await asyncio.to_thread(again.wait_reached)
    await expect(asked).to_contain_text("Three 98 is said.")
    assert await view.evaluate("view => view.scrollTop") == before
    await latest.click()
    again.release()
    await answered(asked)
    await expect(asked).to_contain_text("The end.")
    await page.wait_for_function(AT_THE_END)
    await page.get_by_label("Your question").focus()
    await asked.locator("summary").first.click()
    await expect(asked.locator(".step")).not_to_have_count(0)
    await expect(asked.locator("summary").first).to_be_in_viewport()


async def test_earlier_messages_come_on_demand_and_stay(chromium_page: Visits, extractive_site: Site) -> None:
    questions = ["When does unused leave lapse?", "How long is the notice period?", "Which class is booked for trains?"]
    session_id = await new_session(extractive_site.client)
    for question in questions:
        body = {"question": question, "stream": False}
        await extractive_site.client.post(f"/api/sessions/{session_id}/runs", json=body)
    url = f"{extractive_site.url}/#/sessions/{session_id}"
    page = await chromium_page(url, go=False)
    few = re.compile(r"/api/sessions/[^/]+\?.*limit=100")
    await page.route(few, lambda route: route.continue_(url=route.request.url.replace("limit=100", "limit=4")))
    await page.goto(url)
    turns = page.get_by_role("article")
    await answered(turn(page, questions[2]))
    await expect(turns).to_have_count(2)
    earlier = page.get_by_role("button", name="Show earlier messages")
    await earlier.click()
    await expect(turns).to_have_count(3)
    await answered(await ask(page, "How many days of annual leave are there?"))
    await expect(turns).to_have_count(4)
    await expect(turns.first.get_by_role("heading", level=2)).to_have_text(questions[0])
    await expect(earlier).to_be_hidden()


async def test_an_old_answer_says_what_became_of_its_quotes_and_sources_that_disagree_are_named(
    chromium_page: Visits, extractive_site: Site
) -> None:
    ids = [str(uuid4()), str(uuid4())]
    texts = ["The kiln is fired at 1240 degrees.", "The kiln is fired at 1180 degrees."]
    for document_id, title, text in zip(ids, ["Glazing notes", "Workshop manual"], texts, strict=True):
        response = await extractive_site.client.put(
            f"/api/documents/{document_id}", json={"title": title, "text": text}
        )
        assert response.status_code == 201
    page = await chromium_page(extractive_site.url)
    asked = await ask(page, "At how many degrees is the kiln fired?")
    await answered(asked)
    told = asked.locator(".disagreements")
    await expect(asked.locator(".worth.unsure")).to_have_text("Sources disagree on 1 point")
    await expect(told.locator(".title")).to_have_text(["Workshop manual", "Glazing notes"])
    await expect(told.get_by_role("button", name="Read in the document")).to_have_count(2)
    tops = await told.locator(".positions > li").evaluate_all("(all) => all.map((each) => each.offsetTop)")
    assert len(tops) == 2
    assert tops[0] == tops[1], "side by side"
    for document_id in ids:
        await extractive_site.client.delete(f"/api/documents/{document_id}")
    await page.reload()
    await answered(asked)
    await expect(asked.get_by_text(re.compile(f"{english('answer.since')} .* gone"))).to_be_visible()


async def test_an_answer_is_copied_by_hand_where_the_browser_allows_no_other_way(
    chromium_page: Visits, extractive_site: Site
) -> None:
    page = await chromium_page(extractive_site.url, go=False)
    await page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    await page.goto(extractive_site.url)
    asked = await ask(page, "When does unused leave lapse?")
    await answered(asked)
    await asked.get_by_role("button", name="Copy", exact=True).click()
    text = page.get_by_role("dialog").get_by_role("textbox")
    await expect(text).to_have_value(re.compile(r"Unused leave lapses in March\.\[\^1\]\n"))
    assert await page.evaluate("getSelection().toString()") != ""
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog", name="Copy as Markdown")).to_have_count(0)
