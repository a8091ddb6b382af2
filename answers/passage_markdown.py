"""Passages as Markdown: tables as tables, code in a fence, all else as it stands in the source."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from answers.entries import entries_of
from answers.entry import Entry
from graph.evidence import Proof, Segment

_TICKS = re.compile("`+")
_BETWEEN_CELLS = re.compile(r"(?:^|\s)\|(?=\s|$)")


def as_markdown(segment: Segment, entries: Sequence[Entry]) -> str:
    """Return contiguous entries of a segment as Markdown; a table has its header, wherever that stands."""
    parts: list[str] = []
    for kind, run in groupby(entries, key=lambda entry: entry.kind if entry.kind in ("code", "table_row") else ""):
        own = list(run)
        if kind == "table_row":
            parts.append(_table([*_rows_above(own[0]), *(entry.text for entry in own)]))
        elif kind == "code":
            parts += [_fenced(entry.text) for entry in own]
        else:
            parts.append(segment.text[own[0].start - segment.start : own[-1].end - segment.start])
    return "\n\n".join(parts)


def shown_text(segment: Segment, proof: Proof) -> str:
    """Return the entries of a segment that a proof spans as Markdown; none where it spans no whole entry."""
    entries = [each for each in entries_of(segment) if proof["start"] <= each.start and each.end <= proof["end"]]
    return as_markdown(segment, entries)


def _rows_above(row: Entry) -> Iterator[str]:
    """Yield the rows that a table's first shown row hangs on: the header, and the row of its group."""
    return (each.text for each in row.context if each.role == "header")


def _table(rows: Sequence[str]) -> str:
    """Return rows, whose cells a bar stands between, as a Markdown table, the first as its header.

    Columns without a word are left out: where bars stand around the rows, too, the outer two.
    """
    columns = list(zip_longest(*map(cells_of, rows), fillvalue=""))
    header, *body = zip(*(list(filter(any, columns)) or columns), strict=True)
    return "\n".join(_row(each) for each in (header, ["---"] * len(header), *body))


def cells_of(row: str) -> list[str]:
    """Return the cells of a row of canonical text, at least one."""
    return [cell.strip() for cell in _BETWEEN_CELLS.split(row)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ') for cell in cells)} |"


def _fenced(code: str) -> str:
    """Return code in a fence that nothing in it closes."""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
    return f"{fence}\n{code}\n{fence}"
