"""The exams of a process's judges: which judge has a say in which language, and exams that start in the background."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import Context
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from graph.errors import CitewellError, DependencyFailed
from graph.ports import Judge
from graph.reasons import Reason
from prompts import load
from tools.concurrency.tasks import cancel_and_wait
from tools.judges.exam import Cost, Exam, Progress, built_in_exam, estimate_cost, examine
from tools.judges.exam_marking import LanguageResult
from tools.judges.exam_store import ExamKey, ExamStore, StoredExam, exam_key
from tools.llm.prompting import LANGUAGES
from tools.settings import JudgeSettings, Settings
from tools.storage.database import Database

log = logging.getLogger("citewell.judges")

RETRY_AFTER = timedelta(minutes=10)
EXAM_COMMAND = "citewell judge exam"
CACHE_SECONDS = 30.0  # an exam that another process took is noticed after this


class ExamInProgress(DependencyFailed):
    """An exam that another process is taking."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a judge has a say in a language: the result that it ``passed`` or ``failed`` with, or none of the two.

    ``reason`` is why it has no say, or in which other languages it was examined.
    """

    passed: LanguageResult | None = None
    failed: LanguageResult | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Trouble:
    message: str
    at: datetime


class Examiner:
    """The exams of a process. ``load`` returns the exam; it may block.

    With ``exam: auto`` a judge without a result takes the exam in the background, one batch at a time so that questions
    don't wait behind it, and in the language of the question first.
    """

    def __init__(
        self,
        store: ExamStore,
        settings: JudgeSettings,
        *,
        load: Callable[[], Exam] = built_in_exam,
        cache_seconds: float = CACHE_SECONDS,
    ) -> None:
        self._store = store
        self._settings = settings
        self._load = load
        self._cache_seconds = cache_seconds
        self._cached: dict[ExamKey, tuple[float, StoredExam | None]] = {}
        self._taking: dict[ExamKey, asyncio.Task[Mapping[str, LanguageResult]]] = {}
        self._troubles: dict[ExamKey, _Trouble] = {}

    def command(self, model: str) -> str:
        """Return the command that takes the exam of the judge of a model's answers."""
        return EXAM_COMMAND if self._settings.base_url is not None else f"{EXAM_COMMAND} --model {model}"

    async def exam(self) -> Exam:
        """Return the exam that judges take."""
        return await asyncio.to_thread(self._load)

    async def standing(self, judge: Judge, language: str, *, command: str) -> Standing:
        """Return whether a judge has a say in a language (ISO 639-1), and start its exam where that is due.

        ``command`` is what a person enters to take it.
        """
        exam = await self.exam()
        if language not in exam.languages:
            return _none(language, f"the exam has claims in {language_names(exam.languages)} only.")
        stored = await self._stored(exam_key(judge, exam))
        result = stored.languages.get(language) if stored else None
        if result is None:
            return _none(language, self._why_missing(judge, exam, stored, language, command))
        if result.passed:
            return Standing(result)
        return _none(language, f"{judge.name} failed it; {'; '.join(result.faults)}.", result)

    async def take(
        self,
        judge: Judge,
        languages: Sequence[str],
        *,
        again: bool = False,
        progress: Progress | None = None,
        at_once: int = 4,
    ) -> Mapping[str, LanguageResult]:
        """Take the exam in these languages, store each result as it comes, and return all that are stored.

        Languages with a stored result are left out unless ``again`` is set. Raises ExamInProgress where another process
        is taking it, DependencyFailed where the judge can't be asked; that is stored too, and is no failed exam.
        """
        exam = await self.exam()
        key = exam_key(judge, exam)
        async with self._store.claim(key) as claimed:
            if not claimed:
                raise ExamInProgress(
                    f"Another process is taking the exam of {judge.name}.",
                    suggestion="Wait for its end: `citewell judge list` shows the result.",
                )
            stored = await self._store.read(key)
            results = dict(stored.languages) if stored else {}
            missing = [code for code in languages if again or code not in results]
            try:
                return results | await self._take_each(judge, exam, missing, progress, at_once)
            except DependencyFailed as error:
                await self._store.record_trouble(key, error.message)
                raise

    async def _take_each(
        self, judge: Judge, exam: Exam, languages: Sequence[str], progress: Progress | None, at_once: int
    ) -> dict[str, LanguageResult]:
        key = exam_key(judge, exam)
        total = sum(len(exam.of(code)) for code in languages)
        results: dict[str, LanguageResult] = {}
        before = 0

        def report(done: int, _of: int) -> None:
            if progress is not None:
                progress(before + done, total)

        for code in languages:
            result = (await examine(judge, exam.of(code), progress=report, at_once=at_once)).languages[code]
            await self._store.record(key, result)
            self._cached.pop(key, None)
            log.info("%s in %s: %s", judge.name, language_names([code]), result)
            results[code] = result
            before += len(exam.of(code))
        return results

    async def close(self) -> None:
        """Cancel the exams in the background; the results of finished languages are stored."""
        await cancel_and_wait(*self._taking.values())

    async def _stored(self, key: ExamKey) -> StoredExam | None:
        read_at, stored = self._cached.get(key, (None, None))
        if read_at is None or time.monotonic() - read_at >= self._cache_seconds:
            stored = await self._store.read(key)
            self._cached[key] = (time.monotonic(), stored)
        return stored

    def _why_missing(self, judge: Judge, exam: Exam, stored: StoredExam | None, language: str, command: str) -> str:
        key = exam_key(judge, exam)
        trouble = self._troubles.get(key)
        if stored and stored.trouble and stored.trouble_at:
            trouble = _Trouble(stored.trouble, stored.trouble_at)
        ended = f"the exam of {judge.name} ended early ({trouble.message.rstrip('.')})" if trouble else ""
        if self._settings.exam == "manual":
            return f"{ended or f'{judge.name} has not taken it'}; `{command}` starts it."
        if trouble and key not in self._taking and (retry := trouble.at + RETRY_AFTER) > datetime.now(UTC):
            return f"{ended}; a question after {retry:%H:%M} UTC starts it again."
        known = stored.languages if stored else {}
        missing = [language, *(code for code in exam.languages if code not in known and code != language)]
        cost = exam_cost(exam, missing, self._settings)
        if key not in self._taking:
            self._start(judge, key, missing, cost)
        return f"{judge.name} is taking it now ({cost})."

    def _start(self, judge: Judge, key: ExamKey, languages: Sequence[str], cost: Cost) -> None:
        log.info(
            "%s takes its exam in %s: %s. CITEWELL_JUDGE__EXAM=manual turns this off.",
            judge.name,
            language_names(languages),
            cost,
        )
        # In a context of its own: in that of the run, LangChain would count the exam's calls as the run's.
        taking, name = self.take(judge, languages, at_once=1), f"citewell-exam-{judge.name}"
        task = asyncio.create_task(taking, name=name, context=Context())
        self._taking[key] = task
        task.add_done_callback(partial(self._ended, key))

    def _ended(self, key: ExamKey, task: asyncio.Task[Mapping[str, LanguageResult]]) -> None:
        del self._taking[key]
        self._cached.pop(key, None)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, ExamInProgress):
            expected = isinstance(error, CitewellError)
            message = error.message if isinstance(error, CitewellError) else f"{type(error).__name__}: {error}"
            log.warning("The exam of %s ended early: %s", key.judge, message, exc_info=None if expected else error)
            self._troubles[key] = _Trouble(message, datetime.now(UTC))


