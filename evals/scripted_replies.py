"""Replies of scripted models: shared parts, and a sensible reply to each of our prompts."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from evals.scripted_endpoint import ModelRequest

_SMALL_TALK = re.compile(r"(hello|hi|hey|thanks|thank you|bye|goodbye)\b", re.IGNORECASE)
_TAG = re.compile(r"^\[SEG=([^\]\s]+)\] ?", re.MULTILINE)
_TAGGED_LINE = re.compile(r"^\[SEG=([^\]]+)\] (.*)$", re.MULTILINE)
_NUMBER = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
_CLAIM = re.compile(r"^\[(\d+)\] Claim:\n\| (.*)$", re.MULTILINE)


def last_message(request: ModelRequest) -> str:
    """Return the message to prepare from a request."""
    return request.text.rsplit("Last message:\n", 1)[-1].strip()


def shown_segments(context: str) -> dict[str, str]:
    """Return the texts of the segments in a prompt, by id and in their order."""
    _, *parts = _TAG.split(context)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def prepared(standalone_question: str) -> dict[str, Any]:
    """Return the decision that a question needs the library."""
    decided = {"intent": "content_query", "standalone_question": standalone_question, "needs_retrieval": True}
    return {**decided, "reason": "as told"}


def all_relevant(request: ModelRequest) -> dict[str, Any]:
    """Return a grading that keeps every segment."""
    return {"relevant": request.schema["properties"]["relevant"]["items"]["enum"]}


def first_allowed(request: ModelRequest) -> str:
    """Return the first reply that the requested schema allows, as JSON."""
    return json.dumps(_first_value(request.schema))


def _first_value(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: _first_value(of) for name, of in schema.get("properties", {}).items()}
        case "array":
            return [_first_value(schema["items"])]
        case "string":
            return "as told"
        case "boolean":
            return True
        case _:
            return 0


def sensible(request: ModelRequest) -> str:
    """Return a sensible reply to a request made with one of our prompts, and a greeting to any other.

    Greetings and thanks are small talk, any other question stays unchanged, every passage is kept, the answer and
    every corrected section quote the first segment; a rewritten query differs each time, every claim is supported,
    every answer scores 7 of 10, and a title is the question itself.
    """
    if request.prompt not in _SENSIBLE:
        return "Hello."
    return json.dumps(_SENSIBLE[request.prompt](request.text), ensure_ascii=False)


def _as_is(prompt: str) -> Mapping[str, Any]:
    question = prompt.rsplit("Last message:\n", 1)[1].strip()
    chat = _SMALL_TALK.match(question) is not None
    decided = {"intent": "small_talk" if chat else "content_query", "needs_retrieval": not chat, "reason": "scripted"}
    return {"standalone_question": question, **decided}


def _all_kept(prompt: str) -> Mapping[str, Any]:
    return {"relevant": [int(number) for number in _NUMBER.findall(prompt)]}


def _first_segment(prompt: str) -> Mapping[str, Any]:
    tag = _TAGGED_LINE.search(prompt)
    return {"sections": [{"text": tag[2], "source_ids": [tag[1]]}] if tag else []}


def _first_segment_again(prompt: str) -> Mapping[str, Any]:
    tag = _TAGGED_LINE.search(prompt)
    numbers = _NUMBER.findall(prompt.rsplit("Sections to correct:", 1)[1])
    return {"sections": [{"section": int(n), "text": tag[2], "source_ids": [tag[1]]} for n in numbers] if tag else []}


def _another_query(prompt: str) -> Mapping[str, Any]:
    question, tried = prompt.rsplit("Question: ", 1)[1].split("\n\nTried:\n", 1)
    return {"query": f"wording {1 + len(re.findall(r'^- ', tried, re.MULTILINE))} of {question}", "reason": "scripted"}


def judged(verdict: str) -> Mapping[str, str]:
    """Return a judge's reply on one claim."""
    difference = "none" if verdict == "supported" else "all of it"
    return {"claim": "it", "entry": "it", "difference": difference, "verdict": verdict}


def claims_to_judge(request: ModelRequest) -> dict[int, str]:
    """Return the claims of a request to a chat judge, by number."""
    return {int(number): claim for number, claim in _CLAIM.findall(request.body["messages"][-1]["content"])}


def _all_supported(prompt: str) -> Mapping[str, Any]:
    shown = prompt.rsplit("of the claims below.", 1)[1]
    return {number: judged("supported") for number, _ in _CLAIM.findall(shown)}


def _useful(prompt: str) -> Mapping[str, Any]:
    return {"utility": 7}


def _none_proposed(prompt: str) -> Mapping[str, Any]:
    return {"questions": []}


def _question_again(prompt: str) -> Mapping[str, Any]:
    return {"title": prompt.rsplit("First message:\n", 1)[1].strip()}


_SENSIBLE: Mapping[str | None, Callable[[str], Mapping[str, Any]]] = {
    "decide_retrieval": _as_is,
    "grade_segments": _all_kept,
    "propose_questions": _none_proposed,
    "generate_answer": _first_segment,
    "revise_sections": _first_segment_again,
    "rewrite_query": _another_query,
    "judge_claims": _all_supported,
    "assess_quality": _useful,
    "title": _question_again,
}
