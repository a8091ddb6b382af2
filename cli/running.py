"""Run a command's work to its exit code: errors become a message with advice, never a traceback."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

import typer

from cli.exits import BY_CODE, Exit
from cli.output import print_json, progress_console
from graph.errors import CitewellError

log = logging.getLogger("citewell.cli")

Work = Coroutine[Any, Any, Exit | None]


LoopFactory = Callable[[], asyncio.AbstractEventLoop]


def run(work: Work, *, as_json: bool, loop_factory: LoopFactory | None = None) -> NoReturn:
    """Run a command and leave with its exit code.

    SIGINT and SIGTERM cancel the work, which then has its chance to put things in order.
    """
    raise typer.Exit(_outcome(work, as_json, loop_factory))


def _outcome(work: Work, as_json: bool, loop_factory: LoopFactory | None) -> Exit:
    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            return runner.run(_stoppable(work)) or Exit.OK
    except CitewellError as error:
        report(error.code, error.message, error.advice, retryable=type(error).retryable, as_json=as_json)
        return BY_CODE[error.code]
    except KeyboardInterrupt:
        report("interrupted", "Interrupted.", "", as_json=as_json)
        return Exit.INTERRUPTED
    except asyncio.CancelledError:
        report("terminated", "Stopped by SIGTERM.", "", as_json=as_json)
        return Exit.TERMINATED
    except BrokenPipeError:
        # Whoever read our output has enough of it; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except Exception as error:
        log.debug("The command failed", exc_info=True)
        message = f"Citewell failed for a reason of its own: {type(error).__name__}: {error}"
        report("internal", message, "Run it again with CITEWELL_LOG_LEVEL=debug to see where.", as_json=as_json)
        return Exit.UNEXPECTED


async def _stoppable(work: Work) -> Exit | None:
    task = asyncio.ensure_future(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task


def report(code: str, message: str, suggestion: str, *, retryable: bool = False, as_json: bool) -> None:
    """Say what went wrong: on stderr for people, as one JSON document on stdout for programs."""
    if as_json:
        print_json({"error": {"code": code, "message": message, "suggestion": suggestion, "retryable": retryable}})
        return
    from rich.text import Text

    console = progress_console()
    console.print(Text.assemble(("Error: ", "bold red"), message) if code != "interrupted" else Text(message))
    if suggestion:
        console.print(Text(suggestion, style="dim"))
