"""Versions and years that a question names, held against those in what was found.

What is said of versions 2 and 3 does not answer for version 4. A plain quantity is no version: it takes a word such as
"version", a "v", or a name right before a number with a point. Where what was found names no version at all, or may
hold for a range of them ("since 3.1"), nothing can be told.
"""

import re
from collections.abc import Iterable, Iterator

from text.normal_forms import fold_width

Version = tuple[int, ...]

_NUMBER = r"\d{1,4}(?:\.\d{1,4}){0,3}"
_AND = r"(?:\s?[,/&、和]\s?|\s(?:and|or|und|oder|et|ou|y|o|e|và)\s)"
_CALLED = (
    r"\b(?:versions?|versionen|ver\.|releases?|revisions?|rev\.|editions?|ausgabe|auflage|versión|versiones|versão"
    r"|versões|versione|versioni|phiên bản|верси[яиюй])|バージョン|버전|版本"
)
_UNIT = r"\s?(?:%|°|[€$£¥]|(?!(?:is|in|on|to|do|of|or|as|by|at|an|a)\b)[a-zµ]{1,2}\b)"
_VERSION = re.compile(
    rf"(?:{_CALLED})\s?v?(?P<called>{_NUMBER}(?:{_AND}v?{_NUMBER}){{0,9}})"
    rf"|(?<![\w.])v(?P<short>{_NUMBER})"
    rf"|(?P<cjk>{_NUMBER})\s?版",
    re.IGNORECASE,
)
_BEHIND_A_NAME = re.compile(
    rf"(?<![\w-])[A-ZÀ-Ý][\w-]{{1,40}} (?P<dotted>\d{{1,4}}(?:\.\d{{1,4}}){{1,3}})(?![\w.]*\w)(?!{_UNIT})"
)
_YEAR_ASKED = re.compile(
    r"\b(?:in|of|for|during|by|year|jahre?|im|von|für|en|de|du|pour|para|del|em|do|nel|nell'anno|năm|в|за)\s"
    r"(?P<year>(?:19|20)\d\d)(?![\w%-])(?![.,:]\d)(?!\s(?:[a-z]{1,2}|[a-z]+s)\b)"
    r"|(?<!\d)(?P<cjk>(?:19|20)\d\d)\s?年",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_BOUND = re.compile(
    r"\b(?:since|from|until|till|before|after|through|between|starting|up|least|to|ab|seit|bis|vor|nach|zwischen|depuis"
    r"|jusqu|avant|après|entre|desde|hasta|từ|đến|trước|sau|с|до|после)\b"
    r"|\b(?:later|newer|above|higher|earlier|older|below|lower|onwards?|every|all|any)\b|\d\+|\.x\b|\d\s?[-–]\s?\d"
    r"|以上|以下|以后|以前|之后|之前|起|至",
    re.IGNORECASE,
)
_AROUND = 24  # characters beside a version or a year in which it may be said to be a bound


def is_about_other_versions(question: str, found: Iterable[str]) -> bool:
    """Whether a question names versions, and what was found only others."""
    asked = {version for version, _ in _versions(fold_width(question))}
    if not asked:
        return False
    others = False
    for text in map(fold_width, found):
        for version, around in _versions(text):
            if any(_is_one(version, each) for each in asked) or _BOUND.search(around):
                return False
            others = True
        if any(_stands_in(version, text) for version in asked if len(version) > 1):
            return False
    return others


def is_about_other_years(question: str, answer: str, found: Iterable[str]) -> bool:
    """Whether a question names years that are nowhere in what was found, and the best answer there names others."""
    asked = {int(each["year"] or each["cjk"]) for each in _YEAR_ASKED.finditer(fold_width(question))}
    answer = fold_width(answer)
    said = {int(each[0]): _beside(answer, *each.span()) for each in _YEAR.finditer(answer)}
    if not asked or not said or any(_BOUND.search(around) for around in said.values()):
        return False
    if any(min(said) <= year <= max(said) for year in asked):
        return False
    return not any(str(year) in text for text in found for year in asked)


def _versions(text: str) -> Iterator[tuple[Version, str]]:
    """Yield each version that a text names, with the text around it."""
    for each in _VERSION.finditer(text):
        around = _beside(text, *each.span())
        for number in re.findall(_NUMBER, each["called"] or each["short"] or each["cjk"]):
            yield _parsed(number), around
    for each in _BEHIND_A_NAME.finditer(text):
        yield _parsed(each["dotted"]), _beside(text, *each.span("dotted"))


def _beside(text: str, start: int, end: int) -> str:
    """Return what stands around a span in its line."""
    before = text[max(0, start - _AROUND) : start].rpartition("\n")[2]
    return before + text[start:end] + text[end : end + _AROUND].partition("\n")[0]


def _parsed(number: str) -> Version:
    return tuple(int(part) for part in number.split("."))


def _is_one(one: Version, other: Version) -> bool:
    """Whether two versions are the same as far as both are told: 4.2 is a 4."""
    return all(mine == yours for mine, yours in zip(one, other, strict=False))


def _stands_in(version: Version, text: str) -> bool:
    number = ".".join(map(str, version))
    return re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", text) is not None
