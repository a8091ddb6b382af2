"""Passages: what a reader is shown of a document and can judge alone, grown from an entry by its structure alone.

A sentence brings its paragraph and what stands around it, an item its lead-in and its list, a row its table or at least
its header, a term its definition, a question or a lead-in what follows it, code what introduces it. A passage is
contiguous and never leaves its section; the headings above it, and a header or lead-in that is too far away, are shown
beside it.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from answers.entry import Entry, begins_table
from graph.evidence import BlockKind

MOST_SHOWN = 530  # characters of a passage, unless one entry is longer
MOST_LISTED = 1_000  # of one that shows a list or a table whole
MOST_ASKED = 240  # of a question with the sentences that lead up to it
ROWS_BESIDE = 1  # rows shown on each side of a row whose table is longer
_ENDS_SECTION = frozenset[BlockKind]({"heading", "contents"})
_INTRODUCES = frozenset[BlockKind]({"heading", "term", "caption", "label"})
_LISTED = frozenset[BlockKind]({"list_item", "table_row"})


class Passages:
    """The passages of a segment's entries. Sections and what should be shown whole in them are found once."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self._opens = _openings(entries)
        self._units: dict[range, list[range]] = {}  # by section

    def of(self, at: int) -> range:
        """Return the indexes of the contiguous entries to show for one of them, which is quotable.

        They have at most MOST_SHOWN characters, MOST_LISTED where they are a list or a table with what introduces it,
        and more only where a single entry has. They end in a lead-in or a question only where nothing follows that in
        its section.
        """
        entries, section = self.entries, _section(self.entries, self._opens, at)
        units = self._units.get(section)
        if units is None:
            units = self._units[section] = list(_units(entries, section))
        own = next(index for index, unit in enumerate(units) if at in unit)
        unit = units[own]
        if _size(entries, unit) > (MOST_LISTED if entries[at].kind in _LISTED else MOST_SHOWN):
            if entries[at].kind == "table_row":
                shown = range(max(unit.start, at - ROWS_BESIDE), min(unit.stop, at + ROWS_BESIDE + 1))
                return _ending_well(entries, shown if _size(entries, shown) <= MOST_LISTED else range(at, at + 1), at)
            units = [range(each, each + 1) for each in section]
            own = at - section.start
        begins = section.start if self._opens[section.start] else unit.start
        first = own
        if _size(entries, range(begins, units[own].stop)) <= MOST_SHOWN:  # with its question, its term or its lead-in
            first = next(index for index, each in enumerate(units) if begins in each)
        return _ending_well(entries, _grown(entries, units, first, own), at)


def is_whole(entries: Sequence[Entry], shown: range) -> bool:
    """Whether a passage says something: it ends in no lead-in and in no question, since nothing follows those."""
    last = entries[shown[-1]]
    return last.quotable and not (last.leads or last.asks)


def _openings(entries: Sequence[Entry]) -> list[bool]:
    """Return of each entry whether it opens a section of its own: a question with what leads up to it."""
    opens: list[bool] = []
    for _, block in groupby(entries, key=lambda entry: entry.block):
        own = list(block)
        is_question = own[-1].asks and own[-1].end - own[0].start <= MOST_ASKED
        opens += [is_question or entry.asks for entry in own]
    return opens


def _section(entries: Sequence[Entry], opens: Sequence[bool], at: int) -> range:
    """Return the indexes of what an entry stands among: from its heading or question to the next one."""
    first = at
    while first > 0 and not opens[first] and entries[first - 1].kind not in _ENDS_SECTION:
        first -= 1
    while first > 0 and opens[first] and opens[first - 1]:
        first -= 1  # of several questions with one answer, all
    last = at
    while last + 1 < len(entries) and entries[last + 1].kind not in _ENDS_SECTION:
        if opens[last + 1] and not opens[last]:
            break
        last += 1
    return range(first, last + 1)


def _units(entries: Sequence[Entry], section: range) -> Iterator[range]:
    """Yield what should be shown whole, in order: a list with its lead-in, a table, a definition, introduced code."""
    first = section.start
    while first < section.stop:
        last = first
        starts = {entries[first].start}
        while last + 1 < section.stop and _goes_on(entries[last], entries[last + 1], starts):
            last += 1
            starts.add(entries[last].start)
        yield range(first, last + 1)
        first = last + 1


def _goes_on(past: Entry, following: Entry, starts: set[int]) -> bool:
    """Whether the entry behind one belongs to the same unit, whose entries have these starts."""
    if past.kind in _INTRODUCES or past.asks or past.leads:
        return True
    if begins_table(past, following):
        return False
    if following.kind == "code":
        return past.kind in ("paragraph", "code")
    if past.kind in _LISTED and following.kind == past.kind:
        return True
    return any(each.role in ("lead", "term", "label") and each.start in starts for each in following.context)


def _size(entries: Sequence[Entry], places: range) -> int:
    return entries[places[-1]].end - entries[places[0]].start


def _grown(entries: Sequence[Entry], units: Sequence[range], first: int, last: int) -> range:
    """Return units with their neighbours, as many as fit: first the rest of their block, then both sides in turn."""
    sides = {True, False}  # on which there may be more, behind and before

    def takes(begin: int, end: int) -> bool:
        return (
            begin >= 0 and end < len(units) and _size(entries, range(units[begin].start, units[end].stop)) <= MOST_SHOWN
        )

    while sides:
        for behind in sorted(_next_sides(entries, units, first, last) & sides or sides, reverse=True):
            wider = (first, last + 1) if behind else (first - 1, last)
            if takes(*wider):
                first, last = wider
            else:
                sides.discard(behind)
    return range(units[first].start, units[last].stop)


def _next_sides(entries: Sequence[Entry], units: Sequence[range], first: int, last: int) -> set[bool]:
    """Return on which sides to grow next, True for behind: only within a block as long as one side is of it."""
    behind = last + 1 < len(units) and entries[units[last + 1].start].block == entries[units[last][-1]].block
    before = first > 0 and entries[units[first - 1][-1]].block == entries[units[first].start].block
    return {behind, not before} if behind != before else {True, False}


def _ending_well(entries: Sequence[Entry], places: range, at: int) -> range:
    """Return a passage without what only introduces something behind it."""
    last = places[-1]
    while last > at and (entries[last].kind in _INTRODUCES or entries[last].asks or entries[last].leads):
        last -= 1
    return range(places.start, last + 1)
