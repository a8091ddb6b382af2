"""Passages as Markdown: tables as tables, code in a fence, all else as it stands in the source."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from answers.entries import entries_of
from answers.entry import Entry, begins_table
from graph.evidence import Proof, Segment, Span

_TICKS = re.compile("`+")
_BETWEEN_CELLS = re.compile(r"(?:^|\s)\|(?=\s|$)")


def as_markdown(segment: Segment, entries: Sequence[Entry]) -> str:
    """Return contiguous entries of a segment as Markdown; a table has its header, wherever that stands."""
    parts: list[str] = []
    for own in _runs(entries):
        if own[0].kind == "table_row":
            parts.append(_table(own))
        elif own[0].kind == "code":
            parts.append(_fenced(_code(segment, own)))
        else:
            parts.append(segment.text[own[0].start - segment.start : own[-1].end - segment.start])
    return "\n\n".join(parts).replace("\f", " ")  # of a sentence over two pages


def shown_text(segment: Segment, proof: Proof | Span) -> str:
    """Return the entries of a segment that a proof spans as Markdown; none where it spans no whole entry."""
    entries = [each for each in entries_of(segment) if proof["start"] <= each.start and each.end <= proof["end"]]
    return as_markdown(segment, entries)


def _runs(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Yield entries that are written as one: the rows of a table, the parts of a code block, or what stands between."""
    run: list[Entry] = []
    for entry in entries:
        if run and not _goes_on(run[-1], entry):
            yield run
            run = []
        run.append(entry)
    if run:
        yield run


def _goes_on(past: Entry, entry: Entry) -> bool:
    if "table_row" in (past.kind, entry.kind):
        return past.kind == entry.kind and not begins_table(past, entry)
    if "code" in (past.kind, entry.kind):
        return past.kind == entry.kind and past.block == entry.block
    return True


def _code(segment: Segment, entries: Sequence[Entry]) -> str:
    """Return code with the indent of its first line, which is no part of an entry."""
    start = entries[0].start - segment.start
    line = segment.text.rfind("\n", 0, start) + 1
    start = line if not segment.text[line:start].strip(" \t") else start
    return segment.text[start : entries[-1].end - segment.start]


def _table(rows: Sequence[Entry]) -> str:
    """Return rows, whose cells a bar stands between, as a Markdown table, under the rows that the first hangs on.

    Columns without a word are left out: where bars stand around the rows, too, the outer two. A table without a header
    has an empty one.
    """
    above = [each.text for each in rows[0].context if each.role == "header"]
    is_named = above or rows[0].leads or any(each.role == "header" for row in rows[1:] for each in row.context)
    cells = [cells_of(text) for text in [*above, *(row.text for row in rows)]]
    columns = list(zip_longest(*cells, fillvalue=""))
    written = list(zip(*(list(filter(any, columns)) or columns), strict=True))
    header, body = (written[0], written[1:]) if is_named else ([""] * len(written[0]), written)
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
