"""Processes that read files, handed on from deployment to deployment: each takes a second of imports."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tools.confinement.environment import plain_environment
from tools.library import sandbox
from tools.library.sandbox import FILE_MEGABYTES, Sandbox
from tools.settings import JobSettings

MOST = 2  # that wait for another deployment
_waiting: list[tuple[sandbox._Reader, object]] = []  # each with how it was started
_loops: list[asyncio.AbstractEventLoop] = []


@dataclass
class HandedOn(Sandbox):
    """A sandbox that begins with processes of those closed before it, if it would start them in the same way."""

    _started: dict[sandbox._Reader, object] = field(default_factory=dict, init=False)

    async def _start(self) -> sandbox._Reader:
        how = self._how()
        found = next((each for each in _waiting if each[1] == how), None)
        if found is not None:
            _waiting.remove(found)
        if found is None or found[0].process.returncode is not None:
            reader = await super()._start()
        else:
            reader = found[0]
            self._all.add(reader)
        self._started[reader] = how
        return reader

    async def close(self) -> None:
        """Leave processes that are not reading to another sandbox, and end the others."""
        if asyncio.get_running_loop() in _loops:
            while self._idle and len(_waiting) < MOST:
                reader = self._idle.pop()
                self._all.remove(reader)
                _waiting.append((reader, self._started[reader]))
        await super().close()

    def _how(self) -> object:
        return self.megabytes, list(sys.path), plain_environment(), asyncio.get_running_loop()


@asynccontextmanager
async def _opened(settings: JobSettings, size: int, **others: Any) -> AsyncIterator[Sandbox]:
    opened = HandedOn(size, settings.file_seconds, others.pop("megabytes", FILE_MEGABYTES), **others)
    try:
        yield opened
    finally:
        await opened.close()


@asynccontextmanager
async def handed_on() -> AsyncIterator[None]:
    """Hand processes on between the deployments of this event loop, and end those that wait at the end."""
    loop = asyncio.get_running_loop()
    _loops.append(loop)
    try:
        yield
    finally:
        _loops.remove(loop)
        while _waiting:
            await _waiting.pop()[0].end()


sandbox.opened_sandbox = _opened
