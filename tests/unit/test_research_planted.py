"""False sentences planted behind a writer's back: in which replies, what becomes of them, and what is counted."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI

from evals.records import Record
from evals.scripted_endpoint import ModelRequest, Reply, answer, say, scripted_endpoint, status
from evals.scripted_replies import sensible, shown_segments
from evals.sets import load_data_set
from graph.errors import CitewellError, InvalidRequest
from research.planted import (
    chosen_plants,
    fate_of,
    load_plants,
    planted_report,
    run_planted,
    writing_model,
)
from research.planting_proxy import planting_proxy, with_sentence
from tests.evals_records import citation, claim, failed, record, refused, section
from tests.unit.made_data_sets import KILN, write, write_lines, write_manuals
from tools.settings import ModelSettings, Settings

SENTENCE = "The kiln cools for seven hours before its door is opened."
SCHEMA = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {}}}
MESSAGES = [{"role": "user", "content": "Hm?"}]


def model_at(base_url: str) -> ModelSettings:
    return ModelSettings(name="scripted", base_url=base_url, model="any", timeout_seconds=15)


def sections(*texts: str, ids: tuple[str, ...] = ("a:0",)) -> str:
    return json.dumps({"sections": [{"source_ids": list(ids), "text": text} for text in texts]})


def texts_of(reply: str | None) -> list[str]:
    assert reply is not None
    return [each["text"] for each in json.loads(reply)["sections"]]


@pytest.mark.parametrize(
    ("text", "planted"),
    [
        ("It cools.", f"It cools. {SENTENCE}"),
        ("它会冷却。", f"它会冷却。{SENTENCE}"),
        ("Steps:\n\n1. Wait.", f"Steps:\n\n1. Wait.\n\n{SENTENCE}"),
        ("| a |\n|---|\n| b |", f"| a |\n|---|\n| b |\n\n{SENTENCE}"),
        ("```\nwait\n```\n", f"```\nwait\n```\n\n{SENTENCE}"),
    ],
)
def test_a_sentence_is_added_to_the_text_of_a_section(text: str, planted: str) -> None:
    assert texts_of(with_sentence(sections(text, "More."), SENTENCE)) == [planted, "More."]


def test_a_sentence_goes_to_the_first_section_that_cites_and_keeps_its_ids() -> None:
    uncited = {"source_ids": [], "text": "Hello."}
    cited = {"source_ids": ["a:0", "b:1"], "text": "It cools."}
    reply = with_sentence(f"```json\n{json.dumps({'sections': [uncited, cited]})}\n```", SENTENCE)
    assert texts_of(reply) == ["Hello.", f"It cools. {SENTENCE}"]
    assert json.loads(reply or "")["sections"][1]["source_ids"] == ["a:0", "b:1"]


@pytest.mark.parametrize("reply", ["", "Sorry.", '{"sections": []}', '{"sections": {}}', sections("Hi.", ids=())])
def test_nothing_is_planted_where_nothing_is_cited(reply: str) -> None:
    assert with_sentence(reply, SENTENCE) is None


@pytest.mark.parametrize("stream", [True, False])
async def test_only_the_first_answer_of_a_question_is_changed_and_all_else_passes_unchanged(*, stream: bool) -> None:
    async with (
        scripted_endpoint(lambda _: answer({"source_ids": ["a:0"], "text": "It cools."})) as endpoint,
        planting_proxy(model_at(endpoint.base_url)) as (planter, base_url),
        httpx.AsyncClient() as client,
    ):
        body = {"model": "any", "messages": MESSAGES, "stream": stream, "response_format": SCHEMA, "seed": 3}
        headers = {"Authorization": "Bearer sesame"}

        async def ask(url: str, **changes: Any) -> httpx.Response:
            return await client.post(f"{url}/chat/completions", json={**body, **changes}, headers=headers)

        direct = await ask(endpoint.base_url)
        before = await ask(base_url)
        with planter.planting(SENTENCE):
            other = await ask(base_url, response_format={"type": "json_object"})
            first, second = await ask(base_url), await ask(base_url)
        after = await ask(base_url)
        asked = endpoint.requests[1]
    read = _streamed if stream else _whole
    assert texts_of(read(first)) == [f"It cools. {SENTENCE}"]
    for unchanged in (before, other, second, after):
        assert read(unchanged) == read(direct)
        assert unchanged.headers["content-type"] == direct.headers["content-type"]
    assert asked.body == body
    assert (asked.path, asked.headers["authorization"]) == ("/v1/chat/completions", "Bearer sesame")


def _whole(response: httpx.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def _streamed(response: httpx.Response) -> str:
    chunks = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]
    return "".join(choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"])


async def test_a_clients_stream_of_a_planted_reply_is_one_reply_in_small_pieces() -> None:
    async with (
        scripted_endpoint(lambda _: answer({"source_ids": ["a:0"], "text": "It cools."})) as endpoint,
        planting_proxy(model_at(endpoint.base_url)) as (planter, base_url),
        AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client,
    ):
        with planter.planting(SENTENCE):
            stream = await client.chat.completions.create(
                model="any",
                messages=[{"role": "user", "content": "Hm?"}],
                stream=True,
                response_format={"type": "json_schema", "json_schema": {"name": "answer", "schema": {}}},
            )
            pieces = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
    assert len(pieces) > 5
    assert texts_of("".join(pieces)) == [f"It cools. {SENTENCE}"]


async def test_an_endpoints_failures_reach_the_client() -> None:
    body = {"model": "any", "messages": MESSAGES, "response_format": SCHEMA}
    async with (
        scripted_endpoint(lambda _: status(429, "slow down", {"Retry-After": "7"})) as endpoint,
        planting_proxy(model_at(endpoint.base_url)) as (planter, base_url),
        httpx.AsyncClient(base_url=base_url) as client,
    ):
        with planter.planting(SENTENCE):
            refused_by = await client.post("/chat/completions", json=body)
        await endpoint.stop()
        gone = await client.post("/chat/completions", json=body)
    assert (refused_by.status_code, refused_by.headers["retry-after"]) == (429, "7")
    assert refused_by.json()["error"]["message"] == "slow down"
    assert gone.status_code == 502


def shown(*claims: Any, **changes: Any) -> Record:
    """A question answered with claims, each a section's whole text."""
    text = " ".join(each["text"] for each in claims)
    return record(answer=text, written=[section(f"{KILN} {SENTENCE}")], claims=list(claims), **changes)


