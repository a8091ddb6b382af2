"""The llm family against the kit of its ports, over a scripted endpoint, in each of the forms an endpoint may know."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from graph.evidence import Hit
from graph.ports import Family
from graph.usage import Meter
from tests.contract.family_kit import (
    BAKERY,
    FAULTY,
    FOLLOW_UP,
    INVENTED,
    LAMP,
    QUESTION,
    FamilyContract,
    collected,
    graded_once,
    sections_of,
)
from tests.scripted_openai import Reply, Say, ScriptedOpenAI, Think, say, status
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import ExtractiveWriter
from tools.llm.llm_family import llm_family
from tools.settings import ModelSettings

STANDALONE = "Who oils the gears of the lamp of the lighthouse?"
PREPARED = {"intent": "content_query", "standalone_question": STANDALONE, "needs_retrieval": True, "reason": "a fact"}


def open_family(server: ScriptedOpenAI, **options: Any) -> Family:
    model = ModelSettings(
        name="scripted", base_url=server.base_url, model="plain", thinking_model="thinker", timeout_seconds=15
    )
    return llm_family(model, **{"thinking": False, "checker": CodeChecker(), "fallback": ExtractiveWriter(), **options})


@pytest.fixture
def server() -> Iterator[ScriptedOpenAI]:
    with ScriptedOpenAI() as server:
        server.script(say(json.dumps(PREPARED)), to="decide_retrieval", when=FOLLOW_UP)
        yield server


class TestLlmFamily(FamilyContract):
    @pytest.fixture
    def family(self, server: ScriptedOpenAI) -> Family:
        return open_family(server)

    async def test_a_step_is_one_call(self, family: Family, server: ScriptedOpenAI) -> None:
        family = family.at("thorough")
        meters = [Meter() for _ in range(6)]
        hits = [Hit(LAMP, 0.8), Hit(BAKERY, 0.4)]
        await family.preparer.prepare(QUESTION, [], search="auto", has_pages=False, meter=meters[0])
        await family.rewriter.rewrite(QUESTION, [QUESTION], languages=["en"], meter=meters[1])
        await family.grader.grade(QUESTION, hits, meter=meters[2])
        await collected(family.writer.write(QUESTION, hits, language="en", meter=meters[3]))
        await family.writer.revise(QUESTION, [FAULTY, INVENTED], hits, language="en", meter=meters[4])
        assert family.titler is not None
        await family.titler.title(QUESTION, language="en", meter=meters[5])
        assert [meter.calls for meter in meters] == [1] * 6
        assert [exchange.prompt for exchange in server.requests] == [
            "decide_retrieval",
            "rewrite_query",
            "grade_segments",
            "generate_answer",
            "revise_sections",
            "title",
        ]

    async def test_a_segment_found_twice_is_graded_once(self, family: Family) -> None:
        hits = [Hit(LAMP, 1.0, "page"), Hit(LAMP, 0.7), Hit(BAKERY, 0.4)]
        graded_once(await family.grader.grade(QUESTION, hits, meter=Meter()), hits)


class TestLlmFamilyOverAnEndpointWithoutFormats(FamilyContract):
    @pytest.fixture
    def family(self, server: ScriptedOpenAI) -> Family:
        for name in (
            "decide_retrieval",
            "rewrite_query",
            "grade_segments",
            "generate_answer",
            "revise_sections",
            "title",
        ):
            server.script(*[status(400, "response_format is not supported")] * 2, to=name)
        server.script(
            say("Here you are:\n```json\n" + json.dumps(PREPARED) + "\n```"), to="decide_retrieval", when=FOLLOW_UP
        )
        return open_family(server)

    async def test_runs_do_not_mix(self, family: Family) -> None:
        # Two first calls at once find out about the formats in any order; one call finds out for both.
        await collected(family.writer.write(QUESTION, [Hit(LAMP, 0.8)], language="en", meter=Meter()))
        await super().test_runs_do_not_mix(family)


class TestLlmFamilyThinking(FamilyContract):
    @pytest.fixture
    def family(self, server: ScriptedOpenAI) -> Family:
        return open_family(server, thinking=True)

    async def test_thinking_comes_before_the_answer_and_apart_from_it(
        self, family: Family, server: ScriptedOpenAI
    ) -> None:
        section = json.dumps({"sections": [{"source_ids": [LAMP.segment_id], "text": "Twelve seconds."}]})
        server.script(Reply([Think("Once in "), Say("<think>twelve…</think>"), Say(section)]), to="generate_answer")
        drafts = await collected(family.writer.write(QUESTION, [Hit(LAMP, 0.8)], language="en", meter=Meter()))
        (only,) = sections_of(drafts)
        assert only.text == "Twelve seconds."
        assert [draft.delta for draft in drafts[:2]] == ["Once in ", "twelve…"]
