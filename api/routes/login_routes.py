"""Routes of people: log in by the issuer, who is logged in, and log out."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import Field

from api.browsers import ATTEMPT_COOKIE, ATTEMPT_SECONDS, LOGIN_COOKIE, PublicAddress, refuse_cross_site, safe_next
from api.dependencies import AppSettings, Asking, OpenLibrary, needs
from api.document_page import HEADERS, STYLE
from api.fields import Body
from api.problems import error_kind, problem_of, problems
from graph.errors import CitewellError, LoginFailed, NotFound
from tools.auth.identities import SCOPES
from tools.auth.login_store import Logins

if TYPE_CHECKING:
    from tools.auth.oidc import Attempt, RelyingParty

router = APIRouter(tags=["login"])
CALLBACK_PATH = "/login/callback"
BY_MODE: dict[str, Literal["none", "key", "token", "proxy"]] = {
    "none": "none",
    "keys": "key",
    "jwt": "token",
    "proxy": "proxy",
}
NOT_KEPT = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
LONGEST_CODE = 100  # of an error, shown to the person
_TOKEN = re.compile(r"[\w-]{43}", re.ASCII)


class LoginOffer(Body):
    """Whether people can log in here; if not, a key opens the page, or a proxy has let them in."""

    offered: bool


class Account(Body):
    """Whom a request is served as, and by what it is known: one ``by`` a login can be logged out."""

    user: str
    name: Annotated[str, Field(description="What the issuer calls the person; else the user.")]
    workspace: str
    groups: list[str]
    by: Literal["none", "key", "token", "login", "proxy"]
    scopes: Annotated[list[str], Field(description="What the credentials allow in this workspace.")]
    web: Annotated[
        bool, Field(description="Whether a search outside of the library is configured, such as of the web.")
    ]


class LoggedOut(Body):
    """The login has ended. At ``continue_at`` the issuer's own login ends too, or else the page is."""

    continue_at: str


def _address(request: Request) -> PublicAddress:
    address: PublicAddress = request.app.state.public_address
    return address


def _relying_party(request: Request) -> "RelyingParty":
    party: RelyingParty | None = request.app.state.relying_party
    if party is None:
        raise NotFound("Nobody can log in to this deployment.", suggestion="Set CITEWELL_OIDC__ISSUER, or use a key.")
    return party


Address = Annotated[PublicAddress, Depends(_address)]
Party = Annotated["RelyingParty", Depends(_relying_party)]


@router.get("/api/login")
@needs()
async def get_login_offer(request: Request) -> LoginOffer:
    """Tell whether people can log in here, at `/login`. Needs no credentials."""
    return LoginOffer(offered=request.app.state.relying_party is not None)


@router.get("/api/me", responses=problems(503))
@needs(*SCOPES)
async def get_account(request: Request, by: Asking) -> Account:
    """Tell whom this request is served as, and where its questions can be searched for."""
    name: str | None = getattr(request.state, "login_name", None)
    known_by = BY_MODE[by.settings.auth.mode] if name is None else "login"
    scopes: list[str] = sorted(by.grant.rights_in(by.me.workspace).scopes)
    return Account(
        user=by.me.user,
        name=name or by.me.user,
        workspace=by.me.workspace,
        groups=list(by.me.groups),
        by=known_by,
        scopes=scopes,
        web=bool(by.settings.web.api_key.get_secret_value() or by.settings.mcp_search),
    )


@router.get("/login", include_in_schema=False)
@needs()
async def log_in(request: Request, party: Party, address: Address) -> Response:
    """Send the browser to the issuer; after the login it comes back, and goes on to the path ``next``."""
    try:
        base = address.of(request.headers)
        url, attempt = await party.begin(base + CALLBACK_PATH)
    except CitewellError as error:
        return _failure(request, error)
    wanted = safe_next(request.query_params.get("next"), address.home)
    response = RedirectResponse(url, HTTPStatus.SEE_OTHER, NOT_KEPT)
    kept = ".".join((attempt.nonce, attempt.code_verifier, urlsafe_b64encode(wanted.encode()).decode().rstrip("=")))
    address.set_cookie(response, ATTEMPT_COOKIE + attempt.state, kept, ATTEMPT_SECONDS)
    return response


@router.get(CALLBACK_PATH, include_in_schema=False)
@needs()
async def finish_login(
    request: Request, party: Party, address: Address, library: OpenLibrary, settings: AppSettings
) -> Response:
    """Take the person back from the issuer: their browser gets a new cookie, whichever it came with."""
    base = address.of(request.headers)
    reply = request.query_params
    state = reply.get("state", "")
    kept = address.cookie(request.headers, ATTEMPT_COOKIE + state) if _TOKEN.fullmatch(state) else None
    try:
        attempt, wanted = _attempt_of(state, kept, address.home)
        code = reply.get("code")
        if not code:
            raise LoginFailed(f"The issuer did not log you in: {reply.get('error', 'it sent no code')[:LONGEST_CODE]}.")
        person = await party.finish(attempt, code, base + CALLBACK_PATH, issuer=reply.get("iss"))
        earlier = address.cookie(request.headers, LOGIN_COOKIE)
        login = await Logins(library.database, settings.oidc).create(person, instead_of=earlier)
    except CitewellError as failed:
        response = _failure(request, failed)
    else:
        response = RedirectResponse(wanted, HTTPStatus.SEE_OTHER, NOT_KEPT)
        address.set_cookie(response, LOGIN_COOKIE, login, settings.oidc.longest_seconds)
    if kept is not None:
        address.set_cookie(response, ATTEMPT_COOKIE + state, "", 0)
    return response


@router.post("/logout", responses=problems(403, 404, 503))
@needs(*SCOPES)
async def log_out(
    request: Request, response: Response, party: Party, address: Address, library: OpenLibrary, settings: AppSettings
) -> LoggedOut:
    """End the login of the browser's cookie at once, in every process and tab."""
    login = address.cookie(request.headers, LOGIN_COOKIE)
    base = address.of(request.headers)
    refuse_cross_site(request, address)
    id_token = await Logins(library.database, settings.oidc).end(login) if login else None
    elsewhere = await party.logout_url(f"{base}/", id_token) if id_token else None
    address.set_cookie(response, LOGIN_COOKIE, "", 0)
    response.headers.update(NOT_KEPT)
    return LoggedOut(continue_at=elsewhere or address.home)


def _attempt_of(state: str, kept: str | None, home: str) -> "tuple[Attempt, str]":
    """Return the attempt that this browser began with a state, and where it goes on to. Raises LoginFailed."""
    from tools.auth.oidc import Attempt

    parts = (kept or "").split(".")
    if len(parts) != 3:
        raise LoginFailed("This browser began no such login, or more than ten minutes ago.")
    nonce, code_verifier, wanted = parts
    try:
        decoded = urlsafe_b64decode(wanted + "=" * (-len(wanted) % 4)).decode()
    except ValueError:
        decoded = ""
    return Attempt(state, nonce, code_verifier), safe_next(decoded, home)


def _failure(request: Request, error: CitewellError) -> Response:
    """Return an error as a page for a person, or as a problem for a program."""
    response = problem_of(error)
    if "text/html" in request.headers.get("accept", ""):
        again = f"{_address(request).home}login"
        response = HTMLResponse(
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Citewell</title>'
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
            f"<body><h1>You are not logged in</h1><p>{escape(error.message)}</p><p>{escape(error.advice)}</p>"
            f'<p><a href="{escape(again)}">Log in</a></p></body></html>\n',
            error_kind(error.code).status,
            HEADERS,
        )
    response.headers.update(NOT_KEPT)
    return response
