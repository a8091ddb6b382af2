"""Service routes: liveness, readiness, and the workspaces of a person."""

from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response, status
from pydantic import Field

from api.dependencies import AppSettings, Granted, Me, Opened, OpenLibrary, needs
from api.fields import Body, Printable
from api.problems import NotReady, problems
from graph.errors import NotPermitted
from tools.auth.api_keys import ApiKeys, KeyTerms
from tools.auth.identities import SCOPES
from tools.process.health import EndpointProbe, check_readiness

router = APIRouter()


class Health(Body):
    """The process serves requests."""

    status: Literal["ok"] = "ok"


class Ready(Body):
    """The process can answer; a check other than ``ok`` describes what is degraded."""

    status: Literal["ready"] = "ready"
    checks: dict[str, str]


class Workspace(Body):
    """A workspace that a request may choose, by its name in the header ``X-Citewell-Workspace``."""

    name: str


class NewWorkspace(Body):
    """A workspace to make."""

    name: Annotated[str, Field(min_length=1, max_length=100), Printable]


class MadeWorkspace(Workspace):
    """A new workspace; ``key`` opens it with all that the credentials which made it may do, null without keys."""

    key: str | None = None


class Workspaces(Body):
    """The workspaces that the credentials allow, ``current`` is the one that this request was served in."""

    workspaces: list[Workspace]
    current: str


@router.get("/healthz", tags=["health"])
@needs()
async def health() -> Health:
    """Confirm that the process serves requests."""
    return Health()


@router.get("/readyz", tags=["health"], responses=problems(503))
@needs()
async def ready(request: Request, citewell: Opened) -> Ready:
    """Confirm that questions can be answered, or name the reasons why not."""
    probe: EndpointProbe = request.app.state.endpoint_probe
    found = await check_readiness(citewell.library, probe, is_stopping=citewell.runner.is_stopping)
    if not found.ready:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in found.checks.items() if reason != "ok")
        raise NotReady(reasons)
    return Ready(checks=found.checks)


@router.get("/api/workspaces", tags=["workspaces"], responses=problems(404, 503))
@needs(*SCOPES)
async def list_workspaces(me: Me, grant: Granted, library: OpenLibrary) -> Workspaces:
    """List the workspaces that your credentials allow.

    A request chooses one by the header `X-Citewell-Workspace`, its name in percent-encoded UTF-8. Whoever
    runs the deployment deletes them, with `citewell workspaces`.
    """
    names = await library.workspaces.names() if grant.workspaces is None else grant.workspaces
    return Workspaces(workspaces=[Workspace(name=name) for name in names], current=me.workspace)


@router.post(
    "/api/workspaces", tags=["workspaces"], status_code=status.HTTP_201_CREATED, responses=problems(403, 413, 422, 503)
)
@needs("admin")
async def create_workspace(
    request: Request,
    response: Response,
    me: Me,
    grant: Granted,
    settings: AppSettings,
    library: OpenLibrary,
    wanted: NewWorkspace,
) -> MadeWorkspace:
    """Make a workspace, with a key of yours for it where the deployment takes keys: the only time that it is told.

    Administrators of the deployment's own workspace (`CITEWELL_WORKSPACE`) may, if they are of all its spaces.
    """
    if me.workspace != settings.workspace or me.spaces is not None:
        raise NotPermitted(
            f"Workspaces are made by administrators of the workspace {settings.workspace}.",
            suggestion="Use a key of that workspace with the scope admin, or `citewell workspaces create`.",
        )
    terms = KeyTerms.asked_for(sorted(grant.rights_in(me.workspace).scopes), None, [], False, (None, None, None))
    await library.workspaces.create(wanted.name)
    request.state.audited.target = wanted.name
    response.headers["Cache-Control"] = "no-store"
    if settings.auth.mode != "keys":
        return MadeWorkspace(name=wanted.name)
    key = await ApiKeys(library.database, library.workspaces).create(wanted.name, me.user, terms=terms)
    return MadeWorkspace(name=wanted.name, key=key)
