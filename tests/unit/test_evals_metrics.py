"""How measures become figures: questions resampled whole, strata, choices of records, groups."""

import pytest

from evals.metrics import Metric, by_tag, figures
from evals.metrics.answer_metrics import ABSTENTION, pairs
from evals.metrics.citation_metrics import VERDICTS
from evals.metrics.cost_metrics import COST
from evals.metrics.metric_groups import METRICS
from evals.metrics.retrieval_metrics import PAGES
from evals.records import Record
from graph.evidence import Spent
from tests.evals_records import bare, section_of, stated

RIGHT = Metric("right", "Right", "right ones", lambda each: (float(each["outcome"] == each["expected"]),))


def removed(case_id: str, outcome: str, **changed: object) -> Record:
    return bare(case_id, variant="removed", expected="abstained", outcome=outcome, **changed)


def means(records: list[Record], metrics: tuple[Metric, ...]) -> dict[str, float]:
    return {name: figure["mean"] for name, figure in figures(records, metrics).items()}


def test_every_measure_has_a_name_of_its_own_and_applies_to_something() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert len({metric.title for metric in METRICS}) == len(METRICS)


def test_the_two_askings_of_a_question_are_one_question() -> None:
    records = [bare("a"), removed("a", "abstained"), bare("b"), removed("b", "answered")]
    figure = figures(records, [RIGHT])["right"]
    assert (figure["mean"], figure["n"]) == (0.75, 2)
    assert RIGHT.parted(records) == [[[1.0, 1.0], [1.0, 0.0]]]


def test_a_measure_that_applies_to_nothing_is_left_out() -> None:
    nothing = Metric("nothing", "Nothing", "nothing", lambda _: ())
    assert figures([bare()], [nothing, RIGHT]).keys() == {"right"}
    assert figures([], [RIGHT]) == {}
    assert nothing.change([bare()], [bare()]) is None


def test_groups_are_of_records_with_the_same_tag() -> None:
    records = [
        bare("a", tags={"language": "en"}),
        bare("b", tags={"language": "vi"}, outcome="abstained"),
        bare("c"),
    ]
    found = by_tag(records, [RIGHT], "language")
    assert {value: each["right"]["mean"] for value, each in found.items()} == {"en": 1.0, "vi": 0.0}


def test_a_change_is_taken_question_by_question() -> None:
    before = [bare(f"q{n}", outcome="abstained" if n % 2 else "answered") for n in range(20)]
    after = [bare(f"q{n}") for n in range(20)]
    found = RIGHT.change(before, after)
    assert found is not None
    change, p_value = found
    assert change.mean == 0.5
    assert change.low > 0
    assert p_value == 1 / 1000


def test_abstention_is_right_on_either_side() -> None:
    records = [
        bare("a"),
        removed("a", "abstained"),
        bare("b", outcome="abstained"),
        removed("b", "abstained"),
        bare("c"),
        bare("d"),
        bare("e", outcome="failed"),
        bare("f", expected="abstained", outcome="answered"),
    ]
    assert means(records, ABSTENTION) == {
        "abstention_accuracy": 5 / 8,
        "abstention_balanced_accuracy": round((3 / 5 + 2 / 3) / 2, 4),
        "answered_when_answerable": 3 / 5,
        "refused_when_not": round(2 / 3, 4),
        "paired_balanced_accuracy": 0.75,
    }


def test_refusing_everything_is_half_right_and_no_more() -> None:
    records = [each for n in range(4) for each in (bare(f"q{n}", outcome="abstained"), removed(f"q{n}", "abstained"))]
    found = means(records, ABSTENTION)
    assert (found["abstention_balanced_accuracy"], found["paired_balanced_accuracy"]) == (0.5, 0.5)


def test_without_pairs_and_without_unanswerable_questions_nothing_is_balanced() -> None:
    records = [bare("a"), bare("b", outcome="abstained")]
    assert pairs(records) == []
    assert means(records, ABSTENTION).keys() == {"abstention_accuracy", "answered_when_answerable"}


def test_verdicts_are_shares_of_claims_before_and_after_repair() -> None:
    shown = [stated(), stated(), stated(verdict="unverified")]
    first = [stated(), stated(verdict="contradicted"), stated(verdict="unsupported"), stated(verdict="unverified")]
    written = [section_of("a:0"), section_of("a:1"), section_of("a:2"), section_of("a:3")]
    found = means([bare(claims=shown, first_claims=first, written=written, sections=written[:3])], VERDICTS)
    assert found == {
        "claims_supported": 0.6667,
        "claims_unverified": 0.3333,
        "claims_unsupported": 0.0,
        "claims_contradicted": 0.0,
        "first_claims_supported": 0.25,
        "first_claims_unverified": 0.25,
        "first_claims_unsupported": 0.25,
        "first_claims_contradicted": 0.25,
        "withdrawn_sections": 0.25,
    }


def test_what_a_run_says_itself_of_its_sources_is_no_claim_of_the_writer() -> None:
    own, by_run = section_of("a:0"), section_of("a:0", "b:0")
    said = [stated(verdict="unverified"), stated(section=1)]
    found = means(
        [
            bare(
                written=[own, own, by_run],
                first_claims=[
                    stated(verdict="contradicted"),
                    stated(verdict="unverified", section=1),
                    stated(section=2),
                ],
                sections=[own, by_run],
                claims=said,
                disagreements=[["a:0", "b:0"]],
            )
        ],
        VERDICTS,
    )
    assert (found["first_claims_supported"], found["first_claims_contradicted"]) == (0.0, 0.5)
    assert (found["claims_supported"], found["claims_unverified"]) == (0.0, 1.0)
    assert found["withdrawn_sections"] == 0.5


def test_an_answer_given_up_has_all_its_sections_withdrawn_and_a_refusal_has_none() -> None:
    refusal = section_of()
    given_up = bare(
        outcome="abstained", first_claims=[stated()], written=[section_of("a:0"), section_of("a:1"), refusal]
    )
    refused = bare("q2", outcome="abstained", written=[refusal])
    failed = bare("q3", outcome="failed", written=[section_of("a:0")], first_claims=[stated()])
    figure = figures([given_up, refused, failed], VERDICTS)["withdrawn_sections"]
    assert (figure["mean"], figure["n"]) == (1.0, 1)


def test_pages_are_covered_by_the_segments_that_were_read() -> None:
    pages = [
        {"document": "a", "read": 2, "of": 4},
        {"document": "b", "read": 3, "of": 3},
        {"document": "empty", "read": 0, "of": 0},
    ]
    assert means([bare(pages_read=pages), bare("q2")], PAGES) == {"page_coverage": 0.75}


def test_cost_is_of_runs_that_ended() -> None:
    spent = {"write": Spent(calls=2, tokens=300, ms=5.0), "check": Spent(calls=1, tokens=100, ms=1.0)}
    records = [bare(f"q{n}", ms=float(n), first_text_ms=n / 2) for n in range(1, 100)]
    records.append(bare("q100", ms=100.0, first_text_ms=None, spent=spent))
    records.append(bare("failed", outcome="failed", ms=90_000.0, first_text_ms=80_000.0))
    found = means(records, COST)
    assert found == {
        "ms": 50.5,
        "ms_p50": 50.0,
        "ms_p95": 95.0,
        "first_text_ms": 25.0,
        "first_text_ms_p50": 25.0,
        "first_text_ms_p95": 47.5,
        "model_calls": 0.03,
        "tokens": 4.0,
        "failed_runs": pytest.approx(1 / 101, abs=1e-4),
    }
