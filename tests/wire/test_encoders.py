"""Every dialect has decided about every event: it handles it, or names it as ignored."""

from functools import singledispatchmethod
from typing import Any

import pytest

from api.dialects.registry import DIALECTS
from api.event_frames import Encoder
from graph.events import EVENTS, AnyEvent, Envelope
from tests.wire.script import envelopes

ENCODERS = {name: dialect.encoder for name, dialect in DIALECTS.items()}


def handled(encoder: Any) -> set[type[AnyEvent]]:
    """List the events that an encoder has a handler for; one that has no handlers, those that it gives frames."""
    methods = [each for each in vars(encoder).values() if isinstance(each, singledispatchmethod)]
    if not methods:
        return {type(envelope.event) for envelope in envelopes() if encoder().encode(envelope)}
    return {event for each in methods for event in each.dispatcher.registry} & EVENTS


def undecided(encoder: Any) -> list[str]:
    """Name the events that an encoder neither handles nor ignores."""
    ignored = getattr(encoder, "ignored", frozenset())
    return sorted(event.__name__ for event in EVENTS - handled(encoder) - ignored)


def test_every_dialect_has_decided_about_every_event() -> None:
    lists = {name: undecided(encoder) for name, encoder in ENCODERS.items()}
    assert {name: events for name, events in lists.items() if events} == {}


@pytest.mark.parametrize("dialect", sorted(ENCODERS))
def test_no_dialect_handles_what_it_ignores(dialect: str) -> None:
    encoder: Any = ENCODERS[dialect]
    assert handled(encoder) & getattr(encoder, "ignored", frozenset()) == frozenset()


def test_an_event_without_a_decision_is_silent_and_listed() -> None:
    class Terse:
        stateful = False
        resumable = False
        ignored = frozenset({event for event in EVENTS if event.__name__ != "TitleChanged"})

        @singledispatchmethod
        def _encode(self, event: AnyEvent) -> bytes:
            return b""

        def encode(self, envelope: Envelope) -> bytes:
            return self._encode(envelope.event)

    encoder: Encoder = Terse()
    assert b"".join(map(encoder.encode, envelopes())) == b""
    assert undecided(Terse) == ["TitleChanged"]
