"""Make a follow-up question standalone from the turns before it, in its own words and theirs.

A question is taken as it is unless it shows that it leans on the last one: a pronoun that nothing before it explains,
the opening of an elliptical question ("what about ...", "那…呢", "còn ... thì sao"), or no subject of its own.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph.state import Turn
from tools.extractive.answer_types import asked_type
from tools.extractive.small_talk import small_talk, without_courtesies
from tools.extractive.stop_words import CJK_STOP, stop_words
from tools.extractive.wording import CJK
from tools.languages import language

_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers)\b"
    r"|\b(?:this|that|these|those)\b(?=\s*(?:\?|$|is|are|was|were|do|does|did|has|have|can|will|work|mean|happen))"
    r"|\b(?:the|that|this) (?:same|latter|former|one|ones)\b|\bthere\b(?=\s*\?|$)|\bdo(?:es)? so\b"
    r"|它们|他们|她们|它|他|她|这个|那个|这些|那些|这(?=[是有能会为怎])|该|此|其(?!他|中|实|余)"
    r"|\b(?:nó|họ|chúng(?! ta| tôi)|(?:ông|bà|anh|chị|cô) (?:ấy|ta)|điều (?:này|đó)|việc (?:này|đó)"
    r"|cái (?:này|đó|ấy)|ở đó|ở đấy)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\b(?:he|him|his|she|her|hers)\b|他|她|\b(?:ông|bà|anh|chị|cô) (?:ấy|ta)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b(?:its|their|his|her)\b", re.IGNORECASE)
_ELLIPTICAL = re.compile(
    r"(?:(?:and|or|but|so|then|ok|okay)[\s,]+)*(?:what|how) about\s+(?P<en>.+?)[\s?]*$"
    r"|(?:and|or|but)[\s,]+(?P<en2>(?:(?:in|on|at|for|by|with|from|under|after|before|during|of|to)\s+)?[^?]{1,40}?)[\s?]*$"
    r"|(?:那么|那|而|然后)?[，,]?(?P<zh>[^？?吗]{1,20}?)呢[？?\s]*$"
    r"|(?:thế|vậy|rồi|và)?\s*còn\s+(?P<vi>.+?)(?:\s+(?:thì sao|thì thế nào|thế nào|sao))?[\s?]*$"
    r"|(?:và|hay)\s+(?P<vi2>[^?]{1,40}?)[\s?]*$"
    r"|(?:und|et|y|e)\s+(?P<other>[^?]{1,40}?)[\s?]*$",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(
    r"(?:in|on|at|for|by|with|from|under|after|before|during|of|to|why|how|since)\b"
    r"|为什么|怎么|(?:ở|trong|với|cho|từ|vào|năm|tại sao|vì sao)\b",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(
    r"(?:and|but|so|then|also|or)\b[\s,]*|(?:那么|那|而且|而|另外|还有)[，,]?|(?:và|thế|vậy|rồi)\s+", re.IGNORECASE
)
_ASKING = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|do|did|can|could|should|has|have|will)\b"
    r"|什么|哪|谁|何|怎|多少|几|吗|是否|\b(?:gì|nào|ai|đâu|sao|bao nhiêu|mấy|không)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d\d)(?!\d)")
_NUMBER = re.compile(r"(?<![\d.,])\d+(?![\d.,]*\d)")
_NAME = re.compile(
    r"(?<!^)(?<!\w)[A-ZÀ-ÝĐ][\w'’.+-]*(?:\s+(?:of\s+|the\s+)?[A-ZÀ-ÝĐ0-9][\w'’.+-]*)*|[\"“《「`][^\"”》」`]{1,60}[\"”》」`]"
)
_PREPOSITION = re.compile(
    r"(?:in|on|at|for|by|with|from|under|after|before|during|of|to|ở|trong|với|cho|vào|năm|在|对)\s*", re.IGNORECASE
)
_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:[.'’-][^\W_{CJK}]+)*")
_FEW = 3


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that can be understood alone, and whether the turns before had to help."""

    question: str
    changed: bool


