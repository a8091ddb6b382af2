"""Server-Sent Event frames as bytes, and the Encoder protocol of dialects."""

from typing import Any, Protocol

from pydantic_core import to_json

from graph.events import (
    AnyEvent,
    ContentRemoved,
    Envelope,
    PagesLoaded,
    QueryRewritten,
    RunResumed,
    SectionChecked,
    SectionFinished,
    SectionRevised,
    SectionStarted,
    SourcesDisagree,
    SourcesFound,
    StepFinished,
    TextDelta,
    TitleChanged,
)

EventTypes = frozenset[type[AnyEvent]]
# What dialects that send finished sections alone leave to their buffer.
DRAFT_EVENTS: EventTypes = frozenset({SectionStarted, TextDelta, SectionFinished, SectionChecked, SectionRevised})
# What is done inside a run, of which dialects for chat windows have no word.
INTERNAL_EVENTS: EventTypes = frozenset(
    {
        RunResumed,
        StepFinished,
        PagesLoaded,
        SourcesFound,
        SourcesDisagree,
        QueryRewritten,
        ContentRemoved,
        TitleChanged,
    }
)


class EncodedJson(str):
    """JSON that is serialised already, as one line."""


def frame(data: Any, *, event: str | None = None, event_id: str | None = None) -> bytes:
    r"""Write one SSE frame with its data as one line of JSON; every line ends in ``\n``.

    Some clients split frames at a blank line of ``\n\n`` alone, so no frame ever holds a carriage return.
    Raises PydanticSerializationError where the data is not JSON-able, as with lone surrogates.
    """
    head = f"id: {event_id}\n" if event_id is not None else ""
    if event is not None:
        head += f"event: {event}\n"
    return b"%bdata: %b\n\n" % (head.encode(), data.encode() if isinstance(data, EncodedJson) else to_json(data))


class Encoder(Protocol):
    """One wire format, with an instance for each stream, so that it may keep what it has sent.

    It returns no frame for an event that it does not know. Ours handle an event in a ``singledispatchmethod`` or name
    it among ``ignored``; a test lists the events for which neither was decided.
    """

    @property
    def stateful(self) -> bool:
        """Whether the frames of an event depend on the events before it.

        Such an encoder is fed a log from its first event, and its reader sent the frames that it has missed.
        """
        ...

    @property
    def resumable(self) -> bool:
        """Whether clients join a run again by themselves when a stream breaks off before its end."""
        ...

    def encode(self, envelope: Envelope) -> bytes:
        """Return the frames of an event, or nothing."""
        ...
