"""Routes of API keys: made, listed and revoked by the administrators of a workspace."""

from typing import Annotated

from fastapi import APIRouter, Request, Response, status
from pydantic import Field

from api.dependencies import Asking, needs
from api.fields import Body, Name, Timestamp
from api.problems import problems
from graph.errors import InvalidRequest
from tools.auth.api_keys import LONGEST_LABEL, ApiKeys, KeyTerms, key_id
from tools.auth.identities import Scope
from tools.process.library import Library

router = APIRouter(prefix="/api/keys", tags=["keys"])
MOST = 1_000_000_000  # of a limit
Most = Annotated[int, Field(ge=0, le=MOST)]


class NewKey(Body):
    """What a new key is for and may do, within what the credentials that make it may do themselves."""

    user: Name | None = Field(
        default=None,
        description="Whom it authenticates as; by default you, or a user of its own where it is public or has spaces.",
    )
    label: str = Field(default="", max_length=LONGEST_LABEL, description="What it is for, shown in the list.")
    scopes: list[Scope] | None = Field(
        default=None, min_length=1, description="By default `ask`, `read` and `write`, or `ask` where it is public."
    )
    spaces: list[Name] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Ids or slugs of the only spaces; by default all of yours.",
    )
    origins: list[str] = Field(
        default=[], max_length=100, description="Web pages that may send it, and nothing else may; makes it public."
    )
    is_public: bool = Field(default=False, description="For visitors who share it: a session's id alone opens it.")
    a_minute: Most | None = Field(default=None, description="Requests a minute; 0 for any number.")
    a_minute_by_address: Most | None = Field(
        default=None, description="Requests a minute from one address; 0 for any number."
    )
    runs_a_day: Most | None = Field(default=None, description="Questions a day; 0 for any number.")


class Key(Body):
    """A key by its id, which reveals nothing of it, and its terms. ``last_used_at`` is accurate to the minute."""

    key_id: str
    user: str
    label: str
    scopes: list[Scope]
    spaces: list[str] | None
    origins: list[str]
    is_public: bool
    a_minute: int | None
    a_minute_by_address: int | None
    runs_a_day: int | None
    created_at: Timestamp
    last_used_at: Timestamp | None
    revoked_at: Timestamp | None


class MadeKey(Key):
    """A new key: ``key`` is what its holder sends, told this once."""

    key: str


class KeyList(Body):
    """The keys of a workspace, oldest first, revoked ones included."""

    keys: list[Key]


@router.get("", responses=problems(503))
@needs("admin")
async def list_keys(by: Asking) -> KeyList:
    """List the workspace's keys, oldest first, with who each authenticates as, what it may do and when it was used.

    Credentials that are restricted to some spaces see the keys of these alone.
    """
    found = await _keys(by.library).list(by.me.workspace, within=by.me.spaces)
    return KeyList(keys=[Key.model_validate(key, from_attributes=True) for key in found])


@router.post("", status_code=status.HTTP_201_CREATED, responses=problems(422, 503))
@needs("admin")
async def create_key(request: Request, response: Response, by: Asking, wanted: NewKey) -> MadeKey:
    """Make a key for a user of the workspace, and return it: this is the only time that it is told.

    It may do no more, and in no other space, than the credentials that make it. Who is restricted to some spaces makes
    keys for themselves and for new users alone.
    """
    if by.settings.auth.mode in ("jwt", "proxy"):
        raise InvalidRequest(
            f"This deployment takes no keys: its mode is {by.settings.auth.mode}.",
            suggestion="Set CITEWELL_AUTH__MODE=keys, or have whoever issues its credentials issue these.",
        )
    limits = (wanted.a_minute, wanted.a_minute_by_address, wanted.runs_a_day)
    terms = KeyTerms.asked_for(wanted.scopes, wanted.spaces, wanted.origins, wanted.is_public, limits)
    terms = terms.within(by.grant.rights_in(by.me.workspace))
    keys = _keys(by.library)
    key = await keys.create(by.me.workspace, terms.user_for(wanted.user, by.me), label=wanted.label, terms=terms)
    request.state.audited.target = key_id(key)
    response.headers["Cache-Control"] = "no-store"
    made = await keys.get(by.me.workspace, key_id(key))
    return MadeKey(key=key, **{name: getattr(made, name) for name in Key.model_fields})


@router.delete("/{key_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 422, 503))
@needs("admin")
async def revoke_key(by: Asking, key_id: str) -> None:
    """Revoke a key of the workspace: it is refused from the next request on. A revoked key stays in the list."""
    await _keys(by.library).revoke(key_id, by.me.workspace, within=by.me.spaces)


def _keys(library: Library) -> ApiKeys:
    return ApiKeys(library.database, library.workspaces)
