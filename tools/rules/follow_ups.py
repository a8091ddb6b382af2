"""Make a follow-up standalone, without a model: its own words, and behind them what the conversation was about.

A message is a follow-up where it opens with a word that joins, points at something that it does not name, or has hardly
a content word of its own. "And during probation?" after "How long is sick pay paid in full?" becomes "And during
probation? (sick pay paid full)". Nothing is put in the place of anything: where to look is told by all of the words,
what is asked by the message's own (``own_question``), so that a follow-up which the library does not answer is refused
like any other question.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph.rows import Turn
from text.language import STOP_WORDS, word_set
from text.late_patterns import late_pattern
from tools.rules.question_terms import content_words, count_content, length_of
from tools.rules.small_talk_rules import small_talk, without_courtesies

# What joins a question to the last one: the word for "and", and "what about". Of follow-ups written before this list,
# 34 of 41 are found without and 39 with these in English, 8 and 16 of 16 in Vietnamese.
_JOINS = late_pattern(
    r"(?:and|what about|và|còn|thế|vậy)(?=[\s,])|.*thì sao\W*$",
    re.IGNORECASE,
)
# What points at something said before, where the question has hardly said anything yet: 36 and 39 of 41 in English, 13
# and 16 of 16 in Vietnamese, 11 and 14 of 15 in Chinese.
_POINTS = late_pattern(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those|ones?|nó|họ|đó|ấy|này)\b"
    r"|它|(?<!其)他|她|这|那|其中",
    re.IGNORECASE,
)
# What says when, where or how much of something, and nothing of what: "After that?", "Both?", "Còn sau đó?".
_RELATE = word_set(
    """
    according across after against all along although among around because before behind between beyond both despite
    each either every few furthermore hence however more moreover most near neither one only over per same several since
    therefore though through thus too toward towards under unlike until upon very via within yet
    còn cả giữa hầu hết mọi mỗi ngoài ngày nhiên nhiều năm rất sau số sự theo tháng trước tuy tất
    """
)
_ASKS_NOTHING = _RELATE | STOP_WORDS["vi"]  # a question as short as "Còn ai?" is not known as Vietnamese
_CLAUSE_END = re.compile("[,;:，；：]")
_OWN = re.compile(r"(?P<own>.+) \([^()]+\)")
_FEW = 2
_MOST_CARRIED = 12
# A longer question names its subject.
LONGEST_FOLLOW_UP = 300


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that can be understood alone; ``changed`` if it took words from an earlier turn.

    ``beside`` is the question as asked where it may be about something else after all, and is searched for too.
    """

    question: str
    changed: bool = False
    beside: str = ""


def standalone(question: str, turns: Sequence[Turn]) -> Standalone:
    """Return a question with the content words of the last one that was answered from the documents, if it needs them.

    A question that was refused gives it none: they led nowhere.
    """
    question = without_courtesies(" ".join(question.split()))
    asked = [turn for turn in turns if not small_talk(turn["question"]) and not turn.get("from_catalogue")]
    answered = [turn for turn in asked if not turn.get("refused")]
    if not answered or len(question) > LONGEST_FOLLOW_UP:
        return Standalone(question)
    joined, few = depends(question), count_content(question) <= _FEW
    if not (joined or few):
        return Standalone(question)
    said = question.casefold()
    before = " ".join(answered[-1]["standalone_question"].split())[-LONGEST_FOLLOW_UP:]
    numbered = any(map(_is_number, content_words(question)))  # "And in 2024?" is not about 2025 too
    carried = [
        word for word in content_words(before) if word.casefold() not in said and not (numbered and _is_number(word))
    ][:_MOST_CARRIED]
    if not carried:
        return Standalone(question)
    made = f"{question} ({' '.join(carried)})"
    unsure = not joined or answered[-1] is not asked[-1]
    return Standalone(made, True, own_question(made) if unsure else "")


def depends(question: str) -> bool:
    """Whether a question joins the last one, or points at something that it has not named before."""
    points = _POINTS.search(question)
    if points is None:
        return _JOINS.match(question) is not None
    before = question[: points.start()]
    relative = points[0].casefold() == "that" or _CLAUSE_END.search(before)  # "the tool that cleans up"
    named = count_content(before) > (0 if relative else _FEW)
    return not named or _JOINS.match(question) is not None


def own_question(question: str) -> str:
    """Return a follow-up's own words, of one that ``standalone`` made; "" if they ask nothing ("Why?", "2024?")."""
    found = _OWN.fullmatch(question)
    if found and not (depends(found["own"]) or count_content(found["own"]) <= _FEW):
        found = None  # the reader wrote the parentheses
    words = (word for word in content_words(found["own"]) if not _is_number(word)) if found else ()
    asks = sum(length_of(word) for word in words if word.casefold() not in _ASKS_NOTHING)
    return found["own"] if found and asks >= 1 else ""


def _is_number(word: str) -> bool:
    return word[0].isdigit() and not any(map(str.isalpha, word))
