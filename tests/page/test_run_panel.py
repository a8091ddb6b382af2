"""How an answer came about, by what a reader sees: steps, the graph, thinking and the account, live and replayed."""

import asyncio
import json
import re
from typing import Any, get_args

import psycopg
import pytest
from playwright.async_api import Locator, Page, Route, expect
from psycopg.types.json import Jsonb

from graph.builder import build
from graph.evidence import Outcome, StopReason
from tests.api.conftest import HANDBOOK, new_session
from tests.api.reading import events_of
from tests.fakes import MemoryLibrary, ScriptedFamily, resources
from tests.page.axe import COLOURS, EVERYTHING, SOURCE, violations
from tests.page.browsing import NARROW, Visits, asking_with
from tests.page.english import LANGUAGES, catalogue, english
from tests.page.sites import JudgingModel, Site, judged_site_of
from tests.scripted_openai import Hold, Reply, Say, Think, answer, say
from tests.wire.node_clients import SKIPPED
from tools.settings import Settings

QUESTION = "How many days of annual leave does every employee get a year?"
RIGHT = {"text": "Every employee gets 25 days of annual leave a year.", "source_ids": [f"{HANDBOOK}:0"]}
WRONG = {**RIGHT, "text": "Every employee gets 30 days of annual leave a year."}


async def ask(page: Page, question: str = QUESTION) -> None:
    await page.get_by_role("textbox", name="Your question").fill(question)
    await page.keyboard.press("Enter")


def panel_of(page: Page, turn: int = -1) -> Locator:
    return page.get_by_role("article").nth(turn).locator("details.run")


def step(panel: Locator, name: str) -> Locator:
    return panel.locator(f'.step[data-step="{name}"]')


async def steps_of(panel: Locator) -> list[str]:
    """Give the steps in the order in which they are told."""
    return list(await panel.locator(".step").evaluate_all("all => all.map(step => step.dataset.step)"))


async def visited(panel: Locator) -> dict[str, str]:
    """Give the nodes of the rail that are lit, each with how often it was visited where that is more than once."""
    found = await panel.locator(".rail .visited").evaluate_all(
        "all => all.map(node => [node.dataset.node, /×\\d+/.exec(node.textContent)?.[0] ?? ''])"
    )
    return dict(found)


async def opened(panel: Locator) -> Locator:
    """Open a panel that is folded, and its account."""
    await expect(panel).not_to_have_attribute("open", "")
    await panel.locator("summary").first.click()
    await panel.locator(".account > summary").press("Enter")  # not a click, which misses what the steps push down
    return panel


async def finished(page: Page, site: Site) -> list[dict[str, Any]]:
    """Wait until the last turn's run has ended, and give its events."""
    await expect(panel_of(page)).not_to_have_class(re.compile("going"))
    session = page.url.rpartition("/")[2]
    runs = (await site.client.get(f"/api/sessions/{session}/runs")).json()["runs"]
    return events_of(await site.client.get(f"/api/runs/{runs[0]['run_id']}/stream"))


async def account(panel: Locator) -> dict[str, list[str]]:
    rows = await panel.locator(".account tr[data-step]").evaluate_all(
        "all => all.map(row => [row.dataset.step, [...row.querySelectorAll('td')].map(cell => cell.textContent)])"
    )
    return dict(rows)


