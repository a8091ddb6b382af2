"""The exam of judges: its claims, its halves, its threshold, and who passes."""

import json
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from answers.open_claims import claim_language
from graph.errors import ModelReplyInvalid, ModelUnavailable
from graph.ports import Judgement, OpenClaim
from graph.usage import Meter
from tests.judging import NO, YES, Rule, RuleJudge, coin, flip_flop, knows, small_exam
from text.language import language
from tools.judges.exam import (
    BATCH,
    batches,
    built_in_exam,
    estimate_cost,
    examine,
    read_exam,
    sample,
)
from tools.judges.exam_marking import (
    MOST_WRONG,
    Answer,
    LanguageResult,
    Share,
    choose_threshold,
    halves,
    mark,
    share_proven,
    share_wrong,
)

EXAM = built_in_exam()
ROOT = Path(__file__).resolve().parents[2]


def test_the_exam_has_at_least_240_claims_half_of_them_false_in_three_languages() -> None:
    counts = Counter((claim.language, claim.supported) for claim in EXAM.claims)
    assert EXAM.languages == ("en", "vi", "zh")
    assert len(EXAM.claims) >= 240
    for code in EXAM.languages:
        assert counts[code, True] == counts[code, False] >= 40


def test_an_installation_has_the_claims() -> None:
    from hatchling.builders.wheel import WheelBuilder

    shipped = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert "tools/judges/exam_claims.jsonl" in shipped


def test_every_claim_is_complete_and_has_an_id_of_its_own() -> None:
    assert len({claim.claim_id for claim in EXAM.claims}) == len(EXAM.claims)
    assert len({(claim.claim.claim, claim.claim.entries) for claim in EXAM.claims}) == len(EXAM.claims)
    for claim in EXAM.claims:
        assert claim.claim.claim.strip(), claim
        assert claim.claim.question.strip(), claim
        assert claim.kind, claim
        assert claim.claim.entries, claim
        assert all(entry.text.strip() and entry.title for entry in claim.claim.entries), claim


def test_each_claim_is_judged_in_the_language_of_its_exam() -> None:
    assert [claim.claim_id for claim in EXAM.claims if claim_language(claim.claim) != claim.language] == []


def test_a_claim_of_names_and_figures_is_in_the_language_of_its_question() -> None:
    assert claim_language(OpenClaim("Ben 25", (), question="Ai được nghỉ phép 25 ngày?")) == "vi"
    assert language("Ben 25") == "en"


def test_false_claims_are_not_given_away_by_their_length() -> None:
    for code in EXAM.languages:
        mean = {
            label: sum(len(c.claim.claim) for c in EXAM.of(code) if c.supported is label) / (len(EXAM.of(code)) / 2)
            for label in (True, False)
        }
        assert 0.9 <= mean[False] / mean[True] <= 1.1


def test_both_halves_hold_as_many_true_as_false_claims() -> None:
    assigned = halves((claim.claim_id, claim.language, claim.supported) for claim in EXAM.claims)
    counts = Counter((claim.language, claim.supported, assigned[claim.claim_id]) for claim in EXAM.claims)
    for code in EXAM.languages:
        for half in ("chosen", "held"):
            assert counts[code, True, half] == counts[code, False, half] >= 20  # type: ignore[index]


labelled = some.lists(
    some.tuples(some.text("abc123", min_size=1), some.sampled_from(["en", "vi"]), some.booleans()),
    unique_by=lambda claim: claim[0],
)


@given(labelled)
def test_halves_do_not_depend_on_the_order_of_claims_and_differ_by_one_at_most(
    claims: list[tuple[str, str, bool]],
) -> None:
    assigned = halves(claims)
    assert assigned == halves(reversed(claims))
    for code, label in {(code, label) for _, code, label in claims}:
        sides = Counter(assigned[name] for name, of, supported in claims if (of, supported) == (code, label))
        assert 0 <= sides["held"] - sides["chosen"] <= 1


def test_the_digest_changes_with_a_claim() -> None:
    row = {"id": "x", "lang": "en", "supported": True, "kind": "k", "question": "q", "title": "t", "heading": ""}
    line = json.dumps({**row, "evidence": ["e"], "before": "", "claim": "c"})
    assert read_exam(line).digest == read_exam(line).digest
    assert read_exam(line).digest != read_exam(line.replace('"c"', '"d"')).digest


