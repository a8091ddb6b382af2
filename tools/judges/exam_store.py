"""Stored results of exams, and the lock by which one process at a time takes the exam of a judge."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

import psycopg
from psycopg.types.json import Jsonb
from pydantic import ConfigDict, TypeAdapter

from graph.ports import Judge
from tools.judges.exam import Exam
from tools.judges.exam_marking import LanguageResult
from tools.storage.database import CONNECTING, Connection, Database, database_errors, row_of, value_of

LOCK = 0x6578616D  # "exam", the class of the advisory locks

_RESULTS = TypeAdapter(dict[str, LanguageResult], config=ConfigDict(defer_build=True))
_OF_KEY = "judge = %(judge)s AND version = %(version)s AND exam = %(exam)s"
_READ = f"SELECT languages, started_at, finished_at, trouble, trouble_at FROM judge_exams WHERE {_OF_KEY}"
_RECORD = """
INSERT INTO judge_exams (judge, version, exam, languages, finished_at)
VALUES (%(judge)s, %(version)s, %(exam)s, %(languages)s, now())
ON CONFLICT (judge, version, exam) DO UPDATE
SET languages = judge_exams.languages || excluded.languages, finished_at = now(), trouble = NULL, trouble_at = NULL
"""
_RECORD_TROUBLE = """
INSERT INTO judge_exams (judge, version, exam, trouble, trouble_at)
VALUES (%(judge)s, %(version)s, %(exam)s, %(trouble)s, now())
ON CONFLICT (judge, version, exam) DO UPDATE SET trouble = excluded.trouble, trouble_at = now()
"""
_EXAM = f"{LOCK}, hashtext(%(judge)s || chr(10) || %(version)s || chr(10) || %(exam)s)"
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
    """What is stored of an exam: results by language, and why the last attempt ended early, if it did."""

    languages: Mapping[str, LanguageResult]
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
        async with self._database.connection() as connection:
            await connection.execute(_RECORD, {**key._asdict(), "languages": languages})

    async def record_trouble(self, key: ExamKey, trouble: str) -> None:
        """Store why an attempt ended early; results stay."""
        async with self._database.connection() as connection:
            await connection.execute(_RECORD_TROUBLE, {**key._asdict(), "trouble": trouble})

    @asynccontextmanager
    async def claim(self, key: ExamKey) -> AsyncIterator[bool]:
        """Claim an exam for this process, on a connection of its own; yield False where another process takes it.

        The server releases the claim of a process that dies.
        """
        with database_errors():
            connection = await psycopg.AsyncConnection.connect(self._database.url, autocommit=True, **CONNECTING)
        async with connection:
            with database_errors():
                claimed = bool(await value_of(connection, _LOCK, key._asdict()))
            try:
                yield claimed
            finally:
                if claimed:  # now, not when the server has noticed that the connection is closed
                    with suppress(psycopg.Error):
                        await connection.execute(_UNLOCK, key._asdict())


async def read_exam_row(connection: Connection, key: ExamKey) -> StoredExam | None:
    """Return what is stored of an exam, read over a connection."""
    stored = await row_of(connection, StoredExam, _READ, key._asdict())
    return None if stored is None else replace(stored, languages=_RESULTS.validate_python(stored.languages))
