"""The database after the soak: each run ended once, its log has no gap, and clients had read just what it holds."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg

from bench.soak.readers import Read
from bench.soak.run_check import ENDS, RunCheck

SETTLING_SECONDS = 180
_UNFINISHED = "SELECT count(*) FROM runs WHERE status <> 'finished'"
_RUNS = "SELECT run_id::text, status, outcome, stop_reason, last_seq, attempt FROM runs"
_EVENTS = "SELECT run_id::text, type, payload FROM run_events ORDER BY run_id, seq"
_MESSAGES = """
SELECT run_id::text, count(*) FILTER (WHERE role = 'user'), count(*) FILTER (WHERE role = 'assistant')
FROM messages GROUP BY run_id
"""


@dataclass(slots=True)
class Audit:
    """What was found: ``faults`` are broken promises, the rest is told."""

    runs: int = 0
    events: int = 0
    compared: int = 0
    unread: int = 0
    withheld: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    attempts: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


async def settle(url: str) -> int:
    """Wait until every run has ended, for some minutes at most; return how many have not."""
    left = -1
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        for _ in range(SETTLING_SECONDS):
            row = await (await connection.execute(_UNFINISHED)).fetchone()
            left = int(row[0]) if row else 0
            if left == 0:
                break
            await asyncio.sleep(1)
    return left


async def audit(url: str, read: Mapping[str, Read]) -> Audit:
    """Compare the ledger, the log and the messages with each other, and with what clients read."""
    found = Audit()
    async with await psycopg.AsyncConnection.connect(url) as connection:
        rows = await (await connection.execute(_RUNS)).fetchall()
        messages = {row[0]: (row[1], row[2]) for row in await (await connection.execute(_MESSAGES)).fetchall()}
        checks: dict[str, RunCheck] = {}
        ends: Counter[str] = Counter()
        async with connection.cursor("log") as cursor:
            await cursor.execute(_EVENTS)
            async for run_id, kind, payload in cursor:
                check = checks.setdefault(run_id, RunCheck(run_id))
                check.add(kind, json.loads(payload))
                ends[run_id] += kind in ENDS
                found.events += 1
    for row in rows:
        _audit_run(found, row, checks.get(row[0]) or RunCheck(), ends[row[0]], messages.get(row[0], (0, 0)))
    _compare(found, {row[0] for row in rows}, checks, read)
    return found


def _audit_run(found: Audit, row: tuple[Any, ...], check: RunCheck, ends: int, messages: tuple[int, int]) -> None:
    run_id, status, outcome, _, last_seq, attempt = row
    found.runs += 1
    found.outcomes[outcome or status] += 1
    found.attempts[attempt] += 1
    found.faults += [f"{run_id}, in the log: {fault}" for fault in check.faults]
    if status != "finished":
        found.faults.append(f"{run_id}: {status}, and never ended")
    if ends != 1:
        found.faults.append(f"{run_id}: {ends} ends in the log")
    elif check.end != outcome or check.seq != last_seq:
        found.faults.append(f"{run_id}: the log ends {check.end} at {check.seq}, the ledger says {outcome}, {last_seq}")
    if max(messages) > 1 or (outcome in ("answered", "abstained") and messages != (1, 1)):
        found.faults.append(f"{run_id}: {messages[0]} questions and {messages[1]} answers are stored")


def _compare(found: Audit, runs: set[str], checks: Mapping[str, RunCheck], read: Mapping[str, Read]) -> None:
    for run_id, seen in read.items():
        if run_id not in runs:
            found.faults.append(f"{run_id}: read by a client, and not in the ledger")
            continue
        check = checks[run_id]
        found.compared += 1
        found.withheld += seen.withheld
        same = seen.seq == check.seq and seen.end == check.end
        if not same or (not seen.withheld and seen.digest != check.digest()):
            found.faults.append(f"{run_id}: a client read other events than the log has")
    found.unread = len(runs - read.keys())
