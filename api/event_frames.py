"""Server-Sent Event frames as bytes, and the Encoder protocol of dialects."""

from collections.abc import Iterable
from typing import Any, Protocol

from pydantic_core import to_json

from graph import events
from graph.events import AnyEvent, Envelope

EventTypes = frozenset[type[AnyEvent]]
# Dialects that send only final sections leave these to their buffer.
DRAFT_EVENTS: EventTypes = frozenset(
    {
        events.SectionStarted,
        events.TextDelta,
        events.ClaimChecked,
        events.SectionFinished,
        events.SectionChecked,
        events.SectionRevised,
        events.Correction,
    }
)
# Internals of a run that the wire formats of chat windows have no frame for.
INTERNAL_EVENTS: EventTypes = frozenset(
    {
        events.RunResumed,
        events.StepFinished,
        events.PagesLoaded,
        events.SourcesFound,
        events.SourcesDisagree,
        events.QueryRewritten,
        events.ContentRemoved,
        events.TitleChanged,
    }
)
# What a window that shows sources and an answer alone has no frame for either.
UNSHOWN_EVENTS: EventTypes = (
    DRAFT_EVENTS
    | INTERNAL_EVENTS
    | {events.Queued, events.StepStarted, events.RetrievalDecided, events.SearchFailed, events.AnswerAssessed}
)
# Told as they are to windows that show what a run does.
ProgressEvent = (
    events.Queued
    | events.RetrievalDecided
    | events.PagesLoaded
    | events.SourcesFound
    | events.SearchFailed
    | events.SourcesDisagree
    | events.QueryRewritten
    | events.ContentRemoved
    | events.TitleChanged
)


def silent(encoder: Any, event: AnyEvent) -> bytes:
    """Return no frame: what an encoder's ``singledispatchmethod`` does with an event that it has no handler for."""
    return b""


class EncodedJson(str):
    """Serialised JSON, on one line."""


def frame(data: Any, *, event: str | None = None, event_id: str | None = None) -> bytes:
    r"""Return one SSE frame with its data as one line of JSON; every line ends in ``\n``.

    Some clients split frames only at ``\n\n``, so a frame never contains a carriage return.
    Raises PydanticSerializationError if the data can't be serialised, for example because of lone surrogates.
    """
    head = f"id: {event_id}\n" if event_id is not None else ""
    if event is not None:
        head += f"event: {event}\n"
    return b"%bdata: %b\n\n" % (head.encode(), data.encode() if isinstance(data, EncodedJson) else to_json(data))


def frames(data: Iterable[Any]) -> bytes:
    """Return a frame without a name for each of these."""
    return b"".join(map(frame, data))


class Encoder(Protocol):
    """A wire format, with an instance for each stream, so that it may keep state.

    It returns no frame for an unknown event. Our own encoders handle each event in a ``singledispatchmethod`` or list
    it in ``ignored``; a test finds the events that are in neither.
    """

    @property
    def stateful(self) -> bool:
        """Whether the frames of an event depend on the events before it.

        If so, the encoder gets a log from its first event, and its reader only the frames that it has missed.
        """
        ...

    @property
    def resumable(self) -> bool:
        """Whether clients reconnect by themselves when a stream breaks off before its end."""
        ...

    def encode(self, envelope: Envelope) -> bytes:
        """Return the frames of an event, or ``b""``."""
        ...
