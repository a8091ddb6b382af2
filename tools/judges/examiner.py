"""The exams of a process's judges: which judge has a say in which language, and exams that start in the background."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import Context
from datetime import UTC, datetime, timedelta
from functools import partial

from graph.errors import CitewellError, DependencyFailed
from graph.ports import Judge
from prompts import load
from tools.concurrency.tasks import cancel_and_wait, for_each_concurrently
from tools.judges.exam import Cost, Exam, Progress, built_in_exam, estimate_cost, examine
from tools.judges.exam_marking import LanguageResult
from tools.judges.exam_standing import Standing, language_names, missing_exams, no_judge, standing_of
from tools.judges.exam_store import ExamKey, ExamStore, StoredExam, exam_key
from tools.settings import JudgeSettings, Settings
from tools.storage.database import Database

log = logging.getLogger("citewell.judges")

RETRY_AFTER = timedelta(minutes=10)
EXAM_COMMAND = "citewell judge exam"
CACHE_SECONDS = 30.0  # an exam that another process took is noticed after this


class ExamInProgress(DependencyFailed):
    """An exam that another process is taking."""


_Taken = tuple[ExamKey, str]  # an exam in a language
AfterExam = Callable[[], Awaitable[object]]


async def _nothing() -> None:
    """Do nothing after an exam."""


class Examiner:
    """The exams of a process. ``load`` returns the exam; it may block. ``after_exam`` is called behind each result.

    With ``exam: auto`` a judge without a result takes the exam in the background, one batch at a time so that questions
    don't wait behind it, in the language that is asked.
    """

    def __init__(
        self,
        store: ExamStore,
        settings: JudgeSettings,
        *,
        after_exam: AfterExam = _nothing,
        load: Callable[[], Exam] = built_in_exam,
        cache_seconds: float = CACHE_SECONDS,
    ) -> None:
        self._store = store
        self._settings = settings
        self._after_exam = after_exam
        self._load = load
        self._cache_seconds = cache_seconds
        self._cached: dict[ExamKey, tuple[float, StoredExam | None]] = {}
        self._taking: dict[_Taken, asyncio.Task[Mapping[str, LanguageResult]]] = {}

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
        stored = await self._stored(exam_key(judge, exam))
        known = standing_of(judge.name, stored, exam, language)
        return known or Standing(reason=no_judge(language, self._why_missing(judge, exam, stored, language, command)))

    async def take(
        self,
        judge: Judge,
        languages: Sequence[str],
        *,
        again: bool = False,
        progress: Progress | None = None,
        at_once: int = 1,
    ) -> Mapping[str, LanguageResult]:
        """Take the exam in these languages, ``at_once`` at a time, and return all results that are stored.

        Each result is stored as it comes, and of an exam that is not over what is answered, which the next one goes on
        behind. Languages with a stored result are left out unless ``again`` is set. Raises ExamInProgress where another
        process is taking it, DependencyFailed where the judge can't be asked. Whatever else ends it early is stored
        too, and is no failed exam: no process takes it again before ``RETRY_AFTER``.
        """
        exam = await self.exam()
        key = exam_key(judge, exam)
        done = dict.fromkeys(languages, 0)
        total = sum(len(exam.of(code)) for code in languages)

        async def take_one(code: str) -> None:
            def report(answered: int, _of: int) -> None:
                done[code] = answered
                if progress is not None:
                    progress(sum(done.values()), total)

            await self._take_one(judge, exam, code, again, report)

        try:
            await for_each_concurrently(languages, take_one, at_once=at_once)
        except Exception as error:
            if not isinstance(error, ExamInProgress):
                await self._store.record_trouble(key, _message(error))
            raise
        stored = await self._store.read(key)
        return dict(stored.languages) if stored else {}

    async def _take_one(self, judge: Judge, exam: Exam, language: str, again: bool, progress: Progress) -> None:
        key = exam_key(judge, exam)
        async with self._store.claim(key, language) as claimed:
            if not claimed:
                raise ExamInProgress(
                    f"Another process is taking the exam of {judge.name} in {language_names([language])}.",
                    suggestion="Wait for its end: `citewell judge list` shows the result.",
                )
            stored = await self._store.read(key)
            if stored and language in stored.languages and not again:
                progress(len(exam.of(language)), 0)
                return
            sitting = stored.sittings.get(language) if stored else None
            keep = partial(self._store.keep, key, language)
            result = await examine(judge, exam, language, sitting=sitting, keep=keep, progress=progress)
            await self._store.record(key, result)
            self._cached.pop(key, None)
            log.info("%s in %s: %s", judge.name, language_names([language]), result)
        try:
            await self._after_exam()
        except CitewellError as error:
            log.warning("What %s has said before is not settled yet: %s", judge.name, error.message)

    async def close(self) -> None:
        """Cancel the exams in the background; what is answered is stored."""
        await cancel_and_wait(*self._taking.values())

    async def _stored(self, key: ExamKey) -> StoredExam | None:
        read_at, stored = self._cached.get(key, (None, None))
        if read_at is None or time.monotonic() - read_at >= self._cache_seconds:
            stored = await self._store.read(key)
            self._cached[key] = (time.monotonic(), stored)
        return stored

    def _why_missing(self, judge: Judge, exam: Exam, stored: StoredExam | None, language: str, command: str) -> str:
        key = exam_key(judge, exam)
        missing = missing_exams(stored, exam, language)
        if not missing:
            return f"the exam has claims in {language_names(exam.languages)} only."
        named = f"{command} {' '.join(f'--language {code}' for code in missing)}"
        trouble = stored.trouble if stored else None
        ended = f"the exam of {judge.name} ended early ({trouble.rstrip('.')})" if trouble else ""
        if self._settings.exam == "manual":
            return f"{ended or f'{judge.name} has not taken it'}; `{named}` starts it."
        waiting = [code for code in missing if (key, code) not in self._taking]
        ended_at = stored.trouble_at if stored else None
        if ended_at and waiting and (retry := ended_at + RETRY_AFTER) > datetime.now(UTC):
            return f"{ended}; a question after {retry:%H:%M} UTC starts it again."
        for code in waiting:
            self._start(judge, key, code, exam_cost(exam, [code], self._settings))
        where = "" if missing == [language] else f" in {language_names(missing)}, having no claims in this language"
        return f"{judge.name} is taking it now{where} ({exam_cost(exam, missing, self._settings)})."

    def _start(self, judge: Judge, key: ExamKey, language: str, cost: Cost) -> None:
        log.info(
            "%s takes its exam in %s: %s. CITEWELL_JUDGE__EXAM=manual turns this off.",
            judge.name,
            language_names([language]),
            cost,
        )
        # In a context of its own: in that of the run, LangChain would count the exam's calls as the run's.
        name = f"citewell-exam-{judge.name}-{language}"
        task = asyncio.create_task(self.take(judge, [language]), name=name, context=Context())
        self._taking[key, language] = task
        task.add_done_callback(partial(self._ended, key, language))

    def _ended(self, key: ExamKey, language: str, task: asyncio.Task[Mapping[str, LanguageResult]]) -> None:
        del self._taking[key, language]
        self._cached.pop(key, None)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, ExamInProgress):
            expected = isinstance(error, CitewellError)
            log.warning(
                "The exam of %s ended early: %s", key.judge, _message(error), exc_info=None if expected else error
            )


def _message(error: BaseException) -> str:
    message = error.message if isinstance(error, CitewellError) else f"{type(error).__name__}: {error}"
    return message.replace("\0", "")  # which PostgreSQL can't store


def exam_cost(exam: Exam, languages: Sequence[str], settings: JudgeSettings) -> Cost:
    """Estimate what the exam takes in these languages, by the kind of the judge."""
    if settings.kind == "chat":
        return estimate_cost(exam, languages, instructions=load("judge_claims", "claims").text)
    return estimate_cost(exam, languages, one_a_call=settings.kind == "minicheck")


def without_background_exam(settings: Settings) -> Settings:
    """Return settings with which stored results count and no exam starts by itself.

    For processes that end sooner than an exam, which would be paid for and lost each time.
    """
    return settings.model_copy(update={"judge": settings.judge.model_copy(update={"exam": "manual"})})


@asynccontextmanager
async def open_examiner(
    database: Database, settings: JudgeSettings, after_exam: AfterExam = _nothing
) -> AsyncIterator[Examiner]:
    """Open the examiner of a process; exams in the background are cancelled on exit."""
    examiner = Examiner(ExamStore(database), settings, after_exam=after_exam)
    try:
        yield examiner
    finally:
        await examiner.close()
