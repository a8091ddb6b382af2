"""The parts of a question that joins several."""

import re
from functools import lru_cache

from tools.rules.follow_ups import depends
from tools.rules.question_terms import count_content

_JOINT = re.compile(
    r"[?？;；]\s*(?:(?:and|và|还有|以及|另外)\b[\s,，]*)?"
    r"|\s*,?\s+(?:and|as well as|và|còn|und|et|y)\s+(?=\S)"
    r"|[,，、]\s*(?:and\s+|và\s+|还有|以及|并且|而且|而)?",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?:(?:in|on|at|for|by|to|from|with|under)\s+)?(?:what|who|whom|whose|why|how|where|which)\b"
    r"|when\s+(?:is|are|was|were|do|does|did|will|can|could|should|must|may|has|have)\b"
    r"|(?:wer|was|wann|warum|wo|wie|welche[rs]?|qui|que|quoi|quand|pourquoi|où|comment|combien|quel(?:le)?s?"
    r"|quién|qué|cuándo|dónde|cómo|cuál|cuánt[oa]s?)\b",
    re.IGNORECASE,
)
# Scripts and languages whose question word may be inside the question.
_HOLDS = re.compile(
    r"什么|哪|谁|(?<!任)何|怎|多少|几(?!乎)|\b(?:gì|nào|ai|đâu|tại sao|vì sao|thế nào|bao nhiêu|bao lâu|mấy)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"which\b|who\b|whose\b|where\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[?？]\s*")
_MOST = 3
_LONGEST = 500


@lru_cache(maxsize=256)
def split_question(question: str) -> tuple[str, ...]:
    """Return the questions that a question joins, at most three; the question itself where it joins none.

    A part has its own question word and its own subject of two words or more.
    """
    if len(question) > _LONGEST:
        return (question,)
    head, tail = _tail(question)
    found: list[str] = []
    start = 0
    for joint in _JOINT.finditer(head):
        before, after = head[start : joint.start()], head[joint.end() :]
        relative = joint[0].strip() == "," and _RELATIVE.match(after)
        if len(found) < _MOST - 1 and not relative and _is_question(before) and _is_question(after):
            found.append(before.strip())
            start = joint.end()
    if not found:
        return (question,)
    return tuple(f"{part} {tail}".strip() for part in (*found, head[start:].strip()))


def _tail(question: str) -> tuple[str, str]:
    """Split off a fragment after a question ("... paid? And in Paris?"), which narrows each of its parts."""
    for cut in _SENTENCE_END.finditer(question):
        tail = question[cut.end() :].strip()
        if tail and not _is_question(tail):
            return question[: cut.end()].strip(), tail
    return question, ""


def _is_question(part: str) -> bool:
    asks = _OPENS.match(part.strip()) or _HOLDS.search(part)
    return bool(asks) and count_content(part) >= 2 and not depends(part)
