"""What every command shares: opened resources, error messages with advice, and exit codes.

docs/cli.md lists the exit codes.
"""

import asyncio
import gc
import inspect
import io
import logging
import os
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from enum import IntEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec

import typer
from typer.core import TyperCommand

from cli.console import print_json, print_result, progress_console
from cli.deferred_packages import defer_packages
from cli.nearest_names import telling_nearest_workspace
from cli.options import AsJson, UserName, WorkspaceName
from graph.errors import CitewellError, InvalidRequest
from graph.evidence import Identity

log = logging.getLogger("citewell.cli")

# Between two collections of the youngest generation. Imports leave a quarter of a million objects that live as long as
# the process: walking them again and again is a tenth of a start.
NEW_OBJECTS_AT_START = 500_000
NEW_OBJECTS = 50_000


DEFAULT_LEVEL = "warning"  # of what is logged: a command that succeeds logs nothing
ADVICE = "Correct it, and run the command again."


class Exit(IntEnum):
    """Exit codes of the commands."""

    OK = 0
    UNEXPECTED = 1
    CLAIM_FAILED = 1  # what linters use for findings
    USAGE = 2
    CONFIGURATION = 3
    NOT_FOUND = 4
    UNAVAILABLE = 5
    REFUSED = 6
    ABSTAINED = 7
    BUDGET = 8
    WORSE = 9
    INTERRUPTED = 130
    TERMINATED = 143


_CODES = {
    Exit.UNEXPECTED: "internal",
    Exit.USAGE: (
        "invalid_request unknown_model not_authenticated login_failed cross_site_request untrusted_proxy not_permitted"
    ),
    Exit.CONFIGURATION: "configuration embedding_mismatch",
    Exit.NOT_FOUND: "not_found workspace_moved",
    Exit.UNAVAILABLE: (
        "session_busy source_busy rate_limited overloaded server_stopping dependency_failed issuer_unavailable "
        "database_unavailable database_busy disk_low workspace_moving model_unavailable model_refused "
        "model_reply_invalid embedding_unavailable index_unavailable reranker_unavailable reranker_refused "
        "web_unavailable mcp_unavailable queue_full"
    ),
    Exit.REFUSED: "unreadable_document document_too_expensive",
    Exit.BUDGET: "budget_exhausted spending_limit_reached",
}
BY_CODE = {code: exit_code for exit_code, codes in _CODES.items() for code in codes.split()}

if TYPE_CHECKING:
    from graph.entrypoint import Citewell
    from tools.embeddings.embedder import Embedder
    from tools.library.catalogue import Documents
    from tools.originals.originals import Originals
    from tools.runs.executor import Durability
    from tools.sessions.session_store import Sessions
    from tools.settings import Settings
    from tools.storage.database import Database
    from tools.storage.tenants import Workspaces


def settings_for(workspace: str | None = None, user: str | None = None) -> "Settings":
    """Load the settings, overridden by the command line's workspace and user, and configure logging and tracing.

    Raises ConfigurationError.
    """
    from tools.settings import load_settings
    from tools.telemetry.langsmith_tracing import switch_off_langsmith
    from tools.telemetry.logs import configure_logging

    overrides = {"workspace": workspace, "user": user}
    settings = load_settings(**{name: value for name, value in overrides.items() if value is not None})
    configured = "log_level" in settings.model_fields_set
    level = settings.log_level if configured else DEFAULT_LEVEL
    configure_logging(level, settings.log_format)
    if on := switch_off_langsmith():
        log.warning("Citewell sends nothing to LangSmith, so it does not follow %s", ", ".join(on))
    if settings.retired:
        names = (f"CITEWELL_{name.replace('.', '__').upper()}" for name in settings.retired)
        log.warning("no longer a setting, as `citewell doctor` says: %s", ", ".join(names))
    if settings.tracing != "off":
        from tools.telemetry.exporting import start_tracing

        start_tracing(settings.tracing)
    if settings.database_url is None and "data_dir" not in settings.model_fields_set:
        announce_library_in_place(settings.data_dir)
    return settings


def announce_library_in_place(data_dir: Path) -> None:
    """Say that the working folder's own library is used: from another folder, the same command uses another one."""
    from tools.folders.data_folder import is_in_place

    if is_in_place(data_dir):
        message = f"Using the library in {data_dir}, since it exists; CITEWELL_DATA_DIR names another."
        progress_console().print(message, style="dim", soft_wrap=True)


