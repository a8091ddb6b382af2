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
    NEAR_TWIN,
    Sitting,
    built_in_exam,
    estimate_cost,
    examine,
    read_exam,
)
from tools.judges.exam_marking import (
    MOST_WRONG,
    Answer,
    LanguageResult,
    Spent,
    choose_threshold,
    mark,
    share_proven,
    share_wrong,
)
from tools.judges.sequential_testing import WRONG, Share

EXAM = built_in_exam()
LANGUAGES = ("en", "vi", "zh", "ja", "ko", "ar", "de", "fr", "es", "pt")
ROOT = Path(__file__).resolve().parents[2]


def test_the_exam_has_as_many_true_as_false_claims_in_each_of_ten_languages() -> None:
    counts = Counter((claim.language, claim.supported) for claim in EXAM.claims)
    assert EXAM.languages == LANGUAGES
    for code in LANGUAGES:
        assert counts[code, True] == counts[code, False] == 24


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


@pytest.mark.parametrize("code", LANGUAGES)
def test_nearly_every_claim_is_judged_in_the_language_of_its_exam(code: str) -> None:
    claims = EXAM.of(code)
    told = sum(claim_language(claim.claim) == code for claim in claims)
    assert told >= 0.97 * len(claims)


def test_a_claim_of_names_and_figures_is_in_the_language_of_its_question() -> None:
    assert claim_language(OpenClaim("Ben 25", (), question="Ai được nghỉ phép 25 ngày?")) == "vi"
    assert language("Ben 25") == "en"


def test_false_claims_are_not_given_away_by_their_length() -> None:
    for code in EXAM.languages:
        mean = {
            label: sum(len(c.claim.claim) for c in EXAM.of(code) if c.supported is label) / (len(EXAM.of(code)) / 2)
            for label in (True, False)
        }
        assert 0.85 <= mean[False] / mean[True] <= 1.15


def test_every_batch_is_half_false_and_has_near_twins() -> None:
    for code in EXAM.languages:
        batches = EXAM.batches(code)
        assert [claim for batch in batches for claim in batch] == EXAM.of(code)
        assert len({claim.claim_id for claim in EXAM.of(code)}) == len([c for c in EXAM.claims if c.language == code])
        for batch in batches:
            assert len(batch) == BATCH
            assert sum(claim.supported for claim in batch) == BATCH // 2
            assert sum(claim.kind == NEAR_TWIN for claim in batch) >= 3


def test_the_digest_changes_with_a_claim() -> None:
    row = {"id": "x", "lang": "en", "supported": True, "kind": "k", "question": "q", "title": "t", "heading": ""}
    line = json.dumps({**row, "evidence": ["e"], "before": "", "claim": "c"})
    assert read_exam(line).digest == read_exam(line).digest
    assert read_exam(line).digest != read_exam(line.replace('"c"', '"d"')).digest


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


def marked(answers: list[Answer], *more: bool) -> LanguageResult | None:
    """Mark the answers of an exam of whose claims those labelled ``more`` are still to be asked."""
    labels = [answer.supported for answer in answers]
    return mark("en", answers, [*labels, *more], Spent(1, 1, 1.0), taken_at=datetime.now(UTC))


def answered(*pairs: tuple[bool, Judgement]) -> list[Answer]:
    return [Answer(str(place), label, judgement) for place, (label, judgement) in enumerate(pairs)]


RIGHT, MISSED, WRONGLY = (True, YES), (True, NO), (False, YES)
CAUGHT = (False, NO)
REST = (True, False) * 4


def test_a_judge_that_errs_on_none_of_sixteen_of_each_passes() -> None:
    assert marked(answered(*[RIGHT, CAUGHT] * 15), *REST) is None
    result = marked(answered(*[RIGHT, CAUGHT] * 16), *REST)
    assert result is not None
    assert result.passed
    assert (result.wrong.of, result.proven.count, result.threshold) == (16, 16, None)


def test_one_that_supports_two_false_claims_fails_at_once() -> None:
    result = marked(answered(*[RIGHT, CAUGHT] * 3, WRONGLY, WRONGLY), *REST * 5)
    assert result is not None
    assert not result.passed


def test_one_that_supports_one_false_claim_of_24_passes_at_the_end() -> None:
    answers = answered(*[RIGHT, CAUGHT] * 15, RIGHT, WRONGLY)
    assert marked(answers, *REST * 2) is None
    result = marked([*answers, *answered(*[RIGHT, CAUGHT] * 8)])
    assert result is not None
    assert result.passed


def test_one_that_can_not_prove_four_fifths_any_more_fails_at_once() -> None:
    sixteen = [RIGHT] * 11 + [MISSED] * 5 + [CAUGHT] * 16
    result = marked(answered(*sixteen), *REST * 2)
    assert result is not None
    assert not result.passed
    assert marked(answered(*sixteen[1:], RIGHT, RIGHT, RIGHT), *REST) is not None


@given(some.integers(0, 200), some.integers(0, 200))
def test_more_errors_never_turn_a_test_for_the_better(errors: int, of: int) -> None:
    order = ["pass", None, "fail"]
    of = max(errors + 1, of)
    assert order.index(WRONG.decide(Share(errors, of))) <= order.index(WRONG.decide(Share(errors + 1, of)))