async def test_a_run_is_told_as_it_goes_on_then_in_a_line_and_is_replayed_later(
    chromium_page: Visits, model_site: Site
) -> None:
    thinking, writing = Hold(), Hold()
    text = json.dumps({"sections": [RIGHT]})
    steps = [Think("The handbook says 25."), thinking, Think("\nI quote it."), Say(text[:40]), writing, Say(text[40:])]
    model_site.server.script(Reply(steps=steps), to="generate_answer")
    page = await chromium_page(model_site.url)
    await ask(page)
    await asyncio.to_thread(thinking.wait_reached)
    panel = panel_of(page)

    await expect(panel.locator("summary").first).to_contain_text("Writing the answer…")
    await expect(page.locator(".announcer")).to_have_text("Writing the answer…")
    await expect(step(panel, "decide_retrieval")).to_contain_text("Decided to search")
    await expect(step(panel, "search_segments")).to_contain_text(re.compile(r"Searched the library: \d passage"))
    await expect(step(panel, "grade_segments")).to_contain_text(re.compile(r"Kept \d of \d"))
    await expect(step(panel, "generate_answer")).to_have_attribute("aria-current", "step")
    await expect(step(panel, "check_claims")).to_have_count(0)
    await expect(panel.locator(".rail [aria-current]")).to_have_attribute("data-node", "generate_answer")
    assert list(await visited(panel)) == ["decide_retrieval", "search_segments", "grade_segments", "generate_answer"]
    assert await steps_of(panel) == ["decide_retrieval", "search_segments", "grade_segments", "generate_answer"]

    thoughts = panel.locator(".thinking-text")
    await expect(thoughts).not_to_be_visible()
    await panel.get_by_text("Thinking", exact=True).click()
    await expect(thoughts).to_contain_text("The handbook says")
    thinking.release()
    await asyncio.to_thread(writing.wait_reached)
    await expect(thoughts).to_contain_text("25.\nI quote")
    await panel.locator(".account > summary").click()
    await expect(panel.locator(".account")).to_contain_text("at most 8 model calls")
    await expect(panel.locator(".account dl")).to_contain_text("So far")
    assert "generate_answer" not in await account(panel)  # it has not told its time yet

    writing.release()
    events = await finished(page, model_site)
    await expect(panel.locator("summary").first).to_contain_text(
        re.compile(r"Searched · kept \d of \d · checked 1 statement[\d.,]+ (sec|ms)")
    )
    await expect(panel).to_have_attribute("open", "")  # it was in use
    await expect(step(panel, "check_claims")).to_contain_text("Checked 1 statement: 1 quoted")
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await panel.get_by_title(english("run.account.copyRun")).click()
    await expect(panel.locator(".run-id").get_by_role("status")).to_have_text("Copied")
    assert await page.evaluate("navigator.clipboard.readText()") == events[-1]["run_id"]
    await expect(step(panel, "assess_quality")).to_contain_text("Assessed: word for word")
    await expect(panel.locator(":is(.step, .rail li)[aria-current]")).to_have_count(0)
    await the_account_is(panel, events)

    streams: list[str] = []
    page.on("request", lambda request: streams.append(request.url) if request.url.endswith("/stream") else None)
    await page.reload()
    await expect(panel.locator("summary").first).to_contain_text(re.compile(r"Kept \d sources?[\d.,]"))
    assert streams == []
    await opened(panel)
    await expect(step(panel, "generate_answer")).to_contain_text("Wrote 1 section")
    assert len(await steps_of(panel)) == 6
    await the_account_is(panel, events)
    await panel.get_by_text("Thinking", exact=True).click()
    await expect(thoughts).to_have_text("The handbook says 25.\nI quote it.")
    assert len(streams) == 1


async def the_account_is(panel: Locator, events: list[dict[str, Any]]) -> None:
    """Hold the account that is open to what the run's events tell."""
    await expect(panel.locator(".account dl")).to_contain_text("From start to end")
    spent = events[-1]["spent"]
    rows = await account(panel)
    assert set(rows) == {*spent, "total"}
    for name, each in spent.items():
        assert rows[name][1:] == [str(each["calls"]), str(each["tokens"])], name
    calls = sum(each["calls"] for name, each in spent.items() if name != "title")
    assert rows["total"][1] == str(calls)
    for told in ("Answered", "The answer is complete.", f"{8 - calls} of 8 model calls", "of 120 sec", "scripted"):
        await expect(panel.locator(".account dl")).to_contain_text(told)
    await expect(panel.locator(".run-id code")).to_have_text(events[-1]["run_id"])


async def test_a_choice_to_fold_is_kept_while_the_run_goes_on(chromium_page: Visits, model_site: Site) -> None:
    first, second = Hold(), Hold()
    model_site.server.script(Reply(steps=[Say("Hello"), first, Say(" there you"), second]), to="answer_directly")
    page = await chromium_page(model_site.url, viewport=NARROW)
    await ask(page, "Hello")
    await asyncio.to_thread(first.wait_reached)
    panel = panel_of(page)
    await expect(panel.locator("summary").first).to_contain_text("Replying…")
    await expect(panel).not_to_have_attribute("open", "")  # where there is little room it begins so
    await panel.locator("summary").first.click()
    await expect(panel.locator(".step.current")).to_contain_text("Replying…")
    await panel.locator("summary").first.click()
    first.release()
    await asyncio.to_thread(second.wait_reached)
    await expect(page.get_by_role("article").get_by_text("Hello there")).to_be_visible()
    await expect(panel).not_to_have_attribute("open", "")
    await panel.locator("summary").first.click()

    await ask(page, "Thanks")
    await expect(panel_of(page).locator("summary").first).to_contain_text("Waiting: next in line")
    second.release()
    await finished(page, model_site)
    await expect(panel_of(page, 0)).to_have_attribute("open", "")
    await expect(panel_of(page, 0).locator("summary").first).to_contain_text("Replied directly")
    assert await steps_of(panel_of(page, 0)) == ["decide_retrieval", "answer_directly"]
    panel = await opened(panel_of(page))
    await expect(panel.locator(".account dl")).to_contain_text(english("answer.stopReasons.no_retrieval_needed"))


