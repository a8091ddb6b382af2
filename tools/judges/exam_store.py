"""Stored exams: results, what is answered of those that are not over, and the lock by which one process takes one."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

import psycopg
from psycopg.types.json import Jsonb
from pydantic import ConfigDict, TypeAdapter

from graph.ports import Judge
from tools.judges.exam import Exam, Sitting
from tools.judges.exam_marking import LanguageResult
from tools.storage.database import CONNECTING, Connection, Database, database_errors, row_of, value_of

LOCK = 0x6578616D  # "exam", the class of the advisory locks

_CONFIG = ConfigDict(defer_build=True)
_RESULTS = TypeAdapter(dict[str, LanguageResult], config=_CONFIG)
_SITTINGS = TypeAdapter(dict[str, Sitting], config=_CONFIG)
_OF_KEY = "judge = %(judge)s AND version = %(version)s AND exam = %(exam)s"
_READ = f"SELECT languages, sittings, started_at, finished_at, trouble, trouble_at FROM judge_exams WHERE {_OF_KEY}"
_RECORD = """
INSERT INTO judge_exams (judge, version, exam, languages, finished_at)
VALUES (%(judge)s, %(version)s, %(exam)s, %(languages)s, now())
ON CONFLICT (judge, version, exam) DO UPDATE
SET languages = judge_exams.languages || excluded.languages, sittings = judge_exams.sittings - %(language)s,
    finished_at = now(), trouble = NULL, trouble_at = NULL
"""
_KEEP = """
INSERT INTO judge_exams (judge, version, exam, sittings) VALUES (%(judge)s, %(version)s, %(exam)s, %(sittings)s)
ON CONFLICT (judge, version, exam) DO UPDATE SET sittings = judge_exams.sittings || excluded.sittings
"""
_RECORD_TROUBLE = """
INSERT INTO judge_exams (judge, version, exam, trouble, trouble_at)
VALUES (%(judge)s, %(version)s, %(exam)s, %(trouble)s, now())
ON CONFLICT (judge, version, exam) DO UPDATE SET trouble = excluded.trouble, trouble_at = now()
"""
_EXAM = f"{LOCK}, hashtext(concat_ws(chr(10), %(judge)s::text, %(version)s::text, %(exam)s::text, %(language)s::text))"
_LOCK = f"SELECT pg_try_advisory_lock({_EXAM})"
_UNLOCK = f"SELECT pg_advisory_unlock({_EXAM})"


class ExamKey(NamedTuple):
    """The judge, the version of its requests and the exam that a result holds for."""

    judge: str
    version: str
    exam: str


def exam_key(judge: Judge, exam: Exam) -> ExamKey:
    """Return the key of a judge's results in an exam."""
    return ExamKey(judge.name, judge.version, exam.digest)


@dataclass(frozen=True, slots=True)
class StoredExam:
    """What is stored of an exam: results by language, else what is answered, and why the last attempt ended early."""

    languages: Mapping[str, LanguageResult]
    sittings: Mapping[str, Sitting]
    started_at: datetime
    finished_at: datetime | None
    trouble: str | None
    trouble_at: datetime | None


class ExamStore:
    """The exams of a deployment."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, key: ExamKey) -> StoredExam | None:
        """Return what is stored of an exam, None if it was never taken."""
        async with self._database.connection() as connection:
            return await read_exam_row(connection, key)

    async def record(self, key: ExamKey, result: LanguageResult) -> None:
        """Store the result in a language; those in others stay."""
        languages = Jsonb(_RESULTS.dump_python({result.language: result}, mode="json"))
        await self._database.execute(_RECORD, {**key._asdict(), "languages": languages, "language": result.language})

    async def keep(self, key: ExamKey, language: str, sitting: Sitting) -> None:
        """Store what is answered of an exam in a language that is not over."""
        sittings = Jsonb(_SITTINGS.dump_python({language: sitting}, mode="json"))
        await self._database.execute(_KEEP, {**key._asdict(), "sittings": sittings})

    async def record_trouble(self, key: ExamKey, trouble: str) -> None:
        """Store why an attempt ended early; results stay."""
        await self._database.execute(_RECORD_TROUBLE, {**key._asdict(), "trouble": trouble})

    @asynccontextmanager
    async def claim(self, key: ExamKey, language: str) -> AsyncIterator[bool]:
        """Claim an exam for this process, on a connection of its own; yield False where another process takes it.

        The server releases the claim of a process that dies.
        """
        row = {**key._asdict(), "language": language}
        with database_errors():
            connection = await psycopg.AsyncConnection.connect(self._database.url, autocommit=True, **CONNECTING)
        async with connection:
            with database_errors():
                claimed = bool(await value_of(connection, _LOCK, row))
            try:
                yield claimed
            finally:
                if claimed:  # now, not when the server has noticed that the connection is closed
                    with suppress(psycopg.Error):
                        await connection.execute(_UNLOCK, row)


async def read_exam_row(connection: Connection, key: ExamKey) -> StoredExam | None:
    """Return what is stored of an exam, read over a connection."""
    stored = await row_of(connection, StoredExam, _READ, key._asdict())
    if stored is None:
        return None
    return replace(
        stored,
        languages=_RESULTS.validate_python(stored.languages),
        sittings=_SITTINGS.validate_python(stored.sittings),
    )
