"""Rewrite a follow-up question as a standalone one, using its own words and those of earlier turns.

A question is left as it is unless it visibly depends on the last one: it has an unresolved pronoun, the opening of an
elliptical question ("what about ...", "那…呢", "còn ... thì sao"), or no subject.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph.state import Turn
from text.language import CJK_STOP, language, stop_words
from text.scripts import LATIN_CAPITAL
from text.words import is_bigrammed, written_runs
from tools.rules.answer_types import asked_type
from tools.rules.small_talk_rules import small_talk, without_courtesies

_PRONOUN = re.compile(
    r"\b(?:it(?!\s+(?:(?:is|was|be)\s+)?(?:possible|true|necessary|allowed|safe|ok|okay|important|worth|better|take|cost)\b)"
    r"|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those)\b"
    r"|\bthe (?:same|latter|former)\b|\bthere\b(?=\s*\?|$)|\bdo(?:es)? so\b"
    r"|它们|他们|她们|它|他|她|这个|那个|这些|那些|这种|那种|这(?=[是有能会为怎])|该|此|其(?!他|中|实|余)"
    r"|\b(?:nó|họ|chúng(?! ta| tôi)|(?:ông|bà|anh|chị|cô) (?:ấy|ta)|điều (?:này|đó)|việc (?:này|đó)"
    r"|cái (?:này|đó|ấy)|\w+ (?:này|đó|ấy)(?!\w)|ở đó|ở đấy)\b",
    re.IGNORECASE,
)
# Pronouns that can refer to a name; others come with a noun ("this limit") or refer to no name.
_REFERS_TO_NAME = re.compile(
    r"it|they|them|he|him|she|hers?|its|their|his|它们?|他们?|她们?|nó|họ|chúng|(?:ông|bà|anh|chị|cô) (?:ấy|ta)",
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
_MORE = re.compile(
    r"(?:(?:please|can you|could you)\s+)?(?:(?:tell|give|show|say|explain)\s+)?(?:me\s+|us\s+)?(?:some\s+|a bit\s+)?"
    r"(?:more|further)(?:\s+(?:details?|information|info|about (?:it|this|that)|please))*[\s.!?]*$"
    r"|(?:please\s+)?(?:elaborate|explain)(?:\s+(?:further|more|that|this|it))?[\s.!?]*$"
    r"|(?:anything|what) else[\s.!?]*$"
    r"|(?:请|再|能)?(?:详细|具体|多)(?:点|一点|一些|地)?(?:说说|说|讲讲|讲|介绍|解释|展开)?(?:一下|吗|吧)?[。？！?!]*$|还有(?:吗|呢|别的吗)?[？?]*$"
    r"|(?:hãy |xin )?(?:nói|kể|giải thích|cho biết)?\s*(?:rõ|chi tiết|cụ thể|thêm)(?: hơn| nữa| về (?:nó|điều đó))*"
    r"(?: đi| được không)?[\s.!?]*$",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:(?:ok|okay|well|so|and|but|then|và|vậy|thế)\b[\s,]*)+", re.IGNORECASE)
_CLAUSE_WORD = re.compile(
    r"\b(?:and|if|when|after|because|but|while|which|who|once|before|khi|và|nếu|sau khi)\b|[,，；;]|时|后",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(
    r"(?:in|on|at|for|by|with|from|under|after|before|during|of|to|why|how|since)\b"
    r"|为什么|怎么|(?:ở|trong|với|cho|từ|vào|năm|tại sao|vì sao)\b",
    re.IGNORECASE,
)
# "And on which day of the month?": what is question of has its verb in the question before.
_VERBLESS = re.compile(
    r"(?:(?:and|or|but)\b[\s,]*)?(?:in|on|at|for|by|with|from|under|after|before|during|of|to|until|since)\s+"
    r"(?:which|what|whom)\b(?!.*\b(?:is|are|was|were|be|does|do|did|can|could|should|has|have|had|will|would|must|may)\b)",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(
    r"(?:and|but|so|then|also|or)\b[\s,]*|(?:那么|那|而且|而|另外|还有)[，,]?|(?:và|thế|vậy|rồi)\s+", re.IGNORECASE
)
ASKING = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|do|did|can|could|should|has|have|will)\b"
    r"|什么|哪|谁|何|怎|多少|几|吗|是否|\b(?:gì|nào|ai|đâu|sao|bao nhiêu|mấy|không)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d\d)(?!\d)")
_NUMBER = re.compile(r"(?<![\d.,])\d+(?![\d.,]*\d)")
_NAME = re.compile(
    rf"(?<!^)(?<!\w)(?!I\b)[{LATIN_CAPITAL}][\w'’.+-]*(?:\s+(?:of\s+|the\s+)?[{LATIN_CAPITAL}0-9][\w'’.+-]*)*"
    r"|[\"“《「`][^\"”》」`]{1,60}[\"”》」`]"
)
_PREPOSITION = re.compile(
    r"\b(?:in|on|at|for|by|with|from|under|after|before|during|of|to|ở|trong|với|cho|vào|năm)\s+|[在对]", re.IGNORECASE
)
_FEW = 3
# A longer question names its subject, and the patterns here are not made for long texts.
LONGEST_FOLLOW_UP = 300


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that can be understood alone; ``changed`` if it took words from earlier turns."""

    question: str
    changed: bool


