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
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from graph.errors import DocumentTooExpensive, UnreadableDocument, restored_error
from text.near_words import is_listed
from tools.concurrency.tasks import cancel_and_wait
from tools.confinement.environment import plain_environment
from tools.confinement.kernel import hide_memory
from tools.library.new_documents import DocumentFields, NewDocument, ReadyDocument, fields_of_request, member_of
from tools.library.reading import Progress, ReadFile, Reading, WiredDocument, silent
from tools.library.sandbox_process import LENGTH, write_frame
from tools.library.sandbox_tasks import Frame, Task
from tools.retrieval.segment_rows import PackedDocument, TermCounts
from tools.settings import JobSettings
from tools.web.addresses import host_of
from tools.web.sites import Entry

log = logging.getLogger("citewell.library")

# Other libraries start threads of their own, for each of which memory is reserved.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS", "RAYON_RS_NUM_THREADS"), "1"
) | {"TOKENIZERS_PARALLELISM": "false"}
REST_SECONDS = 60.0  # without a file, before a process ends: starting one takes half a second, keeping it 60 MB or more
FILE_MEGABYTES = 1024  # of memory, that reading a file may take: what takes more is a bomb, or made to be split
MOST_FILES, UNPACKED_BYTES = 5_000, 400_000_000  # of an archive
HEADER_BYTES = 20_000_000  # of a reply, beside its bytes
MOST_VALUES = 200_000  # lists and objects in it
LEAST_SHARE = 0.25  # of the seconds of a file of the largest size, which a small one gets
PATIENCE = 4  # times these seconds by the clock: on a busy machine a file gets a part of the processor
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[2])
from tools.library.sandbox_process import main
main(int(sys.argv[1]), sys.argv[3])
"""

OnPart = Callable[[dict[str, Any], bytes], Awaitable[None]]
OnDocument = Callable[[WiredDocument], Awaitable[None]]


@dataclass(slots=True, eq=False)
class _Reader:
    """A process that reads files, and whether it may read another one."""

    process: Process
    scratch: str
    whose: Hashable
    usable: bool = True

    async def send(self, header: dict[str, Any], *blobs: bytes) -> bool:
        """Send a file and what to do with it, and return whether there was still a process to take it."""
        inbox = self.process.stdin
        assert inbox is not None
        self.usable = False  # until it has replied
        try:
            for part in write_frame(header, *blobs):
                if inbox.is_closing():  # uvloop writes to no pipe that is closed, and says so by a RuntimeError
                    return False
                inbox.write(part)
                await inbox.drain()
        except OSError:
            return False
        return not inbox.is_closing()

    async def reply(self, on_progress: Progress, on_part: OnPart | None, most_bytes: int) -> Frame:
        """Return the reply to the file that was sent. Raises OSError or EOFError where the process ends before."""
        outbox = self.process.stdout
        assert outbox is not None
        while True:
            reply, blobs = await _read_frame(outbox, most_bytes)
            if "progress" in reply:
                on_progress(*reply["progress"])
            elif "part" in reply and on_part is not None:
                await on_part(reply["part"], *blobs)
            else:
                self.usable = not reply.get("last", True)
                return reply, blobs

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


async def _read_frame(outbox: asyncio.StreamReader, most_bytes: int) -> Frame:
    """Read a frame. Raises EOFError for one that only a process which a file has taken over sends."""
    (length,) = LENGTH.unpack(await outbox.readexactly(LENGTH.size))
    if length > min(most_bytes, HEADER_BYTES):
        raise EOFError
    encoded = await outbox.readexactly(length)
    # Small values take thirty times their bytes, and hold the interpreter while they are read.
    if encoded.count(b"[") + encoded.count(b"{") > MOST_VALUES:
        raise EOFError
    try:
        header: dict[str, Any] = await asyncio.to_thread(json.loads, encoded)
        lengths = [int(each) for each in header.pop("blobs")]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise EOFError from None
    if min(lengths, default=0) < 0 or length + sum(lengths) > most_bytes:
        raise EOFError
    return header, [await outbox.readexactly(each) for each in lengths]


@dataclass
class Sandbox:
    """At most ``size`` processes that read files, started when they are needed. Close it.

    A file of ``full_bytes`` may take ``seconds`` of the processor, a smaller one less; with 0, each may.
    """

    size: int
    seconds: float
    megabytes: int
    rest_seconds: float = REST_SECONDS
    full_bytes: int = 0
    reply_bytes: int = 1 << 29
    _idle: list[_Reader] = field(default_factory=list, init=False)
    _all: set[_Reader] = field(default_factory=set, init=False)
    _slots: asyncio.Semaphore = field(init=False)
    _resting: asyncio.Task[None] | None = field(default=None, init=False)
    _used_at: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        hide_memory()
        self._slots = asyncio.Semaphore(self.size)

    async def read(self, document: WiredDocument, how: Reading, on_progress: Progress = silent) -> ReadFile:
        """Read a document. Raises as ``run`` does, and InvalidRequest."""
        header = {**_fields_of(document), "how": asdict(how)}
        # Recognising the text of a scan takes long for few bytes.
        seconds = self.seconds if how.recognition is not None else None
        reply, blobs = await self.run(
            "document", header, document.data, on_progress=on_progress, seconds=seconds, whose=(how.workspace, how.user)
        )
        with suppress(KeyError, TypeError, ValueError):  # a file may have taken over the process
            file = _read_file(document, how, reply, blobs)
            if file.packed is None or await asyncio.to_thread(file.packed.is_of, how.workspace):
                return file
        await self.rest()
        raise UnreadableDocument("The process that read it replied with what is not this document.")

    async def unpack(self, new: NewDocument, max_bytes: int, on_document: OnDocument, *, whose: Hashable) -> bool:
        """Unpack the documents of an archive one by one; return False where it is a document itself.

        ``whose`` is that of ``run``. Raises as ``run`` does, InvalidRequest, and what ``on_document`` does.
        """

        left, room = MOST_FILES, UNPACKED_BYTES

        async def on_part(part: dict[str, Any], data: bytes) -> None:
            nonlocal left, room
            left, room = left - 1, room - len(data)
            if left < 0 or room < 0 or len(data) > max_bytes:  # only a process that a file has taken over sends so much
                raise EOFError
            file = member_of(new, str(part["path"]), data)  # all else is what was said of the archive
            if "error" in part:
                await on_document(WiredDocument.refused(file.name, restored_error(*part["error"])))
            else:
                await on_document(await asyncio.to_thread(WiredDocument.of, file))

        wired = await asyncio.to_thread(WiredDocument.of, new)
        header = {**_fields_of(wired), "max_bytes": max_bytes}
        reply, _ = await self.run("unpack", header, wired.data, on_part=on_part, whose=whose)
        if not (is_archive := bool(reply["is_archive"])):
            await on_document(wired)
        return is_archive

    async def addresses(self, data: bytes, address: str) -> tuple[str, Sequence[str]]:
        """Return the address that an HTML page calls its own, and those it links to; none where it can't be read."""
        try:
            reply, _ = await self.run("addresses", {"address": address}, data)
        except UnreadableDocument:
            return address, ()
        own, links = reply["addresses"]
        return own if host_of(own) == host_of(address) else address, links

    async def sitemap(self, data: bytes, max_bytes: int) -> Sequence[Entry]:
        """Return the entries of a sitemap. Raises as ``run`` does."""
        reply, _ = await self.run("sitemap", {"max_bytes": max_bytes}, data)
        return [(named, modified, is_sitemap) for named, modified, is_sitemap in reply["entries"]]

    def seconds_for(self, size: int) -> float:
        """Return how long reading a file of so many bytes may take."""
        share = min(1.0, size / self.full_bytes) if self.full_bytes else 1.0
        return self.seconds * (LEAST_SHARE + (1 - LEAST_SHARE) * share)

    async def run(
        self,
        task: Task,
        header: dict[str, Any],
        *blobs: bytes,
        on_progress: Progress = silent,
        on_part: OnPart | None = None,
        seconds: float | None = None,
        whose: Hashable = None,
    ) -> Frame:
        """Have a process do a task on the bytes of a file. A caller that is cancelled ends the process.

        ``whose`` says which files a process reads one after the other, since it keeps what one may have left there; of
        None it reads one. ``on_part`` is awaited for each part of the reply. Raises UnreadableDocument, and
        DocumentTooExpensive where a limit is exceeded or the process ends.
        """
        seconds = self.seconds_for(sum(map(len, blobs))) if seconds is None else seconds
        header = {**header, "task": task, "seconds": seconds}
        async with self._slots:
            idle = self._idle_of(whose)
            was_idle = idle is not None
            while True:
                reader, idle = idle or await self._start_for(whose), None
                try:
                    async with asyncio.timeout(seconds * PATIENCE):
                        if not await reader.send(header, *blobs) and was_idle:
                            was_idle = False  # it may have ended before: a fresh one shows whether the file is at fault
                            continue
                        reply, sent = await reader.reply(on_progress, on_part, self.reply_bytes)
                except TimeoutError:
                    raise _too_slow(seconds) from None
                except (OSError, EOFError):
                    await reader.end()
                    raise self._ended(reader.process.returncode or 0, seconds) from None
                finally:
                    if reader.usable and whose is not None:
                        self._idle.append(reader)
                        self._rest_later()
                    else:
                        await self._drop(reader)
                if "error" in reply:
                    raise restored_error(*reply["error"])
                return reply, sent

    def _idle_of(self, whose: Hashable) -> _Reader | None:
        found = next((each for each in self._idle if each.whose == whose), None)
        if found is not None:
            self._idle.remove(found)
        return found

    async def _start_for(self, whose: Hashable) -> _Reader:
        if self._idle and len(self._all) >= self.size:
            await self._drop(self._idle.pop(0))
        reader = await self._start()
        reader.whose = whose
        return reader

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
        paths = json.dumps([path for path in sys.path if path])
        scratch = await asyncio.to_thread(tempfile.mkdtemp, prefix="citewell-")
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-c", _PROGRAM, str(self.megabytes), paths, scratch,
                stdin=PIPE, stdout=PIPE, env=plain_environment() | ONE_THREAD,
                start_new_session=True,  # Ctrl-C is for the parent, and one signal ends what a parser starts
            )  # fmt: skip
        except BaseException:
            _remove(scratch)
            raise
        reader = _Reader(process, scratch, None)
        self._all.add(reader)
        return reader

    async def _drop(self, reader: _Reader) -> None:
        await reader.end()
        self._all.discard(reader)  # not before: whoever is cancelled here leaves it to ``close``

    def _ended(self, returncode: int, seconds: float) -> DocumentTooExpensive:
        if returncode == -signal.SIGXCPU:
            return _too_slow(seconds)
        name = signal.Signals(-returncode).name if returncode < 0 else f"exit code {returncode}"
        log.info("a process that read a file ended by itself: %s", name)
        return DocumentTooExpensive(
            f"The process that read it ended ({name}): it may take more than {self.megabytes:,} MB of memory, or crash "
            "its parser.",
            suggestion="Convert the file to another format, or split it.",
        )


