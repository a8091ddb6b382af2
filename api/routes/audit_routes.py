"""Audit route: who asked, read, changed and was refused in a workspace."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.dependencies import Asking, needs
from api.fields import Cursor, Limit, Name
from api.problems import problems
from tools.auth.api_keys import ApiKeys
from tools.auth.audit_log import Action, AuditLog, AuditPage, Outcome

router = APIRouter(tags=["audit"])


@router.get("/api/audit", responses=problems(422, 503))
@needs("admin")
async def list_audit(
    by: Asking,
    user: Annotated[Name | None, Query()] = None,
    action: Annotated[Action | None, Query()] = None,
    outcome: Annotated[Outcome | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> AuditPage:
    """List the workspace's audit log, newest first: who did what by which credentials, from where, and how it ended.

    An entry is there about a second after its request. Credentials that are restricted to some spaces see what was
    done by them and by the keys of these spaces.
    """
    credentials = None
    if by.me.spaces is not None:
        keys = await ApiKeys(by.library.database, by.library.workspaces).list(by.me.workspace, within=by.me.spaces)
        own = [by.grant.credential] if ":" in by.grant.credential else []  # a token without an id is told from no other
        credentials = [*own, *(f"key:{key.key_id}" for key in keys)]
    return await AuditLog(by.library.database).list(
        workspace=by.me.workspace,
        user=user,
        action=action,
        outcome=outcome,
        credentials=credentials,
        limit=limit,
        cursor=cursor,
    )
