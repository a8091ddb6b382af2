"""citewell keys, logins and links: who is let in, by API keys, by the logins of people and by links to documents."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cli.command import Caller, Storage, acting, awaited, opened_database, settings_for
from cli.console import print_result, print_rows, progress_console
from cli.options import AsJson, WorkspaceName, Yes, confirmed
from graph.errors import InvalidRequest
from text.counted import counted

if TYPE_CHECKING:
    from datetime import datetime

    from tools.auth.api_keys import ApiKey, ApiKeys
    from tools.auth.document_links import DocumentLinks
    from tools.auth.login_store import Login

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


@keys.command()
@acting
async def create(
    by: Caller,
    label: Label = "",
    scope: Scopes = None,
    space: Spaces = None,
    origin: Origins = None,
    public: Public = False,
    a_minute: Minutely = None,
    a_minute_by_address: MinutelyByAddress = None,
    runs_a_day: RunsADay = None,
) -> None:
    """Create a key that authenticates as a user of a workspace. It is shown only once.

    A key with an origin, or a public one, is for a web page that anybody may open: it may only ask, and unless told
    otherwise 600 times a minute, 60 from one address, and 2000 questions a day. Such a key, or one with a space, gets a
    user of its own unless one is named.
    """
    from tools.auth.api_keys import KeyTerms, key_id

    words = None if scope is None else ",".join(scope).replace(",", " ").split()
    terms = KeyTerms.asked_for(words, space, origin or (), public, (a_minute, a_minute_by_address, runs_a_day))
    async with opened_database(settings_for(by.workspace, by.user or terms.user())) as storage:
        me, stored = storage.identity, _keys(storage)
        key = await stored.create(me.workspace, me.user, label=label, terms=terms)
        made = await stored.get(me.workspace, key_id(key))
    terms_of = {name: value for name, value in asdict(made).items() if not name.endswith("_at")}
    by.tell({"key": key, **terms_of}, key)
    if not by.as_json:
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


logins = typer.Typer(help="List and revoke the logins of people.", no_args_is_help=True)
OfUser = Annotated[str | None, typer.Option("--user", "-u", help="Only those of this user.", show_default=False)]
LoginId = Annotated[str | None, typer.Argument(help="The login's id, as the list shows it.", show_default=False)]


@logins.command("list")
@awaited
async def list_logins(user: OfUser = None, as_json: AsJson = False) -> None:
    """List the logins that last, by id."""
    from tools.auth.login_store import Logins

    async with opened_database(settings_for()) as storage:
        found = await Logins(storage.database, storage.settings.oidc).list(user)
    headings = ["Login", "User", "Name", "Workspaces", "Groups", "Since", "Last used", "Until"]
    print_rows({"logins": found}, headings, [_login_row(login) for login in found], as_json=as_json)


@logins.command("revoke")
@awaited
async def revoke_logins(login_id: LoginId = None, user: OfUser = None, as_json: AsJson = False) -> None:
    """Revoke a login, or with --user all of a user's, at once and in every process."""
    from tools.auth.login_store import Logins

    if (login_id is None) == (user is None):
        raise InvalidRequest("Name a login or a user, and not both.", suggestion="See `citewell logins list`.")
    async with opened_database(settings_for()) as storage:
        stored = Logins(storage.database, storage.settings.oidc)
        if user is not None:
            count = await stored.revoke_user(user)
        else:
            await stored.revoke(login_id or "")
            count = 1
    print_result({"revoked": count}, f"Revoked {counted(count, 'login')}.", as_json=as_json)


def _login_row(login: "Login") -> list[str]:
    lists = (", ".join(login.workspaces), ", ".join(login.groups))
    times = (f"{at:%Y-%m-%d %H:%M}" for at in (login.created_at, login.last_seen_at, login.expires_at))
    return [login.login_id, login.user, login.name, *lists, *times]


links = typer.Typer(help="End the links to documents that answers hold, and those of shares.", no_args_is_help=True)
LinksOf = Annotated[str | None, typer.Option("--user", "-u", help="Only the links of this user.", show_default=False)]


@links.command()
@awaited
async def rotate(yes: Yes = False, as_json: AsJson = False) -> None:
    """End all links of the deployment, by another secret; links that are made from now on are signed with that."""
    if not confirmed("End all links of the deployment?", yes):
        return
    async with opened_database(settings_for()) as storage:
        await _links(storage).rotate()
    print_result({"rotated": True}, "Ended all links.", as_json=as_json)


@links.command("revoke")
@awaited
async def revoke_links(
    workspace: WorkspaceName = None, user: LinksOf = None, yes: Yes = False, as_json: AsJson = False
) -> None:
    """End the links and shares of a user, or of all users of a workspace."""
    from tools.sessions.shares import Shares

    settings = settings_for(workspace)
    whose = f"the user {user}" if user is not None else "all users"
    if not confirmed(f"End the links and shares of {whose} in the workspace {settings.workspace}?", yes):
        return
    async with opened_database(settings) as storage:
        await _links(storage).revoke(settings.workspace, user)
        shares = await Shares(storage.database, storage.workspaces, settings).revoke_all(settings.workspace, user)
    print_result(
        {"workspace": settings.workspace, "user": user, "revoked": True, "shares": shares},
        f"Ended the links and {counted(shares, 'share')} of {whose} in the workspace {settings.workspace}.",
        as_json=as_json,
    )


def _links(storage: Storage) -> "DocumentLinks":
    from tools.auth.document_links import DocumentLinks

    return DocumentLinks(storage.database, storage.workspaces, storage.settings)