@pytest.mark.parametrize(
    ("ended", "fate"),
    [
        (refused(), "refused"),
        (shown(claim(KILN)), "removed"),
        (shown(claim(SENTENCE, verdict="contradicted")), "contradicted"),
        (shown(claim(SENTENCE, verdict="unverified")), "unverified"),
        (shown(claim(SENTENCE)), "supported"),
        (shown(claim(f"{KILN} {SENTENCE}")), "supported"),
        (shown(claim(SENTENCE, verdict="unsupported"), claim(SENTENCE[:45])), "supported"),
        (record(answer=f"# {SENTENCE}", claims=[]), "unchecked"),
    ],
)
def test_what_became_of_a_sentence(ended: Record, fate: str) -> None:
    assert fate_of(ended, SENTENCE) == fate


def test_the_report_counts_planted_and_other_questions_apart() -> None:
    passages: list[Any] = [{"document": "ferry", "text": KILN, "alternative": False}]
    right = {"passages": passages, "answers": ["nine hours"], "evidence": []}
    quoted = claim(KILN, citation(KILN))
    caught = shown(quoted, case_id="a", first_claims=[quoted, claim(SENTENCE, verdict="contradicted")], **right)
    proven = shown(quoted, claim(SENTENCE), case_id="b", first_claims=[quoted, claim(SENTENCE)], **right)
    lost = refused("c", written=[section(f"{KILN} {SENTENCE}")], first_claims=[quoted], **right)
    other = record("d", answer=KILN, written=[section(KILN)], first_claims=[quoted], claims=[quoted], **right)
    unplanted = refused("e", **right)
    report = planted_report(
        [caught, proven, lost, other, unplanted, failed("f")], dict.fromkeys("abcef", SENTENCE), "m"
    )
    assert (report["questions"], report["failed_runs"], report["planted"], report["unplanted"]) == (6, 1, 3, 1)
    assert (report["caught"], report["gone"], report["shown_as_proven"]) == (0.6667, 0.6667, 0.3333)
    assert report["fates"] == {"removed": 1, "supported": 1, "refused": 1}
    assert report["first_verdicts"] == {"contradicted": 1, "supported": 1}
    assert report["escaped"] == ["b"]
    assert report["planted_questions"] == {
        "answerable": 3, "right_as_written": 1.0, "right_as_shown": 0.6667, "lost": 1,
    }  # fmt: skip
    assert report["other_questions"] == {
        "answerable": 2, "right_as_written": 0.5, "right_as_shown": 0.5, "lost": 0,
    }  # fmt: skip


