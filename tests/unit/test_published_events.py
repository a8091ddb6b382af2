"""A run's published events read alike whether they are packed or not."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

import tools.runs.published
from graph.events import AnyEvent, Envelope, SectionFinished, StepStarted, TextDelta, payload
from tools.runs.published import LONG, PublishedEvents, parse_line

RUN_ID, SESSION_ID = str(UUID(int=1)), str(UUID(int=2))

texts = st.one_of(st.text(max_size=30), st.text(min_size=1, max_size=5).map(lambda each: each * LONG))
events: st.SearchStrategy[AnyEvent] = st.one_of(
    st.builds(TextDelta, section_index=st.integers(0, 9), delta=texts),
    st.builds(SectionFinished, section_index=st.integers(0, 9), text=texts, source_ids=st.lists(st.text(max_size=5))),
    st.builds(StepStarted, step=st.text(max_size=5)),
)
batches = st.lists(st.one_of(st.just("pack"), st.lists(events, min_size=1, max_size=4)), max_size=8)


def logged(seq: int, event: AnyEvent) -> Envelope:
    at = f"2026-11-28T12:00:{seq:02}.000Z"
    envelope = Envelope(RUN_ID, SESSION_ID, seq, at, event)
    return Envelope(RUN_ID, SESSION_ID, seq, at, event, to_json(payload(envelope)).decode())


@given(batches, st.integers(1, 5), st.integers(0, 40), st.integers(1, 40))
def test_packing_changes_nothing_that_is_read(
    steps: list[str | list[AnyEvent]], begins_at: int, first: int, most: int
) -> None:
    published, all_of_them = PublishedEvents(), list[Envelope]()
    for step in steps:
        if isinstance(step, str):
            published.pack()
        else:
            start = begins_at + len(all_of_them)
            batch = [logged(start + at, event) for at, event in enumerate(step)]
            all_of_them += batch
            published.add(batch)
        assert published.last == (all_of_them[-1] if all_of_them else None)
        assert published.read() == all_of_them
        assert published.read(first, most) == all_of_them[first : first + most]
        for each, same in zip(published.read(), all_of_them, strict=True):
            assert each.text in (same.text, "")


def test_a_late_reader_has_each_packed_event_parsed_a_few_times_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []

    def counting(run_id: str, session_id: str, seq: int, text: str) -> Envelope:
        parsed.append(seq)
        return parse_line(run_id, session_id, seq, text)

    monkeypatch.setattr(tools.runs.published, "parse_line", counting)
    count, page = 1000, 90
    published, all_of_them = PublishedEvents(), [logged(seq, StepStarted(step=str(seq))) for seq in range(1, count + 1)]
    for first in range(0, count, 125):
        published.add(all_of_them[first : first + 125])
        published.pack()
    assert len(parsed) <= count, "what is packed already is packed again"
    parsed.clear()
    pages = [published.read(first, page) for first in range(0, count, page)]
    assert [(each.seq, each.event) for page in pages for each in page] == [
        (each.seq, each.event) for each in all_of_them
    ]
    assert max(map(parsed.count, range(1, count))) <= 3
