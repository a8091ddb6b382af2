"""Reasons: a sentence with its code and its parts, and the table of them in the manual.

``UPDATE_DOCS=1 pytest`` writes the manual's table anew.
"""

import copy
import os
import pickle
import re
from pathlib import Path

import pytest

from graph.errors import ModelUnavailable, fallback_failure
from graph.reasons import IN_WORDS, REASONS, Part, Reason, Reasons, texts, why, why_each

ROOT = Path(__file__).resolve().parents[2]
MANUAL = ROOT / "docs" / "reasons.md"
EXAMPLES: dict[str, Part] = {"text": "a lamp", "name": "notes", "count": 3, "share": 0.25, "number": 7, "numbers": 2}

SAID_OF = {
    "claim": "a claim",
    "sources": "sources that disagree",
    "decision": "the decision to search",
    "query": "another query",
    "dropped": "what was dropped",
    "search": "a search",
    "fallback": "what was done instead",
    "answer": "an answer",
}


def reasons_markdown() -> str:
    """Return the table of docs/reasons.md: each code with what it is said of, its parts and its sentence."""
    head = ["| Code | Said of | Parts | Text |", "|---|---|---|---|"]
    rows = []
    for code, kind in REASONS.items():
        parts = ", ".join(f"`{name}`: {what}" for name, what in kind.parts) or "-"
        rows.append(f"| `{code}` | {SAID_OF[kind.said_of]} | {parts} | {kind.text} |")
    return "\n".join([*head, *rows])


def example(code: str) -> tuple[Part, ...]:
    return tuple(EXAMPLES[what] for _, what in REASONS[code].parts)


def test_the_manual_shows_the_table_of_the_code() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    block = f"<!-- reasons:begin -->\n{reasons_markdown()}\n<!-- reasons:end -->"
    written = re.sub(r"<!-- reasons:begin -->.*<!-- reasons:end -->", lambda _: block, text, flags=re.DOTALL)
    if os.environ.get("UPDATE_DOCS"):
        MANUAL.write_text(written, encoding="utf-8")
    assert written == text or os.environ.get("UPDATE_DOCS")


@pytest.mark.parametrize("code", REASONS)
def test_a_reason_is_its_sentence_with_its_code_and_parts(code: str) -> None:
    parts = example(code)
    reason = Reason(code, *parts)
    assert "{" not in reason
    assert why(reason) == [{"code": code, "parts": list(parts), "text": str(reason)}]
    assert type(why(reason)[0]["text"]) is str, "a checkpoint holds builtins alone"
    for copied in (copy.deepcopy(reason), pickle.loads(pickle.dumps(reason))):
        assert (copied, copied.code, copied.parts) == (reason, code, parts)


def test_a_reason_needs_its_parts() -> None:
    with pytest.raises(ValueError, match="argument"):
        Reason("number_not_found")
    with pytest.raises(KeyError):
        Reason("as yet unheard of")


def test_several_reasons_are_one_text_and_each_keeps_its_code() -> None:
    both = Reasons([Reason("no_vectors"), "A plugin's own words.", Reasons([Reason("no_pgvector")])])
    assert both == f"{Reason('no_vectors')} A plugin's own words. {Reason('no_pgvector')}"
    assert [each["code"] for each in why(both)] == ["no_vectors", IN_WORDS, "no_pgvector"]
    assert copy.deepcopy(both).each == both.each
    assert why(None) == why("") == []


def test_reasons_of_a_claim_are_told_once() -> None:
    told = why_each([Reason("uncited"), Reason("uncited"), "", "said by a judge"])
    assert texts(told) == [Reason("uncited"), "said by a judge"]


def test_a_fallback_says_with_a_code_what_was_done_instead() -> None:
    failure = fallback_failure(ModelUnavailable("Model m: no reply."), Reason("kept_by_score"))
    assert (failure["code"], [each["code"] for each in failure["why"]]) == ("model_unavailable", ["kept_by_score"])
    assert failure["message"] == f"Model m: no reply. {Reason('kept_by_score')}"
