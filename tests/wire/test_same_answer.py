"""One property for all dialects: for the same run each of them tells the same answer and the same citations.

Runs are made up as the graph would tell them (``runs.py``), and heard as each dialect's client hears them.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from answers.marks import marked_citations
from api.dialects.registry import DIALECTS
from api.stream import encode_run
from graph.events import Envelope, RunFinished, SectionFinished
from graph.evidence import Message
from tests.api.reading import parse_frames
from tests.wire.adapters import ADAPTERS
from tests.wire.adapters.adapter import Heard
from tests.wire.runs import (
    FAILURE,
    MESSAGE_ID,
    RUN_ID,
    SESSION_ID,
    broken_runs,
    cancelled_runs,
    is_revised,
    rewritten_runs,
    runs,
)

# What was revised is told anew, or replaced by the end; others are followed by a correction.
RETRACTING = {"native", "id_citations", "conversation"}


@dataclass
class Told:
    """A run that was told, to be read again from anywhere in its log."""

    log: Sequence[Envelope]
    run_id: str = RUN_ID
    session_id: str = SESSION_ID
    message_id: str = MESSAGE_ID
    watchers: int = 0
    abandoned: bool = False
    cancel_when_unread: bool = False

    async def events(self, after: int = 0) -> AsyncGenerator[Envelope, None]:
        for envelope in self.log[after:]:
            yield envelope

    async def batches(self, after: int = 0) -> AsyncGenerator[Sequence[Envelope], None]:
        for envelope in self.log[after:]:
            yield [envelope]

    async def is_over(self, after: int) -> bool:
        return after >= len(self.log)

    async def cancel(self, reason: str) -> None:
        raise AssertionError("a dialect could not tell its run")


def stream(name: str, log: Sequence[Envelope], after: int = 0) -> list[bytes]:
    """Tell a log as the API does, from behind an event."""

    async def told() -> list[bytes]:
        return [spoken async for spoken in encode_run(Told(log), DIALECTS[name].encoder(), after)]

    try:
        told().send(None)  # nothing of it waits, so it needs no event loop
    except StopIteration as done:
        return list(done.value)
    raise AssertionError("a log that is there already was waited for")


def all_heard(log: Sequence[Envelope]) -> dict[str, Heard]:
    """Tell a log in every dialect, each frame one that a client can read, and hear it as each client does."""
    told = {name: b"".join(stream(name, log)) for name in DIALECTS}
    for name, body in told.items():
        assert b"\r" not in body, name
        assert body.endswith(b"\n\n"), name
        for frame in parse_frames(body.decode()):
            assert frame["data"] == "[DONE]" or isinstance(json.loads(frame["data"]), dict | list), name
    return {name: ADAPTERS[name]().heard(body) for name, body in told.items()}


def message_of(log: Sequence[Envelope]) -> Message:
    end = log[-1].event
    assert isinstance(end, RunFinished)
    return end.message


def whole_of(log: Sequence[Envelope]) -> Heard:
    """Give what a client should have at the end: the answer, and the documents that its marks stand for."""
    message = message_of(log)
    marked = (each for claim in message.get("claims", []) for each in marked_citations(claim))
    return Heard(message["answer"], frozenset(each["document_id"] for each in marked), "done")


def exact(log: Sequence[Envelope]) -> list[str]:
    """Name the dialects that end in the answer's own words: where text was revised, those that can take it back."""
    return sorted(RETRACTING if is_revised(log) else DIALECTS)


def test_every_dialect_has_an_adapter_for_the_kit() -> None:
    assert set(ADAPTERS) == set(DIALECTS)
    assert {name: ADAPTERS[name]().name for name in ADAPTERS} == {name: name for name in ADAPTERS}


@given(log=runs())
def test_every_dialect_tells_the_same_answer_and_the_same_citations(log: list[Envelope]) -> None:
    whole = whole_of(log)
    told = all_heard(log)
    for name in exact(log):
        assert told[name] == whole, name
    assert {told[name].ended for name in DIALECTS} == {"done"}


@given(log=broken_runs())
def test_every_dialect_ends_a_broken_run_with_its_error(log: list[Envelope]) -> None:
    for name, heard in all_heard(log).items():
        assert heard.ended == "error", name
        assert heard.error_code in (FAILURE.code, None), name


@given(log=cancelled_runs())
def test_no_dialect_gives_a_run_that_was_stopped_other_words(log: list[Envelope]) -> None:
    told, message = all_heard(log), message_of(log)
    finished = sum(isinstance(each.event, SectionFinished) for each in log)
    for name in exact(log):
        heard = told[name]
        if heard.ended == "error":
            continue
        assert heard.ended == "done", name
        if name in RETRACTING or finished <= len(message["sections"]):
            assert heard.answer == message["answer"], name
        else:  # the stop withdrew a section, of which a format that appends has told a part, and corrects it
            assert [each["text"] for each in message["sections"] if each["text"] not in heard.answer] == [], name


@given(log=rewritten_runs())
def test_an_answer_that_a_crash_has_changed_is_told_as_it_ends_or_ends_with_an_error(log: list[Envelope]) -> None:
    whole = whole_of(log)
    told = all_heard(log)
    for name in exact(log):
        assert told[name].ended == "error" or told[name] == whole, name
    assert (told["native"].ended, told["id_citations"].ended) == ("done", "done")  # these two can take text back


@given(log=runs(), data=st.data())
def test_a_stream_that_is_cut_and_rejoined_gives_the_same(log: list[Envelope], data: st.DataObject) -> None:
    for name in (name for name in DIALECTS if ADAPTERS[name]().resumes):
        whole = stream(name, log)  # what is told of an event goes out as one piece
        head = b"".join(whole[: data.draw(st.integers(0, len(whole) - 1))])
        assert head + b"".join(stream(name, log, last_seen(head))) == b"".join(whole), name


@given(log=runs(), data=st.data())
def test_a_log_that_is_heard_from_anywhere_ends_in_the_same_bytes(log: list[Envelope], data: st.DataObject) -> None:
    after = data.draw(st.integers(0, len(log) - 1))
    for name in DIALECTS:
        speaker = DIALECTS[name].encoder()
        spoken = [speaker.encode(envelope) for envelope in log]
        assert b"".join(stream(name, log, after)) == b"".join(spoken[after:]), name


def last_seen(told: bytes) -> int:
    """Give the place in the log of the last event that a client knows to have had."""
    ids = [frame["id"] for frame in parse_frames(told.decode()) if "id" in frame]
    return int(ids[-1].rpartition(":")[2]) if ids else 0
