"""An encoder in a process of its own, which ends with this one and is started again where it dies."""

import asyncio
import itertools
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tools.concurrency.tasks import cancel_and_wait
from tools.confinement.environment import plain_environment
from tools.encoders.encoding import LENGTH, WORDS

MOST_WAITING = 64  # requests; then a question is answered without, and documents wait
REQUEST_SECONDS = 120.0  # for a request, the loading of a large model included
MOST_THREADS = 4
FEW_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[3])
from tools.encoders.encoding import main
main(sys.argv[1], int(sys.argv[2]))
"""

Numbers = NDArray[np.float32]
_Turn = tuple[bool, int, bytes, asyncio.Future[Numbers]]  # the second number keeps the order


class EncoderFailed(Exception):
    """A request that the process could not answer; the message says why, in the model's words or ours."""


class EncoderProcess:
    """A process that embeds or scores texts, one request at a time; questions come before documents. Close it."""

    def __init__(self, model: Path, *, seconds: float = REQUEST_SECONDS) -> None:
        self._model = model
        self._seconds = seconds
        self._waiting: asyncio.PriorityQueue[_Turn] = asyncio.PriorityQueue(MOST_WAITING)
        self._numbers = itertools.count()
        self._serving: asyncio.Task[None] | None = None
        self._process: Process | None = None

    async def ask(
        self, texts: Sequence[str], *, question: str | None = None, first: bool = False, seconds: float | None = None
    ) -> Numbers:
        """Return the numbers of texts, one text's behind the other's: vectors, or scores beside a question.

        With ``first`` it goes before requests without, and does not wait where too many wait. Raises EncoderFailed,
        also where it takes more than ``seconds``.
        """
        frame = json.dumps({"texts": list(texts), "question": question}).encode()
        reply: asyncio.Future[Numbers] = asyncio.get_running_loop().create_future()
        turn = (not first, next(self._numbers), LENGTH.pack(len(frame)) + frame, reply)
        if first and self._waiting.full():
            raise EncoderFailed("too many requests are waiting for it")
        await self._waiting.put(turn)
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())
        try:
            async with asyncio.timeout(seconds):
                return await reply
        except TimeoutError:
            raise EncoderFailed(f"it took more than {seconds:.3g} seconds") from None

    async def close(self) -> None:
        """End the process; requests that wait are cancelled."""
        if self._serving is not None:
            await cancel_and_wait(self._serving)
        while not self._waiting.empty():
            self._waiting.get_nowait()[-1].cancel()
        await self._end()

    async def _serve(self) -> None:
        while True:
            *_, frame, reply = await self._waiting.get()
            if reply.done():  # whoever asked has gone
                continue
            try:
                numbers = await self._answer(frame)
            except EncoderFailed as error:
                if not reply.done():
                    reply.set_exception(error)
            except asyncio.CancelledError:
                reply.cancel()
                raise
            else:
                if not reply.done():
                    reply.set_result(numbers)

    async def _answer(self, frame: bytes) -> Numbers:
        for is_last in (False, True):
            try:
                process = self._process or await self._start()
            except OSError as error:
                raise EncoderFailed(f"its process could not start: {error}") from None
            try:
                async with asyncio.timeout(self._seconds):
                    return await _exchange(process, frame)
            except TimeoutError:
                await self._end()
                raise EncoderFailed(f"it took more than {self._seconds:.3g} seconds") from None
            except (OSError, EOFError):
                code = await self._end()
                if is_last:
                    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                    raise EncoderFailed(f"its process ended ({how})") from None
        raise AssertionError("unreachable")

    async def _start(self) -> Process:
        threads = max(1, min(MOST_THREADS, (os.cpu_count() or 2) // 2))
        paths = json.dumps([path for path in sys.path if path])
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-c", _PROGRAM, str(self._model.absolute()), str(threads), paths,
            stdin=PIPE, stdout=PIPE, env=plain_environment() | FEW_THREADS, start_new_session=True,
        )  # fmt: skip
        return self._process

    async def _end(self) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        if process.stdin is not None:
            process.stdin.close()
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)  # the process's own method would take its code from the watcher
        return await process.wait()


async def _exchange(process: Process, frame: bytes) -> Numbers:
    """Send a request and return the reply. Raises OSError or EOFError where the process ends before."""
    inbox, outbox = process.stdin, process.stdout
    assert inbox is not None
    assert outbox is not None
    if inbox.is_closing():
        raise EOFError
    inbox.write(frame)
    await inbox.drain()
    (length,) = LENGTH.unpack(await outbox.readexactly(LENGTH.size))
    reply = await outbox.readexactly(length)
    if reply[:1] == WORDS:
        raise EncoderFailed(reply[1:].decode())
    return np.frombuffer(reply, np.float32, offset=1)
