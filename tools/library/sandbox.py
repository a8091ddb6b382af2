"""Read files in processes of their own, so that a file can neither hold up a question nor end the server.

Each process reads one file at a time under limits of time and memory, and is ended and replaced where it exceeds them,
crashes, or is not waited for any more. Those without a file for a while end.
"""

import asyncio
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from graph.errors import DocumentTooExpensive, UnreadableDocument, restored_error
from tools.concurrency.tasks import cancel_and_wait
from tools.confinement.environment import plain_environment
from tools.confinement.kernel import hide_memory
from tools.library.new_documents import DocumentFields, ReadyDocument, fields_of_request
from tools.library.reading import Progress, ReadFile, Reading, WiredDocument, silent
from tools.library.sandbox_process import LENGTH, Frame, Task, write_frame
from tools.retrieval.segment_rows import PackedDocument, TermCounts
from tools.settings import JobSettings

log = logging.getLogger("citewell.library")

# Other libraries start threads of their own, for each of which memory is reserved.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS", "RAYON_RS_NUM_THREADS"), "1"
) | {"TOKENIZERS_PARALLELISM": "false"}
REST_SECONDS = 60.0  # without a file, before a process ends: starting one takes half a second, keeping it 60 MB or more
FILE_MEGABYTES = 1024  # of memory, that reading a file may take: what takes more is a bomb, or made to be split
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[2])
from tools.library.sandbox_process import main
main(int(sys.argv[1]), sys.argv[3])
"""


@dataclass(slots=True, eq=False)
class _Reader:
    """A process that reads files, and whether it may read another one."""

    process: Process
    scratch: str
    usable: bool = True

    async def send(self, header: dict[str, Any], data: bytes) -> bool:
        """Send a file and what to do with it, and return whether there was still a process to take it."""
        inbox = self.process.stdin
        assert inbox is not None
        self.usable = False  # until it has replied
        try:
            for part in write_frame(header, data):
                if inbox.is_closing():  # uvloop writes to no pipe that is closed, and says so by a RuntimeError
                    return False
                inbox.write(part)
                await inbox.drain()
        except OSError:
            return False
        return not inbox.is_closing()

    async def reply(self, on_progress: Progress) -> Frame:
        """Return the reply to the file that was sent. Raises OSError or EOFError where the process ends before."""
        outbox = self.process.stdout
        assert outbox is not None
        while True:
            reply, blobs = await _read_frame(outbox)
            if "progress" not in reply:
                self.usable = not reply["last"]
                return reply, blobs
            on_progress(*reply["progress"])

    async def end(self) -> None:
        """End the process, with whatever it has started, and wait for its end."""
        self.usable = False
        if self.process.stdin is not None:
            self.process.stdin.close()
        if self.process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()
        await asyncio.to_thread(_remove, self.scratch)


def _remove(folder: str) -> None:
    with suppress(RecursionError):  # a parser has made folders in folders
        shutil.rmtree(folder, ignore_errors=True)


async def _read_frame(outbox: asyncio.StreamReader) -> Frame:
    (length,) = LENGTH.unpack(await outbox.readexactly(LENGTH.size))
    encoded = await outbox.readexactly(length)
    header: dict[str, Any] = await asyncio.to_thread(json.loads, encoded) if length > 100_000 else json.loads(encoded)
    return header, [await outbox.readexactly(each) for each in header.pop("blobs")]


@dataclass
class Sandbox:
    """At most ``size`` processes that read files, started when they are needed. Close it."""

    size: int
    seconds: float
    megabytes: int
    rest_seconds: float = REST_SECONDS
    _idle: list[_Reader] = field(default_factory=list, init=False)
    _all: set[_Reader] = field(default_factory=set, init=False)
    _slots: asyncio.Semaphore = field(init=False)
    _resting: asyncio.Task[None] | None = field(default=None, init=False)
    _used_at: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.size)

    async def read(self, document: WiredDocument, how: Reading, on_progress: Progress = silent) -> ReadFile:
        """Read a document. Raises as ``run`` does, and InvalidRequest."""
        header = {name: getattr(document, name) for name in ("fields", "is_text", "document_id", "name")}
        header["how"] = asdict(how)
        reply, blobs = await self.run("document", header, document.data, on_progress=on_progress)
        with suppress(KeyError, TypeError, ValueError):  # a file may have taken over the process
            file = _read_file(document, how, reply, blobs)
            if file.packed is None or await asyncio.to_thread(file.packed.is_of, how.workspace):
                return file
        await self.rest()
        raise UnreadableDocument("The process that read it replied with what is not this document.")

    async def run(self, task: Task, header: dict[str, Any], data: bytes, *, on_progress: Progress = silent) -> Frame:
        """Have a process do a task on the bytes of a file. A caller that is cancelled ends the process.

        Raises UnreadableDocument, and DocumentTooExpensive where a limit is exceeded or the process ends.
        """
        header = {**header, "task": task, "seconds": self.seconds}
        async with self._slots:
            was_idle = bool(self._idle)
            while True:
                reader = self._idle.pop() if was_idle and self._idle else await self._start()
                try:
                    async with asyncio.timeout(self.seconds):
                        if not await reader.send(header, data) and was_idle:
                            was_idle = False  # it may have ended before: a fresh one shows whether the file is at fault
                            continue
                        reply, blobs = await reader.reply(on_progress)
                except TimeoutError:
                    raise self._too_slow() from None
                except (OSError, EOFError):
                    await reader.end()
                    raise self._ended(reader.process.returncode or 0) from None
                finally:
                    if reader.usable:
                        self._idle.append(reader)
                        self._rest_later()
                    else:
                        await self._drop(reader)
                if "error" in reply:
                    raise restored_error(*reply["error"])
                return reply, blobs

    async def rest(self) -> None:
        """End the processes that are not reading; the next file starts one again."""
        while self._idle:
            await self._drop(self._idle.pop())

    async def close(self) -> None:
        """End every process."""
        if self._resting is not None:
            await cancel_and_wait(self._resting)
        self._idle.clear()
        for reader in list(self._all):
            await self._drop(reader)

    def _rest_later(self) -> None:
        self._used_at = asyncio.get_running_loop().time()
        if self._resting is None or self._resting.done():
            self._resting = asyncio.create_task(self._rest_in_time())

    async def _rest_in_time(self) -> None:
        loop = asyncio.get_running_loop()
        while (left := self._used_at + self.rest_seconds - loop.time()) > 0:  # noqa: ASYNC110 - a clock has no event
            await asyncio.sleep(left)
        await self.rest()

    async def _start(self) -> _Reader:
        hide_memory()
        paths = json.dumps([path for path in sys.path if path])
        scratch = tempfile.mkdtemp(prefix="citewell-")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-c", _PROGRAM, str(self.megabytes), paths, scratch,
            stdin=PIPE, stdout=PIPE, env=plain_environment() | ONE_THREAD,
            start_new_session=True,  # Ctrl-C is for the parent, and one signal ends what a parser starts
        )  # fmt: skip
        reader = _Reader(process, scratch)
        self._all.add(reader)
        return reader

    async def _drop(self, reader: _Reader) -> None:
        await reader.end()
        self._all.discard(reader)  # not before: whoever is cancelled here leaves it to ``close``

    def _too_slow(self) -> DocumentTooExpensive:
        return DocumentTooExpensive(
            f"Reading it takes more than {self.seconds:g} seconds.",
            suggestion="Split the file, or raise CITEWELL_JOBS__FILE_SECONDS.",
        )

    def _ended(self, returncode: int) -> DocumentTooExpensive:
        if returncode == -signal.SIGXCPU:
            return self._too_slow()
        name = signal.Signals(-returncode).name if returncode < 0 else f"exit code {returncode}"
        log.info("a process that read a file ended by itself: %s", name)
        return DocumentTooExpensive(
            f"The process that read it ended ({name}): it may take more than {self.megabytes:,} MB of memory, or crash "
            "its parser.",
            suggestion="Convert the file to another format, or split it.",
        )


@asynccontextmanager
async def opened_sandbox(settings: JobSettings, size: int) -> AsyncIterator[Sandbox]:
    """Open a sandbox of ``size`` processes with the limits of the settings; end the processes on exit."""
    sandbox = Sandbox(size, settings.file_seconds, FILE_MEGABYTES)
    try:
        yield sandbox
    finally:
        await sandbox.close()


def _read_file(document: WiredDocument, how: Reading, reply: dict[str, Any], blobs: list[bytes]) -> ReadFile:
    fields = DocumentFields(**{**reply["fields"], **fields_of_request(document.document())})
    warnings = tuple(reply["warnings"])
    ready = ReadyDocument(document.document_id, document.name, fields, reply["content_hash"], warnings=warnings)
    if not blobs:
        return ReadFile(ready, None)
    rows, terms, vectors = blobs
    packed = PackedDocument(document.document_id, reply["segments"], rows, TermCounts.unpacked(terms), vectors)
    return ReadFile(ready, packed, reply["texts"])
