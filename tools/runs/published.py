"""The published events of a run, as its process holds them for readers: as objects, or packed while nothing happens."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pydantic import ConfigDict, TypeAdapter
from pydantic_core import to_json

from graph.events import AnyEvent, Envelope, Event, payload

LONG = 500  # characters of an event's JSON, from which it is not kept beside the event
MOST_PACKED = 100  # events that are packed together: about as many as a reader takes at once
_EVENT: TypeAdapter[AnyEvent] = TypeAdapter(Event, config=ConfigDict(defer_build=True))


def parse_event(text: str) -> AnyEvent:
    """Parse an event from its JSON in the log."""
    return _EVENT.validate_json(text)


def parse_line(run_id: str, session_id: str, seq: int, text: str) -> Envelope:
    """Parse a line of a run's log."""
    at = text.partition('"at":"')[2].partition('"')[0]
    return Envelope(run_id, session_id, seq, at, parse_event(text), text)


@dataclass(slots=True)
class PublishedEvents:
    """Events in order, which only grow. The last one is always at hand."""

    _events: list[Envelope] = field(default_factory=list)  # behind those that are packed
    _long: list[int] = field(default_factory=list)  # the places among them, in the last batch, whose text is long
    _packed: list[bytes] = field(default_factory=list)  # each holds MOST_PACKED events, the last at most
    _packed_count: int = 0

    @property
    def last(self) -> Envelope | None:
        return self._events[-1] if self._events else None

    def add(self, batch: Sequence[Envelope]) -> None:
        """Add events that are committed.

        Who follows has been sent what was long in the last batch. Whoever joins later has its text made again, so that
        a run does not hold its log twice.
        """
        for at in self._long:
            self._events[at] = replace(self._events[at], text="")
        first = len(self._events)
        self._events += batch
        self._long = [first + at for at, each in enumerate(batch) if len(each.text) > LONG]

    def read(self, first: int = 0, most: int | None = None) -> list[Envelope]:
        """Return events from a place on, which counts from 0."""
        behind, end = self._packed_count, None if most is None else first + most
        if first >= behind:
            return self._events[first - behind : None if end is None else end - behind]
        start = first // MOST_PACKED
        found = self._unpacked(start, behind if end is None else min(end, behind))
        if end is None or end > behind:
            found += self._events[: None if end is None else end - behind]
        return found[first - start * MOST_PACKED :][:most]

    def pack(self) -> None:
        """Keep all events but the last as compressed JSON, a fifth of what they take as objects."""
        if len(self._events) > 1:
            whole = self._packed_count // MOST_PACKED
            before = [*self._unpacked(whole, self._packed_count), *self._events[:-1]]
            lines = [each.text.encode() if each.text else to_json(payload(each)) for each in before]
            self._packed[whole:] = [
                zlib.compress(b"\n".join(lines[at : at + MOST_PACKED])) for at in range(0, len(lines), MOST_PACKED)
            ]
            self._packed_count = whole * MOST_PACKED + len(lines)
            self._events, self._long = self._events[-1:], []

    def _unpacked(self, start: int, end: int) -> list[Envelope]:
        """Return the packed events before place ``end``, rounded up, from pack ``start`` on.

        Their places say their numbers, since none is left out.
        """
        if not self._packed:
            return []
        of, seq = self._events[0], self._events[0].seq - self._packed_count + start * MOST_PACKED
        packs = self._packed[start : -(-end // MOST_PACKED)]
        lines = [line for each in packs for line in zlib.decompress(each).decode().split("\n")]
        return [parse_line(of.run_id, of.session_id, seq + at, line) for at, line in enumerate(lines)]
