"""What an imaginary writer replied to the golden questions: half of its sections are wrong, in four known ways."""

from typing import Literal

from pydantic import BaseModel

from evals.datasets.reading import rows_of_lines
from evals.golden import FOLDER

Fault = Literal["wrong_number", "invented", "wrong_id", "unknown_id"]
FAULTS: tuple[Fault, ...] = ("wrong_number", "invented", "wrong_id", "unknown_id")


class Cite(BaseModel, extra="forbid"):
    """What a section cites: the segment that holds a quote of a document, or an id that no segment has."""

    document: str = ""
    quote: str = ""
    id: str = ""


class RecordedSection(BaseModel, extra="forbid"):
    """A section of one sentence. ``fault`` is what is wrong with it, None where it is right."""

    text: str
    cites: tuple[Cite, ...]
    fault: Fault | None


class RecordedReply(BaseModel, extra="forbid"):
    """The reply to the question with this id."""

    id: str
    sections: tuple[RecordedSection, ...]


def load_replies() -> dict[str, RecordedReply]:
    """Read the recorded replies by the ids of their questions. Raises InvalidRequest naming the line at fault."""
    files = sorted(FOLDER.glob("replies.*.jsonl"))
    return {reply.id: reply for file in files for _, reply in rows_of_lines(file, RecordedReply)}