def test_batches_hold_every_claim_once_and_keep_those_on_one_passage_apart() -> None:
    for code in EXAM.languages:
        made = batches(EXAM.of(code))
        assert sorted(claim.claim_id for batch in made for claim in batch) == sorted(
            claim.claim_id for claim in EXAM.of(code)
        )
        assert max(map(len, made)) == BATCH
        side_by_side = sum(len(batch) - len({claim.claim.entries for claim in batch}) for batch in made)
        assert side_by_side <= 2


def test_a_sample_is_balanced_and_the_same_every_time() -> None:
    taken = sample(EXAM.claims, 20)
    assert taken == sample(EXAM.claims, 20)
    assert Counter((claim.language, claim.supported) for claim in taken) == {
        (code, label): 10 for code in EXAM.languages for label in (True, False)
    }


def test_a_share_has_wilson_limits() -> None:
    low, high = Share(0, 25).interval
    assert (low, round(high, 3)) == (0.0, 0.133)
    assert [round(limit, 3) for limit in Share(1, 25).interval] == [0.007, 0.195]
    assert [round(limit, 3) for limit in Share(15, 30).interval] == [0.332, 0.668]
    assert Share(25, 25).interval[1] == 1.0
    assert Share(0, 0).interval == (0.0, 1.0)
    assert str(Share(1, 25)) == "1 of 25 (1% to 20%)"


@given(some.integers(1, 300).flatmap(lambda of: some.tuples(some.integers(0, of), some.just(of))))
def test_an_interval_holds_its_share(counted: tuple[int, int]) -> None:
    share = Share(*counted)
    low, high = share.interval
    assert 0.0 <= low <= share.mean <= high <= 1.0
    assert low < high


judgements = some.builds(
    Judgement,
    some.sampled_from(["supported", "contradicted", "unsupported", None]),
    some.one_of(some.none(), some.floats(0, 1)),
)
answer_lists = some.lists(some.tuples(some.booleans(), judgements), min_size=1, max_size=60).map(
    lambda pairs: [Answer(str(place), label, judgement) for place, (label, judgement) in enumerate(pairs)]
)


@given(answer_lists)
def test_the_threshold_is_the_lowest_that_keeps_false_claims_out(answers: list[Answer]) -> None:
    threshold = choose_threshold(answers)
    reported = [
        answer.judgement.probability
        for answer in answers
        if answer.judgement.verdict == "supported" and answer.judgement.probability is not None
    ]
    if threshold is None:
        assert reported == []
        return
    lower = [each for each in [0.0, *reported] if each < threshold]
    assert all(share_wrong(answers, each).mean > MOST_WRONG for each in lower)
    assert all(share_proven(answers, each).count >= share_proven(answers, threshold).count for each in lower)
    if share_wrong(answers, threshold).mean > MOST_WRONG:
        assert threshold == max(reported)


@given(answer_lists)
def test_a_higher_threshold_never_lets_more_pass(answers: list[Answer]) -> None:
    for lower, higher in pairwise([0.0, 0.25, 0.5, 0.75, 1.0]):
        assert share_wrong(answers, higher).count <= share_wrong(answers, lower).count
        assert share_proven(answers, higher).count <= share_proven(answers, lower).count


@given(answer_lists)
def test_the_held_half_has_no_part_in_the_threshold(answers: list[Answer]) -> None:
    assigned = halves((answer.claim_id, "en", answer.supported) for answer in answers)
    chosen = [answer for answer in answers if assigned[answer.claim_id] == "chosen"]
    turned = [
        answer
        if assigned[answer.claim_id] == "chosen"
        else Answer(answer.claim_id, answer.supported, Judgement("supported", 0.5))
        for answer in answers
    ]
    assert marked(answers).threshold == marked(turned).threshold == choose_threshold(chosen)


def marked(answers: list[Answer]) -> LanguageResult:
    assigned = halves((answer.claim_id, "en", answer.supported) for answer in answers)
    return mark("en", answers, assigned, calls=1, tokens=1, seconds=1.0, taken_at=datetime.now(UTC))


