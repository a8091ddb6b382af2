"""The parts of a question: those of one that joins several, and the things that one compares or names."""

import re
from functools import lru_cache

from text.words import question_terms
from tools.extractive.question_analysis import identifiers_in, names_in
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


_NAME = r"[A-ZÀ-ÝĐ\d][\w.'’-]*(?: (?:(?:of|the|de|for) )?[A-ZÀ-ÝĐ\d][\w.'’-]*){0,6}"
_THING = r"[^?,.;:。，？]{2,60}?"
_END = r"(?=[?,.;:]|$| (?:in|when|if|for|on|at|with|than|as)\b)"
_COMPARED = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        (rf"\bbetween (?P<one>{_THING}) and (?P<other>{_THING}){_END}", re.IGNORECASE),
        (rf"\bcompare (?P<one>{_THING}) (?:and|with|to) (?P<other>{_THING}){_END}", re.IGNORECASE),
        (rf"(?P<one>{_NAME}|[\w-]+),? (?:vs\.?|versus) (?P<other>{_NAME}|[\w-]+)", 0),
        (rf"(?P<one>{_NAME}),? or (?P<other>{_NAME})", 0),
        (rf"\b(?:[Aa]re|[Ww]ere|[Dd]o|[Dd]id|[Hh]ave|both|[Ii]s|[Ww]as) (?P<one>{_NAME}) and (?P<other>{_NAME})", 0),
        (
            rf"(?:giữa|so sánh) (?P<one>{_THING}) (?:và|với) (?P<other>{_THING})(?=[?,.]|$| (?:là|có|khác|thì)\b)",
            re.IGNORECASE,
        ),
        (
            rf"(?P<one>{_THING}) khác (?:gì |nhau )?(?:với |so với )?(?P<other>{_THING})"
            r"(?=[?,.]|$| (?:ở|chỗ|như|thế)\b)",
            re.IGNORECASE,
        ),
        (
            rf"(?P<one>{_THING})[和与跟同](?P<other>{_THING})(?:之间)?(?:的|有什么|有何|有啥|有哪些|到底)*(?:区别|不同|差别|差异)",
            0,
        ),
    )
)


@lru_cache(maxsize=256)
def named_things(question: str) -> tuple[frozenset[str], ...]:
    """Return the words of each thing that a question compares, or else of each thing that it names.

    Words that all compared things share tell none of them apart and are left out.
    """
    phrases: tuple[str, ...] = tuple(sorted(identifiers_in(question), key=question.casefold().find))
    if len(phrases) < 2:
        found = next((match for pattern in _COMPARED if (match := pattern.search(question[:_LONGEST]))), None)
        phrases = (found["one"], found["other"]) if found else ()
    things = [frozenset(question_terms(phrase).terms) for phrase in phrases[:_MOST]]
    shared = frozenset[str].intersection(*things) if things else frozenset[str]()
    if things and all(thing - shared for thing in things):
        return tuple(thing - shared for thing in things)
    return tuple(frozenset(question_terms(name).terms) for name in sorted(names_in(question)))