def standalone(question: str, turns: Sequence[Turn]) -> Standalone:
    """Give the question as it reads without the conversation."""
    asked = without_courtesies(question)
    last = next((turn for turn in reversed(turns) if not small_talk(turn["question"])), None)
    if last is None:
        return Standalone(asked, False)
    before = last["standalone_question"].strip()
    elliptical = _ELLIPTICAL.match(asked)
    if elliptical:
        fragment = next(group for group in elliptical.groups() if group)
        if not _ASKING.search(fragment) and len(content_words(fragment)) <= _FEW + 1:
            return Standalone(_replaced(before, fragment.strip(" ,，")) or _joined(before, asked), True)
    pronoun = _open_pronoun(asked)
    if pronoun:
        return Standalone(_resolved(asked, pronoun, last), True)
    words = content_words(asked)
    if not words or (len(words) <= 2 and _FRAGMENT.match(_CONJUNCTION.sub("", asked, count=1)) and not _verbal(asked)):
        return Standalone(_replaced(before, asked.strip(" ?？")) or _joined(before, asked), True)
    return Standalone(asked, False)


def content_words(text: str) -> list[str]:
    """List the words that carry a text's subject, in order, CJK runs without what frames a question."""
    framing = stop_words(language(text))
    words: list[str] = []
    for run in _WORD.finditer(text):
        word = run[0]
        if word[0] > "\u303f":
            words += [piece for piece in CJK_STOP.split(word) if piece]
        elif word.casefold() not in framing:
            words.append(word)
    return words


def _verbal(asked: str) -> bool:
    """Tell whether a question has a verb of asking beyond its first word, and so a sentence of its own."""
    return bool(_ASKING.search(asked, 4))


def _open_pronoun(asked: str) -> re.Match[str] | None:
    """Find a pronoun that the question itself does not explain."""
    for pronoun in _PRONOUN.finditer(asked):
        before = asked[: pronoun.start()]
        named = bool(_NAME.search(before)) or (_POSSESSIVE.fullmatch(pronoun[0]) and len(content_words(before)) > 0)
        if not named and len(content_words(before)) <= _FEW:
            return pronoun
    return None


def _resolved(asked: str, pronoun: re.Match[str], last: Turn) -> str:
    """Put what a pronoun means in its place, or the subject of the last question behind the question."""
    before = last["standalone_question"]
    name = _answered_person(last) if _PERSON.fullmatch(pronoun[0]) else None
    name = name or next((found[0] for found in reversed(list(_NAME.finditer(before)))), None)
    if name is None and pronoun[0][0] > "\u303f":
        name = max((word for word in content_words(before) if word[0] > "\u303f"), key=len, default=None)
    if name is None:
        topic = " ".join(content_words(before))
        return f"{asked} ({topic})" if topic else asked
    return f"{asked[: pronoun.start()]}{_in_place(pronoun[0], name)}{asked[pronoun.end() :]}"


def _in_place(pronoun: str, name: str) -> str:
    return f"{name}'s" if _POSSESSIVE.fullmatch(pronoun) else name


def _answered_person(last: Turn) -> str | None:
    """Give the name that answered a question for a person, where there is one."""
    if asked_type(last["standalone_question"]) != "person":
        return None
    names = (found[0] for found in _NAME.finditer(f" {last['answer']}"))
    return next((name for name in names if name not in last["standalone_question"] and " " in name), None)


def _replaced(before: str, fragment: str) -> str | None:
    """Put a fragment in the place of its like in the last question: a year, a number or a name."""
    bare = _PREPOSITION.sub("", _CONJUNCTION.sub("", fragment, count=1), count=1).strip()
    for kind in (_YEAR, _NUMBER):
        mine, theirs = kind.findall(bare), kind.findall(before)
        if len(mine) == 1 and len(theirs) == 1:
            return before.replace(theirs[0], mine[0])
    theirs = [found[0] for found in _NAME.finditer(before)]
    if theirs and bare and _NAME.fullmatch(f" {bare}", 1):
        return before.replace(theirs[-1], bare)
    return None


def _joined(before: str, asked: str) -> str:
    """Set the last question before a fragment of one."""
    return f"{before.rstrip()} {asked}"
