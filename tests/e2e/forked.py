"""Commands without a start: forked from a process that has imported what commands import.

Run as a program with the number of a socket, it forks for each order that comes. The new process takes the order's
files as its stdin, stdout and stderr, its folder, its environment and the packages beside which PYTHONPATH installs it,
and then is the command: with a memory, signals, exit handlers and an exit code of its own.
"""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

MOST = 1 << 17  # bytes of an order: arguments and environment


class CommandForks:
    """Runs commands one after another, each in a process of its own.

    What forks them starts at once, to import beside whatever else comes first: that takes as long as a few commands.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._orders: socket.socket | None = None
        self._forking: subprocess.Popen[bytes] | None = None
        self._start()

    def run(
        self, arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], piped: str
    ) -> tuple[int, str, str]:
        """Run ``citewell`` to its end; return its exit code, negative for a signal, and its stdout and stderr."""
        orders = self._orders or self._start()
        with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
            given.write(piped.encode())
            given.seek(0)
            order = {"arguments": ["citewell", *arguments], "folder": str(folder), "environment": dict(environment)}
            streams = [stream.fileno() for stream in (given, out, err)]
            socket.send_fds(orders, [json.dumps(order).encode()], streams)
            try:
                code = orders.recv(16)
            except BaseException:  # of a test that takes too long: its command ends with it
                self.close(at_once=True)
                raise
            assert code, "the process from which commands are forked has ended"
            return int(code), _text(out), _text(err)

    def _start(self) -> socket.socket:
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            self._forking = subprocess.Popen(
                [sys.executable, __file__, str(number)],
                env=self._environment,
                pass_fds=[number],
                start_new_session=True,
            )
        return self._orders

    def close(self, *, at_once: bool = False) -> None:
        """End the process from which commands are forked; ``at_once``, with the command that runs."""
        if self._orders is not None and self._forking is not None:
            self._orders.close()
            if at_once:
                os.killpg(self._forking.pid, signal.SIGKILL)
            self._forking.wait()
            self._orders = self._forking = None


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode().replace("\r\n", "\n")  # as pipes are read


def _import_what_commands_import() -> None:
    from cli.deferred_packages import defer_packages

    defer_packages()  # as every command does first
    for name in ("cli.main", "graph.entrypoint", "api.app"):
        import_module(name)
    gc.collect()
    gc.freeze()  # a command that walked all of this at its end would copy it first: three quarters of its CPU


def _next_command(orders: socket.socket) -> dict[str, Any] | None:
    """Fork for each order: return it in the new process, and None in this one once nobody can give another."""
    while True:
        order, streams, _, _ = socket.recv_fds(orders, MOST, 3)
        if not order:
            return None
        forked = os.fork()
        if forked == 0:
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
        for stream in streams:
            os.close(stream)
        if forked == 0:
            orders.close()
            return dict(json.loads(order))
        _, status = os.waitpid(forked, 0)
        orders.send(str(os.waitstatus_to_exitcode(status)).encode())


if __name__ == "__main__":
    _import_what_commands_import()
    command = _next_command(socket.socket(fileno=int(sys.argv[1])))
    if command is not None:
        from cli.main import main

        os.chdir(command["folder"])
        os.environ.clear()
        os.environ.update(command["environment"])
        added = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[1:1] = [folder for folder in added if folder and folder not in sys.path]
        sys.argv = command["arguments"]
        main()