def test_the_held_half_has_no_part_in_the_threshold() -> None:
    """A judge that says yes to all, surer of true claims, passes by its threshold; without probabilities it fails."""
    sure, unsure = Judgement("supported", 0.7), Judgement("supported", 0.6)
    answers = answered(*[(True, sure), (False, unsure)] * 24)
    by_probability = marked(answers)
    assert by_probability is not None
    assert by_probability.passed
    assert by_probability.threshold == 0.7
    assert by_probability.right == Share(24, 24)
    turned = marked([*answers[:24], *answered(*[(True, sure), (False, sure)] * 12)])
    assert turned is not None
    assert (turned.threshold, turned.passed) == (0.7, False)
    by_word = marked([Answer(each.claim_id, each.supported, YES) for each in answers])
    assert by_word is not None
    assert (by_word.threshold, by_word.passed) == (None, False)


def test_a_threshold_never_turns_no_into_yes() -> None:
    result = marked(answered(*[(True, Judgement("unsupported", 0.99))] * 20))
    assert result is not None
    assert result.proven.count == 0
    assert not result.passed


def test_a_verdict_without_the_probability_that_the_threshold_asks_for_does_not_pass() -> None:
    answer = Answer("a", True, YES)
    assert answer.accepted(None)
    assert answer.accepted(0.0)
    assert not answer.accepted(0.4)


@pytest.mark.parametrize("code", LANGUAGES)
async def test_a_judge_that_knows_passes_with_two_batches(code: str) -> None:
    meter, steps = Meter(), []
    judge = RuleJudge(knows(EXAM))
    result = await examine(judge, EXAM, code, progress=lambda done, of: steps.append((done, of)), meter=meter)
    assert result.passed
    assert result.right.count == result.right.of == 2 * BATCH
    assert (result.calls, result.tokens) == (meter.calls, meter.tokens) == (2, meter.tokens)
    assert steps == [(0, 48), (16, 48), (48, 48)]
    assert result.figure == {"language": code, "right": 32, "of": 32}


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        (lambda claim: YES, "false claims supported"),
        (lambda claim: Judgement("supported", 1.0), "false claims supported"),
        (lambda claim: NO, "it called 0 of"),
        (coin, "false claims supported"),
        (flip_flop(), "false claims supported"),
        (lambda claim: Judgement(None, reason="unreadable"), "claims got no verdict"),
    ],
    ids=["always yes", "always surely yes", "always no", "coin", "flip-flop", "garbage"],
)
@pytest.mark.parametrize("code", LANGUAGES)
async def test_a_judge_that_does_not_read_fails_soon(rule: Rule, fault: str, code: str) -> None:
    judge = RuleJudge(rule)
    result = await examine(judge, EXAM, code)
    assert not result.passed
    assert fault in "; ".join(result.faults)
    assert len(judge.batches) <= 2


async def test_an_unreadable_reply_is_asked_for_once_more() -> None:
    exam = small_exam("en", each=20)
    judge = RuleJudge(knows(exam), failure=ModelReplyInvalid("It is no JSON."), fails_after=1, fails_until=2)
    result = await examine(judge, exam, "en")
    assert (result.passed, result.silent.count, result.calls) == (True, 0, 3)
    dumb = RuleJudge(knows(exam), failure=ModelReplyInvalid("It is no JSON."), fails_after=1)
    assert not (await examine(dumb, exam, "en")).passed


async def test_a_verdict_too_few_is_no_verdict_for_its_batch() -> None:
    class Short(RuleJudge):
        async def judge(self, claims, *, meter):  # type: ignore[no-untyped-def]
            return (await super().judge(claims, meter=meter))[1:]

    result = await examine(Short(lambda claim: YES), small_exam("en"), "en")
    assert result.silent.count == result.silent.of


async def test_an_exam_that_can_not_go_on_has_no_result_and_goes_on_later() -> None:
    kept: list[Sitting] = []

    async def keep(sitting: Sitting) -> None:
        kept.append(sitting)

    judge = RuleJudge(knows(EXAM), failure=ModelUnavailable("It is down."), fails_after=1)
    with pytest.raises(ModelUnavailable, match="It is down"):
        await examine(judge, EXAM, "en", keep=keep)
    assert len(kept[-1].judgements) == BATCH
    judge.failure = None
    result = await examine(judge, EXAM, "en", sitting=kept[-1])
    assert result.passed
    assert (len(judge.batches), result.calls) == (2, 2)
    assert len({claim.claim for claim in judge.asked}) == 2 * BATCH


async def test_only_what_a_broken_reply_left_out_is_asked_again() -> None:
    said: list[int] = []

    class Broken(RuleJudge):
        async def judge(self, claims, *, meter):  # type: ignore[no-untyped-def]
            said.append(len(claims))
            judgements = await super().judge(claims, meter=meter)
            return judgements if len(said) > 1 else [*judgements[:10], *[Judgement(None)] * 6]

    result = await examine(Broken(knows(EXAM)), EXAM, "de")
    assert said == [16, 6, 16]
    assert result.passed


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_cost_is_that_of_a_judge_that_errs_on_none(code: str) -> None:
    cost = estimate_cost(EXAM, [code])
    assert (cost.claims, cost.calls) == (2 * BATCH, 2)
    assert estimate_cost(EXAM, [code], one_a_call=True).calls == cost.claims
    asked = [claim for batch in EXAM.batches(code)[:2] for claim in batch]
    text = sum(len(entry.text) for claim in asked for entry in claim.claim.entries)
    assert text / 4 < cost.tokens < text * 4
    assert str(cost.claims) in str(cost)
