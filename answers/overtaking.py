"""Which statements a newer or a correcting one is about: those on the same subject that give another value."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from answers.entry import Entry
from graph.evidence import BlockKind, nearest_heading
from text.values import Stage, contrasted, stage_of, values_of
from text.words import terms_of, without_framing

_LEAST_SHARED = 2  # words
_ALIKE = 0.35  # of the words of a sentence that a newer one about the same shares
_LONGEST_FIRST_LINE = 24  # characters of a date that opens a block
_FURTHEST = 12  # sentences back that a newer statement overtakes
_MOST_STATEMENTS = 600
_MOST_COMPARED = 60  # newer entries that an older one is compared with
_DIGIT = re.compile(r"(?<!\A)\d(?![\d]*[.)] )")
_EVENTS = frozenset({"year", "date", "name"})  # values that differ between statements which both hold
_DENIED_VALUE = re.compile(
    r"\b(?:and not|not|instead of|rather than|không phải|chứ không|thay vì)\b[ :]*(?P<value>[^,;.!?()—–]{1,60})"
    r"|\bfor [“\"‘](?P<read>[^”\"’]{1,60})[”\"’],? (?:please )?read\b"
    r"|(?:而不是|而非|并非|不是)(?P<han>[^，。；！（）]{1,24})"
)
# "Update:" and the like correct only where they give another value.
_LABELLED = re.compile(
    r"\W*(?:update|edit|p\.? ?s|postscript|cập nhật|tái bút|ghi chú|更新|补记|后记|又及|附言)", re.IGNORECASE
)
_OPENS_DENIED = re.compile(r"(?:on|at|in|by|for|the|a|an|là|vào|từ|ngày|anh|ông|bà|chị|cô)\s+")
STATEMENTS = frozenset[BlockKind]({"paragraph", "list_item", "table_row", "quote", "footnote"})
_HAS_VALUE = re.compile(
    r"\d|\b(?:t(?:wo|hree|en|welve|wenty|hirty)|fo(?:ur|rty)|fi(?:ve|fteen|fty)|six|seven|eight|nine|hai|ba|bốn|sáu|bảy|tám|chín|mười)|[一二三四五六七八九十]"
)
_HAN_NUMERAL = re.compile("[〇一二三四五六七八九十]")
_DATED = re.compile(r"\d|[一二三四五六七八九十]月")
_FIRST_LINE = re.compile(r"[^\n]{1,30}(?=\n)|[^\n:：—–]{1,24}(?=[:：] ?| [—–-] )")


@lru_cache(maxsize=2048)
def content(text: str) -> frozenset[str]:
    """Return the terms of a text that are no framing."""
    return frozenset(terms_of(without_framing(text)))


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in content(text) if not (word.isdigit() or _HAN_NUMERAL.search(word)))


def is_overtaken(old: str, new: str) -> bool:
    """Whether a newer statement is about what an older one says: it shares words, and differs in a value."""
    own, other = _words(old), _words(new)
    kinds = contrasted(old, new, _EVENTS)
    if kinds and own & other - values_of(old).keys():
        return True
    valued = _DIGIT.search(old) is not None or "name" in contrasted(old, new)
    return valued and len(own & other) >= max(_LEAST_SHARED, _ALIKE * len(own))


def has_values_before(entries: Sequence[Entry], at: int) -> bool:
    """Whether a sentence before an entry in its section has a value that the entry may overtake; a quick look."""
    for place in range(at - 1, max(-1, at - 1 - _FURTHEST), -1):
        if entries[place].kind == "heading":
            return False
        if _HAS_VALUE.search(entries[place].text):
            return True
    return False


def outdated(entries: Sequence[Entry], at: int) -> list[int]:
    """Return the sentences before an entry, in its section, that are about the same and older."""
    older = []
    for place in range(at - 1, max(-1, at - 1 - _FURTHEST), -1):
        if entries[place].kind == "heading":
            break
        if entries[place].kind in STATEMENTS and is_overtaken(entries[place].text, entries[at].text):
            older.append(place)
    return older


# --- sections of different versions and dates -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with the version or date of its section, and whether it says that something has changed."""

    text: str
    stage: Stage
    news: bool