def test_a_report_of_failures_alone_is_none() -> None:
    with pytest.raises(CitewellError, match="Every run failed"):
        planted_report([failed("a")], {"a": SENTENCE}, "m")


def test_a_third_of_the_questions_at_most_is_planted(tmp_path: Path) -> None:
    cases = load_data_set("manuals", write_manuals(tmp_path)).cases
    every = {case.case_id: SENTENCE for case in cases}
    assert chosen_plants(cases, every) == {"q1": SENTENCE}
    assert chosen_plants(cases, {"q2": SENTENCE, "gone": SENTENCE}) == {"q2": SENTENCE}
    many = [replace(cases[0], case_id=f"q{number}") for number in range(1, 10)]
    assert list(chosen_plants(many, {f"q{number}": SENTENCE for number in range(4, 10)})) == ["q4", "q6", "q8"]
    assert chosen_plants(cases, {"gone": SENTENCE}) == {}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"id": "q1", "sentence": ""}', "line 1: sentence: "),
        ('{"id": "q1", "sentence": "a", "note": "b"}', "line 1: note: "),
        ('{"id": "q1", "sentence": "a"}\n{"id": "q1", "sentence": "b"}', "line 2: id: .* q1 already"),
    ],
)
def test_sentences_that_cannot_be_read_are_refused(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        load_plants(write(tmp_path / "plants.jsonl", lines))


def test_the_writing_model_is_configured_or_named_with_its_endpoint(settings: Settings) -> None:
    known = ModelSettings(name="mine", base_url="http://one.example", model="m", context_tokens=32000)
    settings = settings.model_copy(update={"models": [known], "default_model": "mine"})
    assert writing_model(settings, None, None) == known
    moved = writing_model(settings, "mine", "http://two.example")
    assert (moved.base_url, moved.context_tokens) == ("http://two.example/v1", 32000)
    assert writing_model(settings, "other", "http://two.example").model == "other"
    with pytest.raises(InvalidRequest, match="--model: no model is named 'other'"):
        writing_model(settings, "other", None)
    with pytest.raises(InvalidRequest, match="--base-url: "):
        writing_model(settings, "mine", "nowhere")


def writes(text: str) -> Callable[[ModelRequest], Reply]:
    """A model that answers and revises with a text, citing the segment that holds it, and is sensible otherwise."""

    def reply(request: ModelRequest) -> Reply:
        if request.schema_name not in ("answer", "revision"):
            return say(sensible(request))
        ids = [identifier for identifier, shown in shown_segments(request.text).items() if text in shown]
        sections = [{"source_ids": ids[:1], "text": text} for _ in ids[:1]]
        if request.schema_name == "revision":
            [number] = request.schema["properties"]["sections"]["items"]["properties"]["section"]["enum"]
            sections = [{"section": number, **each} for each in sections]
        return answer(*sections)

    return reply


async def test_a_planted_number_is_caught_and_a_right_answer_is_still_shown(settings: Settings, tmp_path: Path) -> None:
    data = load_data_set("manuals", write_manuals(tmp_path))
    plants = load_plants(
        write_lines(tmp_path / "plants.jsonl", [{"id": f"q{number}", "sentence": SENTENCE} for number in (1, 2, 3)])
    )
    told: list[tuple[int, int]] = []
    async with scripted_endpoint(writes(KILN)) as endpoint:
        report = await run_planted(
            settings,
            data,
            model_at(endpoint.base_url),
            plants,
            progress=lambda done, of: told.append((done, of)),
        )
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert (report["model"], report["questions"], report["failed_runs"]) == ("scripted", 3, 0)
    assert (report["planted"], report["caught"], report["shown_as_proven"]) == (1, 1.0, 0.0)
    assert report["first_verdicts"] == {"contradicted": 1}
    assert report["planted_questions"]["right_as_shown"] == 1.0
    assert report["other_questions"]["answerable"] == 1
    with pytest.raises(InvalidRequest, match="--plants: none"):
        await run_planted(settings, data, model_at(endpoint.base_url), {})
