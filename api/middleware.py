"""ASGI middleware: authentication, and allowed origins and hosts.

A request is identified by its credentials alone, before its body is read: none if only this machine can reach the
service, an API key, a token of a trusted issuer, the cookie of a person who logged in, or a trusted proxy's headers.
Without valid credentials it is refused, whether or not the route exists.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode, urlsplit

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from answers.citations import excerpt
from api.auditing import Audited
from api.browsers import (
    LOGIN_COOKIE,
    PublicAddress,
    names_loopback,
    opens_document,
    opens_page,
    refuse_cross_site,
)
from api.dependencies import RouteTable, default_action
from api.login_streams import LoginStream
from api.problems import in_dialect_shape, problem, problem_of
from api.protected_resource import METADATA_PATHS, metadata_url, resource_names
from api.stream import keep_layers
from graph.entrypoint import Citewell
from graph.errors import (
    CitewellError,
    ConfigurationError,
    CrossSiteRequest,
    InvalidRequest,
    NotAuthenticated,
    NotFound,
    NotPermitted,
)
from graph.evidence import Identity
from tools.auth.api_keys import PREFIX, ApiKeys, normal_origin
from tools.auth.document_links import LINKS_PATH
from tools.auth.identities import EVERYTHING, Grant, Rights, checked_identity
from tools.auth.limits import UsedLimits, client_network
from tools.auth.login_store import Logins
from tools.auth.proxies import AuthProxy
from tools.process.library import Library
from tools.sessions.shares import SHARES_PATH
from tools.settings import OidcSettings, Settings
from tools.spending.accounts import RequestOrigin, coming_from
from tools.storage.tenants import LONGEST_NAME
from tools.telemetry.tracing import background_context

if TYPE_CHECKING:
    from tools.auth.oidc import RelyingParty
    from tools.auth.tokens import TokenVerifier

# An orchestrator's probes send no credentials. The OpenAPI description and the page are the same in every deployment;
# the page asks for a key once it is open.
OPEN_PATHS = frozenset({"/", "/embed.js", "/healthz", "/readyz", "/docs", "/openapi.json"})
LOGIN_PATHS = frozenset({"/login", "/login/callback", "/api/login"})  # people come here to get their cookie
PAGE_FILES_PATH = "/page/"
CHALLENGE = 'Bearer realm="citewell"'
KEY_HEADER = "x-api-key"
_SECURITY_SCHEMES: dict[str, dict[str, Any]] = {
    "none": {},
    "keys": {
        "key": {"type": "http", "scheme": "bearer", "description": "A key of `citewell keys create`."},
        "keyHeader": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "The same key."},
    },
    "jwt": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
}

WORKSPACE_HEADER = "x-citewell-workspace"
SEE_WORKSPACES = "GET /api/workspaces lists those of your credentials."

Identify = Callable[[HTTPConnection, Library], Awaitable[Grant]]


class IdentityMiddleware:
    """Middleware that stores the identity of each request in its state, and answers 401 if there is none."""

    def __init__(self, app: ASGIApp, *, identify: Identify) -> None:
        self._app = app
        self._identify = identify

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its identity, or answer with a problem."""
        if scope["type"] == "http" and not _is_open(scope["path"]):
            connection = HTTPConnection(scope)
            audited = scope.setdefault("state", {}).setdefault("audited", Audited())
            try:
                await self._admit(connection, audited)
            except CitewellError as error:
                audited.reason = error.code
                response = problem_of(error)
                if response.status_code == HTTPStatus.UNAUTHORIZED:
                    if scope["app"].state.relying_party is not None and opens_document(connection):
                        await _to_login(connection)(scope, receive, send)
                        return
                    response.headers["WWW-Authenticate"] = _challenge(connection)
                await in_dialect_shape(scope["path"], response)(scope, receive, send)
                return
            with coming_from(origin_of(connection, scope["state"]["grant"])):
                if lasts := scope["state"].get("login_lasts"):
                    keep_layers(scope)
                    stream = LoginStream(receive, send, lasts, check_seconds=scope["app"].state.login_check_seconds)
                    await self._app(scope, stream.receive, stream.send)
                    await stream.finish()
                else:
                    await self._app(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _admit(self, connection: HTTPConnection, audited: Audited) -> None:
        """Store in the request's state who it is served as.

        Raises NotAuthenticated, NotFound for a workspace that the credentials don't allow, NotPermitted, RateLimited,
        and WorkspaceMoved or WorkspaceMoving for one that is not here.
        """
        scope, headers = connection.scope, connection.headers
        library: Library = scope["app"].state.citewell.library
        table: RouteTable = scope["app"].state.route_table
        route = table.find(scope["method"], scope["path"])
        if route is not None:
            audited.route = route.template
            audited.action = route.needs.action or default_action(scope["method"])
        grant = audited.grant = await self._identify(connection, library)
        audited.identity = grant.identity
        _check_origin(grant, headers)
        sent = headers.getlist(WORKSPACE_HEADER)
        identity = audited.identity = grant.restricted(_chosen(grant, sent) if sent else grant.identity)
        if route is not None:
            audited.target = "/".join(route.ids) or None
            route.needs.check(grant.rights_in(identity.workspace), is_public=grant.is_public)
        client = scope.get("client")
        await UsedLimits(library.database).take_request(grant, client[0] if client else "")
        # A workspace that the credentials don't allow is answered like one that does not exist.
        await library.workspaces.refuse_elsewhere(identity.workspace)
        if grant.may_create:
            await library.workspaces.ensure(identity.workspace)
        elif sent:
            await library.workspaces.number(identity.workspace)
        await library.links.see(identity)
        scope["state"].update(identity=identity, grant=grant)


def origin_of(connection: HTTPConnection, grant: Grant) -> RequestOrigin:
    """Return which key a request came with, if it came with one, and from which address.

    Of an IPv6 address it is the network of 64 bits, all of which one household has.
    """
    kind, _, key_id = grant.credential.partition(":")
    client = connection.client
    return RequestOrigin(key_id if kind == "key" else None, client_network(client.host) if client else None)


def _to_login(connection: HTTPConnection) -> Response:
    """Send a person who follows a link to a document to the login, and from there back."""
    address: PublicAddress = connection.app.state.public_address
    wanted = urlencode({"next": connection.scope["path"]})
    return RedirectResponse(f"{address.home}login?{wanted}", HTTPStatus.SEE_OTHER)


def _check_origin(grant: Grant, headers: Headers) -> None:
    """Raise NotPermitted if the credentials are bound to web pages of other origins than the one that sends them.

    A browser names no origin where a page reads from its own; it says so in a header that pages can't set.
    """
    if not grant.origins:
        return
    origin = headers.get("origin")
    if origin is not None and origin.lower() in grant.origins:
        return
    if origin is None and headers.get("sec-fetch-site") == "same-origin":
        host = headers.get("host", "").lower()
        if any(urlsplit(allowed).netloc == host for allowed in grant.origins):
            return
    raise NotPermitted(
        "This key is for the web pages of other origins.",
        suggestion="Send it from a page of its origins; `citewell keys list` shows them.",
    )


def _chosen(grant: Grant, sent: list[str]) -> Identity:
    """Return the identity in the workspace that the request chooses.

    The header holds a name in percent-encoded UTF-8, since headers are Latin-1.
    """
    name = unquote(sent[0].strip())
    try:
        identity = replace(checked_identity(name, grant.identity.user), groups=grant.identity.groups)
    except ValueError:
        pass
    else:
        if len(sent) == 1 and grant.allows(name):
            return identity
    named = excerpt(name, LONGEST_NAME)
    raise NotFound(f"There is no workspace {named!r} for these credentials.", suggestion=SEE_WORKSPACES)


def identify_by(settings: Settings, address: PublicAddress, origins: frozenset[str]) -> Identify:
    """Return the function that identifies requests under these settings.

    Raises ConfigurationError if nobody could be identified by them.
    """
    identify = _by_key if not settings.oidc.issuer else _by_key_or_token(settings.auth.audience, address)
    match settings.auth.mode:
        case "none":
            identity = Identity(settings.workspace, settings.user, tuple(settings.groups))
            return _by_key_or(Grant(identity, None, rights=Rights(EVERYTHING)))
        case "jwt":
            from tools.auth.tokens import TokenVerifier

            identify = _by_token(TokenVerifier(settings.auth))
        case "proxy":
            return _by_proxy(AuthProxy(settings), address, origins)
    return _by_cookie_or(identify, settings.oidc, address) if settings.oidc.issuer else identify


def security_schemes(settings: Settings) -> dict[str, Any]:
    """Return the credentials that requests may have under these settings, as the OpenAPI description names them."""
    if settings.auth.mode == "proxy":
        header = settings.auth_proxy.user_header
        return {"proxy": {"type": "apiKey", "in": "header", "name": header, "description": "Set by a trusted proxy."}}
    schemes = _SECURITY_SCHEMES[settings.auth.mode]
    if not settings.oidc.issuer:
        return schemes
    name = PublicAddress(settings).cookie_name(LOGIN_COOKIE)
    login = {"type": "apiKey", "in": "cookie", "name": name, "description": "Of a person who logged in at `/login`."}
    return {**schemes, "login": login}


def _is_open(path: str) -> bool:
    is_named = path in OPEN_PATHS or path in LOGIN_PATHS or path in METADATA_PATHS
    return is_named or path.startswith((PAGE_FILES_PATH, LINKS_PATH, SHARES_PATH))


def _by_key_or(grant: Grant) -> Identify:
    """Identify a request by a key of ours where it has one, so that nobody takes a wrong key for a good one.

    Whatever else a client sends because it has to send something, such as `none`, is passed over.
    """

    async def identify(connection: HTTPConnection, library: Library) -> Grant:
        sent = (*_bearers(connection.headers), *connection.headers.getlist(KEY_HEADER))
        return await _by_key(connection, library) if any(key.startswith(PREFIX) for key in sent) else grant

    return identify


async def _by_key(connection: HTTPConnection, library: Library) -> Grant:
    keys = {*_bearers(connection.headers), *connection.headers.getlist(KEY_HEADER)}
    grant = await ApiKeys(library.database, library.workspaces).find(_single(keys))
    if grant is None:
        raise NotAuthenticated("The key is not valid.")
    return grant


def _by_key_or_token(audience: str | None, address: PublicAddress) -> Identify:
    """Identify a request by a key, or by an access token of the issuer by which people log in.

    The token has to be for this service: for the configured ``audience``, or else by one of our own names.
    """

    async def identify(connection: HTTPConnection, library: Library) -> Grant:
        sent = set(_bearers(connection.headers))
        if KEY_HEADER in connection.headers or not any(each.count(".") == 2 for each in sent):
            return await _by_key(connection, library)
        party: RelyingParty = connection.app.state.relying_party
        audiences = [audience] if audience is not None else resource_names(address.of(connection.headers))
        return await party.identify(_single(sent), audiences)

    return identify


def _by_token(verifier: "TokenVerifier") -> Identify:
    async def identify(connection: HTTPConnection, library: Library) -> Grant:
        return await verifier.verify(_single(set(_bearers(connection.headers))))

    return identify


def _by_cookie_or(identify: Identify, settings: OidcSettings, address: PublicAddress) -> Identify:
    """Identify a request by its login cookie, unless it has credentials that no browser sends by itself."""

    async def identify_person(connection: HTTPConnection, library: Library) -> Grant:
        headers = connection.headers
        login = address.cookie(headers, LOGIN_COOKIE)
        if login is None or _bearers(headers) or KEY_HEADER in headers:
            return await identify(connection, library)
        refuse_cross_site(connection, address)
        logins = Logins(library.database, settings)
        found = await logins.find(login)
        if found is None:
            raise NotAuthenticated("Your login has ended.", suggestion="Log in again.")
        connection.state.login_name = found.name
        connection.state.login_lasts = lambda: logins.lasts(login)
        return found.grant

    return identify_person


def _by_proxy(proxy: AuthProxy, address: PublicAddress, origins: frozenset[str]) -> Identify:
    async def identify(connection: HTTPConnection, library: Library) -> Grant:
        grant = proxy.identify(connection.client and connection.client.host, connection.headers.getlist)
        # The proxy knows browsers by a cookie of its own, which they send for other sites' pages too.
        refuse_cross_site(connection, address, allowed=origins, silent_ones=True)
        return grant

    return identify


def _bearers(headers: Headers) -> list[str]:
    """Return the Bearer credentials; any other scheme is meant for a proxy in between."""
    sent = (value.partition(" ") for value in headers.getlist("authorization"))
    return [credentials.strip() for scheme, _, credentials in sent if scheme.lower() == "bearer"]


def _single(credentials: set[str]) -> str:
    if not credentials:
        raise NotAuthenticated("The request has no credentials.")
    if len(credentials) > 1:
        raise NotAuthenticated("The request has several credentials.", suggestion="Send one of them.")
    return credentials.pop()


def _challenge(connection: HTTPConnection) -> str:
    sent = _bearers(connection.headers) or KEY_HEADER in connection.headers
    url = metadata_url(connection)
    parts = [CHALLENGE, *(['error="invalid_token"'] if sent else []), *([f'resource_metadata="{url}"'] if url else [])]
    return ", ".join(parts)


class LoopbackMiddleware:
    """Middleware that refuses requests that another site's page makes a browser on this machine send.

    A service without authentication must not be reachable through a name that resolves to 127.0.0.1 (DNS rebinding),
    nor by another site's form, picture or link. Such a page can't hide its own Host, nor its Origin where the browser
    names one, nor that it is another site where the browser names none. Listed origins are allowed.
    """

    def __init__(self, app: ASGIApp, *, address: PublicAddress, origins: frozenset[str]) -> None:
        self._app = app
        self._address = address
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if it is sent to this machine and by no other site's page, or answer 403."""
        response = None
        if scope["type"] == "http":
            response = self._refusal(HTTPConnection(scope))
        if response is not None:
            await in_dialect_shape(scope["path"], response)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, connection: HTTPConnection) -> Response | None:
        if not self._is_local(connection.headers):
            return problem(
                "invalid_request",
                "Host and Origin must name this machine: localhost, 127.0.0.1 or [::1].",
                "Open the service under one of these names, list the page's origin in CITEWELL_CORS_ORIGINS, or let "
                "your own server call it.",
                status=HTTPStatus.FORBIDDEN,
            )
        # A page of this machine names its origin where it may read the reply; pictures and forms that only send don't.
        if "origin" in connection.headers or opens_page(connection, OPEN_PATHS):
            return None
        try:
            refuse_cross_site(connection, self._address, silent_ones=True)
        except CrossSiteRequest as error:
            return problem_of(error)
        return None

    def _is_local(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        return names_loopback(f"//{headers.get('host', '')}") and (
            origin is None or origin in self._origins or names_loopback(origin)
        )


ANY_ORIGIN = "*"
CORS_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
EXPOSED_HEADERS = (
    "Content-Location",
    "Location",
    "Mcp-Session-Id",
    "Preference-Applied",
    "Retry-After",
    "WWW-Authenticate",
    "X-Request-ID",
    "x-vercel-ai-ui-message-stream",
)
PREFLIGHT_SECONDS = 600
KNOWN_ORIGINS_SECONDS = 60.0
UNKNOWN_ORIGINS_SECONDS = 2.0


def listed_origins(settings: Settings) -> frozenset[str]:
    """Return the allowed origins as browsers write them.

    Raises ConfigurationError if one is not an origin, or if every page could call a service without authentication.
    """
    origins = frozenset(origin.rstrip("/").lower() for origin in settings.cors_origins)
    for origin in origins - {ANY_ORIGIN}:
        try:
            normal_origin(origin)
        except InvalidRequest:
            raise ConfigurationError(
                f"cors_origins: {origin!r} is not an origin.",
                suggestion="Write it as a browser does, with the port if there is one: https://wiki.example.com.",
            ) from None
    if ANY_ORIGIN in origins and settings.auth.mode == "none":
        raise ConfigurationError(
            "cors_origins: '*' would let every web page read the library, since requests are not authenticated.",
            suggestion="List the origins, or set CITEWELL_AUTH__MODE.",
        )
    return origins


def allow_origins(app: FastAPI, origins: frozenset[str], *, of_keys: bool) -> None:
    """Allow pages of these origins to call the app, without cookies; ``of_keys``: also those that keys are bound to."""
    if origins or of_keys:
        app.add_middleware(
            KeyOriginsMiddleware if of_keys else CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=CORS_METHODS,
            allow_headers=[ANY_ORIGIN],
            expose_headers=EXPOSED_HEADERS,
            allow_private_network=True,
            max_age=PREFLIGHT_SECONDS,
        )


class KeyOriginsMiddleware(CORSMiddleware):
    """CORS for the listed origins and for those that keys are bound to.

    A preflight names no key, so the origins of all keys count; a reply's key is checked by itself. They are read anew
    at most every few seconds, and only for an origin that is not known or, once a minute, for all.
    """

    _of_keys: frozenset[str] = frozenset()
    _read_at = -math.inf
    _reading: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight, or pass the request on and let its page read the reply."""
        if scope["type"] == "http" and (origin := Headers(scope=scope).get("origin")) is not None:
            await self._look_up(origin, scope["app"].state.citewell)
        await super().__call__(scope, receive, send)

    def is_allowed_origin(self, origin: str) -> bool:
        """Whether pages of an origin may call."""
        return origin in self._of_keys or super().is_allowed_origin(origin)

    async def _look_up(self, origin: str, citewell: Citewell) -> None:
        since = time.monotonic() - self._read_at
        if super().is_allowed_origin(origin) or since < (
            KNOWN_ORIGINS_SECONDS if origin in self._of_keys else UNKNOWN_ORIGINS_SECONDS
        ):
            return
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read(citewell), context=background_context())
        await asyncio.shield(self._reading)

    async def _read(self, citewell: Citewell) -> None:
        """Read the origins for all who wait for them; after a failure the next request tries again."""
        began = time.monotonic()
        with suppress(CitewellError):  # then the request itself says that the database is unavailable
            self._of_keys = await ApiKeys(citewell.library.database, citewell.library.workspaces).origins()
            self._read_at = began
