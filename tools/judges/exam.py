"""The exam of judges: labelled claims of our own, half of them false, and a judge's answers to them.

The claims are in ``exam_claims.jsonl``, written by authors who knew neither the judge's prompt nor any other data set.
A result holds for one judge, one version of its requests, and one exam; a change of any needs a new exam.
"""

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from graph.errors import ModelReplyInvalid
from graph.ports import CitedEntry, Judge, Judgement, OpenClaim
from graph.usage import Meter
from text.counted import counted
from tools.judges.exam_marking import LEAST_RIGHT, MOST_WRONG, Answer, LanguageResult, Spent, mark
from tools.judges.sequential_testing import MISSED, WRONG
from tools.llm.prompting import estimate_tokens

BATCH = 16  # claims judged together
BATCHES_OF_THE_BEST = 2  # after which a judge has passed that errs on none
REASONED_TOKENS = 80  # of a verdict with its reasons
NEAR_TWIN = "near_twin"  # a false claim that is a sentence of its passage but for a word or two
CLAIMS_FILE = "exam_claims.jsonl"

Progress = Callable[[int, int], None]  # done, total


@dataclass(frozen=True, slots=True)
class ExamClaim:
    """A labelled claim. ``kind`` is what makes it hard, such as ``polarity``."""

    claim_id: str
    language: str
    supported: bool
    kind: str
    claim: OpenClaim


