"""Server-Sent Event frames as bytes, the Encoder protocol of dialects, and its silent default."""

from typing import Any, Protocol

from pydantic_core import to_json

from graph.events import AnyEvent, Envelope, Listener


class EncodedJson(str):
    """JSON that is written out already, as one line."""


def frame(data: Any, *, event: str | None = None, event_id: str | None = None) -> bytes:
    r"""Write one SSE frame with its data as one line of JSON; every line ends in ``\n``.

    Some clients split frames at a blank line of ``\n\n`` alone, so no frame ever holds a carriage return.
    Raises PydanticSerializationError where the data is not JSON-able, as with lone surrogates.
    """
    head = f"id: {event_id}\n" if event_id is not None else ""
    if event is not None:
        head += f"event: {event}\n"
    return b"%bdata: %b\n\n" % (head.encode(), data.encode() if isinstance(data, EncodedJson) else to_json(data))


class Encoder(Listener[bytes], Protocol):
    """One wire format, made anew for each stream, so that it may remember what it has said.

    Each method of the Listener gives the frames that its event becomes, and ``b""`` for silence. ``remembers`` tells
    whether what it says of an event depends on those before it: a reader that joins later is then given the whole log
    to hear, and told only what it has missed.
    """

    @property
    def remembers(self) -> bool: ...

    @property
    def rejoins(self) -> bool:
        """Whether its clients join a run again by themselves when a stream breaks off before its end."""
        ...

    def speak(self, envelope: Envelope) -> bytes:
        """Give the frames of an event at its place in the run's log."""
        ...


class SilentEncoder:
    """Says nothing of what is done inside a run, nor of drafts and verdicts: sections are told once they are final.

    Whatever else a dialect is silent about it says itself, ``silent`` by name, so that the type check still fails where
    a dialect has not decided what becomes of a new event.
    """

    def silent(self, event: AnyEvent) -> bytes:
        """Give no frame."""
        return b""

    run_resumed = silent
    step_finished = silent
    pages_loaded = silent
    sources_found = silent
    sources_disagree = silent
    query_rewritten = silent
    section_started = silent
    text_delta = silent
    section_finished = silent
    section_checked = silent
    section_revised = silent
    content_removed = silent
    title_changed = silent
