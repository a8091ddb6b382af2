"""Whether the process lives, and whether it can answer."""

from typing import Literal

from fastapi import APIRouter

from api.dependencies import OpenLibrary
from api.error_table import NotReady
from api.errors import problems
from api.schemas.fields import Body
from tools.readiness import check_readiness

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
