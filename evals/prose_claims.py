"""Measurement of verdicts on true and false claims in a writer's own words, by code alone or with a judge."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from answers.claim_evidence import GivenEvidence
from answers.marks import mark_of_row
from answers.open_claims import is_open
from answers.verifier import ClaimToVerify, Verifier
from evals.pacing import Progress
from graph.errors import InvalidRequest
from graph.evidence import ExamFigure, Mark, Section, Segment, Verdict
from graph.ports import ClaimChecker, Judge, Judgement, OpenClaim
from graph.usage import Meter
from tools.backends.backend_registry import configured_families
from tools.concurrency.tasks import for_each_concurrently
from tools.settings import Settings

BATCH = 20  # claims verified together: the most that a chat judge is asked about in one request
FAILED: tuple[Verdict, ...] = ("contradicted", "unsupported")


class ProseClaim(BaseModel, frozen=True):
    """A claim, its evidence passages with their title and heading, and whether it follows from them."""

    evidence: list[str] | str
    claim: str
    lang: str
    supported: bool
    kind: str = ""
    question: str = ""
    title: str = ""
    heading: str = ""

    def to_verify(self, number: int) -> ClaimToVerify:
        """Return the claim with its passages as segments of the document ``number``, of 1 or more."""
        segments: list[Segment] = []
        start = 0
        for at, text in enumerate([self.evidence] if isinstance(self.evidence, str) else self.evidence):
            segments.append(
                Segment(str(number), at, start, start + len(text), text, title=self.title, heading=self.heading)
            )
            start += len(text)
        section = Section(text=self.claim, source_ids=[])
        return ClaimToVerify(section, 0, len(self.claim), tuple(segments), self.question)


class Rates(TypedDict):
    """Counts of true and false claims, and the shares of each in [0, 1]; None where there are none.

    Failed and caught both mean found contradicted or unsupported; marked, that an answer would have a mark behind it.
    """

    true: int
    true_supported: float | None
    true_marked: float | None
    true_failed: float | None
    false: int
    false_supported: float | None
    false_marked: float | None
    false_caught: float | None


class JudgeReport(TypedDict):
    """What became of the claims that code left open. ``examined`` is False where any judge's word counted.

    ``left`` gives the reasons why claims were not decided, with how many have each.
    """

    name: str
    examined: bool
    open: int
    decided: int
    left: dict[str, int]
    calls: int
    tokens: int


class ProseReport(Rates):
    """The rates over all claims, by language and by kind; ``judge`` is None by code alone."""

    languages: dict[str, Rates]
    kinds: dict[str, Rates]
    judge: JudgeReport | None


class AnyJudge:
    """A judge whose every verdict counts, whether or not it has passed an exam."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def name(self) -> str:
        return self._judge.name

    @property
    def version(self) -> str:
        return self._judge.version

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        """Judge as the judge does; the figure of an exam that it did not take says 0 of 0."""
        judgements = await self._judge.judge(claims, meter=meter)
        return [replace(each, exam=each.exam or ExamFigure(language="", right=0, of=0)) for each in judgements]


def judge_of(settings: Settings, name: str) -> AnyJudge:
    """Return the judge of a configured model, whose every verdict counts. Raises InvalidRequest if it has none."""
    judge = configured_families(settings)(name).judge
    if judge is None:
        raise without_judge(name)
    return AnyJudge(judge)


def without_judge(name: str) -> InvalidRequest:
    """Return the error of a model that has no judge."""
    return InvalidRequest(
        f"--judge: the model {name!r} has no judge.",
        suggestion="Name a model of CITEWELL_MODELS, and leave CITEWELL_JUDGE__KIND on.",
    )


