"""Service routes: liveness, readiness, the workspaces of a person, and the graph that runs follow."""

import hashlib
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response, status
from pydantic import ConfigDict, Field

from api.dependencies import Asking, KnownTags, Opened, needs
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


class GraphNode(Body):
    """A node; events name it as their ``step``. A run starts at ``__start__`` and ends at ``__end__``."""

    id: str


class GraphEdge(Body):
    """An edge; whether a run takes a ``conditional`` one depends on its state."""

    model_config = ConfigDict(populate_by_name=True)

    source: Annotated[str, Field(alias="from")]
    target: Annotated[str, Field(alias="to")]
    conditional: bool


class GraphStructure(Body):
    """The graph's nodes in the order they were added, and its edges in the order of their nodes."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]


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
async def list_workspaces(by: Asking) -> Workspaces:
    """List the workspaces that your credentials allow.

    A request chooses one by the header `X-Citewell-Workspace`, its name in percent-encoded UTF-8. Whoever
    runs the deployment deletes them, with `citewell workspaces`.
    """
    names = await by.library.workspaces.names() if by.grant.workspaces is None else by.grant.workspaces
    return Workspaces(workspaces=[Workspace(name=name) for name in names], current=by.me.workspace)


@router.post(
    "/api/workspaces", tags=["workspaces"], status_code=status.HTTP_201_CREATED, responses=problems(403, 413, 422, 503)
)
@needs("admin")
async def create_workspace(request: Request, response: Response, by: Asking, wanted: NewWorkspace) -> MadeWorkspace:
    """Make a workspace, with a key of yours for it where the deployment takes keys: the only time that it is told.

    Administrators of the deployment's own workspace (`CITEWELL_WORKSPACE`) may, if they are of all its spaces.
    """
    if by.me.workspace != by.settings.workspace or by.me.spaces is not None:
        raise NotPermitted(
            f"Workspaces are made by administrators of the workspace {by.settings.workspace}.",
            suggestion="Use a key of that workspace with the scope admin, or `citewell workspaces create`.",
        )
    terms = KeyTerms.asked_for(sorted(by.grant.rights_in(by.me.workspace).scopes), None, [], False, (None, None, None))
    await by.library.workspaces.create(wanted.name)
    request.state.audited.target = wanted.name
    response.headers["Cache-Control"] = "no-store"
    if by.settings.auth.mode != "keys":
        return MadeWorkspace(name=wanted.name)
    key = await ApiKeys(by.library.database, by.library.workspaces).create(wanted.name, by.me.user, terms=terms)
    return MadeWorkspace(name=wanted.name, key=key)


@router.get(
    "/api/graph",
    tags=["graph"],
    response_model=GraphStructure,
    responses={304: {"description": "The graph has the `If-None-Match` tag."}, **problems(503)},
)
@needs(*SCOPES)
async def get_graph(citewell: Opened, known: KnownTags) -> Response:
    """Return the nodes and edges of the graph, to draw it. They change only with a new version."""
    content = _structure(citewell).model_dump_json(by_alias=True)
    tag = f'"{hashlib.sha256(content.encode()).hexdigest()[:32]}"'
    headers = {"Cache-Control": "private, no-cache", "ETag": tag}
    if tag in known:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(content, media_type="application/json", headers=headers)


def _structure(citewell: Opened) -> GraphStructure:
    drawn = citewell.graph.get_graph()
    order = {name: at for at, name in enumerate(drawn.nodes)}
    edges = sorted(drawn.edges, key=lambda edge: (order[edge.source], order[edge.target]))
    return GraphStructure(
        nodes=[GraphNode(id=name) for name in order],
        edges=[GraphEdge(source=edge.source, target=edge.target, conditional=edge.conditional) for edge in edges],
    )
