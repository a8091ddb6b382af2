"""ASGI middleware: authentication, allowed origins and hosts, and the largest body.

A request is identified by its credentials alone, before its body is read: none if only this machine can reach the
service, an API key, or a token of a trusted issuer. Without valid credentials it is refused, whether or not the route
exists.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import unquote, urlsplit

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answers.citations import excerpt
from api.problems import RequestTooLarge, in_dialect_shape, problem, problem_of
from graph.errors import CitewellError, ConfigurationError, NotAuthenticated, NotFound
from graph.evidence import Identity
from tools.auth.api_keys import PREFIX, ApiKeys, key_id
from tools.auth.identities import Grant, checked_identity, is_loopback
from tools.auth.tokens import TokenVerifier
from tools.library.library import Library
from tools.settings import Settings
from tools.spending.accounts import RequestOrigin, coming_from
from tools.storage.tenants import LONGEST_NAME

# An orchestrator's probes send no credentials. The OpenAPI description and the page are the same in every deployment;
# the page asks for a key once it is open.
OPEN_PATHS = frozenset({"/", "/healthz", "/readyz", "/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json"})
PAGE_FILES_PATH = "/page/"
CHALLENGE = 'Bearer realm="citewell"'
SECURITY_SCHEMES: dict[str, dict[str, Any]] = {
    "none": {},
    "keys": {
        "key": {"type": "http", "scheme": "bearer", "description": "A key of `citewell keys create`."},
        "keyHeader": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "The same key."},
    },
    "jwt": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
}

WORKSPACE_HEADER = "x-citewell-workspace"
SEE_WORKSPACES = "GET /api/workspaces lists those of your credentials."

Identify = Callable[[Headers, Library], Awaitable[Grant]]


class IdentityMiddleware:
    """Middleware that stores the identity of each request in its state, and answers 401 if there is none."""

    def __init__(self, app: ASGIApp, *, identify: Identify) -> None:
        self._app = app
        self._identify = identify

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its identity, or answer with a problem."""
        if scope["type"] == "http" and not _is_open(scope["path"]):
            headers = Headers(scope=scope)
            try:
                library: Library = scope["app"].state.citewell.library
                grant = await self._identify(headers, library)
                identity = await _in_workspace(grant, headers, library)
            except CitewellError as error:
                response = problem_of(error)
                if response.status_code == HTTPStatus.UNAUTHORIZED:
                    response.headers["WWW-Authenticate"] = _challenge(headers)
                await in_dialect_shape(scope["path"], response)(scope, receive, send)
                return
            scope.setdefault("state", {}).update(identity=identity, grant=grant)
            with coming_from(origin_of(scope, headers)):
                await self._app(scope, receive, send)
            return
        await self._app(scope, receive, send)


def origin_of(scope: Scope, headers: Headers) -> RequestOrigin:
    """Return which key a request came with, if it came with one, and from which address.

    Of an IPv6 address it is the network of 64 bits, all of which one household has.
    """
    sent = [*_bearers(headers), *headers.getlist("x-api-key")]
    keys = [key_id(key) for key in sent if key.startswith(PREFIX)]
    client = scope.get("client")
    return RequestOrigin(keys[0] if keys else None, _network(client[0]) if client else None)


def _network(address: str) -> str:
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    if ip.version == 4:
        return address
    mapped = ip.ipv4_mapped
    return str(mapped) if mapped is not None else str(ip_network((ip.packed, 64), strict=False))


async def _in_workspace(grant: Grant, headers: Headers, library: Library) -> Identity:
    """Return the identity in the workspace that the request chooses, or else in the first one of its credentials.

    The header holds a name in percent-encoded UTF-8, since headers are Latin-1. A workspace that the credentials don't
    allow is answered like one that does not exist.
    """
    sent = headers.getlist(WORKSPACE_HEADER)
    identity = _chosen(grant, sent) if sent else grant.identity
    if grant.may_create:
        await library.workspaces.ensure(identity.workspace)
    elif sent:
        await library.workspaces.number(identity.workspace)
    return identity


def _chosen(grant: Grant, sent: list[str]) -> Identity:
    name = unquote(sent[0].strip())
    try:
        identity = checked_identity(name, grant.identity.user)
    except ValueError:
        pass
    else:
        if len(sent) == 1 and grant.allows(name):
            return identity
    named = excerpt(name, LONGEST_NAME)
    raise NotFound(f"There is no workspace {named!r} for these credentials.", suggestion=SEE_WORKSPACES)


def identify_by(settings: Settings) -> Identify:
    """Return the function that identifies requests under these settings.

    Raises ConfigurationError if nobody could be identified by them.
    """
    match settings.auth.mode:
        case "none":
            return _always(Grant(Identity(settings.workspace, settings.user), None))
        case "keys":
            return _by_key
        case "jwt":
            return _by_token(TokenVerifier(settings.auth))


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(PAGE_FILES_PATH)


def _always(grant: Grant) -> Identify:
    async def identify(headers: Headers, library: Library) -> Grant:
        return grant

    return identify