def load_prose(path: Path) -> list[ProseClaim]:
    """Load claims from JSON lines. Raises InvalidRequest where one can't be read, naming its line and field."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"--path: {path} can't be read as text.", suggestion="Name a file of claims.") from error
    claims = [_claim(line, number) for number, line in enumerate(lines, 1) if line.strip()]
    if not claims:
        raise InvalidRequest(f"--path: {path} holds no claim.", suggestion="Write a claim on each line, as JSON.")
    return claims


def _claim(line: str, number: int) -> ProseClaim:
    try:
        row: Any = json.loads(line)
        return ProseClaim.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the line"
        message = f"--path: line {number}: {field}: {first['msg']}."
        raise InvalidRequest(message, suggestion="Correct the field of that line.") from error
    except ValueError as error:
        message = f"--path: line {number} is not JSON."
        raise InvalidRequest(message, suggestion="Write a claim on each line, as JSON.") from error


async def run_prose(
    claims: Sequence[ProseClaim],
    checker: ClaimChecker,
    judge: Judge | None = None,
    *,
    at_once: int = 4,
    progress: Progress | None = None,
) -> ProseReport:
    """Verify every claim against its evidence, as a claim of an answer is, and compare with what is true."""
    items = [claim.to_verify(number) for number, claim in enumerate(claims, start=1)]
    meter = Meter()
    failures = await verify_each(items, checker, judge, meter, at_once=at_once, progress=progress)
    verdicts = list(zip(claims, [(item.final["verdict"], mark_of_row(item.final)) for item in items], strict=True))
    return ProseReport(
        **_rates(verdicts),
        languages={
            name: _rates([each for each in verdicts if each[0].lang == name]) for name in _names(claims, "lang")
        },
        kinds={name: _rates([each for each in verdicts if each[0].kind == name]) for name in _names(claims, "kind")},
        judge=None if judge is None else _judge_report(judge, items, failures, meter),
    )


async def verify_each(
    items: Sequence[ClaimToVerify],
    checker: ClaimChecker,
    judge: Judge | None,
    meter: Meter,
    *,
    at_once: int = 4,
    progress: Progress | None = None,
) -> list[str]:
    """Give every claim its verdict, and return why a judge could not be asked about it, "" where it could.

    Claims are judged in batches, at most ``at_once`` at a time. Neighbours are not judged together: a true and a false
    claim on one passage would give each other away.
    """
    strides = -(-len(items) // BATCH)
    failures = [""] * len(items)
    done = 0

    async def verify(batch: int) -> None:
        nonlocal done
        own = items[batch::strides]
        verifier = Verifier(checker, judge, meter)
        await verifier.check(own)
        await verifier.ask_judge(own, GivenEvidence([each for item in own for each in item.segments]))
        if verifier.failure is not None:
            failures[batch::strides] = [verifier.failure["message"]] * len(own)
        done += len(own)
        if progress is not None:
            progress(done, len(items))

    await for_each_concurrently(range(strides), verify, at_once=at_once)
    return failures


def _judge_report(judge: Judge, items: Sequence[ClaimToVerify], failures: Sequence[str], meter: Meter) -> JudgeReport:
    decided = sum("judge" in item.final for item in items)
    left: Counter[str] = Counter()
    for item, failure in zip(items, failures, strict=True):
        if is_open(item.final) and item.final["verdict"] != "supported":
            left[failure or (item.final["reasons"] or [""])[-1]] += 1
    return JudgeReport(
        name=judge.name,
        examined=not isinstance(judge, AnyJudge) and not any("says" in item.final.get("judge", {}) for item in items),
        open=decided + left.total(),
        decided=decided,
        left=dict(left.most_common()),
        calls=meter.calls,
        tokens=meter.tokens,
    )


def _names(claims: Sequence[ProseClaim], field: str) -> list[str]:
    return sorted({str(getattr(claim, field)) for claim in claims})


def _rates(verdicts: Sequence[tuple[ProseClaim, tuple[Verdict, Mark]]]) -> Rates:
    true = [found for claim, found in verdicts if claim.supported]
    false = [found for claim, found in verdicts if not claim.supported]
    return Rates(
        true=len(true),
        true_supported=_share(true, "supported"),
        true_marked=_share(true, "shown"),
        true_failed=_share(true, *FAILED),
        false=len(false),
        false_supported=_share(false, "supported"),
        false_marked=_share(false, "shown"),
        false_caught=_share(false, *FAILED),
    )


def _share(found: Sequence[tuple[Verdict, Mark]], *wanted: Verdict | Mark) -> float | None:
    return round(sum(not each.isdisjoint(wanted) for each in map(set, found)) / len(found), 4) if found else None