def exam_cost(exam: Exam, languages: Sequence[str], settings: JudgeSettings) -> Cost:
    """Estimate what the exam takes in these languages, by the kind of the judge."""
    claims = [claim for claim in exam.claims if claim.language in languages]
    if settings.kind == "chat":
        return estimate_cost(claims, instructions=load("judge_claims", "claims").text)
    return estimate_cost(claims, one_a_call=settings.kind == "minicheck")


def _none(language: str, why: str, failed: LanguageResult | None = None) -> Standing:
    return Standing(failed=failed, reason=Reason("no_judge", language_names([language]), why))


def language_names(languages: Sequence[str]) -> str:
    """Return the English names of languages (ISO 639-1) as a list in words."""
    names = [LANGUAGES.get(code, code) for code in languages]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def without_background_exam(settings: Settings) -> Settings:
    """Return settings with which stored results count and no exam starts by itself.

    For processes that end sooner than an exam, which would be paid for and lost each time.
    """
    return settings.model_copy(update={"judge": settings.judge.model_copy(update={"exam": "manual"})})


@asynccontextmanager
async def open_examiner(database: Database, settings: JudgeSettings) -> AsyncIterator[Examiner]:
    """Open the examiner of a process; exams in the background are cancelled on exit."""
    examiner = Examiner(ExamStore(database), settings)
    try:
        yield examiner
    finally:
        await examiner.close()
