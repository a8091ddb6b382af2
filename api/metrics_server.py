"""The metrics of a serving process, for Prometheus: a route of the app, or served on a port of their own."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import uvicorn
from fastapi import APIRouter, Request, Response
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from api.dependencies import Me, Opened, needs
from api.problems import problems
from graph.entrypoint import Citewell
from graph.errors import ConfigurationError, NotPermitted
from tools.runs.readings import read_database, read_runs
from tools.settings import MetricsSettings
from tools.telemetry.metrics import Gatherer, exposition


def gatherers_of(citewell: Citewell) -> list[Gatherer]:
    """Return what is read of a serving process beside the metrics that it counts."""
    return [partial(read_runs, lambda: citewell.runner.load), partial(read_database, citewell.library.database)]


async def answer_scrape(request: Request, gatherers: Sequence[Gatherer]) -> Response:
    """Return all metrics in the format that the request accepts."""
    body, media_type = await exposition(request.headers.get("accept", ""), gatherers)
    return Response(body, headers={"Content-Type": media_type, "Cache-Control": "no-store"})


router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **problems(503)},
)
@needs("admin")
async def read_metrics(request: Request, me: Me, citewell: Opened) -> Response:
    """Return the metrics of this process, for Prometheus: OpenMetrics where the `Accept` header asks for it.

    They count all workspaces, so credentials that are restricted to some spaces don't read them.
    """
    if me.spaces is not None:
        raise NotPermitted(
            "These credentials are for some spaces alone, and metrics count everything.",
            suggestion="Use a key of `citewell keys create --scope admin`, or set CITEWELL_METRICS__LISTEN.",
        )
    return await answer_scrape(request, gatherers_of(citewell))


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are for the process's main work


@asynccontextmanager
async def serve_metrics(settings: MetricsSettings, gatherers: Sequence[Gatherer]) -> AsyncIterator[int | None]:
    """Serve the metrics on their own port while the context is open, if the settings say so; yield that port.

    `/healthz` is there too, for the probes of a worker, which has no other port.
    Raises ConfigurationError if the address is not available.
    """
    if settings.address is None:
        yield None
        return

    async def scrape(request: Request) -> Response:
        return await answer_scrape(request, gatherers)

    async def live(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    with listen(*settings.address, "CITEWELL_METRICS__LISTEN") as listener:
        app = Starlette(routes=[Route("/metrics", scrape), Route("/healthz", live)])
        server = _Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, server_header=False))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield int(listener.getsockname()[1])
        finally:
            server.should_exit = True
            await serving


def listen(host: str, port: int, option: str) -> socket.socket:
    """Return a socket that listens there; ``option`` is what a person sets to choose another port.

    Raises ConfigurationError if the address is not available.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=2048)
    except OSError as error:
        raise ConfigurationError(
            f"Cannot listen on {host}:{port}: {error.strerror or error}.",
            suggestion=f"Stop the process that listens there, or choose another port with {option}.",
        ) from error
