"""The metrics of a serving process, for Prometheus, to whoever has valid credentials."""

from fastapi import APIRouter, Request, Response

from api.dependencies import Opened, needs
from api.metrics_server import answer_scrape, gatherers_of
from api.problems import problems

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **problems(503)},
)
@needs("read", "write", "admin")
async def read_metrics(request: Request, citewell: Opened) -> Response:
    """Return the metrics of this process, for Prometheus: OpenMetrics where the `Accept` header asks for it."""
    return await answer_scrape(request, gatherers_of(citewell))
