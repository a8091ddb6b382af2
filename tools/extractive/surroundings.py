"""What stands around a sentence and says what it is about, so that it need not say so itself.

"The crossing takes 55 minutes." tells how long one line takes only with the title above it, and "Adult | 13 euros" what
it costs only with the table's header row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.evidence import Segment
from tools.extractive.candidates import Candidate


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The document's title, the nearest heading above, and the header row of its table, "" where there is none."""

    title: str
    heading: str
    header: str

    @property
    def text(self) -> str:
        return " ".join(part for part in (self.title, self.heading, self.header) if part)


def surroundings(segments: Sequence[Segment], pool: Sequence[Candidate]) -> list[Surroundings]:
    """Give what stands around each candidate. A table's first row is its header, and has none itself."""
    found: list[Surroundings] = []
    segment, heading, header, in_table = -1, "", "", False
    for candidate in pool:
        if candidate.segment != segment:
            segment, in_table = candidate.segment, False
            heading = segments[segment].heading
        if candidate.shape == "heading":
            heading = candidate.text
        opens_table = candidate.shape == "row" and not in_table
        if opens_table:
            header = candidate.text
        in_table = candidate.shape == "row"
        above = header if in_table and not opens_table else ""
        found.append(Surroundings(segments[segment].title, heading, above))
    return found