def standalone(question: str, turns: Sequence[Turn]) -> Standalone:
    """Return a question that can be understood without the conversation."""
    question = without_courtesies(" ".join(question.split()))
    last = next((turn for turn in reversed(turns) if not small_talk(turn["question"])), None)
    if last is None or len(question) > LONGEST_FOLLOW_UP:
        return Standalone(question, False)
    before = last["standalone_question"].strip()
    if _MORE.match(question) or _VERBLESS.match(question):
        return Standalone(_joined(before, question), True)
    pronoun = open_pronoun(question)
    if pronoun:
        return Standalone(_resolved(question, pronoun, last), True)
    fragment = _fragment(question)
    if fragment:
        return Standalone(_replaced(before, fragment) or _joined(before, question), True)
    return Standalone(question, False)


def _fragment(question: str) -> str | None:
    """Return the subject of an elliptical question, or None if the question is a complete sentence."""
    elliptical = _ELLIPTICAL.match(question)
    if elliptical:
        fragment = next(group for group in elliptical.groups() if group)
        if not ASKING.search(fragment) and len(content_words(fragment)) <= _FEW + 1:
            return fragment.strip(" ,，")
    words = content_words(question)
    opens = _FRAGMENT.match(_CONJUNCTION.sub("", question, count=1))
    if not words or (len(words) <= 2 and opens and not ASKING.search(question, 4)):
        return question.strip(" ?？")
    return None


def content_words(text: str) -> list[str]:
    """Return the content words of a text, in order; question words are removed from CJK runs."""
    framing = stop_words(language(text))
    words: list[str] = []
    for word in written_runs(text):
        if is_bigrammed(word):
            words += [piece for piece in CJK_STOP.split(word) if piece]
        elif word.casefold() not in framing:
            words.append(word)
    return words


def open_pronoun(question: str) -> re.Match[str] | None:
    """Return the first pronoun that the question itself does not resolve, or None."""
    for pronoun in _PRONOUN.finditer(question):
        before = _LEAD.sub("", question[: pronoun.start()])
        words = content_words(before)
        if (
            pronoun[0].casefold() in ("this", "that", "these", "those")
            and words
            and before.rstrip().endswith(words[-1])
        ):
            continue  # a relative or subordinate clause
        resolved = len(words) >= 2 and (_POSSESSIVE.fullmatch(pronoun[0]) or _CLAUSE_WORD.search(before))
        if not resolved and not _NAME.search(before) and len(words) <= _FEW:
            return pronoun
    return None


def _resolved(question: str, pronoun: re.Match[str], last: Turn) -> str:
    """Replace a pronoun with the name it refers to, or append the subject of the last question."""
    before = last["standalone_question"]
    name = None
    if _REFERS_TO_NAME.fullmatch(pronoun[0]):
        name = _answered_person(last) if _PERSON.fullmatch(pronoun[0]) else None
        name = name or next((found[0] for found in reversed(list(_NAME.finditer(before)))), None)
        if name is None and is_bigrammed(pronoun[0]):
            name = max((word for word in content_words(before) if is_bigrammed(word)), key=len, default=None)
    if name is None:
        topic = " ".join(content_words(before))
        return f"{question} ({topic})" if topic else question
    return f"{question[: pronoun.start()]}{_with_possessive(pronoun[0], name)}{question[pronoun.end() :]}"


def _with_possessive(pronoun: str, name: str) -> str:
    return f"{name}'s" if _POSSESSIVE.fullmatch(pronoun) else name


def _answered_person(last: Turn) -> str | None:
    """Return the name that answered the last question if it asked for a person, else None."""
    if asked_type(last["standalone_question"]) != "person":
        return None
    names = (found[0] for found in _NAME.finditer(f" {last['answer']}"))
    return next((name for name in names if name not in last["standalone_question"] and " " in name), None)


def _replaced(before: str, fragment: str) -> str | None:
    """Replace the last question's year, number or name with the fragment's; None if there is no counterpart."""
    fragment = _CONJUNCTION.sub("", fragment, count=1).strip()
    bare = _PREPOSITION.sub("", fragment, count=1).strip()
    for kind in (_YEAR, _NUMBER):
        new, old = kind.findall(bare), kind.findall(before)
        if len(new) == 1 and len(old) == 1:
            return before.replace(old[0], new[0])
    named = list(_NAME.finditer(before))
    if named and _NAME.fullmatch(f" {bare}", 1):
        last = named[-1]
        # "In Germany?" after "... in France" replaces the place; after "What is a segment?" it narrows the question.
        if bare == fragment or _PREPOSITION.search(before[max(0, last.start() - 8) : last.start()]):
            return f"{before[: last.start()]}{bare}{before[last.end() :]}"
    return None


def _joined(before: str, question: str) -> str:
    """Join the last question and a fragment of one."""
    return f"{before.rstrip()} {question}"
