"""Connections that are lost, pages that are loaded anew, and tabs side by side: a run is told without gap or echo."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from typing import Any

import httpx
import pytest
from playwright.async_api import Locator, Page, Request, Route, expect

from tests.api.conftest import HANDBOOK, new_session
from tests.api.reading import live_events
from tests.page.browsing import Visits
from tests.page.english import english
from tests.page.sites import STARTING_SECONDS, MortalSite, Site
from tests.racing import until_one_ends
from tests.scripted_openai import Hold, Reply, Say, answer

QUESTION = "How many days of annual leave does an employee get?"
FIRST = "Every employee gets 25 days of annual leave a year."
SECOND = "Unused leave lapses in March."
LAPSE = "When does unused leave lapse?"
NOTICE = "The notice period is three months."
CUT_OFF = ("net::ERR_", "Failed to load resource")


class Line:
    """A connection to a site that can be cut, and mended again."""

    def __init__(self, port: int) -> None:
        self.url = ""
        self._port = port
        self._down = False
        self._open: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        self._down = True
        for writer in list(self._open):
            writer.transport.abort()

    def mend(self) -> None:
        self._down = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._down:
            return writer.transport.abort()
        site, asking = await asyncio.open_connection("127.0.0.1", self._port)
        ends = {writer, asking}
        self._open |= ends
        try:
            await until_one_ends(carry(reader, asking), carry(site, writer))
        finally:
            self._open -= ends
            for end in ends:
                end.transport.abort()


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()


@pytest.fixture
async def line(model_site: Site) -> AsyncIterator[Line]:
    line = Line(int(model_site.url.rsplit(":", 1)[1]))
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    line.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield line
    server.close()
    line.cut()
    await server.wait_closed()


def sections(*texts: str) -> Reply:
    return answer(*({"text": text, "source_ids": [f"{HANDBOOK}:0"]} for text in texts), cut=7)


def held(reply: Reply, hold: Hold) -> Reply:
    """Hold a reply in its second section: the first is whole and told then."""
    said = accumulate(step.text for step in reply.steps if isinstance(step, Say))
    after = 1 + next(at for at, each in enumerate(said) if each.count('"text": ') == 2)
    return replace(reply, steps=[*reply.steps[:after], hold, *reply.steps[after:]])


async def ask(page: Page, question: str) -> None:
    await page.get_by_role("textbox", name="Your question").fill(question)
    await page.keyboard.press("Enter")


def shown(page: Page) -> Locator:
    """Find the text of the last answer."""
    return page.get_by_role("article").last.locator(".sections")


async def stored(client: httpx.AsyncClient, page: Page) -> list[str]:
    """Read the sections of the session's last answer."""
    session = (await client.get(f"/api/sessions/{page.url.rsplit('/', 1)[1]}")).json()
    return [section["text"] for section in session["messages"][-1]["sections"]]


async def shows_what_is_stored(page: Page, client: httpx.AsyncClient) -> list[str]:
    """Wait until the last answer is there; see that each section is shown once, in order, and give them."""
    await expect(page.get_by_role("article").last.get_by_role("button", name="Answer again")).to_be_enabled()
    texts = await stored(client, page)
    for each in texts:
        await expect(shown(page)).to_contain_text(each)
    async with asyncio.timeout(STARTING_SECONDS):
        text = await shown(page).inner_text()
        while [text.count(each) for each in texts] != [1] * len(texts):  # it is hidden while it is drawn anew
            text = await shown(page).inner_text()
    assert sorted(texts, key=text.index) == texts
    return texts


def noted(page: Page) -> list[Request]:
    """Note the requests that join a run."""
    joins: list[Request] = []
    page.on("request", lambda request: joins.append(request) if request.url.endswith("/stream") else None)
    return joins


