"""Which entries of a segment a sentence is about that governs others: those before it, after it, or around it.

Places are indexes into the entries of one segment, in order. Each search looks at a bounded number of them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from answers.entry import Entry
from answers.overtaking import Correction
from graph.evidence import BlockKind
from text.denials import wakes

NEVER_GOVERNED = frozenset[BlockKind]({"heading", "term", "caption", "label", "contents"})
_RUNS = frozenset[BlockKind]({"list_item", "table_row", "quote"})
NEAR = 3  # sentences
_LONGEST_DREAM = 12  # sentences
FURTHEST = 60  # entries
_NUMBERED = re.compile(
    r"\b(?:item|section|article|clause|point|rule|paragraph|no\.|mục|điều|điểm|khoản)\s+(\d{1,3})\b"
    r"|第\s*([一二三四五六七八九十\d]{1,3})\s*[项条点款]"
)
_QUOTE_MARKS = re.compile('["“”「」『』«»]')
_OPENING = '"“「『«'
_ITEM = re.compile(r"\s*(?:[-*•‣–]|\(?\d{1,3}[.)、]|\(?[a-z][.)])\s|>")
_WHOLE_TEXT = re.compile(
    r"\bth(?:is|e present) (?:page|document|handbook|version|edition|leaflet|guide|manual|text|policy|tariff"
    r"|price list|circular|memo|notice|entry|post|agreement)\b"
    r"|(?:trang|tài liệu|văn bản|sổ tay|bài|thông báo|hướng dẫn|quy chế|nội quy) này"
    r"|本(?:页|文|文件|手册|版|指南|说明|通知|公告|办法|制度)"
)
_OWN_BLOCK = re.compile(r"\bthis (?:paragraph|sentence|entry)\b|đoạn này|本段")


def rest_of_block(entries: Sequence[Entry], at: int, most: int) -> Iterator[int]:
    """Yield the next sentences of the same block."""
    for place in range(at + 1, min(len(entries), at + 1 + most)):
        if entries[place].block != entries[at].block:
            return
        yield place


def goes_on(entries: Sequence[Entry], at: int) -> Iterator[int]:
    """Yield the sentences that go on with a story: the next of the block, or of the next block if it ends there."""
    place = at + 1
    if place < len(entries) and entries[place].kind not in NEVER_GOVERNED:
        yield place
        yield from rest_of_block(entries, place, 2 * NEAR)


def named_part(entries: Sequence[Entry], at: int, lowered: str) -> list[int]:
    """Return what stands under the heading that a sentence names, as "Memo 1" in "Memo 1 is withdrawn."."""
    for place, entry in enumerate(entries):
        name = entry.text.lower().strip(" .:：。#")
        if (
            entry.kind == "heading"
            and len(name) > 1
            and name in lowered
            and re.search(rf"{re.escape(name)}(?!\w)", lowered)
        ):
            return [below for below in below_in_section(entries, place) if below != at]
    return []


def below_in_section(entries: Sequence[Entry], at: int) -> Iterator[int]:
    """Yield what stands below an entry in its section."""
    for place in range(at + 1, len(entries)):
        if entries[place].kind == "heading":
            return
        yield place


def introduced(entries: Sequence[Entry], at: int) -> Iterator[int]:
    """Yield the items, rows, code or sentences that an entry introduces."""
    block = entries[at].block
    place = at + 1
    while place < len(entries) and entries[place].block == block:
        yield place
        place += 1
    if place == len(entries) or entries[place].kind in NEVER_GOVERNED:
        return
    if place > at + 1 and _ITEM.match(entries[place].text) is None:
        return
    first = entries[place]
    runs = first.kind in _RUNS
    while place < len(entries):
        entry = entries[place]
        if entry.kind != first.kind or not (runs or entry.block == first.block):
            return
        yield place
        place += 1


def in_part(entries: Sequence[Entry], at: int, lowered: str) -> Iterator[int]:
    """Yield what is in the part of the text that a sentence speaks of: all of it, its section or its paragraph."""
    whole, own = _WHOLE_TEXT.search(lowered) is not None, _OWN_BLOCK.search(lowered) is not None
    for step in (-1, 1):
        for place in _around(entries, at, step, FURTHEST // 2):
            if own and entries[place].block != entries[at].block:
                break
            if not whole and entries[place].kind == "heading":
                break
            yield place


def _around(entries: Sequence[Entry], at: int, step: Literal[-1, 1], most: int) -> range:
    """Return the places before or after an entry, the nearest first."""
    return range(at + step, max(-1, at - 1 - most) if step < 0 else min(len(entries), at + 1 + most), step)


def meant(entries: Sequence[Entry], at: int, lowered: str) -> Iterator[int]:
    """Yield the sentences that "this" or "the motion" points to: those before it, or the item that is named."""
    numbered = _NUMBERED.search(lowered)
    if numbered is not None:
        number = numbered[1] or numbered[2]
        label = re.compile(rf"\W*(?:[^\W\d_]+\s)?(?:第)?{re.escape(number)}\b|\W*第?{re.escape(number)}[项条点款、.]")
        near = (*_around(entries, at, -1, FURTHEST), *_around(entries, at, 1, FURTHEST))
        named = [place for place in near if label.match(entries[place].text)][:NEAR]
        if named:
            for place in named:
                yield from (place, *(each for each in rest_of_block(entries, place, NEAR) if each != at))
            return
    yield from _before(entries, at)


def _before(entries: Sequence[Entry], at: int, most: int = NEAR) -> Iterator[int]:
    """Yield the sentences before an entry in its block, or else those of the block or the list before."""
    place = at - 1
    if place >= 0 and entries[place].block != entries[at].block and entries[place].kind in _RUNS:
        kind = entries[place].kind
        while place >= 0 and entries[place].kind == kind and not entries[place].asks:  # what it asks, is answered here
            yield place
            place -= 1
        return
    block = entries[place].block if place >= 0 else -1
    while place >= 0 and at - place <= most and entries[place].block == block and entries[place].kind != "heading":
        yield place
        place -= 1


def dreamt(entries: Sequence[Entry], at: int) -> range:
    """Return what stands between a sentence in which somebody falls asleep and the one in which they wake."""
    for place in range(at + 1, min(len(entries), at + 1 + _LONGEST_DREAM)):
        if entries[place].kind == "heading":
            break
        if wakes(entries[place].text):
            return range(at + 1, place)
    return range(0)


def spoken(entries: Sequence[Entry], at: int) -> list[int]:
    """Return the quoted sentences near one that calls their speaker a liar, or else the sentences before it."""
    near = [
        place
        for place in range(max(0, at - 2 * NEAR), min(len(entries), at + NEAR))
        if place != at and abs(entries[place].block - entries[at].block) <= 2 and _is_quoted(entries, place)
    ]
    return near or list(_before(entries, at, 2))


def _is_quoted(entries: Sequence[Entry], at: int) -> bool:
    """Whether a sentence is between quotation marks that may have been opened in one of the three before it."""
    if entries[at].text.startswith(tuple(_OPENING)) or re.search('[:：,，] ?["“「『«]', entries[at].text):
        return True
    marks = 0
    for place in range(at - 1, max(-1, at - 1 - NEAR), -1):
        if entries[place].block != entries[at].block:
            break
        marks += len(_QUOTE_MARKS.findall(entries[place].text))
    return marks % 2 == 1


def corrected(entries: Sequence[Entry], at: int) -> list[int]:
    """Return the sentences that a correction is about; where none is found, those just before it."""
    correction = Correction.of(" ".join(entries[place].text for place in (at, *rest_of_block(entries, at, NEAR))))
    near = (*_around(entries, at, -1, FURTHEST // 2), *_around(entries, at, 1, FURTHEST // 2))
    own = entries[at].block
    about = [each for each in near if entries[each].block != own or each < at]
    found = [each for each in about if entries[each].kind != "heading" and correction.is_about(entries[each].text)]
    if found or correction.denied:
        return found
    return list(_before(entries, at, 2))
