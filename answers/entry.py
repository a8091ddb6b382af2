"""An entry: the smallest passage of a segment that makes sense by itself, with what it hangs on."""

from typing import NamedTuple

from graph.evidence import BlockKind, ContextSlice, without_outer_headings

NEVER_QUOTED = frozenset[BlockKind]({"heading", "term", "caption", "label", "contents"})


class Entry(NamedTuple):
    """A quotable slice of canonical text, in its offsets, with what it hangs on, the outermost first.

    ``block`` is the index of its block in the segment, ``first`` whether it opens that block. ``leads`` marks one that
    only introduces what follows, such as "The steps are:", and ``asks`` a question, which never stand alone;
    ``unanswered`` is a question that nothing follows in its section. A tuple, since a run makes hundreds, and a frozen
    dataclass takes four times as long to make.
    """

    start: int
    end: int
    text: str
    kind: BlockKind
    block: int
    context: tuple[ContextSlice, ...] = ()
    anchor: str = ""
    first: bool = True
    leads: bool = False
    asks: bool = False
    unanswered: bool = False

    @property
    def quotable(self) -> bool:
        """Whether it can answer: it is no heading, term, label, header row, line of contents or unanswered question.

        A lead-in can, together with what it introduces, and so can a question with its answer.
        """
        return not (self.kind in NEVER_QUOTED or self.unanswered or (self.leads and self.kind == "table_row"))

    @property
    def surroundings(self) -> str:
        """The texts of what it hangs on, joined by spaces, each once; of headings only the nearest."""
        return " ".join(dict.fromkeys(each.text for each in without_outer_headings(self.context)))


def begins_table(past: Entry, row: Entry) -> bool:
    """Whether a row is the header of another table than the row before it."""
    below = any(each.role == "header" for each in past.context)
    return row.leads and below and not any(each.role == "header" for each in row.context)