@asynccontextmanager
async def opened(settings: "Settings", *, durability: "Durability | None" = None) -> AsyncIterator["Citewell"]:
    """Open the library and the runner; close both on exit. No exam of a judge starts by itself.

    Raises ConfigurationError, DatabaseUnavailable, EmbeddingMismatch.
    """
    from graph.entrypoint import open_citewell
    from tools.judges.examiner import without_background_exam

    async with (
        open_citewell(without_background_exam(settings), durability=durability) as citewell,
        telling_nearest_workspace(citewell.library.workspaces),
    ):
        _collect_from_here_on()
        yield citewell


@asynccontextmanager
async def opened_database(settings: "Settings") -> AsyncIterator["Storage"]:
    """Open the database alone, for commands that run no graph: importing LangGraph takes a second.

    Raises ConfigurationError, DatabaseUnavailable.
    """
    from tools.process.engines import open_databases
    from tools.storage.tenants import Workspaces

    async with open_databases(settings) as database:
        workspaces = Workspaces(database)
        _collect_from_here_on()
        async with telling_nearest_workspace(workspaces):
            yield Storage(settings, database, workspaces)


def _collect_from_here_on() -> None:
    """Leave what the start made to itself, and collect what the work leaves behind."""
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)


@asynccontextmanager
async def opened_embedder(settings: "Settings") -> AsyncIterator["Embedder"]:
    """Open the embedder; close its connections on exit.

    Raises ConfigurationError.
    """
    from tools.embeddings.embedder import open_embedder

    embedder = await open_embedder(settings)
    try:
        yield embedder
    finally:
        await embedder.close()


@dataclass(frozen=True, slots=True)
class Storage:
    """An open database and its workspaces, from which commands build the other stores."""

    settings: "Settings"
    database: "Database"
    workspaces: "Workspaces"

    @property
    def identity(self) -> Identity:
        """The identity that the settings act as."""
        return identity_of(self.settings)

    @property
    def documents(self) -> "Documents":
        """The documents; their originals are not removed with them."""
        from tools.library.catalogue import Documents

        return Documents(self.database, self.workspaces)

    @property
    def originals(self) -> "Originals":
        """The files that documents were read from."""
        from tools.originals.originals import Originals

        return Originals.of(self.settings, self.database, self.workspaces)

    @property
    def sessions(self) -> "Sessions":
        """The conversations."""
        from tools.sessions.session_store import Sessions

        return Sessions(self.database, self.workspaces)


async def warn_empty_library(storage: Storage) -> None:
    """Say on stderr that the workspace holds no document that the user may read, if so, and how to add some."""
    if not (await storage.documents.list(storage.identity, limit=1)).documents:
        workspace = storage.identity.workspace
        named = "" if workspace == "default" else f" --workspace {shlex.quote(workspace)}"
        message = f"The library is empty. Add documents with: citewell ingest FOLDER{named}"
        progress_console().print(message, soft_wrap=True)


def identity_of(settings: "Settings") -> Identity:
    """Return the identity that the settings act as."""
    return Identity(settings.workspace, settings.user, tuple(settings.groups))


@dataclass(frozen=True, slots=True)
class Failed:
    """What a command that failed reports."""

    code: str
    message: str
    suggestion: str
    retryable: bool = False

    @classmethod
    def of(cls, error: CitewellError) -> "Failed":
        """Return what to report of an error; the API's own advice speaks of a request, which nobody has sent here."""
        advice = ADVICE if error.advice == InvalidRequest.suggestion else error.advice
        return cls(error.code, error.message, advice, type(error).retryable)

    @classmethod
    def unexpectedly(cls, error: Exception) -> "Failed":
        """Return what to report of an error that is a fault of Citewell's own."""
        message = f"Unexpected error in Citewell: {type(error).__name__}: {error}"
        return cls("internal", message, "Run it again with CITEWELL_LOG_LEVEL=debug to see where.")


Work = Coroutine[Any, Any, Failed | Exit | None]


LoopFactory = Callable[[], asyncio.AbstractEventLoop]
Options = ParamSpec("Options")


def awaited(work: Callable[Options, Work]) -> Callable[Options, None]:
    """Return a coroutine function as a command, which exits with its code."""

    @wraps(work)
    def command(*args: Options.args, **options: Options.kwargs) -> None:
        run(work(*args, **options), as_json=bool(options.get("as_json")))

    return command


