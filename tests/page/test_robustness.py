"""What the page is not spared: streams that break and repeat, proxies, and hurried readers."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.page.browsing import NARROW, Visits
from tests.page.relay import Relay, relay_of, reply, told
from tests.page.retold import Event, Retold, claim, golden, tell_all, uuid, written
from tests.page.sites import Site

CUT_OFF = ("net::ERR_", "Failed to load resource")
# All that is shown of an answer but what only its run could tell.
SHOWN = """
() => [...document.querySelectorAll(".turn")].map((turn) => ({
  sections: [...turn.querySelectorAll(".section .text")].map((text) => text.innerHTML).filter((html) => html),
  faults: [...turn.querySelectorAll(".faults")].map((faults) => faults.innerHTML),
  above: turn.querySelector(".above").innerHTML,
  below: turn.querySelector(".below").innerHTML,
}))
"""
FRAMES = "new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))"
FERRIES = {
    "document_id": uuid(9), "title": "Ferries", "file_name": "", "folder": "", "media_type": "text/markdown",
    "url": None, "owner": None, "readers": None, "metadata": {}, "left_out": [], "tokens": 1, "segments": 1,
    "places": [],
    "created_at": "2026-11-22T12:00:00.000Z", "updated_at": "2026-11-22T12:00:00.000Z",
}  # fmt: skip
MIXED = "A 🏖️ e\u0301a👩‍👧 b. 中文 \ud83d end.\r\nNext line\r\n\r\nLast"


@pytest.fixture(scope="module")
async def before(extractive_site: Site) -> AsyncIterator[Relay]:
    async with relay_of(extractive_site.url) as relay:
        yield relay


@pytest.fixture(scope="module")
async def prefixed(extractive_site: Site) -> AsyncIterator[Relay]:
    """A relay below a prefix, which ends after the page: what a page still asks for would fail it else."""
    async with relay_of(extractive_site.url, "/citewell/") as relay:
        yield relay


@pytest.fixture
def relay(before: Relay) -> Relay:
    before.forget()
    return before


async def seen(page: Page, session: Retold) -> Any:
    await expect(page.locator(".turn")).to_have_count(1)
    await expect(page.locator('.turn .answer[aria-busy="false"]')).to_have_count(1)
    await page.evaluate(FRAMES)
    return await page.evaluate(SHOWN)


def anyhow(event: Event) -> str:
    """Tell an event in lines of CRLF, with unknown fields, amid comments, strange events and its own echoes."""
    later = {**event, "later": {"x": [1]}, "type2": None}
    unknown = [{**event, "type": each} for each in ("constructor", "section_dreamt")]
    strange = ": ping\n\nevent: strange\ndata: {}\n\ndata: [DONE]\n\ndata: null\n\n"
    frames = "".join(f"data: {json.dumps(each)}\n\n" for each in (event, *unknown))
    return f"event: {event['type']}\r\ndata: {json.dumps(later)}\r\n\r\n{strange}{frames}"


def streams() -> dict[str, Callable[[int], Retold]]:
    """Name the ways in which runs are told."""
    cuts = [40, 1500, 901]
    odd = [(8, 400), (0, 3), (2, 7), (5, 4), (500, 600)]
    return {
        "cut": lambda n: Retold(n, golden("answered"), cuts=[*cuts]),
        "abstained and cut": lambda n: Retold(n, golden("abstained"), cuts=[*cuts]),
        "byte by byte": lambda n: Retold(n, golden("events")[:-1], bytes_at_once=1),
        "anyhow": lambda n: Retold(n, golden("answered"), frame=anyhow, cuts=[*cuts]),
        "no section": lambda n: Retold(n, written([])),
        "100 KB in one section": lambda n: Retold(n, written(["word and more " * 7000], delta=2000)),
        "100 sections": lambda n: Retold(n, written([f"Section {at} says so." for at in range(100)]), cuts=[9000]),
        "50 sources": lambda n: Retold(n, written(["One claim of many."] * 3, sources=50)),
        "odd claims": lambda n: Retold(
            n, written([MIXED], claims=lambda text, _: [claim(*at, text, [1, 7], "contradicted") for at in odd])
        ),
    }


async def test_what_is_shown_is_what_is_stored_however_it_was_told(chromium_page: Visits, relay: Relay) -> None:
    page = await chromium_page(relay.url, faults=CUT_OFF)
    told_by_stream = []
    for number, (name, make) in enumerate(streams().items()):
        streamed, kept = make(2 * number), make(2 * number + 1)
        streamed.kept = False
        kept.cuts.clear()
        tell_all(relay, [streamed, kept])
        for session in (streamed, kept):
            await page.goto(f"{relay.url}#/sessions/{session.id}")
            await expect(page.locator(".turn .question")).not_to_have_text("")
            told_by_stream.append(await seen(page, session))
        await page.reload()
        first, second = told_by_stream[-2:]
        assert first == second == await seen(page, kept), name
        # Markers stand within the text.
        for said in ("textContent", "innerText"):
            letters = re.sub(
                r"[\s\u2060\d\ufffd\ud83d]", "", await page.locator(".turn .sections").evaluate(f"(all) => all.{said}")
            )
            message = kept.events[-1]["message"]
            shown = message["sections"][:20] if said == "textContent" or "refusal" not in message else []
            for section in shown:
                assert re.sub(r"[\s\d\ud83d`]", "", section["text"]) in letters, name
            for query in message.get("refusal", {}).get("tried", []):
                await expect(page.locator(".panel")).to_contain_text(query)  # a refusal is shown apart


async def test_sessions_never_mix_however_quickly_they_are_switched(chromium_page: Visits, relay: Relay) -> None:
    hold = asyncio.Event()
    texts = [[f"Session {which} says {at}." for at in range(30)] for which in (201, 202)]
    one, two = (
        Retold(200 + at, written(each), bytes_at_once=400, pause=0.02, hold=hold) for at, each in enumerate(texts, 1)
    )
    tell_all(relay, [one, two])
    page = await chromium_page(f"{relay.url}#/sessions/{one.id}", faults=CUT_OFF)
    tab = await page.context.new_page()
    await tab.set_viewport_size(NARROW)
    await tab.goto(f"{relay.url}#/sessions/{two.id}")
    watch = """
    () => {
      globalThis.mixed = [];
      new MutationObserver(() => {
        const said = new Set(document.querySelector(".turns")?.textContent.match(/Session \\d+ says/g));
        if (said.size > 1) globalThis.mixed.push([...said].join());
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    }"""
    for each in (page, tab):
        await each.evaluate(watch)
    for turn in range(24):
        session = (one, two)[turn % 2]
        await page.evaluate(f"location.hash = '#/sessions/{session.id}'")
        if turn % 5 == 4:
            await page.go_back()
        if turn % 7 == 6:
            await page.go_forward()
        if turn % 4 == 3:
            await tab.evaluate(f"location.hash = '#/sessions/{session.id}'")
        if turn == 12:
            await tab.reload()
            await tab.evaluate(watch)
        await page.evaluate(FRAMES)
    for each, session in ((page, one), (tab, two)):
        await each.evaluate(f"location.hash = '#/sessions/{session.id}'")
        await expect(each.locator(".turns")).to_contain_text(f"Session 20{session.number - 200} says 1.")
        assert await each.evaluate("globalThis.mixed") == []
    # One follower for what each tab has on show.
    async with asyncio.timeout(10):
        while sorted(each for each in relay.open if each.endswith("/stream")) != sorted(
            f"GET /api/runs/{each.run}/stream" for each in (one, two)
        ):
            await page.evaluate(FRAMES)
    hold.set()
    for each, session in ((page, one), (tab, two)):
        await expect(each.locator(".turns")).to_contain_text(f"Session {session.number} says 29.")
        await expect(each.locator(".section")).to_have_count(30)
        assert await each.evaluate("globalThis.mixed") == []


HTML = "<!doctype html><title>Oops</title><h1>Oops</h1>"


async def test_every_part_says_what_a_proxy_did_and_recovers(chromium_page: Visits, relay: Relay) -> None:
    session = Retold(301, written(["It is so."]), ended=True)
    everything = r"\w+ /(api|v1)/.*"
    wrong = {
        "unexpected answer (500": reply(500, "text/html", HTML),
        "not available just now": reply(503, "text/html", HTML, Retry_After="1"),
        "asked for too much": reply(429, "text/html", HTML, Retry_After="1"),
        "gave an unexpected answer.": reply(200, "text/html", HTML),
        "unexpected answer": reply(200, "application/json", ""),
    }
    page = await chromium_page(relay.url, faults=CUT_OFF)
    for text, answer in wrong.items():
        relay.forget()
        relay.answer(everything, answer)
        await page.goto(f"{relay.url}#/sessions/{session.id}")
        await page.reload()
        failed = page.get_by_role("alert").filter(has_text=text)
        await expect(failed.first).to_be_visible()
        question = page.get_by_role("textbox", name="Your question")
        refused = page.locator(".conversation").get_by_role("alert")
        await question.fill("Is it so?")
        await page.keyboard.press("Enter")
        await expect(refused.get_by_role("button", name="Try again")).to_be_visible()
        await expect(question).to_have_value("Is it so?")
        tell_all(relay, [session])
        relay.answer("GET /v1/models", told(lambda: {"data": []}))
        for _ in range(await failed.get_by_role("button", name="Try again").count()):
            await failed.get_by_role("button", name="Try again").first.click()
        await expect(page.locator(".turn .section")).to_contain_text("It is so.")
        await expect(page.get_by_role("navigation").get_by_role("link", name="Session 301")).to_have_count(1)
        # Else what failed when the page began would be taken for what the search below is told. Documents
        # are read last, when the rest is there.
        library = page.get_by_role("region", name="Documents")
        await expect(library).to_contain_text(text)
        listed = told(lambda: {"documents": [FERRIES], "next_cursor": None, "total": 1})
        relay.answer("GET /api/documents", listed)
        await library.get_by_role("button", name="Try again").click()
        await expect(library).not_to_contain_text(text)

        relay.answer("GET /api/documents.*", answer)
        await page.locator(".turn .marker").first.click()
        await page.locator(".passage-card").get_by_role("button", name="Read in the document").first.click()
        unread = page.locator(".reader").filter(has_text=text)
        await expect(unread).to_be_visible()
        await expect(unread.get_by_role("button", name="Try again")).to_be_visible()
        await page.locator(".reader").get_by_role("button", name="Close").click()
        await library.get_by_role("searchbox").fill("ferry")
        await expect(library).to_contain_text(text)
        relay.answer("GET /api/documents", listed)
        await library.get_by_role("button", name="Try again").click()
        await expect(library.get_by_role("checkbox", name="Ferries")).to_be_visible()
        # The session is addressed, though it could not be read: the question is for it, and begins no other.
        assert "POST /api/sessions" not in relay.asked


async def test_the_page_works_below_a_prefix(chromium_page: Visits, prefixed: Relay) -> None:
    page = await chromium_page(prefixed.url, faults=())
    await page.get_by_role("textbox", name="Your question").fill("How many days of annual leave does an employee get?")
    await page.keyboard.press("Enter")
    await expect(page.locator(".turn .section")).to_contain_text("25 days")
    await expect(page.get_by_role("button", name="Answer again")).to_be_visible()
    await page.locator(".marker").first.click()
    await expect(page.locator(".reader mark").first).to_contain_text("25 days")
    await page.reload()
    await expect(page.locator(".turn .section")).to_contain_text("25 days")
    await expect(page.locator(".reader mark").first).to_contain_text("25 days")
    await page.go_back()
    shelf = page.get_by_role("region", name="Documents")
    await expect(shelf.get_by_role("checkbox", name="Staff handbook")).to_be_visible()
