"""Judges without a model: right, wrong in all the usual ways, and failing."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from graph.entrypoint import Citewell
from graph.errors import CitewellError
from graph.ports import CitedEntry, Judgement, OpenClaim
from graph.usage import Meter
from tests.fakes import spend_tokens
from tools.backends.backend_registry import configured_families
from tools.judges.exam import Exam, ExamClaim, built_in_exam
from tools.judges.exam_marking import LanguageResult, Share
from tools.judges.exam_store import ExamStore, exam_key
from tools.settings import Settings

Rule = Callable[[OpenClaim], Judgement]
FEW = 2
YES, NO = Judgement("supported"), Judgement("unsupported")


@dataclass
class RuleJudge:
    """A judge that follows a rule, keeps what it was asked, and fails once ``fails_after`` batches are judged.

    It fails at each request from there on, or at those that come before the request number ``fails_until``. Claims of a
    question, which are few, pass a closed gate.
    """

    rule: Rule
    name: str = "rule"
    version: str = "1"
    failure: CitewellError | None = None
    fails_after: int = 0
    fails_until: int | None = None
    requests: int = 0
    tokens: int = 100
    batches: list[list[OpenClaim]] = field(default_factory=list)
    gate: asyncio.Event | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def asked(self) -> list[OpenClaim]:
        return [claim for batch in self.batches for claim in batch]

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        """Judge by the rule, after the gate opens."""
        meter.call()
        self.requests += 1
        if self.gate is not None and len(claims) > FEW:
            self.reached.set()
            await self.gate.wait()
        over = self.fails_until is not None and self.requests > self.fails_until
        if self.failure is not None and len(self.batches) >= self.fails_after and not over:
            raise self.failure
        self.batches.append(list(claims))
        spend_tokens(meter, self.tokens)
        return [self.rule(claim) for claim in claims]


def knows(exam: Exam) -> Rule:
    """Return the rule of a judge that knows every label of an exam."""
    right = {claim.claim.claim for claim in exam.claims if claim.supported}
    return lambda claim: YES if claim.claim in right else NO


def coin(claim: OpenClaim) -> Judgement:
    """Decide by a bit of the claim's hash."""
    return YES if hashlib.sha256(claim.claim.encode()).digest()[0] % 2 else NO


def flip_flop() -> Rule:
    """Return a rule that says yes to every other claim."""
    answers = iter(range(10**6))
    return lambda claim: YES if next(answers) % 2 else NO


WORDS = {
    "en": "The ferry sails at {} o'clock and it is on time.",
    "vi": "Chuyến phà khởi hành lúc {} giờ.",
    "zh": "渡轮在{}点出发。",
}


def small_exam(*languages: str, each: int = 10) -> Exam:
    """Make an exam of ``each`` claims a language, of which every other one is false."""
    claims = [
        ExamClaim(
            f"{code}-{number}",
            code,
            number % 2 == 0,
            "number_off",
            OpenClaim(
                WORDS[code].format(number), (CitedEntry(f"{number // 2 * 2}"),), question=WORDS[code].format("?")
            ),
        )
        for code in languages or ("en", "vi")
        for number in range(each)
    ]
    return Exam(tuple(claims), f"small-{'-'.join(languages)}-{each}")


async def pass_exam(opened: Citewell, settings: Settings, *, model: str = "scripted", language: str = "en") -> None:
    """Record that a configured model has passed the built-in exam in a language, right on 50 of 50 claims."""
    judge = configured_families(settings)(model).judge
    assert judge is not None
    none, all_ = Share(0, 25), Share(25, 25)
    passed = LanguageResult(language, None, none, all_, Share(50, 50), none, 10, 9000, 4.0, datetime.now(UTC))
    await ExamStore(opened.library.database).record(exam_key(judge, built_in_exam()), passed)