async def test_a_repair_is_told_step_by_step(chromium_page: Visits, module_settings: Settings) -> None:
    with JudgingModel() as server:
        server.verdicts[WRONG["text"]] = "contradicted"
        server.script(answer(WRONG), to="generate_answer")
        server.script(say(json.dumps({"sections": [{"section": 1, **RIGHT}]})), to="revise_sections")
        async with judged_site_of(module_settings, server) as site:
            page = await chromium_page(site.url)
            await repaired(page, site)
            await page.close()  # before its server, which it would miss


async def repaired(page: Page, site: Site) -> None:
    await ask(page)
    await finished(page, site)
    panel = await opened(panel_of(page))
    await expect(panel.locator("summary").first).to_contain_text("rewrote 1")
    await expect(step(panel, "check_claims").first).to_contain_text("Checked 1 statement: 1 contradicted")
    await expect(step(panel, "rewrite_query")).to_contain_text("Looked again for what failed: “Every employee gets 30")
    await expect(step(panel, "check_claims").last).to_contain_text("Rewrote 1 section")
    told = await steps_of(panel)
    repair = told[told.index("rewrite_query") :]
    assert repair[:2] == ["rewrite_query", "search_segments"]
    assert (await visited(panel))["check_claims"] == "×2"


async def test_another_wording_and_a_refusal_are_told(chromium_page: Visits, model_site: Site) -> None:
    model_site.server.script(*[say('{"relevant": []}')] * 3, to="grade_segments")
    page = await chromium_page(model_site.url)
    await asking_with(page, effort="thorough")  # a model grades in no other
    await ask(page)
    await finished(page, model_site)
    panel = await opened(panel_of(page))
    await expect(panel.locator("summary").first).to_contain_text("no answer proven")
    await expect(step(panel, "grade_segments").first).to_contain_text("Kept none of")
    await expect(step(panel, "grade_segments").first).to_contain_text("left out:")
    await expect(step(panel, "rewrite_query").first).to_contain_text("Tried another wording: “wording 2 of")
    await expect(step(panel, "abstain")).to_contain_text(english("run.told.abstained"))
    assert (await steps_of(panel))[-2:] == ["grade_segments", "abstain"]
    await expect(panel.locator(".account dl")).to_contain_text(english("answer.stopReasons.nothing_relevant"))


async def test_a_fallback_a_resumption_and_a_log_that_is_gone_are_said(chromium_page: Visits, model_site: Site) -> None:
    model_site.server.script(*[say("neither this nor that")] * 3, to="grade_segments")
    page = await chromium_page(model_site.url)
    await asking_with(page, effort="thorough")  # a model grades in no other
    await ask(page)
    events = await finished(page, model_site)
    assert {e["fallback"]["code"] for e in events if e.get("fallback")} == {"model_reply_invalid"}
    panel = await opened(panel_of(page))
    await expect(panel.locator("summary").first).to_contain_text("in a simpler way")
    await expect(step(panel, "grade_segments").locator(".grave")).to_contain_text(
        f"{english('problems.model_reply_invalid')} {english('reasons.kept_by_score')}"
    )

    async def resume(route: Route) -> None:
        told = [*events[:-1], {**events[-1], "type": "run_resumed", "attempt": 2, "sections": [0]}, events[-1]]
        frames = (f"id: r:{seq}\ndata: {json.dumps({**e, 'seq': seq})}\n\n" for seq, e in enumerate(told, 1))
        await route.fulfill(body="".join(frames), content_type="text/event-stream")

    await page.route("**/stream", resume)
    await page.reload()
    await opened(panel)
    await expect(panel).to_contain_text("Was interrupted and resumed (attempt 2).")
    await page.unroute("**/stream")

    assert model_site.settings.database_url is not None
    url = model_site.settings.database_url.get_secret_value()
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("DELETE FROM run_events WHERE run_id = %s", [events[-1]["run_id"]])
    await page.reload()
    await opened(panel)
    await expect(panel).to_contain_text(english("run.gone"))
    assert set(await account(panel)) == {*events[-1]["spent"], "total"}
    await expect(panel.locator(".account dl")).to_contain_text("The answer is complete.")