async def test_a_killed_server_comes_back_and_the_page_goes_on_by_itself(
    chromium_page: Visits, mortal_site: MortalSite
) -> None:
    hold = Hold()
    # What was told of the first attempt is void: the second has other words.
    mortal_site.server.script(held(sections(NOTICE, FIRST), hold), sections(FIRST, SECOND), to="generate_answer")
    page = await chromium_page(mortal_site.url, faults=CUT_OFF)
    joins = noted(page)
    await ask(page, QUESTION)
    await expect(shown(page)).to_contain_text(NOTICE)
    await asyncio.to_thread(hold.wait_reached)

    await mortal_site.kill()
    lost = page.get_by_role("status").filter(has_text="Connection lost.")
    await expect(lost).to_be_visible()
    await expect(page.get_by_text("Reconnecting")).to_be_visible()
    await expect(shown(page)).to_contain_text(NOTICE)

    back = page.get_by_text("Connected again.")
    await asyncio.gather(mortal_site.start(), expect(back).to_be_visible(timeout=STARTING_SECONDS * 1000))
    await expect(lost).to_have_count(0)
    await expect(shown(page)).to_contain_text(SECOND)
    await expect(shown(page)).not_to_contain_text(NOTICE)
    assert await shows_what_is_stored(page, mortal_site.client) == [FIRST, SECOND]
    (run,) = (await mortal_site.client.get("/api/runs")).json()["runs"]
    had = [request.headers.get("last-event-id", "") for request in joins]
    assert had
    assert all(each.startswith(f"{run['run_id']}:") for each in had)
    assert not had[0].endswith(":0")
    async with mortal_site.client.stream("GET", f"/api/runs/{run['run_id']}/stream") as response:
        assert response.status_code == 200, await response.aread()
        events = [event async for event in live_events(response)]
    assert "run_resumed" in {event["type"] for event in events}
    assert [section["text"] for section in events[-1]["message"]["sections"]] == [FIRST, SECOND]


async def test_a_question_that_may_have_arrived_is_never_asked_twice(
    chromium_page: Visits, extractive_site: Site
) -> None:
    client = extractive_site.client
    session_id = await new_session(client)
    page = await chromium_page(f"{extractive_site.url}/#/sessions/{session_id}", faults=CUT_OFF)

    async def lose_the_reply(route: Route) -> None:
        if route.request.method != "POST":
            return await route.fallback()
        await client.post(
            f"/api/sessions/{session_id}/runs", json={"question": "When does unused leave lapse?", "stream": False}
        )
        await route.abort("connectionreset")

    await page.route("**/runs", lose_the_reply)
    await expect(page.get_by_role("textbox", name="Your question")).to_be_enabled()
    await ask(page, LAPSE)
    await page.get_by_role("button", name="Try again").click()
    assert await shows_what_is_stored(page, client) == [f"{FIRST} {SECOND}"]
    await expect(page.get_by_role("article")).to_have_count(1)
    assert len((await client.get(f"/api/sessions/{session_id}/runs")).json()["runs"]) == 1


async def refuse(route: Route) -> None:
    """Ask to come back in a minute."""
    headers = {"Retry-After": "60", "Content-Type": "text/plain"}
    await route.fulfill(status=503, headers=headers, body="later")


