"""A model's answers before claims are checked and after repair, judged by gold answers and their documents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from typing_extensions import TypedDict

from graph.evidence import Claim

LANGUAGES = ("en", "zh", "vi")
_VERDICTS = ("supported", "unverified", "contradicted", "unsupported")


class Side(TypedDict):
    """Answers at one moment. Claims and citations are counted, the shares are of all questions."""

    claims: int
    supported: int
    unverified: int
    contradicted: int
    unsupported: int
    supported_share: float
    answers_right: float
    citations: int
    citations_right: int
    answers_cited_right: float


class RepairReport(TypedDict):
    """``revised`` and ``withdrawn`` count sections, ``calls_mean`` model calls a question, ``seconds_p50`` a run."""

    model: str
    questions: int
    failed_runs: int
    before: Side
    after: Side
    abstained: int
    revised: int
    withdrawn: int
    calls_mean: float
    calls_most: int
    seconds_p50: float
    languages: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Gold:
    """What is right: the document that answers, and the answers as they stand there."""

    language: str
    question: str
    document_id: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer at one moment: its text, and its claims with their citations."""

    text: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a question: both answers, and what the repair did and took."""

    gold: Gold
    before: Answer
    after: Answer
    abstained: bool
    revised: int
    withdrawn: int
    calls: int
    seconds: float


def repair_report(asked: Sequence[Asked], failed: int, model: str) -> RepairReport:
    """Judge the answers of both moments; there is at least one."""
    return RepairReport(
        model=model,
        questions=len(asked) + failed,
        failed_runs=failed,
        before=_side([(each.gold, each.before) for each in asked]),
        after=_side([(each.gold, each.after) for each in asked]),
        abstained=sum(each.abstained for each in asked),
        revised=sum(each.revised for each in asked),
        withdrawn=sum(each.withdrawn for each in asked),
        calls_mean=round(fmean(each.calls for each in asked), 2),
        calls_most=max(each.calls for each in asked),
        seconds_p50=round(sorted(each.seconds for each in asked)[len(asked) // 2], 1),
        languages={
            language: _tally([each for each in asked if each.gold.language == language]) for language in LANGUAGES
        },
    )


def _tally(asked: Sequence[Asked]) -> dict[str, int]:
    return {
        "questions": len(asked),
        "right_before": sum(_right(each.gold, each.before) for each in asked),
        "right_after": sum(_right(each.gold, each.after) for each in asked),
    }


def _side(answers: Sequence[tuple[Gold, Answer]]) -> Side:
    claims = [claim for _, answer in answers for claim in answer.claims]
    counted = {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in _VERDICTS}
    right = [[_proves(gold, quote) for quote in _quotes(answer.claims)] for gold, answer in answers]
    return Side(
        claims=len(claims),
        supported=counted["supported"],
        unverified=counted["unverified"],
        contradicted=counted["contradicted"],
        unsupported=counted["unsupported"],
        supported_share=_share(counted["supported"], len(claims)),
        answers_right=_share(sum(_right(gold, answer) for gold, answer in answers), len(answers)),
        citations=sum(map(len, right)),
        citations_right=sum(map(sum, right)),
        answers_cited_right=_share(sum(map(any, right)), len(answers)),
    )


def _quotes(claims: Iterable[Claim]) -> list[tuple[str, str]]:
    return [(citation["document_id"], citation["quote"]) for claim in claims for citation in claim["citations"]]


def _proves(gold: Gold, quote: tuple[str, str]) -> bool:
    return quote[0] == gold.document_id and _contains(quote[1], gold.answers)


def _right(gold: Gold, answer: Answer) -> bool:
    return _contains(answer.text, gold.answers)


def _contains(text: str, answers: Sequence[str]) -> bool:
    """Look for any gold answer in a text, case and white space aside."""
    flat = "".join(text.casefold().split())
    return any("".join(answer.casefold().split()) in flat for answer in answers)


def _share(part: int, of: int) -> float:
    return round(part / of, 4) if of else 0.0
