"""uvicorn under our command line: startup errors are reported, and a signal stops it cleanly with exit code 0."""

import asyncio
import logging
import math
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import typer
import uvicorn
from fastapi import FastAPI

from api.app import create_app
from api.dependencies import check_bind
from api.metrics_server import gatherers_of, listen, serve_metrics
from cli.console import print_json
from cli.http_protocol import Bounds, bounded_by
from cli.local_questions import answering_local_questions
from cli.process_memory import collect_less, share_heap
from tools.settings import Settings

GRACE_SECONDS = 2  # for streams to send the last events of runs that ended while the server drained


class Server(uvicorn.Server):
    """A server that drains its runs while it waits for open requests, and does not re-raise the signal it caught."""

    def __init__(self, config: uvicorn.Config, drain: Callable[[], Coroutine[Any, Any, None]]) -> None:
        super().__init__(config)
        self._drain = drain

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening; close connections once their runs have ended or are left to other processes."""
        draining = asyncio.create_task(self._drain())
        await super().shutdown(sockets)
        await draining

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals():
            try:
                yield
            finally:
                self._captured_signals.clear()


async def serve_app(settings: Settings, *, as_json: bool) -> None:
    """Serve the API until a signal arrives, then wait for open requests as long as runs may drain.

    Raises ConfigurationError if the address is not available, and what opening the library raises.
    """
    share_heap()
    check_bind(settings)
    logging.getLogger().setLevel(settings.log_level.upper())
    with listen(settings.host, settings.port, "--port") as listener:
        app = create_app(settings)
        config = server_config(app, settings)
        async with app.router.lifespan_context(app):
            # uvicorn handles signals from here on; otherwise both handlers would run.
            asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
            collect_less()
            citewell = app.state.citewell
            async with (
                serve_metrics(settings.metrics, gatherers_of(citewell)),
                answering_local_questions(citewell, settings),
            ):
                _announce(listener, as_json=as_json)
                await Server(config, citewell.runner.drain).serve(sockets=[listener])


def server_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """Return how the app is served under these settings."""
    return uvicorn.Config(
        app,
        http=bounded_by(Bounds()),
        ws="none",
        lifespan="off",  # run by serve_app, so that its errors are reported like any other
        log_config=None,  # as everything else that is logged
        access_log=False,  # its lines would hold paths and queries; api.observation writes others
        server_header=False,
        # A trusted proxy is known by the socket's own peer, which uvicorn would replace by what X-Forwarded-For says.
        proxy_headers=settings.auth.mode != "proxy",
        forwarded_allow_ips=[str(network) for network in settings.http.trusted_proxies] or None,
        timeout_graceful_shutdown=math.ceil(2 * settings.runs.drain_seconds) + GRACE_SECONDS,
    )


def _announce(listener: socket.socket, *, as_json: bool) -> None:
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    if as_json:
        print_json({"url": url, "host": host, "port": port})
    else:
        typer.echo(f"Citewell listens on {url}: open it in a browser. Stop it with Ctrl-C.", err=True)
