"""citewell keys: create, list and revoke API keys."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import Storage, awaited, opened_database, settings_for
from cli.console import print_result, print_rows, progress_console
from cli.options import AsJson, UserName, WorkspaceName

if TYPE_CHECKING:
    from datetime import datetime

    from tools.auth.api_keys import ApiKey, ApiKeys

keys = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True)
Label = Annotated[str, typer.Option(help="What the key is for, shown in the list.", show_default=False)]
KeyId = Annotated[str, typer.Argument(help="The key's id, as the list shows it.", show_default=False)]
OfWorkspace = Annotated[
    str | None, typer.Option("--workspace", "-w", help="Only the keys of this workspace.", show_default=False)
]


Scopes = Annotated[
    list[str] | None,
    typer.Option("--scope", help="What it may do: ask, read, write, admin, with commas; all but admin unless given."),
]
Spaces = Annotated[
    list[str] | None,
    typer.Option("--space", help="Id or slug of a space to restrict it to; repeat for several.", show_default=False),
]
Origins = Annotated[
    list[str] | None,
    typer.Option(
        "--origin", help="Origin of a web page that may send it, and no other; the key is public.", show_default=False
    ),
]
Public = Annotated[
    bool, typer.Option("--public", help="For visitors who share it: a session is opened by its id alone.")
]
Minutely = Annotated[int | None, typer.Option(min=0, help="Requests a minute; 0 for any number.", show_default=False)]
MinutelyByAddress = Annotated[
    int | None, typer.Option(min=0, help="Requests a minute from one address; 0 for any number.", show_default=False)
]
RunsADay = Annotated[int | None, typer.Option(min=0, help="Questions a day; 0 for any number.", show_default=False)]
CREATED = (
    "key_id",
    "workspace",
    "user",
    "label",
    "scopes",
    "spaces",
    "origins",
    "is_public",
    "a_minute",
    "a_minute_by_address",
    "runs_a_day",
)


@keys.command()
@awaited
async def create(
    workspace: WorkspaceName = None,
    user: UserName = None,
    label: Label = "",
    scope: Scopes = None,
    space: Spaces = None,
    origin: Origins = None,
    public: Public = False,
    a_minute: Minutely = None,
    a_minute_by_address: MinutelyByAddress = None,
    runs_a_day: RunsADay = None,
    as_json: AsJson = False,
) -> None:
    """Create a key that authenticates as a user of a workspace. It is shown only once.

    A key with an origin, or a public one, is for a web page that anybody may open: it may only ask, and unless told
    otherwise 600 times a minute, 60 from one address, and 2000 questions a day. Such a key, or one with a space, gets a
    user of its own unless one is named.
    """
    from tools.auth.api_keys import KeyTerms, key_id

    words = None if scope is None else ",".join(scope).replace(",", " ").split()
    terms = KeyTerms.asked_for(words, space, origin or (), public, (a_minute, a_minute_by_address, runs_a_day))
    async with opened_database(settings_for(workspace, user or terms.user())) as storage:
        me, stored = storage.identity, _keys(storage)
        key = await stored.create(me.workspace, me.user, label=label, terms=terms)
        made = await stored.get(me.workspace, key_id(key))
    print_result({"key": key, **{name: getattr(made, name) for name in CREATED}}, key, as_json=as_json)
    if not as_json:
        progress_console().print(
            f"The key {made.key_id} authenticates as the user {me.user} of the workspace {me.workspace}. "
            f"It may {_in_words(made)}. It is not shown again.",
            markup=False,
            soft_wrap=True,
        )


@keys.command("list")
@awaited
async def list_(workspace: OfWorkspace = None, as_json: AsJson = False) -> None:
    """List the keys by id, revoked ones included."""
    async with opened_database(settings_for()) as storage:
        found = await _keys(storage).list(workspace)
    headings = ["Key", "Workspace", "User", "Label", "May", "Created", "Last used", "Revoked"]
    print_rows({"keys": found}, headings, [_row(key) for key in found], as_json=as_json)


@keys.command()
@awaited
async def revoke(key_id: KeyId, as_json: AsJson = False) -> None:
    """Revoke a key at once, in every process."""
    async with opened_database(settings_for()) as storage:
        await _keys(storage).revoke(key_id)
    print_result({"key_id": key_id, "revoked": True}, f"Revoked the key {key_id}.", as_json=as_json)


def _keys(storage: Storage) -> "ApiKeys":
    from tools.auth.api_keys import ApiKeys

    return ApiKeys(storage.database, storage.workspaces)


def _in_words(key: "ApiKey") -> str:
    """Say in words what a key may do."""
    parts = [" and ".join(filter(None, [", ".join(key.scopes[:-1]), key.scopes[-1]]))]
    if key.spaces is not None:
        parts.append(f"in {', '.join(key.spaces)} alone")
    if key.origins:
        parts.append(f"from {', '.join(key.origins)}")
    limits = [
        (key.a_minute, "requests a minute"),
        (key.a_minute_by_address, "a minute from one address"),
        (key.runs_a_day, "questions a day"),
    ]
    parts += [f"at most {most} {what}" for most, what in limits if most is not None]
    return ", ".join(parts)


def _row(key: "ApiKey") -> list[str]:
    return [
        key.key_id,
        key.workspace,
        key.user,
        key.label,
        _in_words(key),
        *map(_day, (key.created_at, key.last_used_at, key.revoked_at)),
    ]


def _day(at: "datetime | None") -> str:
    return "" if at is None else f"{at:%Y-%m-%d}"
