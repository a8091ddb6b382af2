"""Reranker endpoints over real HTTP: what is sent, what is read, and what happens when they fail."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from cli.checks import check_reranker
from cli.command import Exit
from evals.scripted_endpoint import ModelRequest, Reply, status
from graph.errors import RerankerRefused, RerankerUnavailable
from graph.evidence import Hit, Segment
from graph.reasons import Reason
from graph.usage import Meter
from tests.reranking import Kind, ranked, reranker_server, rows
from tools.backends.backend_registry import configured_families
from tools.llm.answer_writing import LlmRoom
from tools.rerankers.reranker_endpoint import RerankedGrader, Reranker
from tools.rules.score_grading import ScoreGrader
from tools.settings import ModelSettings, RerankerSettings, Settings

QUERY = "when does the lamp turn"
TEXTS = ["The lamp does turn at night.", "Rye bread.", "The lamp is red."]


@pytest.mark.parametrize(
    ("kind", "path", "body"),
    [
        ("tei", "/rerank", {"query": QUERY, "texts": TEXTS, "truncate": True}),
        ("cohere", "/v2/rerank", {"model": "bge", "query": QUERY, "documents": TEXTS, "top_n": 3}),
        ("jina", "/v1/rerank", {"model": "bge", "query": QUERY, "documents": TEXTS, "top_n": 3}),
    ],
)
async def test_each_kind_takes_its_own_request(kind: Kind, path: str, body: dict[str, Any]) -> None:
    async with reranker_server(kind) as (server, settings):
        scores = await Reranker(settings).score(QUERY, TEXTS)
        assert scores == [0.8, 0.0, 0.4]
        (request,) = server.requests
        assert (request.path, request.body, request.headers["authorization"]) == (path, body, "Bearer sesame")


@pytest.mark.parametrize(
    ("kind", "base_url", "url"),
    [
        ("tei", "http://h:80/", "http://h:80/rerank"),
        ("tei", "http://h:80/rerank", "http://h:80/rerank"),
        ("cohere", "https://api.example", "https://api.example/v2/rerank"),
        ("cohere", "https://api.example/v1", "https://api.example/v1/rerank"),
        ("jina", "https://api.example/v1/rerank", "https://api.example/v1/rerank"),
        ("jina", "https://api.example/paas/v4/", "https://api.example/paas/v4/rerank"),
    ],
)
def test_an_address_is_completed_and_keeps_its_own_version(kind: Kind, base_url: str, url: str) -> None:
    assert RerankerSettings(kind=kind, base_url=base_url, model="m").url == url


def test_a_kind_that_needs_a_model_says_so_and_an_empty_address_is_none() -> None:
    with pytest.raises(ValidationError, match=r"reranker\.model is required .*'cohere'"):
        RerankerSettings(kind="cohere", base_url="https://api.example")
    with pytest.raises(ValidationError, match="base_url"):
        RerankerSettings(base_url="not an address")
    assert RerankerSettings(base_url="").base_url is None


@pytest.mark.parametrize(("raw", "low", "high"), [([5.2, -7.0], 0.001, 0.99), ([0.9, 0.2], 0.2, 0.9)])
async def test_log_odds_are_mapped_and_probabilities_are_not(raw: list[float], low: float, high: float) -> None:
    reply = Reply(body=json.dumps([{"index": i, "score": score} for i, score in enumerate(raw)]).encode())
    async with reranker_server(respond=lambda request: reply) as (_, settings):
        better, worse = await Reranker(settings).score(QUERY, TEXTS[:2])
    assert better >= high
    assert worse <= low


async def test_many_texts_go_in_batches_and_come_back_in_order() -> None:
    texts = [f"lamp {index}" if index % 40 == 7 else "bread" for index in range(100)]
    async with reranker_server() as (server, settings):
        scores = await Reranker(settings).score("lamp", texts)
        sizes = sorted(len(request.body["texts"]) for request in server.requests)
    assert sizes == [4, 32, 32, 32]
    assert [index for index, score in enumerate(scores) if score] == [7, 47, 87]


async def test_long_texts_and_queries_are_cut() -> None:
    async with reranker_server() as (server, settings):
        await Reranker(settings).score("lamp " * 5000, ["turn " * 5000])
        (request,) = server.requests
    assert len(request.body["query"]) == 4000
    assert len(request.body["texts"][0]) == 8000


def after(*failures: Reply) -> Callable[[ModelRequest], Reply]:
    left = list(failures)
    return lambda request: left.pop(0) if left else ranked(request)


@pytest.mark.parametrize("failure", [status(503), status(429), status(429, headers={"Retry-After": "0"})])
async def test_a_passing_failure_is_tried_again(failure: Reply) -> None:
    async with reranker_server(respond=after(failure, failure)) as (server, settings):
        assert await Reranker(settings, backoff=0.01).score(QUERY, TEXTS) == [0.8, 0.0, 0.4]
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("failure", "attempts", "message"),
    [
        (status(401), 1, "key"),
        (status(404), 1, "address"),
        (status(422), 1, "422"),
        (status(413), 1, "413"),
        (status(500), 3, "500"),
        (status(429), 3, "rate limited"),
        (Reply(body=b"[]"), 1, "each text once"),
        (Reply(body=b'{"results": null}'), 1, "each text once"),
        (Reply(body=b"<html>"), 1, "each text once"),
        (Reply(body=b"[" * 100_000), 1, "each text once"),
        (Reply(body=b'[{"index": 0, "score": 1}, {"index": 0, "score": 1}, {"index": 1, "score": 1}]'), 1, "once"),
        (Reply(body=b'[{"index": 0, "score": NaN}, {"index": 1, "score": 1}, {"index": 2, "score": 1}]'), 1, "once"),
        (Reply(body=b'[{"index": 0, "score": "x"}, {"index": 1, "score": 1}, {"index": 2, "score": 1}]'), 1, "once"),
        (Reply(body=b'[{"index": 0}, {"index": 1}, {"index": 2}]'), 1, "once"),
        (Reply(body=b" " * 2_000_000), 1, "once"),
    ],
    ids=range(15),
)
async def test_other_failures_are_typed_and_counted(failure: Reply, attempts: int, message: str) -> None:
    async with reranker_server(respond=lambda request: failure) as (server, settings):
        with pytest.raises(RerankerUnavailable, match=message) as raised:
            await Reranker(settings, backoff=0.01).score(QUERY, TEXTS)
        assert len(server.requests) == attempts
    refused = failure.status in (401, 404, 413, 422)
    assert isinstance(raised.value, RerankerRefused) is refused
    assert raised.value.retryable is not refused


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    settings = RerankerSettings(base_url="http://127.0.0.1:9")
    with pytest.raises(RerankerUnavailable, match="reached"):
        await Reranker(settings, backoff=0.01).score(QUERY, TEXTS)


async def test_a_server_that_asks_for_a_longer_wait_is_given_up_in_time() -> None:
    busy = status(429, headers={"Retry-After": "60"})
    async with reranker_server(respond=lambda request: busy) as (_, settings):
        with pytest.raises(RerankerUnavailable, match=r"within 0\.2 seconds"):
            await asyncio.wait_for(Reranker(settings).score(QUERY, TEXTS, seconds=0.2), 10)


def hit(index: int, text: str, score: float, kind: Any = "search") -> Hit:
    return Hit(Segment("d", index, 0, len(text), text, title="Lighthouse"), score, kind)


HITS = [hit(0, "Rye bread.", 0.9), hit(1, "The lamp does turn at night.", 0.5), hit(2, "A page.", 1.0, "page")]


async def test_the_rerankers_scores_order_what_is_kept_and_pages_are_not_sent() -> None:
    async with reranker_server() as (server, settings):
        grader = RerankedGrader(ScoreGrader(LlmRoom(8192, 2048)), Reranker(settings), min_score=0.1)
        grading = await grader.grade(QUERY, HITS, meter=Meter())
        (request,) = server.requests
    assert grading.kept == (("d:2", 1.0), ("d:1", 0.8))
    assert grading.dropped == (("d:0", Reason("below_reranker", 0.1)),)
    assert request.body["texts"] == ["Lighthouse\nRye bread.", "Lighthouse\nThe lamp does turn at night."]


async def test_a_reranker_that_fails_leaves_the_search_score_and_says_so() -> None:
    async with reranker_server(respond=lambda request: status(401)) as (_, settings):
        grader = RerankedGrader(ScoreGrader(LlmRoom(8192, 2048)), Reranker(settings), min_score=0.1)
        grading = await grader.grade(QUERY, HITS, meter=Meter())
    assert grading.kept == (("d:2", 1.0), ("d:0", 0.9), ("d:1", 0.5))
    assert grading.fallback is not None
    assert grading.fallback["code"] == "reranker_refused"
    assert grading.fallback["message"].endswith(Reason("kept_by_score"))


async def test_both_families_use_the_configured_reranker() -> None:
    async with reranker_server() as (server, reranker):
        model = ModelSettings(name="m", base_url="http://127.0.0.1:9", model="m")
        families = configured_families(Settings(_env_file=None, models=[model], reranker=reranker))
        for name in ("m", "extractive"):
            await families(name).grader.grade(QUERY, HITS[:2], meter=Meter())
        assert len(server.requests) == 2
        await families("m").at("fast").grader.grade(QUERY, HITS[:2], meter=Meter())
        assert len(server.requests) == 2, "in fast effort nothing but the search decides"


async def test_doctor_tells_a_reranker_from_what_is_none() -> None:
    async with reranker_server() as (server, reranker):
        settings = Settings(_env_file=None, reranker=reranker)
        found = await check_reranker(settings)
        assert (found.ok, found.name, found.facts["url"]) == (True, "reranker", reranker.url)
        server.respond = lambda request: Reply(
            body=json.dumps([{**row, "score": 0.5} for row in rows(request)]).encode()
        )
        other = await check_reranker(settings)
        assert (other.ok, other.exit_code) == (False, Exit.CONFIGURATION)
        server.respond = lambda request: status(403)
        refused = await check_reranker(settings)
        assert (refused.ok, refused.facts, refused.exit_code) == (
            False,
            {"code": "reranker_refused"},
            Exit.UNAVAILABLE,
        )