def overtaken(statements: Sequence[Statement]) -> Iterator[tuple[int, int]]:
    """Yield places of a statement and of the first that overtakes it: one of a newer version or date.

    Under versions, and under headings that differ only in a year or month, another value is enough; under mere dates
    the newer statement must say that something has changed.
    """
    statements = statements[:_MOST_STATEMENTS]
    groups: dict[tuple[str, str], list[int]] = {}
    for at, each in enumerate(statements):
        if values_of(each.text) or each.news:
            groups.setdefault((each.stage[0], each.stage[2]), []).append(at)
    for at, old in enumerate(statements):
        kind, order, rest = old.stage
        sure = kind == "version" or (kind == "dated" and bool(rest) and not order[2])
        compared = 0
        for place in groups.get((kind, rest), ()):
            new = statements[place]
            if new.stage[1] > order and (sure or new.news) and compared < _MOST_COMPARED:
                compared += 1
                if is_overtaken(old.text, new.text):
                    yield at, place
                    break


def stage_of_block(text: str, start: int, heading: str) -> Stage | None:
    """Return the stage that a block is of, which begins at a place of a text: of its first line, or of its heading."""
    if _DATED.search(text, start, start + _LONGEST_FIRST_LINE):
        line = _FIRST_LINE.match(text, start)
        own = stage_of(line[0]) if line is not None else None
        if own is not None and not own[2]:
            return own
    return stage_of(heading) if heading else None


def by_stages(entries: Sequence[Entry], says_news: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Yield places of entries of a segment and of those that overtake them."""
    staged: list[tuple[int, Stage]] = []
    stage: Stage | None = None
    block, heading = -1, ""
    for at, entry in enumerate(entries):
        if entry.kind == "heading":
            heading = entry.text
        elif entry.block != block and entry.kind in STATEMENTS:
            heading = nearest_heading(entry.context) or heading
            stage = stage_of_block(entry.text, 0, heading)
        block = entry.block
        if stage is not None and entry.kind in STATEMENTS:
            staged.append((at, stage))
    if len({stage[:2] for _, stage in staged}) < _LEAST_SHARED:
        return
    newest = {entries[at].block for at, _ in staged if says_news(entries[at].text)}
    statements = [Statement(entries[at].text, stage, entries[at].block in newest) for at, stage in staged]
    for old, new in overtaken(statements):
        yield staged[old][0], staged[new][0]


# --- corrections ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Correction:
    """A sentence that corrects another, with those after it that explain it.

    ``denied`` are the wrong values that it names, each as a set of terms, as in "on 24 August, not on 31 August".
    """

    text: str
    denied: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, text: str) -> "Correction":
        """Read one."""
        return _correction(text)

    def is_about(self, text: str) -> bool:
        """Whether a statement is what is corrected.

        It has the wrong value, where one is named; else it differs in a value that the correction gives, or shares
        the words of its subject.
        """
        own = content(text)
        if self.denied:
            return any(_has(own, value) for value in self.denied) and bool(own)
        before, after = values_of(text), values_of(self.text)
        kinds = {kind for kind in before.keys() & after.keys() - _EVENTS if kind and before[kind] != after[kind]}
        roles = any(kind.startswith("role") for kind in before) and any(kind.startswith("role") for kind in after)
        if any(kind.startswith("role") for kind in kinds):
            return True
        if (kinds or roles) and _words(text) & _words(self.text):
            return True
        if not after.keys() - _EVENTS and "name" in contrasted(text, self.text):
            return True
        if _LABELLED.match(self.text):
            return False
        return len(own & content(self.text)) >= max(_LEAST_SHARED, _ALIKE / 2 * len(own))


def _has(own: frozenset[str], value: frozenset[str]) -> bool:
    numbers = {each for each in value if any(map(str.isdigit, each))}
    return numbers <= own and len(own & value) * 2 >= len(value) and bool(own & value)


@lru_cache(maxsize=256)
def _correction(text: str) -> Correction:
    denied = []
    for found in _DENIED_VALUE.finditer(text):
        value = _OPENS_DENIED.sub("", (found["value"] or found["read"] or found["han"]).strip())
        terms = frozenset(terms_of(without_framing(value)))
        if terms and (found["han"] or found["read"] or _is_value(value)):
            denied.append(terms)
    return Correction(text, tuple(denied))


def _is_value(text: str) -> bool:
    """Whether what follows "not" is a value rather than a verb: it has a digit, a number word, or a capital."""
    return bool(_DIGIT.search(text) or values_of(text) or any(word[:1].isupper() for word in text.split()))
