"""Programs that are started again when they end, as a supervisor does, and what they wrote to their logs."""

import asyncio
import json
import os
import re
import signal
import time
from asyncio.subprocess import DEVNULL, Process
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.storage.embedded import Unprivileged

RESTART_SECONDS = 0.5
STOP_SECONDS = 40.0
DATABASE_AWAY = 5  # the exit code of a program that began while there was no database
_VARIABLE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+(\.\d+)?")


@dataclass(slots=True)
class Program:
    """A program that lives until ``stop``; each of its lives has a number from 0.

    ``expected`` says that its next end is ours, ``may_end`` that any is, for a while; other ends are counted in
    ``surprises``, with their exit codes. ``refused_starts`` counts lives that ended for want of a database.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    account: Unprivileged | None = None
    stopping_signal: signal.Signals = signal.SIGTERM
    life: int = -1
    expected: bool = False
    may_end: bool = False
    surprises: list[str] = field(default_factory=list)
    refused_starts: int = 0
    _process: Process | None = None
    _stopping: bool = False
    _living: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin its first life."""
        self._living = asyncio.create_task(self._live(), name=f"soak-{self.name}")

    @property
    def pid(self) -> int | None:
        """The id of its process; None between two lives."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    def send(self, number: signal.Signals) -> None:
        """Send a signal that does not end it."""
        if self.pid is not None:
            os.kill(self.pid, number)

    def end(self, number: signal.Signals) -> None:
        """End its life by a signal; another begins."""
        self.expected = self.pid is not None
        self.send(number)

    async def stop(self) -> None:
        """End its last life; one that does not end by itself is killed, which counts as a surprise."""
        self._stopping = self.expected = True
        self.send(self.stopping_signal)
        if self._living is None:
            return
        try:
            await asyncio.wait_for(asyncio.shield(self._living), STOP_SECONDS)
        except TimeoutError:
            self.surprises.append("did not stop")
            self.send(signal.SIGKILL)
            await self._living

    async def _live(self) -> None:
        user = as_account(self.account)
        while not self._stopping:
            with self.log.open("ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    *self.command, env=dict(self.environment), stdout=DEVNULL, stderr=log, cwd=self.log.parent, **user
                )
            self.life += 1
            code = await self._process.wait()
            if code == DATABASE_AWAY:
                self.refused_starts += 1
            elif not self.expected and not self.may_end:
                self.surprises.append(f"ended with {code} at {time.strftime('%H:%M:%S')}")
            self.expected = self._stopping
            if not self._stopping:
                await asyncio.sleep(RESTART_SECONDS)


def as_account(account: Unprivileged | None) -> dict[str, Any]:
    """Return the arguments of a subprocess that runs as another account."""
    return {} if account is None else {"user": account.uid, "group": account.gid, "extra_groups": ()}


def logged(log: Path, *levels: str) -> Counter[str]:
    """Count the lines of these levels of a JSON log by logger and message, without the ids and numbers in them."""
    found: Counter[str] = Counter()
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("level") in levels:
            kind = f" [{entry['exception']['type']}]" if "exception" in entry else ""
            found[f"{entry['logger']}: {_VARIABLE.sub('#', str(entry['message'])).strip()[:160]}{kind}"] += 1
    return found


def crashes(log: Path) -> list[str]:
    """Return the lines of a log at which a traceback that nobody caught, or a crash of the interpreter, begins."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if line.startswith(("Traceback", "Fatal Python error"))]
