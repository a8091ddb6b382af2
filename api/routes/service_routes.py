"""Routes of the process: liveness and readiness."""

from typing import Literal

from fastapi import APIRouter

from api.dependencies import OpenLibrary
from api.fields import Body
from api.problems import NotReady, problems
from tools.storage.health import check_readiness

router = APIRouter(tags=["health"])


class Health(Body):
    """The process serves requests."""

    status: Literal["ok"] = "ok"


class Ready(Body):
    """The process can answer; a check that is not ``ok`` says what is degraded."""

    status: Literal["ready"] = "ready"
    checks: dict[str, str]


@router.get("/healthz")
async def health() -> Health:
    """Say that the process serves requests."""
    return Health()


@router.get("/readyz", responses=problems(503))
async def ready(library: OpenLibrary) -> Ready:
    """Say whether questions can be answered, and what stands in the way."""
    found = await check_readiness(library)
    if not found.ready:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in found.checks.items() if reason != "ok")
        raise NotReady(reasons)
    return Ready(checks=found.checks)
