"""What a server does for ``citewell ask`` on the same library: it answers, and shows it on the asker's terminal.

The asker is this server's own user, by the socket that it comes through (``cli.local_socket``), and may choose
workspace and user, as with a process of its own. Each question and its answer are a connection: a line of JSON from the
asker, then lines from the server. When the asker goes, its run is cancelled.
"""

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, TextIO, cast

from rich.console import Console

from cli.answering import answer
from cli.command import Failed
from cli.console import Screen, bounded, json_text
from cli.local_socket import Asked, deciding, listening, release, settings_read
from graph.entrypoint import Citewell
from graph.errors import CitewellError, Overloaded, ServerStopping
from tools.concurrency.tasks import cancel_and_wait
from tools.settings import Settings
from tools.telemetry.logs import logging_also_to

log = logging.getLogger(__name__)

LONGEST_REQUEST = 1_000_000  # bytes
Send = Callable[[dict[str, Any]], None]
DEFAULT_SIZE = (80, 25)  # rich's own


@asynccontextmanager
async def answering_local_questions(citewell: Citewell, settings: Settings) -> AsyncIterator[None]:
    """Answer questions of this machine's command line while the context is open, if the database is embedded.

    Another server on the same data folder may be answering them already; then this one does not.
    """
    if settings.database_url is not None:
        yield
        return
    with listening(settings.data_dir.expanduser().resolve()) as listener:
        if listener is None:
            yield
            return
        questions = LocalQuestions(citewell, settings)
        listener.setblocking(False)
        server = await asyncio.start_unix_server(questions.serve, sock=listener, limit=LONGEST_REQUEST)
        try:
            yield
        finally:
            server.close()
            await questions.close()


class LocalQuestions:
    """The questions that a server is answering, each a connection."""

    def __init__(self, citewell: Citewell, settings: Settings) -> None:
        self._citewell = citewell
        self._settings = settings
        self._same = {"release": release(), "settings": deciding(settings_read())}
        self._open: set[asyncio.Task[Any]] = set()

    async def close(self) -> None:
        """End the connections; runs that are not done are cancelled."""
        await cancel_and_wait(*self._open)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the question of one connection."""
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        loop = asyncio.get_running_loop()

        def send(frame: dict[str, Any]) -> None:
            # A status on a terminal is drawn by a thread of its own.
            loop.call_soon_threadsafe(writer.write, json.dumps(frame).encode() + b"\n")

        try:
            await self._serve(json.loads(await reader.readline()), reader, send)
            await asyncio.sleep(0)  # until what was sent is written
            await writer.drain()
        except (OSError, ValueError) as error:  # gone, or nothing that this release has asked
            log.debug("A question of the command line broke off: %s", error)
        finally:
            self._open.discard(task)
            writer.close()

    async def _serve(self, request: Any, reader: asyncio.StreamReader, send: Send) -> None:
        if not isinstance(request, dict) or self._same != {name: request.get(name) for name in self._same}:
            send({"declined": "the release or its settings are others"})
            return
        send({"accepted": True})
        answering = asyncio.create_task(self._answer(request, send))
        leaving = asyncio.create_task(reader.read())  # the asker sends nothing more: it ends when that has gone
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel_and_wait(answering, leaving)

    async def _answer(self, request: dict[str, Any], send: Send) -> None:
        fields = Settings.model_fields
        identity = {
            name: fields[name].default if request[name] is None else request[name] for name in ("workspace", "user")
        }
        settings = self._settings.model_copy(update=identity)
        asked, screen = Asked(**request["asked"]), _screen(request["terminal"], send)
        errors = _stream("err", send, is_terminal=False)
        try:
            with logging_also_to(errors, request["log_level"], request["log_format"]):
                done = await answer(self._citewell, settings, asked, screen)
        except (Overloaded, ServerStopping) as error:  # the asker's own process can
            send({"declined": error.code})
        except CitewellError as error:
            send({"failed": asdict(Failed.of(error))})
        except Exception as error:
            log.exception("A question of the command line failed")
            send({"failed": asdict(Failed.unexpectedly(error))})
        else:
            send({"failed": asdict(done)} if isinstance(done, Failed) else {"exit": int(done)})


class _Stream(io.TextIOBase):
    """One of the two streams of the asker's process."""

    encoding = "utf-8"

    def __init__(self, name: str, send: Send, *, is_terminal: bool) -> None:
        self._name = name
        self._send = send
        self._is_terminal = is_terminal

    def write(self, text: str) -> int:
        self._send({self._name: text})
        return len(text)

    def isatty(self) -> bool:
        return self._is_terminal


def _stream(name: str, send: Send, *, is_terminal: bool) -> TextIO:
    return cast("TextIO", _Stream(name, send, is_terminal=is_terminal))


def _screen(terminal: Mapping[str, Any], send: Send) -> Screen:
    """Return what shows output as the asker's own process would."""

    def console(name: str) -> Console:
        made = Console(
            file=_stream(name, send, is_terminal=terminal[name]),
            _environ=terminal["environment"],
            highlight=False,
            emoji=False,
            markup=False,
        )
        if not made.is_dumb_terminal:
            made.size = _size(terminal["environment"], terminal["size"])
        return bounded(made)

    return Screen(lambda: console("out"), lambda: console("err"), lambda document: send({"out": json_text(document)}))


def _size(environment: Mapping[str, str], size: Sequence[int] | None) -> tuple[int, int]:
    """Return the size of the asker's terminal as rich finds it there: what the variables say, else what it is."""
    found = zip(("COLUMNS", "LINES"), size or (0, 0), DEFAULT_SIZE, strict=True)
    width, height = (
        int(said) if (said := environment.get(name, "")).isdigit() else is_now or default
        for name, is_now, default in found
    )
    return width, height
