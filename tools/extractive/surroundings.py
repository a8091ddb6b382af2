"""What stands around a sentence and says what it is about, so that it need not say so itself.

"The crossing takes 55 minutes." tells how long one line takes only with the title above it, and "Adult | 13 euros" what
it costs only with the table's header row.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graph.evidence import Segment
from tools.extractive.candidates import Candidate


class Surroundings(NamedTuple):
    """The document's title, the nearest heading above, and the header row of its table, "" where there is none."""

    title: str
    heading: str
    header: str

    @property
    def text(self) -> str:
        return " ".join(part for part in self if part)


class Places(NamedTuple):
    """The surroundings of some candidates without repeats, and which of them each candidate stands in."""

    around: tuple[Surroundings, ...]
    of: NDArray[np.int_]  # (candidates,)


def places(segments: Sequence[Segment], pool: Sequence[Candidate]) -> Places:
    """Find what stands around each candidate. A table's first row is its header, and has none itself."""
    known: dict[Surroundings, int] = {}
    of: list[int] = []
    segment, heading, header = -1, "", ""
    for candidate in pool:
        if candidate.segment != segment:
            segment, header = candidate.segment, ""
            heading = segments[segment].heading
        if candidate.shape == "heading":
            heading = candidate.text
        if candidate.shape != "row":
            header = ""
        here = Surroundings(segments[segment].title, heading, header)
        of.append(known.setdefault(here, len(known)))
        if candidate.shape == "row":
            header = header or candidate.text
    return Places(tuple(known), np.array(of, dtype=np.int_))
