"""Claims found again in the marked answer, and drafts that end as what the run says."""

import re

from hypothesis import given

from api.dialects.ai_sdk.answer_draft import AnswerDraft, DraftChange
from api.dialects.citation_marks import JOINER, bracket, marked_text, placed_claims
from api.dialects.section_buffer import final_sections
from graph.events import (
    Envelope,
    RunFinished,
    SectionChecked,
    SectionFinished,
    SectionRevised,
    SectionStarted,
    TextDelta,
)
from tests.wire.runs import cancelled_runs, runs
from tests.wire.texts import citation, claim, source


@given(runs())
def test_a_claim_is_where_it_is_said_to_be(log: list[Envelope]) -> None:
    end = log[-1].event
    assert isinstance(end, RunFinished)
    units = marked_text(end.message, bracket).encode("utf-16-le")
    for placed in placed_claims(final_sections(end.message), bracket):
        found = units[2 * placed.start : 2 * placed.end].decode("utf-16-le")
        assert re.sub(r"\[\d+\]", "", found).replace(JOINER, "") == placed.claim["text"].replace(JOINER, "")


@given(runs() | cancelled_runs())
def test_a_draft_ends_as_the_finished_answer(log: list[Envelope]) -> None:
    drafted = AnswerDraft(bracket)
    shown = ""
    for envelope in log:
        if (change := drafted.feed(envelope.event)) is not None:
            assert change.text or change.anew
            shown = change.text if change.anew else shown + change.text
    end = log[-1].event
    assert isinstance(end, RunFinished)
    assert shown == marked_text(end.message, bracket)


def test_a_section_disappears_when_it_fails_and_comes_back_revised() -> None:
    drafted = AnswerDraft(bracket)
    one, two = (claim("", text, "supported", [citation(source(1), "supported", 0)]) for text in ("One.", "Two."))
    failed = claim("", "Two.", "contradicted", [])
    heard = [
        drafted.feed(event)
        for event in [
            SectionStarted(section_index=0),
            TextDelta(section_index=0, delta="On"),
            TextDelta(section_index=0, delta="e."),
            SectionFinished(section_index=0, text="One.", source_ids=[]),
            SectionStarted(section_index=1),
            TextDelta(section_index=1, delta="Two."),
            SectionChecked(section_index=0, claims=[one]),
            SectionChecked(section_index=1, claims=[failed]),
            SectionRevised(section_index=1, text="Two.", source_ids=[], claims=[two]),
        ]
    ]
    assert [each for each in heard if each is not None] == [
        DraftChange("On", anew=False),
        DraftChange("e.", anew=False),
        DraftChange("\n\nTwo.", anew=False),
        DraftChange("One.", anew=True),
        DraftChange("\n\nTwo.", anew=False),
    ]