async def _by_key(headers: Headers, library: Library) -> Grant:
    keys = {*_bearers(headers), *headers.getlist("x-api-key")}
    identity = await ApiKeys(library.database, library.workspaces).find(_single(keys))
    if identity is None:
        raise NotAuthenticated("The key is not valid.")
    return Grant(identity, (identity.workspace,))


def _by_token(verifier: TokenVerifier) -> Identify:
    async def identify(headers: Headers, library: Library) -> Grant:
        return await verifier.verify(_single(set(_bearers(headers))))

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


def _challenge(headers: Headers) -> str:
    sent = _bearers(headers) or "x-api-key" in headers
    return f'{CHALLENGE}, error="invalid_token"' if sent else CHALLENGE


BODY_BYTES = 1_000_000
DOCUMENTS_PATH = "/api/documents"
JOBS_PATH = "/api/jobs"
DOCUMENTS_OF_JOB = 10  # that the bytes of one upload of several files may add up to
FORM_BYTES = 1_000_000  # that a form or JSON may add to the document's own bytes


class BodyLimitMiddleware:
    """Middleware that answers 413 to a body larger than its route accepts, with or without a declared length."""

    def __init__(self, app: ASGIApp, *, document_bytes: int) -> None:
        self._app = app
        self._document_bytes = document_bytes + FORM_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and count the bytes of its body as they arrive."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit(scope["path"])
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isdigit() and int(declared) > limit:
            response = problem_of(_too_large(limit))
            await in_dialect_shape(scope["path"], response)(scope, receive, send)
            return
        arrived = 0

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > limit:
                # While FastAPI reads a body, it lets only this kind of exception through.
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(limit).message)
            return message

        await self._app(scope, counted, send)

    def _limit(self, path: str) -> int:
        if path == JOBS_PATH:
            return DOCUMENTS_OF_JOB * self._document_bytes
        return self._document_bytes if path.startswith(DOCUMENTS_PATH) else BODY_BYTES


def _too_large(limit: int) -> RequestTooLarge:
    return RequestTooLarge(f"The request is larger than {limit} bytes.")


class LoopbackMiddleware:
    """Middleware that refuses requests that another site's page makes a browser on this machine send.

    A service without authentication must not be reachable through a name that resolves to 127.0.0.1 (DNS rebinding),
    nor by another site's form. Such a page can't hide its own Host and Origin. Listed origins are allowed.
    """

    def __init__(self, app: ASGIApp, *, origins: frozenset[str]) -> None:
        self._app = app
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if its Host and Origin are local, or answer 403."""
        if scope["type"] == "http" and not self._is_local(Headers(scope=scope)):
            response = problem(
                "invalid_request",
                "Host and Origin must name this machine: localhost, 127.0.0.1 or [::1].",
                "Open the service under one of these names, list the page's origin in CITEWELL_CORS_ORIGINS, or let "
                "your own server call it.",
                status=HTTPStatus.FORBIDDEN,
            )
            await in_dialect_shape(scope["path"], response)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_local(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        return _names_loopback(f"//{headers.get('host', '')}") and (
            origin is None or origin in self._origins or _names_loopback(origin)
        )


def _names_loopback(url: str) -> bool:
    try:
        host = urlsplit(url).hostname
    except ValueError:  # an unclosed bracket
        return False
    return host is not None and is_loopback(host)


ANY_ORIGIN = "*"
CORS_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
EXPOSED_HEADERS = (
    "Location",
    "Mcp-Session-Id",
    "Preference-Applied",
    "Retry-After",
    "WWW-Authenticate",
    "X-Request-ID",
    "x-vercel-ai-ui-message-stream",
)
PREFLIGHT_SECONDS = 600


def listed_origins(settings: Settings) -> frozenset[str]:
    """Return the allowed origins as browsers write them.

    Raises ConfigurationError if one is not an origin, or if every page could call a service without authentication.
    """
    origins = frozenset(origin.rstrip("/").lower() for origin in settings.cors_origins)
    for origin in origins - {ANY_ORIGIN}:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.hostname or origin != f"{parts.scheme}://{parts.netloc}":
            raise ConfigurationError(
                f"cors_origins: {origin!r} is not an origin.",
                suggestion="Write it as a browser does, with the port if there is one: https://wiki.example.com.",
            )
    if ANY_ORIGIN in origins and settings.auth.mode == "none":
        raise ConfigurationError(
            "cors_origins: '*' would let every web page read the library, since requests are not authenticated.",
            suggestion="List the origins, or set CITEWELL_AUTH__MODE.",
        )
    return origins


def allow_origins(app: FastAPI, origins: frozenset[str]) -> None:
    """Allow pages of these origins to call the app, without cookies, which it does not use."""
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=CORS_METHODS,
            allow_headers=[ANY_ORIGIN],
            expose_headers=EXPOSED_HEADERS,
            allow_private_network=True,
            max_age=PREFLIGHT_SECONDS,
        )