@dataclass(frozen=True, slots=True)
class Exam:
    """Claims to judge; ``digest`` changes with them and with what it takes to pass."""

    claims: tuple[ExamClaim, ...]
    digest: str

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that it has claims in, in their order."""
        return tuple(dict.fromkeys(claim.language for claim in self.claims))

    def of(self, language: str) -> list[ExamClaim]:
        """Return the claims of one language, in the order in which they are asked."""
        return [claim for batch in self.batches(language) for claim in batch]

    def batches(self, language: str) -> list[list[ExamClaim]]:
        """Return the claims of one language in batches, each with as many true as false ones and with near-twins.

        They are dealt by hashes of their ids, so each process makes the same ones.
        """
        claims = sorted((claim for claim in self.claims if claim.language == language), key=_place)
        count = -(-len(claims) // BATCH)
        dealt = sorted(claims, key=lambda claim: (claim.supported, claim.kind != NEAR_TWIN))
        return [sorted(dealt[start::count], key=_place) for start in range(count)]


def _place(claim: ExamClaim) -> bytes:
    return hashlib.sha256(claim.claim_id.encode()).digest()


@cache
def built_in_exam() -> Exam:
    """Return the exam of this release. Blocks at the first call: it reads a file."""
    return read_exam(files(__package__).joinpath(CLAIMS_FILE).read_text(encoding="utf-8"))


def read_exam(lines: str) -> Exam:
    """Read an exam from JSON lines."""
    rules = repr([MOST_WRONG, LEAST_RIGHT, BATCH, WRONG, MISSED])
    claims = tuple(_claim(json.loads(line)) for line in lines.splitlines() if line)
    return Exam(claims, hashlib.sha256((rules + lines).encode()).hexdigest()[:16])


def _claim(row: dict[str, Any]) -> ExamClaim:
    entries = tuple(CitedEntry(text, title=row["title"], heading=row["heading"]) for text in row["evidence"])
    claim = OpenClaim(row["claim"], entries, question=row["question"], before=row["before"])
    return ExamClaim(row["id"], row["lang"], row["supported"], row["kind"], claim)


@dataclass(frozen=True, slots=True)
class Cost:
    """What an exam takes for a judge that errs on none: claims, requests, and tokens read and written, estimated."""

    claims: int
    calls: int
    tokens: int

    def __str__(self) -> str:
        return f"{self.claims} claims in about {self.calls} calls, about {round(self.tokens, -3):,} tokens"


def estimate_cost(exam: Exam, languages: Sequence[str], *, instructions: str = "", one_a_call: bool = False) -> Cost:
    """Estimate what the exam takes in these languages, a batch a request or one claim a request.

    ``instructions`` are what a request says before its claims; a judge that has any also writes down its reasons.
    """
    asked = [batch for code in languages for batch in exam.batches(code)[:BATCHES_OF_THE_BEST]]
    claims = [claim for batch in asked for claim in batch]
    calls = len(claims) if one_a_call else len(asked)
    written = REASONED_TOKENS if instructions else 1
    tokens = calls * estimate_tokens(instructions) + sum(_tokens(claim) + written for claim in claims)
    return Cost(len(claims), calls, tokens)


def _tokens(claim: ExamClaim) -> int:
    shown = [claim.claim.claim, claim.claim.question, claim.claim.before]
    shown += [text for entry in claim.claim.entries for text in (entry.title, entry.heading, entry.text)]
    return sum(map(estimate_tokens, shown))


@dataclass(frozen=True, slots=True)
class Sitting:
    """An exam in one language that is not over: what the judge has said, by the ids of claims, and what it took."""

    judgements: dict[str, Judgement] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)


Keep = Callable[[Sitting], Awaitable[None]]


async def examine(
    judge: Judge,
    exam: Exam,
    language: str,
    *,
    sitting: Sitting | None = None,
    keep: Keep | None = None,
    progress: Progress | None = None,
    meter: Meter | None = None,
) -> LanguageResult:
    """Ask a judge about labelled claims, batch after batch, until it is sure whether it passes.

    It goes on behind the claims of a ``sitting``; ``keep`` is called with the one after each batch. A claim without a
    verdict is asked once more, and has none then. Raises DependencyFailed where the judge can't be asked: an exam that
    was not finished is not a failed one.
    """
    meter, sitting = meter or Meter(), sitting or Sitting()
    claims, asked = exam.of(language), set[str]()
    labels = [claim.supported for claim in claims]
    while True:
        answers = [
            Answer(claim.claim_id, claim.supported, sitting.judgements[claim.claim_id])
            for claim in claims
            if claim.claim_id in sitting.judgements
        ]
        batch, left = _next_batch(exam.batches(language), sitting)
        is_whole = len(left) == len(batch)
        result = mark(language, answers, labels, sitting.spent, taken_at=datetime.now(UTC)) if is_whole else None
        if progress is not None:
            progress(len(claims) if result else len(answers), len(claims))
        if result is not None:
            return result
        calls, tokens, began = meter.calls, meter.tokens, time.monotonic()
        said = await judge_batch(judge, [claim.claim for claim in left], meter=meter)
        given = {
            claim.claim_id: each
            for claim, each in zip(left, said, strict=True)
            if each.verdict is not None or claim.claim_id in asked
        }
        asked |= {claim.claim_id for claim in left}
        took = Spent(meter.calls - calls, meter.tokens - tokens, time.monotonic() - began)
        sitting = Sitting(sitting.judgements | given, sitting.spent + took)
        if keep is not None:
            await keep(sitting)


def _next_batch(batches: list[list[ExamClaim]], sitting: Sitting) -> tuple[list[ExamClaim], list[ExamClaim]]:
    """Return the first batch that is not answered, and what is left of it; two empty ones behind the last."""
    for batch in batches:
        if left := [claim for claim in batch if claim.claim_id not in sitting.judgements]:
            return batch, left
    return [], []


async def judge_batch(judge: Judge, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
    """Ask a judge; a reply that can't be read, or has a verdict too many or too few, is no verdict for its claims."""
    try:
        judgements = await judge.judge(claims, meter=meter)
    except ModelReplyInvalid as error:
        return [Judgement(None, reason=error.message)] * len(claims)
    if len(judgements) != len(claims):
        reason = f"The judge gave {counted(len(judgements), 'verdict')} for {counted(len(claims), 'claim')}."
        return [Judgement(None, reason=reason)] * len(claims)
    return judgements
