"""Read the "Yes," or "No," that opens a claim against the question that the claim answers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from text.language import word_set
from tools.claims.exact_forms import exact_form
from tools.claims.lexicon import lists, stem

Agreement = Literal["agrees", "conflicts", "open"]

_ENDS = r"[*_\"”’]*\s*(?:[,.;:!，。；：！、]|\s[-–—]|[–—])[*_\"”’]*\s*+"
_OPENS = r"\A[\s>*_\"“‘]*"
_AUXILIARIES = word_set("is are was were am can could may might must shall should will would has have had do does did")
_SUPPORTING = frozenset(("do", "does", "did"))
_NEGATIONS = word_set("not no never cannot không chưa chẳng 不 没 未 无")
_ASKS_VI = (("phải", "không"), ("đúng", "không"), ("hay", "không"), ("hay", "chưa"), ("không",), ("chưa",))
_ASKS_ZH = frozenset("吗么嘛")
_LONGEST_QUESTION = 60  # words; a longer one is hardly repeated as a statement
_CHOICE = re.compile(r"(.)[不没]\1")


@dataclass(frozen=True, slots=True)
class AnswerLead:
    """The answer that opens a claim: whether it affirms, its words, and the offset behind it."""

    affirms: bool
    said: str
    end: int


@cache
def _pattern() -> re.Pattern[str]:
    answers = lists()["answers"]
    yes, no = (_alternatives(answers[name]) for name in ("yes", "no"))
    return re.compile(rf"{_OPENS}(?:(?P<yes>{yes})|(?P<no>{no}))(?:{_ENDS}(?!\d)|\Z)", re.IGNORECASE)


def _alternatives(phrases: str) -> str:
    return "|".join(map(re.escape, sorted(phrases.strip().split(", "), key=len, reverse=True)))


def answer_lead(claim: str) -> AnswerLead | None:
    """Return the "Yes," or "No," of a claim in English, Vietnamese or Chinese, None where it opens with none."""
    found = _pattern().match(claim)
    return found and AnswerLead(found["yes"] is not None, found["yes"] or found["no"], found.end())


def is_bare_lead(piece: str) -> bool:
    """Whether a text is nothing but an answer such as "Yes."."""
    lead = answer_lead(piece)
    return lead is not None and lead.end == len(piece)


def agreement(lead: AnswerLead, rest: str, question: str) -> Agreement:
    """Return how an answer word fits the question and the rest of the claim, which is known to be true.

    Both are certain only where the rest is the question as a statement, word for word, with or without a "not". A
    question that denies something is answered differently in each language, and left open.
    """
    asked, said = _lowered(question), _lowered(rest)
    if asked[-1:] in (("?",), ("？",)):
        asked = asked[:-1]
    if not said or not asked or len(asked) > _LONGEST_QUESTION:
        return "open"
    for statement in _statements(asked):
        if not _NEGATIONS.isdisjoint(statement):
            continue
        if _stems(said) in _affirmed(statement):
            return "agrees" if lead.affirms else "conflicts"
        if any(_stems(each) in _affirmed(statement) for each in _undenied(said)):
            return "conflicts" if lead.affirms else "agrees"
    return "open"


Words = tuple[str, ...]


def _lowered(text: str) -> Words:
    return tuple(key.casefold() for key in exact_form(text))


def _stems(words: Words) -> Words:
    return tuple(map(stem, words))


def _statements(asked: Words) -> Iterator[Words]:
    """Yield what a question asks whether it is so, without the words that make it a question."""
    if asked[0] in _AUXILIARIES:
        yield asked
    for ending in _ASKS_VI:
        if asked[-len(ending) :] == ending:
            yield _without_first(asked[: -len(ending)], "có")
            break
    if asked[-1] in _ASKS_ZH:
        yield asked[:-1]
    joined = "".join(asked)
    if "是否" in joined:
        yield tuple(joined.replace("是否", "", 1))
    elif choice := _CHOICE.search(joined):
        yield tuple(joined.replace(choice[0], choice[1], 1))


def _without_first(words: Words, word: str) -> Words:
    at = words.index(word) if word in words else len(words)
    return words[:at] + words[at + 1 :]


def _affirmed(statement: Words) -> set[Words]:
    """Return the stems of every order in which a statement may be written: an auxiliary stands behind the subject."""
    if statement[0] not in _AUXILIARIES:
        return {_stems(statement), *(_stems((*statement[:at], "có", *statement[at:])) for at in range(len(statement)))}
    first, rest = statement[0], statement[1:]
    moved = {_stems((*rest[:at], first, *rest[at:])) for at in range(1, len(rest) + 1)}
    return moved | ({_stems(rest)} if first in _SUPPORTING else set())


def _undenied(said: Words) -> Sequence[Words]:
    """Return a statement without its one negation; none where it has no negation or several."""
    places = [at for at, word in enumerate(said) if word in _NEGATIONS]
    if len(places) != 1:
        return ()
    at = places[0]
    if said[at] == "cannot":
        return ((*said[:at], "can", *said[at + 1 :]),)
    plain = (*said[:at], *said[at + 1 :])
    supported = (*said[: at - 1], *said[at + 1 :]) if at and said[at - 1] in _SUPPORTING else plain
    return (plain, supported)
