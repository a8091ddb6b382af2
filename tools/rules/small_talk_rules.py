"""Detect small talk: a line is small talk if known phrases and fillers cover all its words.

So a greeting before a question does not hide the question, and no list of question words is needed: everything that is
not known to be small talk is a question. The phrases are in ``small_talk.toml``, one table per language.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal

from text.language import language
from text.normal_forms import fold_case, without_accents, without_punctuation, without_spaces_in_chinese
from text.scripts import HAN_AND_KANA

Kind = Literal["greeting", "thanks", "goodbye", "about", "acknowledgement"]

# If a line has several kinds, the first of these decides the reply.
_ORDER: tuple[Kind, ...] = ("about", "goodbye", "thanks", "greeting", "acknowledgement")
_LONGEST = 160
_NEEDS_NO_SPACE = re.compile(f"[{HAN_AND_KANA}]")
_QUOTED = re.compile(r"[\"“”「」『』《》«»`]")
_CLAUSE = re.compile(r"[,.!?;:~…，。！？；：、\n–—-]+\s*")
_FILLER_COST, _PHRASE_COST = 3, 2


@dataclass(frozen=True, slots=True)
class Phrases:
    """The small talk of one language: patterns with their kind, None for fillers."""

    patterns: tuple[tuple[Kind | None, re.Pattern[str]], ...]


@cache
def small_talk_phrases() -> dict[str, Phrases]:
    """Load the small talk phrases by language."""
    tables = tomllib.loads(files(__package__).joinpath("small_talk.toml").read_text(encoding="utf-8"))
    return {code: Phrases(tuple(_compiled(table))) for code, table in tables.items()}


def _compiled(table: dict[str, list[str]]) -> list[tuple[Kind | None, re.Pattern[str]]]:
    kinds: dict[str, Kind | None] = {**{kind: kind for kind in _ORDER}, "filler": None}
    return [(kinds[name], re.compile(f"(?:{'|'.join(phrases)})")) for name, phrases in table.items()]


def fold_line(text: str) -> str:
    """Fold case, accents, punctuation, and spaces next to Han letters and kana; Korean keeps its spaces."""
    return without_spaces_in_chinese(without_punctuation(without_accents(fold_case(text)))).strip()


@lru_cache(maxsize=512)
def small_talk(text: str) -> Kind | None:
    """Return the kind of small talk of a line, or None if it is a question or a search."""
    if len(text) > _LONGEST or _QUOTED.search(text):
        return None
    line = fold_line(text)
    if not line:
        return "acknowledgement"
    tables = small_talk_phrases()
    detected = language(text)
    kinds = _parse(line, (*tables[detected].patterns, *tables["en"].patterns[:-1])) if detected in tables else None
    for code in tables:
        kinds = kinds or _parse(line, tables[code].patterns)
    return next((kind for kind in _ORDER if kind in kinds), None) if kinds else None


def _parse(line: str, patterns: tuple[tuple[Kind | None, re.Pattern[str]], ...]) -> frozenset[Kind]:
    """Return the kinds of the cheapest cover of a line by phrases; empty if words are left over."""
    reached: dict[int, tuple[int, frozenset[Kind]]] = {0: (0, frozenset())}
    for position in range(len(line)):
        if position not in reached:
            continue
        cost, kinds = reached[position]
        for kind, pattern in patterns:
            for end in _ends(line, position, pattern):
                total = cost + (_PHRASE_COST if kind else _FILLER_COST)
                if end not in reached or total < reached[end][0]:
                    reached[end] = (total, kinds | {kind} if kind else kinds)
    return reached.get(len(line), (0, frozenset[Kind]()))[1]


def _ends(line: str, start: int, pattern: re.Pattern[str]) -> list[int]:
    """Return where a phrase at ``start`` may end: the ends of its longest match and of shorter ones, at word ends."""
    ends: list[int] = []
    stop = len(line)
    while (found := pattern.match(line, start, stop)) and found.end() > start:
        end = found.end()
        if end == len(line) or line[end] == " " or _NEEDS_NO_SPACE.match(line[end - 1]):
            ends.append(end + 1 if end < len(line) and line[end] == " " else end)
        stop = end - 1
    return ends


def without_courtesies(question: str) -> str:
    """Remove clauses of small talk before and after a question."""
    kept, rest = question.strip(), question.strip()
    while (cut := _CLAUSE.search(rest)) and cut.end() < len(rest) and small_talk(rest[: cut.start()]):
        rest = rest[cut.end() :]
        kept = rest
    cuts = list(_CLAUSE.finditer(kept))
    for cut in reversed(cuts):
        tail = kept[cut.end() :]
        if tail and small_talk(tail):
            kept = kept[: cut.end()].rstrip().rstrip(",，:;；-–—")
        elif tail:
            break
    return kept or question.strip()