async def test_what_a_run_cost_is_shown_where_prices_are_known(chromium_page: Visits, model_site: Site) -> None:
    session = await new_session(model_site.client)
    asked = {"question": QUESTION, "search": "always"}
    run = events_of(await model_site.client.post(f"/api/sessions/{session}/runs", json=asked))[-1]
    page = await chromium_page(f"{model_site.url}/#/sessions/{session}")
    panel = await opened(panel_of(page))
    await expect(panel.locator(".account dl")).to_contain_text("The answer is complete.")
    await expect(panel.locator(".account dl")).not_to_contain_text("Cost")

    cost = {"amount": "0.0004392", "currency": "USD", "unpriced": ["vectors"], "estimated": True}
    embedded = {"embed": {"calls": 1, "tokens": 9, "ms": 0.0}}
    assert model_site.settings.database_url is not None
    url = model_site.settings.database_url.get_secret_value()
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(
            "UPDATE messages SET body = jsonb_set(body, '{spent}', body -> 'spent' || %s) || %s WHERE run_id = %s"
            " AND role = 'assistant'",
            [Jsonb(embedded), Jsonb({"cost": cost}), run["run_id"]],
        )
        await connection.execute("DELETE FROM run_events WHERE run_id = %s", [run["run_id"]])
    await page.reload()
    await opened(panel)
    await expect(panel.locator(".account dl")).to_contain_text("about $0.000439")
    await expect(panel.locator(".account dl")).to_contain_text("without vectors, whose price is not set")
    rows = await account(panel)
    assert rows["embed"][1:] == ["1", "9"]
    assert rows["total"][2] == str(sum(step["tokens"] for name, step in run["spent"].items() if name != "title"))


async def test_pages_are_read_beside_the_search_and_quoted_without_a_model(
    chromium_page: Visits, model_site: Site
) -> None:
    gone = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2aff"
    asked = {"question": QUESTION, "model": "extractive", "search": "always", "page_ids": [HANDBOOK, gone]}
    session = await new_session(model_site.client)
    events = events_of(await model_site.client.post(f"/api/sessions/{session}/runs", json=asked))
    assert events[-1]["type"] == "run_finished"
    page = await chromium_page(f"{model_site.url}/#/sessions/{session}", faults=[f"404 .*{gone}"])
    panel = await opened(panel_of(page))
    await expect(step(panel, "load_selected_pages")).to_contain_text("Read 1 selected document (1 not found")
    assert (await steps_of(panel))[3] == "grade_segments"  # after both
    await expect(panel.locator(".account dl")).to_contain_text(english("run.account.quotes"))
    assert (await account(panel))["total"][1:] == ["0", "0"]
    if not SOURCE.is_file():
        pytest.skip(f"{SKIPPED}: axe-core")
    assert await violations(page, EVERYTHING) == []
    await page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert await violations(page, COLOURS) == []


async def test_a_run_that_failed_shows_how_far_it_came(chromium_page: Visits, model_site: Site) -> None:
    model_site.server.script(*[Reply(steps=[Think("Well.")])] * 3, to="generate_answer")
    page = await chromium_page(model_site.url)
    await ask(page)
    events = await finished(page, model_site)
    assert events[-1]["type"] == "run_failed"
    for later in (False, True):
        if later:
            await page.reload()
        panel = await opened(panel_of(page))
        await expect(step(panel, "generate_answer")).to_contain_text("Cut off")
        for told in (panel.locator(".account dl"), page.locator(".outcomes")):
            await expect(told).to_contain_text(english("problems.model_reply_invalid"))
        assert (await steps_of(panel))[-1] == "generate_answer"


async def test_the_graph_is_asked_for_once_and_a_node_of_tomorrow_has_its_own_name(
    chromium_page: Visits, extractive_site: Site
) -> None:
    graph = (await extractive_site.client.get("/api/graph")).json()
    asked: list[str] = []

    async def later(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            return await route.fulfill(status=500, body="none")
        await route.fulfill(json={**graph, "nodes": [*graph["nodes"], {"id": "ask_a_person", "later": 1}]})

    page = await chromium_page(extractive_site.url, faults=["500 .*/api/graph"], viewport=NARROW)
    await page.route("**/api/graph", later)
    for turn in range(2):
        await ask(page, f"{QUESTION} {turn}")
        await finished(page, extractive_site)
    assert asked == []  # a panel of a narrow window opens only by hand
    panel = await opened(panel_of(page))
    await expect(step(panel, "check_claims")).to_contain_text("Checked")
    await expect(panel.locator(".rail")).to_have_count(0)
    for _ in range(2):
        await panel.locator("summary").first.click()
    await expect(panel.locator('.rail [data-node="ask_a_person"]')).to_have_text("ask_a_person")
    await opened(panel_of(page, 0))
    await expect(page.locator(".rail")).to_have_count(2)
    assert "ask_a_person" not in await visited(panel)
    assert len(asked) == 2


def test_every_step_and_every_end_has_words() -> None:
    drawn = build(resources(MemoryLibrary([]), ScriptedFamily())).compile().get_graph()
    steps = [name for name in drawn.nodes if name not in {"__start__", "__end__"}]
    for said in map(catalogue, LANGUAGES):
        assert list(said["run"]["nodes"]) == list(said["run"]["doing"]) == steps  # in this order the account lists them
        assert set(said["answer"]["stopReasons"]) == set(get_args(StopReason))
        assert set(said["run"]["outcomes"]) == set(get_args(Outcome))
