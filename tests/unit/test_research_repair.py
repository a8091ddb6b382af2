"""What the comparison of a model's answers before and after repair counts."""

from graph.events import AnyEvent, SectionChecked, SectionFinished, SectionRevised, SourcesDisagree
from graph.evidence import Claim, Disagreement, Message, Section, SectionClaim, Verdict
from research.repair import finished, first_written


def claim(text: str, verdict: Verdict) -> Claim:
    return Claim(start=0, end=len(text), text=text, verdict=verdict, reasons=[], citations=[])


def written(index: int, text: str, verdict: Verdict) -> list[AnyEvent]:
    return [
        SectionFinished(section_index=index, text=text, source_ids=[]),
        SectionChecked(section_index=index, claims=[claim(text, verdict)]),
    ]


def test_the_first_check_counts_whatever_becomes_of_a_section() -> None:
    revised = SectionRevised(section_index=1, text="Right.", source_ids=[], claims=[claim("Right.", "supported")])
    before, revisions = first_written(
        [*written(0, "Held.", "supported"), *written(1, "Wrong.", "unsupported"), revised]
    )
    assert before.text == "Held.\n\nWrong."
    assert [each["verdict"] for each in before.claims] == ["supported", "unsupported"]
    assert revisions == [revised]


def test_what_the_run_says_of_its_sources_is_counted_on_neither_side() -> None:
    disagreement = SourcesDisagree(segment_ids=["a:0", "b:0"], reason="25 and 30")
    told = [*written(0, "Held.", "supported"), disagreement, *written(1, "They disagree.", "supported")]
    before, _ = first_written(told)
    assert (before.text, len(before.claims)) == ("Held.", 1)
    after = finished(
        Message(
            answer="Held.\n\nThey disagree.",
            sections=[Section(text="Held.", source_ids=[]), Section(text="They disagree.", source_ids=[])],
            citations=[],
            sources=[],
            claims=[
                SectionClaim(**claim("Held.", "supported"), section_index=0),
                SectionClaim(**claim("They disagree.", "supported"), section_index=1),
            ],
            disagreements=[Disagreement(segment_ids=["a:0", "b:0"], reason="25 and 30")],
        )
    )
    assert (after.text, len(after.claims)) == ("Held.", 1)