@asynccontextmanager
async def opened_sandbox(
    settings: JobSettings, size: int, *, megabytes: int = FILE_MEGABYTES, **limits: int
) -> AsyncIterator[Sandbox]:
    """Open a sandbox of ``size`` processes with the limits of the settings; end the processes on exit."""
    sandbox = Sandbox(size, settings.file_seconds, megabytes, **limits)
    try:
        yield sandbox
    finally:
        await sandbox.close()


def _fields_of(document: WiredDocument) -> dict[str, Any]:
    return {name: getattr(document, name) for name in ("fields", "is_text", "document_id", "name")}


_OF_ORIGINAL = ("original_sha256", "original_size", "original_media_type", "original_name")


def _too_slow(seconds: float) -> DocumentTooExpensive:
    return DocumentTooExpensive(
        f"Reading it takes more than {seconds:g} seconds.",
        suggestion="Split the file, or raise CITEWELL_JOBS__FILE_SECONDS.",
    )


def _read_file(document: WiredDocument, how: Reading, reply: dict[str, Any], blobs: list[bytes]) -> ReadFile:
    ours = {**dict.fromkeys(_OF_ORIGINAL), **fields_of_request(document.document())}
    fields = DocumentFields(**{**reply["fields"], **ours})
    warnings = tuple(reply["warnings"])
    ready = ReadyDocument(document.document_id, document.name, fields, reply["content_hash"], warnings=warnings)
    if not blobs:
        return ReadFile(ready, None)
    rows, terms, vectors, listed, texts = blobs
    words = set(filter(is_listed, _texts_in(listed)))
    packed = PackedDocument(document.document_id, reply["segments"], rows, TermCounts.unpacked(terms), vectors, words)
    return ReadFile(ready, packed, _texts_in(texts))


def _texts_in(blob: bytes) -> list[str]:
    return blob.decode().split("\0") if blob else []