@dataclass(frozen=True, slots=True)
class Caller:
    """As whom a command acts, in which workspace, and whether its result is for a program."""

    workspace: str | None
    user: str | None
    as_json: bool

    def settings(self) -> "Settings":
        """Load the settings, of which the command line overrides some. Raises ConfigurationError."""
        return settings_for(self.workspace, self.user)

    def storage(self) -> AbstractAsyncContextManager[Storage]:
        """Open the database alone, as ``opened_database`` does."""
        return opened_database(self.settings())

    def tell(self, document: Any, line: str) -> None:
        """Print what the command has done: one JSON document, or a line for people."""
        print_result(document, line, as_json=self.as_json)


def acting(work: Callable[Concatenate[Caller, Options], Work]) -> Callable[Options, None]:
    """Return a coroutine function as a command, with --workspace, --user and --json behind its own options."""

    @wraps(work)
    def command(*args: Options.args, **options: Options.kwargs) -> None:
        told = {name: options.pop(name) for name in shared}
        caller = Caller(**told)  # type: ignore[arg-type]
        run(work(caller, *args, **options), as_json=caller.as_json)

    shared = {"workspace": (WorkspaceName, None), "user": (UserName, None), "as_json": (AsJson, False)}
    _, *own = inspect.signature(work).parameters.values()
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in shared.items()
    ]
    command.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    return command


def run(work: Work, *, as_json: bool, loop_factory: LoopFactory | None = None) -> NoReturn:
    """Run a command and exit with its code.

    SIGINT and SIGTERM cancel the work, which can then clean up.
    """
    raise typer.Exit(_outcome(work, as_json, loop_factory))


def _outcome(work: Work, as_json: bool, loop_factory: LoopFactory | None) -> Exit:
    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            done = runner.run(_stoppable(work)) or Exit.OK
    except CitewellError as error:
        done = Failed.of(error)
    except KeyboardInterrupt:
        report("interrupted", "Interrupted.", "", as_json=as_json)
        return Exit.INTERRUPTED
    except asyncio.CancelledError:
        report("terminated", "Stopped by SIGTERM.", "", as_json=as_json)
        return Exit.TERMINATED
    except BrokenPipeError:
        # The reader closed the pipe. Python would raise again when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except USAGE_ERRORS:
        raise
    except Exception as error:
        log.debug("The command failed", exc_info=True)
        done = Failed.unexpectedly(error)
    if isinstance(done, Failed):
        report(done.code, done.message, done.suggestion, retryable=done.retryable, as_json=as_json)
        return BY_CODE[done.code]
    return done


async def _stoppable(work: Work) -> Failed | Exit | None:
    task = asyncio.ensure_future(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task


def report(code: str, message: str, suggestion: str, *, retryable: bool = False, as_json: bool) -> None:
    """Print an error: on stderr for people, as one JSON document on stdout for programs."""
    if as_json:
        print_json({"error": {"code": code, "message": message, "suggestion": suggestion, "retryable": retryable}})
        return
    from rich.text import Text

    console = progress_console()
    console.print(Text.assemble(("Error: ", "bold red"), message) if code != "interrupted" else Text(message))
    if suggestion:
        console.print(Text(suggestion, style="dim"))


def run_app(app: typer.Typer) -> NoReturn:
    """Run the command line; a usage error exits with 2, and with ``--json`` is printed as JSON on stdout."""
    gc.set_threshold(NEW_OBJECTS_AT_START)
    defer_packages()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    command = typer.main.get_command(app)
    if "--json" not in sys.argv[1:]:
        command()
    try:
        code = command.main(standalone_mode=False)
    except typer.Abort:
        report("interrupted", "Aborted.", "", as_json=True)
        code = Exit.INTERRUPTED
    except USAGE_ERRORS as error:
        report("usage", error.format_message(), "Run the command with --help.", as_json=True)
        code = Exit.USAGE
    sys.exit(code)


USAGE_ERRORS: type[typer.BadParameter] = typer.BadParameter.__mro__[2]  # click's UsageError, the base class


class TextCommand(TyperCommand):
    """A command whose one argument is a text: where it comes as several words, it is told how to write it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments. Raises click's usage errors."""
        try:
            return super().parse_args(ctx, args)
        except USAGE_ERRORS as error:
            if "extra argument" in error.message:
                error.message = f"{error.message.rstrip('.')}. Put the whole text in quotes."
            raise
