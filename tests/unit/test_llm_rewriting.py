"""A question is worded as another query in one call; by rule where the model gives nothing new."""

import json
from typing import Any

import pytest

from graph.ports import Rewriting
from graph.usage import Meter
from tests.scripted_openai import Reply, ScriptedOpenAI, say, scripted_openai, status
from tests.unit.llm_family import scripted_family
from tools.rules.question_rules import RuleRewriter

__all__ = ["scripted_openai"]

QUESTION = "Who looks after the lamp of the lighthouse?"


def query(text: Any, reason: Any = "other words") -> Reply:
    return say(json.dumps({"query": text, "reason": reason}))


async def rewrite(server: ScriptedOpenAI, *tried: str, meter: Meter | None = None) -> Rewriting:
    rewriter = scripted_family(server).rewriter
    return await rewriter.rewrite(QUESTION, [QUESTION, *tried], languages=["en"], meter=meter or Meter())


async def test_the_model_words_another_query(scripted_openai):
    scripted_openai.script(query("  lighthouse keeper\n duties ", " a synonym "))
    meter = Meter()
    rewriting = await rewrite(scripted_openai, "lamp lighthouse", meter=meter)
    assert rewriting == Rewriting("lighthouse keeper duties", "a synonym")
    assert meter.calls == 1
    (request,) = scripted_openai.asked("rewrite_query")
    assert f"Tried:\n- {QUESTION}\n- lamp lighthouse" in request.text
    assert "in English" in request.text


@pytest.mark.parametrize(
    "reply",
    [
        say("Try the keeper."),
        say('{"query": "lighth'),
        say("{}"),
        query(["keeper"]),
        query(None),
        query("  \n"),
        query(QUESTION),
        query(f"  {QUESTION.upper().removesuffix('?')} "),
        query("Keeper  of the lamp."),
        say('{"query": "keeper", "reason": "r"}', finish_reason="length"),
        status(400),
        status(401),
    ],
)
async def test_what_cannot_be_used_is_reworded_by_rule_and_said(scripted_openai, reply):
    scripted_openai.script(*[reply] * 3)
    rewriting = await rewrite(scripted_openai, "keeper of the lamp")
    by_rule = await RuleRewriter().rewrite(QUESTION, [QUESTION, "keeper of the lamp"], languages=["en"], meter=Meter())
    assert (rewriting.query, rewriting.reason) == (by_rule.query, by_rule.reason)
    assert rewriting.fallback is not None
    assert rewriting.fallback["code"] in ("model_reply_invalid", "model_unavailable", "model_refused")


async def test_a_query_has_a_bound(scripted_openai):
    scripted_openai.script(query("keeper " * 200, "because " * 200))
    rewriting = await rewrite(scripted_openai)
    assert len(rewriting.query) <= 300
    assert len(rewriting.reason) <= 300


async def test_an_empty_budget_rewrites_by_rule_without_a_call(scripted_openai):
    rewriting = await rewrite(scripted_openai, meter=Meter(calls_left=0))
    assert rewriting.query
    assert rewriting.fallback is not None
    assert rewriting.fallback["code"] == "budget_exhausted"
    assert scripted_openai.requests == []