def test_a_probability_below_the_threshold_takes_the_verdict_away() -> None:
    """A judge that says yes to all, surer of true claims, passes by its threshold; without probabilities it fails."""
    exam = small_exam("en", each=40)
    answers = [
        Answer(claim.claim_id, claim.supported, Judgement("supported", 0.7 if claim.supported else 0.6))
        for claim in exam.claims
    ]
    by_probability = marked(answers)
    assert by_probability.passed
    assert by_probability.threshold == 0.7
    assert by_probability.right.count == by_probability.right.of
    by_word = marked([Answer(each.claim_id, each.supported, YES) for each in answers])
    assert (by_word.threshold, by_word.passed) == (None, False)


def test_a_threshold_never_turns_no_into_yes() -> None:
    answers = [Answer(str(place), True, Judgement("unsupported", 0.99)) for place in range(20)]
    result = marked(answers)
    assert result.proven.count == 0
    assert not result.passed


def test_a_verdict_without_the_probability_that_the_threshold_asks_for_does_not_pass() -> None:
    answer = Answer("a", True, YES)
    assert answer.accepted(None)
    assert answer.accepted(0.0)
    assert not answer.accepted(0.4)


@pytest.mark.parametrize("code", EXAM.languages)
async def test_a_judge_that_knows_passes_in_each_language(code: str) -> None:
    meter, steps = Meter(), []
    judge = RuleJudge(knows(EXAM))
    result = (
        await examine(judge, EXAM.of(code), progress=lambda done, of: steps.append((done, of)), meter=meter)
    ).languages[code]
    assert result.passed
    assert result.faults == []
    assert result.right.count == result.right.of == result.wrong.of + result.proven.of
    assert result.wrong.count == 0
    assert (result.calls, result.tokens) == (meter.calls, meter.tokens) == (len(batches(EXAM.of(code))), meter.tokens)
    assert steps[-1] == (len(EXAM.of(code)), len(EXAM.of(code)))
    assert steps == sorted(steps)
    assert result.figure == {"language": code, "right": result.right.of, "of": result.right.of}


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        (lambda claim: YES, "false claims supported"),
        (lambda claim: Judgement("supported", 1.0), "at any threshold"),
        (lambda claim: NO, "it called 0 of"),
        (coin, "false claims supported"),
        (flip_flop(), "false claims supported"),
        (lambda claim: Judgement(None, reason="unreadable"), "claims got no verdict"),
    ],
    ids=["always yes", "always surely yes", "always no", "coin", "flip-flop", "garbage"],
)
async def test_a_judge_that_does_not_read_fails_in_every_language(rule: Rule, fault: str) -> None:
    result = await examine(RuleJudge(rule), EXAM.claims)
    assert set(result.languages) == set(EXAM.languages)
    for each in result.languages.values():
        assert not each.passed
        assert fault in "; ".join(each.faults)


async def test_an_unreadable_reply_is_no_verdict_for_its_batch() -> None:
    exam = small_exam("en", each=20)
    judge = RuleJudge(knows(exam), failure=ModelReplyInvalid("It is no JSON."), fails_after=1)
    result = (await examine(judge, exam.claims, at_once=1)).languages["en"]
    assert result.silent.count > 0
    assert result.wrong.count == 0
    assert not result.passed


async def test_a_verdict_too_few_is_no_verdict_for_its_batch() -> None:
    class Short(RuleJudge):
        async def judge(self, claims, *, meter):  # type: ignore[no-untyped-def]
            return (await super().judge(claims, meter=meter))[1:]

    result = (await examine(Short(lambda claim: YES), small_exam("en").claims)).languages["en"]
    assert result.silent.count == result.silent.of


async def test_an_exam_that_can_not_go_on_has_no_result() -> None:
    judge = RuleJudge(knows(EXAM), failure=ModelUnavailable("It is down."), fails_after=5)
    with pytest.raises(ModelUnavailable, match="It is down"):
        await examine(judge, EXAM.claims)


def test_the_cost_counts_claims_batches_and_tokens() -> None:
    cost = estimate_cost(EXAM.claims)
    assert cost.claims == len(EXAM.claims)
    assert cost.calls == sum(len(batches(EXAM.of(code))) for code in EXAM.languages)
    assert estimate_cost(EXAM.claims, one_a_call=True).calls == len(EXAM.claims)
    text = sum(len(entry.text) for claim in EXAM.claims for entry in claim.claim.entries)
    assert text / 4 < cost.tokens < text * 2
    assert str(cost.claims) in str(cost)