async def test_reloads_tabs_and_cuts_in_the_middle_of_an_answer(
    chromium_page: Visits, model_site: Site, line: Line
) -> None:
    hold = Hold()
    model_site.server.script(held(sections(FIRST, SECOND), hold), to="generate_answer")
    client = model_site.client
    session_id = await new_session(client, title="Leave")
    await client.post(f"/api/sessions/{session_id}/runs", json={"question": "hello", "stream": False})
    page = await chromium_page(f"{line.url}/#/sessions/{session_id}", faults=CUT_OFF)
    tab = await page.context.new_page()
    await tab.goto(page.url)
    elsewhere = await chromium_page(f"{model_site.url}/#/sessions/{session_id}")
    for each in (page, tab, elsewhere):
        await expect(each.get_by_role("article")).to_have_count(1)

    await ask(page, QUESTION)
    await expect(shown(page)).to_contain_text(FIRST)
    await asyncio.to_thread(hold.wait_reached)
    await expect(shown(tab)).to_contain_text(FIRST)
    await expect(tab.get_by_role("navigation").get_by_role("link", name="is answering")).to_have_count(1)
    # Another browser is told by nobody, and looks when it is looked at.
    await expect(elsewhere.get_by_role("article")).to_have_count(1)
    await elsewhere.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await expect(shown(elsewhere)).to_contain_text(FIRST)

    await page.reload()
    await expect(shown(page)).to_contain_text(FIRST)
    await page.get_by_role("button", name="New session", exact=True).click()
    await expect(page.get_by_role("article")).to_have_count(0)
    await page.go_back()
    await expect(shown(page)).to_contain_text(FIRST)
    await expect(page.get_by_role("article")).to_have_count(2)

    joins = noted(page)
    await page.route("**/stream", refuse)
    line.cut()
    for each in (page, tab):
        await expect(each.get_by_role("status").filter(has_text="Connection lost.")).to_be_visible()
    line.mend()
    await expect(page.get_by_text("Reconnecting in 5")).to_be_visible()
    await page.unroute("**/stream")
    await page.get_by_role("button", name="Now").click()
    await expect(page.get_by_text("Connected again.")).to_be_visible()
    await expect(page.get_by_role("status").filter(has_text="Connection")).to_have_count(0)
    assert joins
    assert all(":" in request.headers["last-event-id"] for request in joins)

    # A second question waits its turn, in the order in which they were asked.
    await ask(tab, "thanks")
    await expect(page.get_by_role("article")).to_have_count(3)
    hold.release()
    for each in (page, tab, elsewhere):
        await expect(each.get_by_role("article").nth(2).get_by_role("button", name="Answer again")).to_be_visible()
    questions = [
        await each.locator("article").get_by_role("heading", level=2).all_inner_texts() for each in (page, tab)
    ]
    assert questions == [["hello", QUESTION, "thanks"]] * 2
    session = (await client.get(f"/api/sessions/{session_id}")).json()
    texts = [section["text"] for section in session["messages"][3]["sections"]]
    assert texts == [FIRST, SECOND]
    for each in (page, tab):
        text = await each.get_by_role("article").nth(1).locator(".sections").inner_text()
        assert [text.count(part) for part in texts] == [1, 1]

    line.cut()
    await ask(page, NOTICE)
    failure = page.get_by_role("alert").filter(has_text=english("notices.unreachable"))
    await expect(failure).to_be_visible()
    line.mend()
    await failure.get_by_role("button", name="Try again").click()
    await expect(page.get_by_role("article")).to_have_count(4)
    await shows_what_is_stored(page, client)
    assert len((await client.get(f"/api/sessions/{session_id}/runs")).json()["runs"]) == 4


async def test_an_answer_given_anew_takes_its_place_in_every_tab(chromium_page: Visits, model_site: Site) -> None:
    client = model_site.client
    session_id = await new_session(client, title="Anew")
    model_site.server.script(sections(FIRST), to="generate_answer")
    await client.post(f"/api/sessions/{session_id}/runs", json={"question": QUESTION, "stream": False})
    url = f"{model_site.url}/#/sessions/{session_id}"
    page = await chromium_page(url, faults=CUT_OFF)
    tab = await page.context.new_page()
    await tab.goto(url)
    await expect(shown(tab)).to_contain_text(FIRST)
    hold = Hold()
    model_site.server.script(held(sections(SECOND, FIRST), hold), to="generate_answer")
    await page.get_by_role("button", name="Answer again").click()
    steps: list[Callable[[], Awaitable[Any]]] = [lambda: asyncio.sleep(0), page.reload]
    for step in steps:
        await step()
        for each in (page, tab):
            await expect(shown(each)).to_contain_text(SECOND)
            await expect(each.get_by_role("article")).to_have_count(1)
    hold.release()
    for each in (page, tab):
        assert await shows_what_is_stored(each, client) == [SECOND, FIRST]
        await expect(each.get_by_role("article")).to_have_count(1)
