"""Decide whether an entry may be quoted for a question, and quote one that is governed with what governs it."""

import re
from collections.abc import Iterator
from functools import lru_cache

from answers.entry import Entry
from answers.subjects import is_about_another_thing, may_ask_for
from graph.evidence import Governance, nearest_heading
from text.denials import (
    Wording,
    denied_itself,
    hypothetical,
    names_kin,
    names_nobody,
    names_pretence,
    recalls_past,
)
from text.language import word_set
from text.values import stage_of
from text.words import terms_of, without_framing

ONE_SPAN = 300  # characters: a governor and its sentence are one quote up to this length
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_WORD = re.compile(r"[^\W\d_]{3,}")
_STAGE = re.compile(r"\d+(?:\.\d+)*|[〇一二三四五六七八九十]+月")
_NUMBER = re.compile(r"\d+")
_BEFORE = re.compile(r"\b(?:before|until|up to|prior to|trước|đến)\b|之前|以前|前|止")
_AFTER = re.compile(r"\b(?:after|since|from|as of|sau|từ|kể từ)\b|之后|以后|起|后")
_AT_A_PLACE = re.compile(r"\b(?:in|at|to|from|of|on|near|ở|tại|đến|từ|sang|về) (?:the )?\Z", re.IGNORECASE)
_GENERAL = word_set("rule section chapter follow apply page valid only state force item mục này chỉ dành phần điều cho")
_LEAST_SHARED = 2  # words with a hypothesis, such as "should the council approve the pilot"


def stands(entry: Entry, question: str) -> bool:
    """Return whether an entry may be quoted for a question.

    It may if nothing governs it, if the question names the condition or the speaker that does, or if the question asks
    about what is denied, repealed or doubted. One whose "she" is somebody else than the question names may not.
    """
    if governors := entry.governors:
        asked = Wording.of(_without(question, entry.text))
        if not all(
            (kind == "narrows" and may_ask_for(question, nearest_heading(entry.context), governor.text))
            or _is_asked_for(kind, governor.text, asked, question)
            or (kind == "overtakes" and _names_stage(entry, question))
            for kind, governor in governors
        ):
            return False
    return not (_is_about_another(entry, question) or is_about_another_thing(entry, question))


def _names_stage(entry: Entry, question: str) -> bool:
    """Whether a question names the version or the date that an entry stands under."""
    named = nearest_heading(entry.context), entry.text.partition("\n")[0][:60]
    numbers = frozenset(_STAGE.findall(question))
    return any(stage_of(each) is not None and not numbers.isdisjoint(_STAGE.findall(each)) for each in named)


def quoted_spans(entry: Entry, most: int = ONE_SPAN) -> tuple[tuple[int, int], ...]:
    """Return the spans that quote an entry with what governs it, in order, in offsets of the canonical text.

    A heading that is named like the entry's own is no part of its quote.
    It is one span from the first governor to the entry, or from the entry to the last, where that is at most ``most``
    characters; else each governor is a span of its own.
    """
    spans = {(entry.start, entry.end)}
    spans.update((each.start, each.end) for kind, each in entry.governors if kind != "narrows")
    joined = min(start for start, _ in spans), max(end for _, end in spans)
    return (joined,) if joined[1] - joined[0] <= most else tuple(sorted(spans))


def _is_asked_for(kind: Governance, governor: str, asked: Wording, question: str) -> bool:
    if kind == "narrows":
        return False
    if kind == "denies":
        return denied_itself(asked)
    if kind in ("repeals", "overtakes"):
        return recalls_past(asked) or _is_earlier(question, governor)
    if kind in ("doubts", "imagines"):
        return names_pretence(asked) or (kind == "imagines" and len(_shared(governor, question)) >= _LEAST_SHARED)
    if kind == "says":
        return bool(_names(governor) & _names(question))
    return _meets(governor, question)


def _without(question: str, text: str) -> str:
    """Return a question without the words of an entry: "old" doesn't ask for the past of "deletes old backups"."""
    own = frozenset(_WORD.findall(text.lower()))
    return _WORD.sub(lambda word: "" if word[0].lower() in own and word[0].isascii() else word[0], question)


def _meets(condition: str, question: str) -> bool:
    """Whether a question names a condition: its year or number if it has one, else words of it."""
    years = [int(each) for each in _YEAR.findall(condition)]
    named = [int(each) for each in _YEAR.findall(question)]
    lowered = condition.lower()
    if years and named:
        before, after = _BEFORE.search(lowered), _AFTER.search(lowered)
        return all(
            year == limit or (year < limit if before else year > limit if after else False)
            for year in named
            for limit in years
        )
    numbers = set(_NUMBER.findall(condition))
    if numbers and not numbers & set(_NUMBER.findall(question)):
        return False
    least = _LEAST_SHARED if hypothetical(Wording.of(condition)) else 1
    return len(_shared(condition, question)) >= least


def _is_earlier(question: str, governor: str) -> bool:
    """Whether a question asks about a year before the one in which something ended."""
    ended = [int(each) for each in _YEAR.findall(governor)]
    named = [int(each) for each in _YEAR.findall(question)]
    return bool(ended and named) and max(named) < max(ended)


def _shared(one: str, other: str) -> frozenset[str]:
    return _content(one) & _content(other)


@lru_cache(maxsize=1024)
def _content(text: str) -> frozenset[str]:
    return frozenset(terms_of(without_framing(text))) - _GENERAL


@lru_cache(maxsize=1024)
def _names(text: str) -> frozenset[str]:
    """Return the words of names in a text, in lower case: capitalised inside a sentence, or with a digit."""
    return frozenset(name for name, _ in _found_names(text))


def _found_names(text: str) -> Iterator[tuple[str, bool]]:
    for found in re.finditer(r"[^\W\d_][\w’'-]*", text):
        word, at = found[0], found.start()
        opens = not text[:at].strip() or text[:at].rstrip()[-1] in '.!?:"“「'
        if (word[0].isupper() and not opens) or (word[0].isupper() and any(map(str.isdigit, word))):
            bare = word.removesuffix("'s").removesuffix("’s").lower()
            yield bare, _AT_A_PLACE.search(text[max(0, at - 12) : at]) is not None


def _is_about_another(entry: Entry, question: str) -> bool:
    """Whether an entry that opens with a pronoun is about another than the one whom the question names."""
    pronoun = names_nobody(entry.text)
    named = next((each.text for each in entry.context if each.role == "before"), None)
    if pronoun is None or named is None:
        return False
    if not question.isascii() and names_kin(named):
        return not _shared(named, question)
    asked = _names(question) - _names(entry.text)
    others = {name for name, at_a_place in _found_names(named) if not at_a_place}
    if pronoun == "thing" and (len(others) < _LEAST_SHARED or asked & _names(entry.surroundings)):
        return False
    return bool(asked and others) and not asked & _names(named)
