"""The exam of judges: labelled claims of our own, half of them false, and a judge's answers to them.

The claims are in ``exam_claims.jsonl``, written by authors who knew neither the judge's prompt nor any other data set.
A result holds for one judge, one version of its requests, and one exam; a change of any needs a new exam.
"""

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import Any

from graph.errors import ModelReplyInvalid
from graph.ports import CitedEntry, Judge, Judgement, OpenClaim
from graph.usage import Meter
from tools.concurrency.tasks import for_each_concurrently
from tools.judges.exam_marking import LEAST_RIGHT, MOST_WRONG, Answer, LanguageResult, halves, mark
from tools.llm.prompting import estimate_tokens

BATCH = 5  # claims judged together, as many as a section of an answer has
REASONED_TOKENS = 80  # of a verdict with its reasons
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
        """Return the claims of one language."""
        return [claim for claim in self.claims if claim.language == language]


@cache
def built_in_exam() -> Exam:
    """Return the exam of this release. Blocks at the first call: it reads a file."""
    return read_exam(files(__package__).joinpath(CLAIMS_FILE).read_text(encoding="utf-8"))


def read_exam(lines: str) -> Exam:
    """Read an exam from JSON lines."""
    rules = json.dumps([MOST_WRONG, LEAST_RIGHT, BATCH])
    claims = tuple(_claim(json.loads(line)) for line in lines.splitlines() if line)
    return Exam(claims, hashlib.sha256((rules + lines).encode()).hexdigest()[:16])


def _claim(row: dict[str, Any]) -> ExamClaim:
    entries = tuple(CitedEntry(text, title=row["title"], heading=row["heading"]) for text in row["evidence"])
    claim = OpenClaim(row["claim"], entries, question=row["question"], before=row["before"])
    return ExamClaim(row["id"], row["lang"], row["supported"], row["kind"], claim)


def batches(claims: Sequence[ExamClaim]) -> list[list[ExamClaim]]:
    """Split the claims of one language into batches, as sections are judged.

    Claims on the same passage are kept apart where they can be: a true one and a false one side by side would give each
    other away.
    """
    by_passage: defaultdict[tuple[CitedEntry, ...], list[ExamClaim]] = defaultdict(list)
    for claim in sorted(claims, key=lambda each: hashlib.sha256(each.claim_id.encode()).digest()):
        by_passage[claim.claim.entries].append(claim)
    rounds = zip_longest(*by_passage.values())
    dealt = [claim for each in rounds for claim in each if claim is not None]
    return [dealt[at : at + BATCH] for at in range(0, len(dealt), BATCH)]


@dataclass(frozen=True, slots=True)
class Cost:
    """What an exam takes, estimated from its claims: requests, and tokens read and written."""

    claims: int
    calls: int
    tokens: int

    def __str__(self) -> str:
        return f"{self.claims} claims in about {self.calls} calls, about {round(self.tokens, -3):,} tokens"


def estimate_cost(claims: Sequence[ExamClaim], *, instructions: str = "", one_a_call: bool = False) -> Cost:
    """Estimate what it takes to judge these claims, a batch a request or one claim a request.

    ``instructions`` are what a request says before its claims; a judge that has any also writes down its reasons.
    """
    by_language: defaultdict[str, list[ExamClaim]] = defaultdict(list)
    for claim in claims:
        by_language[claim.language].append(claim)
    calls = len(claims) if one_a_call else sum(len(batches(each)) for each in by_language.values())
    written = REASONED_TOKENS if instructions else 1
    tokens = calls * estimate_tokens(instructions) + sum(_tokens(claim) + written for claim in claims)
    return Cost(len(claims), calls, tokens)


def _tokens(claim: ExamClaim) -> int:
    shown = [claim.claim.claim, claim.claim.question, claim.claim.before]
    shown += [text for entry in claim.claim.entries for text in (entry.title, entry.heading, entry.text)]
    return sum(map(estimate_tokens, shown))


def sample(claims: Sequence[ExamClaim], most: int) -> list[ExamClaim]:
    """Return at most ``most`` claims of each language, half of them false, the same ones every time."""
    taken: defaultdict[tuple[str, bool], int] = defaultdict(int)
    chosen = set()
    for claim in sorted(claims, key=lambda each: hashlib.sha256(each.claim_id.encode()).digest()):
        taken[claim.language, claim.supported] += 1
        if taken[claim.language, claim.supported] <= most // 2:
            chosen.add(claim.claim_id)
    return [claim for claim in claims if claim.claim_id in chosen]


@dataclass(frozen=True, slots=True)
class ExamResult:
    """A judge's results by language, in one exam."""

    judge: str
    version: str
    languages: dict[str, LanguageResult]


async def examine(
    judge: Judge,
    claims: Sequence[ExamClaim],
    *,
    progress: Progress | None = None,
    meter: Meter | None = None,
    at_once: int = 4,
) -> ExamResult:
    """Ask a judge about labelled claims, at most ``at_once`` batches at a time, and mark its answers by language.

    A reply that can't be read is no verdict for its claims. Raises DependencyFailed where the judge can't be asked: an
    exam that was not finished is not a failed one.
    """
    meter = meter or Meter()
    assigned = halves((claim.claim_id, claim.language, claim.supported) for claim in claims)
    done = 0
    results: dict[str, LanguageResult] = {}

    def report(answered: int) -> None:
        nonlocal done
        done += answered
        if progress is not None:
            progress(done, len(claims))

    for language in dict.fromkeys(claim.language for claim in claims):
        calls, tokens, began = meter.calls, meter.tokens, time.monotonic()
        of_language = [claim for claim in claims if claim.language == language]
        answers = await _answers(judge, of_language, report, meter, at_once)
        results[language] = mark(
            language,
            answers,
            assigned,
            calls=meter.calls - calls,
            tokens=meter.tokens - tokens,
            seconds=round(time.monotonic() - began, 1),
            taken_at=datetime.now(UTC),
        )
    return ExamResult(judge.name, judge.version, results)


async def _answers(
    judge: Judge, claims: Sequence[ExamClaim], report: Callable[[int], None], meter: Meter, at_once: int
) -> list[Answer]:
    answers: list[Answer] = []

    async def ask(batch: list[ExamClaim]) -> None:
        judgements = await judge_batch(judge, [claim.claim for claim in batch], meter=meter)
        answers.extend(
            Answer(claim.claim_id, claim.supported, judgement)
            for claim, judgement in zip(batch, judgements, strict=True)
        )
        report(len(batch))

    await for_each_concurrently(batches(claims), ask, at_once=at_once)
    return answers


async def judge_batch(judge: Judge, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
    """Ask a judge; a reply that can't be read, or has a verdict too many or too few, is no verdict for its claims."""
    try:
        judgements = await judge.judge(claims, meter=meter)
    except ModelReplyInvalid as error:
        return [Judgement(None, reason=error.message)] * len(claims)
    if len(judgements) != len(claims):
        reason = f"The judge gave {len(judgements)} verdicts for {len(claims)} claims."
        return [Judgement(None, reason=reason)] * len(claims)
    return judgements
