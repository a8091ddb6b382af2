"""Audit route: who asked, read, changed and was refused in a workspace."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.dependencies import Me, OpenLibrary, needs
from api.fields import Cursor, Limit, Name
from api.problems import problems
from tools.auth.audit_log import Action, AuditLog, AuditPage, Outcome

router = APIRouter(tags=["audit"])


@router.get("/api/audit", responses=problems(422, 503))
@needs("admin")
async def list_audit(
    me: Me,
    library: OpenLibrary,
    user: Annotated[Name | None, Query()] = None,
    action: Annotated[Action | None, Query()] = None,
    outcome: Annotated[Outcome | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> AuditPage:
    """List the workspace's audit log, newest first: who did what by which credentials, from where, and how it ended.

    An entry is there about a second after its request.
    """
    log = AuditLog(library.database)
    return await log.list(workspace=me.workspace, user=user, action=action, outcome=outcome, limit=limit, cursor=cursor)
