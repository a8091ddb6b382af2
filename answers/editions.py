"""Editions: documents on one thing whose titles differ only in what tells an older one from a newer one.

"Museum guide 2024" and "Museum guide 2025", "Pool rules (old)" and "(new)", "Handbook v1" and "v2" are editions: where
they differ, the newer one holds. "Building 4" and "Building 5" are two things, and so are the reports of two years,
each of which is right about its own.
"""

import re
import unicodedata
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import combinations

from text.language import word_set
from text.late_patterns import LatePattern
from text.normal_forms import fold_case
from text.scripts import CJK

_WORD = LatePattern(rf"\d{{4}}-\d{{2}}(?:-\d{{2}})?(?!\d)|[{CJK}]+|[^\W{CJK}]+(?:\.[^\W{CJK}]+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE = re.compile(r"((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?")
_VERSION = re.compile(r"v?(\d{1,4}(?:\.\d{1,4}){1,3})|v(\d{1,4})")
_NUMBER = re.compile(r"(\d{1,3})(?:st|nd|rd|th)?")
_VERSION_WORDS = word_set(
    "version versions ver edition release rev revision issue ausgabe auflage fassung édition versión edición edição "
    "versão edizione versione phiên bản lần 版 版本 第 редакция версия"
)
_MONTHS = (
    word_set("january jan"),
    word_set("february feb"),
    word_set("march mar"),
    word_set("april apr"),
    word_set("may"),
    word_set("june jun"),
    word_set("july jul"),
    word_set("august aug"),
    word_set("september sep sept"),
    word_set("october oct"),
    word_set("november nov"),
    word_set("december dec"),
)
_OLDER = word_set(
    "old older outdated obsolete previous former superseded archived deprecated draft preliminary "
    "alt alte altes alter entwurf ancien ancienne anciens brouillon antiguo antigua borrador antigo antiga rascunho "
    "vecchio vecchia bozza cũ nháp 旧 旧版 草案 старый старая черновик"
)
_NEWER = word_set(
    "new newer newest latest current updated revised final "
    "neu neue neues neuer aktuell nouveau nouvelle nouveaux actuel nuevo nueva actual novo nova atual "
    "nuovo nuova attuale mới 新 新版 正式版 новый новая"
)
# What reports on a time of its own is right about it, whatever a later one says.
_RECORDS = word_set(
    "report reports accounts statement statements results minutes budget survey statistics review newsletter yearbook "
    "proceedings invoice invoices log logs diary journal calendar 10k 10q 10-k 8k "
    "bericht jahresbericht protokoll haushalt rapport bilan compte informe acta relatório relazione bilancio "
    "báo cáo biên 报告 年报 报表 纪要 отчёт отчет протокол"
)

Rank = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Marker:
    """A word of a title that tells an edition: of what kind, and how new it is among its kind."""

    kind: str
    rank: Rank


_NEW = _Marker("status", (1,))


def are_editions(one: str, other: str) -> bool:
    """Whether two titles are those of editions of one document. Equal titles, or of unlike length, tell nothing."""
    return bool(_differences(one, other))


@lru_cache(maxsize=256)  # a run compares each of its documents with the others, for every claim
def names_an_edition(question: str, one: str, other: str) -> bool:
    """Whether a question names the edition of one of two titles: "in 2024", "version 2", "the old rules".

    One that asks for what is new or current names none, since that is what the editions tell differently.
    """
    differences = [marker for pair in _differences(one, other) for marker in pair]
    if not differences:
        return False
    asked = _words(question)
    named = [marker for at in range(len(asked)) if (marker := _marker(asked, at, {*_words(one), *_words(other)}))]
    return any(_is_named(marker, each) for marker in differences for each in named)


def states_edition(one: str, other: str, said: str, says: str) -> bool:
    """Whether two values, said by the documents of two titles, only tell which edition each of these is."""
    ours, theirs = _words(one), _words(other)
    if not are_editions(one, other):
        return False
    own, rival = set(_words(said)), set(_words(says))
    return any(ours[at] in own and theirs[at] in rival for at in _places(ours, theirs))


def _is_named(marker: _Marker, by: _Marker) -> bool:
    """Whether a marker of a title is the one in a question, which may have less of a date."""
    if marker.kind != by.kind or marker.kind == "month" or marker == _NEW:
        return False
    return marker.rank[: len(by.rank)] == by.rank if marker.kind == "date" else marker.rank == by.rank


def by_edition(titles: Sequence[str]) -> list[int] | None:
    """Return the places of titles, the newest edition first; None unless every two are editions of one document."""
    if len(titles) < 2 or not all(are_editions(one, other) for one, other in combinations(titles, 2)):
        return None
    ranks = {at: _rank(title, titles) for at, title in enumerate(titles)}
    return sorted(ranks, key=lambda at: ranks[at], reverse=True)


def day_of_edition(title: str) -> str:
    """Return the date of an edition as far as its title has it, as ISO 8601: a day, a month or a year; "" if none."""
    words = _words(title)
    for word in words:
        if (dated := _DATE.fullmatch(word)) and _is_date(dated):
            return word
    year = next((word for word in words if _YEAR.fullmatch(word)), "")
    month = next((at for word in words for at, names in enumerate(_MONTHS, start=1) if word in names), 0)
    return f"{year}-{month:02}" if year and month else year


def _rank(title: str, titles: Sequence[str]) -> tuple[Rank, ...]:
    words = _words(title)
    places = {at for other in titles if other != title for at in _places(words, _words(other))}
    markers = [marker for at in sorted(places) if (marker := _marker(words, at)) is not None]
    return tuple(marker.rank for marker in sorted(markers, key=lambda each: _KINDS.index(each.kind)))


_KINDS = ("date", "month", "version", "status")  # a year weighs more than its month


def _differences(one: str, other: str) -> list[tuple[_Marker, _Marker]]:
    """Return the markers in which two titles differ; none where they differ in anything else."""
    ours, theirs = _words(one), _words(other)
    if len(ours) != len(theirs):
        return []
    pairs: list[tuple[_Marker, _Marker]] = []
    places = _places(ours, theirs)
    for at in places:
        mine, yours = _marker(ours, at), _marker(theirs, at)
        if mine is None or yours is None or mine.kind != yours.kind or mine.rank == yours.rank:
            return []
        pairs.append((mine, yours))
    reports = not _RECORDS.isdisjoint(ours) and any(mine.kind in ("date", "month") for mine, _ in pairs)
    return [] if reports or len(places) == len(ours) else pairs


def _places(ours: Sequence[str], theirs: Sequence[str]) -> list[int]:
    return [at for at, (mine, yours) in enumerate(zip(ours, theirs, strict=False)) if mine != yours]


def _words(title: str) -> list[str]:
    return _WORD.findall(fold_case(unicodedata.normalize("NFKC", title)).replace("_", " "))


def _marker(words: Sequence[str], at: int, things: Set[str] = frozenset()) -> _Marker | None:
    """Return what a word tells of an edition. A bare number is a version beside "version" or behind one of things."""
    word = words[at]
    if dated := _DATE.fullmatch(word):
        return _Marker("date", tuple(int(part) for part in dated.groups() if part)) if _is_date(dated) else None
    if _YEAR.fullmatch(word):
        return _Marker("date", (int(word),))
    for month, names in enumerate(_MONTHS, start=1):
        if word in names:
            return _Marker("month", (month,))
    if version := _VERSION.fullmatch(word):
        parts = tuple(int(part) for part in (version[1] or version[2]).split("."))
        return _Marker("version", _shortened(parts))
    before, after = set(words[max(0, at - 1) : at]), set(words[at + 1 : at + 2])
    versioned = not _VERSION_WORDS.isdisjoint(before | after) or not before.isdisjoint(things)
    if versioned and (number := _NUMBER.fullmatch(word)):
        return _Marker("version", (int(number[1]),))
    if word in _OLDER or word in _NEWER:
        return _Marker("status", (int(word in _NEWER),))
    return None


def _shortened(parts: Rank) -> Rank:
    """Return a version without the zeros at its end: 2.0 is 2."""
    while len(parts) > 1 and not parts[-1]:
        parts = parts[:-1]
    return parts


def _is_date(found: re.Match[str]) -> bool:
    try:
        date(int(found[1]), int(found[2]), int(found[3] or 1))
    except ValueError:
        return False
    return True
