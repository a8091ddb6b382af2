"""ASGI middleware: who asks, which origins and hosts may call, and how large a body may be.

A request is identified by its credentials alone, before any of its body is read: nothing where only this machine can
reach the service, an API key, or a token of a trusted issuer. Without good credentials it gets no further, whether or
not there is such a route.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import RequestTooLarge, in_dialect_shape, problem, problem_of
from graph.errors import CitewellError, ConfigurationError, NotAuthenticated
from graph.evidence import Identity
from tools.auth.api_keys import ApiKeys
from tools.auth.jwt import TokenVerifier
from tools.auth.network import is_loopback
from tools.library.library import Library
from tools.settings import Settings

# The probes of an orchestrator bring no credentials, the description is the same in every deployment, and so is the
# page, which asks for a key only once it is open.
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

Identify = Callable[[Headers, Library], Awaitable[Identity]]


class IdentityMiddleware:
    """Identifies each request and keeps the identity in its state; answers 401 where it can't."""

    def __init__(self, app: ASGIApp, *, identify: Identify) -> None:
        self._app = app
        self._identify = identify

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its identity, or answer it here."""
        if scope["type"] == "http" and not _is_open(scope["path"]):
            headers = Headers(scope=scope)
            try:
                identity = await self._identify(headers, scope["app"].state.citewell.library)
            except CitewellError as error:
                response = problem_of(error)
                if response.status_code == HTTPStatus.UNAUTHORIZED:
                    response.headers["WWW-Authenticate"] = _challenge(headers)
                await in_dialect_shape(scope["path"], response)(scope, receive, send)
                return
            scope.setdefault("state", {})["identity"] = identity
        await self._app(scope, receive, send)


def identify_by(settings: Settings) -> Identify:
    """Return the way in which a deployment identifies requests.

    Raises ConfigurationError where nobody could be identified by its settings.
    """
    match settings.auth.mode:
        case "none":
            return _as(Identity(settings.workspace, settings.user))
        case "keys":
            return _by_key
        case "jwt":
            return _by_token(TokenVerifier(settings.auth))


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(PAGE_FILES_PATH)


def _as(identity: Identity) -> Identify:
    async def identify(headers: Headers, library: Library) -> Identity:
        return identity

    return identify


async def _by_key(headers: Headers, library: Library) -> Identity:
    keys = {*_bearers(headers), *headers.getlist("x-api-key")}
    identity = await ApiKeys(library.database, library.workspaces).find(_only(keys))
    if identity is None:
        raise NotAuthenticated("The key is not valid.")
    return identity


def _by_token(verifier: TokenVerifier) -> Identify:
    async def identify(headers: Headers, library: Library) -> Identity:
        identity = await verifier.verify(_only(set(_bearers(headers))))
        await library.workspaces.ensure(identity.workspace)
        return identity

    return identify


def _bearers(headers: Headers) -> list[str]:
    """Return what is sent as Bearer; another scheme is for a proxy on the way, and not for us."""
    sent = (value.partition(" ") for value in headers.getlist("authorization"))
    return [credentials.strip() for scheme, _, credentials in sent if scheme.lower() == "bearer"]


def _only(credentials: set[str]) -> str:
    if not credentials:
        raise NotAuthenticated("The request does not say who asks.")
    if len(credentials) > 1:
        raise NotAuthenticated("The request brings several credentials.", suggestion="Send one of them.")
    return credentials.pop()


def _challenge(headers: Headers) -> str:
    sent = _bearers(headers) or "x-api-key" in headers
    return f'{CHALLENGE}, error="invalid_token"' if sent else CHALLENGE


BODY_BYTES = 1_000_000
DOCUMENTS_PATH = "/api/documents"
FORM_BYTES = 1_000_000  # what a form or JSON may hold beside the document's own bytes


class BodyLimitMiddleware:
    """Answers 413 where a request's body is larger than its route takes, whether its length was declared or not."""

    def __init__(self, app: ASGIApp, *, document_bytes: int) -> None:
        self._app = app
        self._document_bytes = document_bytes + FORM_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body counted."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._document_bytes if scope["path"].startswith(DOCUMENTS_PATH) else BODY_BYTES
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
                # FastAPI passes on this kind of exception alone where it reads a body.
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(limit).message)
            return message

        await self._app(scope, counted, send)


def _too_large(limit: int) -> RequestTooLarge:
    return RequestTooLarge(f"The request is larger than {limit} bytes.")


class LoopbackMiddleware:
    """Refuses what a web page elsewhere makes a browser on this machine send, unless its origin is listed.

    A service that asks nobody who they are must not be reached through a name that was pointed at 127.0.0.1 (DNS
    rebinding), nor by a form of another site; no such page can leave out its own Host and Origin.
    """

    def __init__(self, app: ASGIApp, *, origins: frozenset[str]) -> None:
        self._app = app
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what names this machine."""
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
    except ValueError:  # a bracket that nothing closes
        return False
    return host is not None and is_loopback(host)


ANY_ORIGIN = "*"
CORS_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
EXPOSED_HEADERS = ("Retry-After", "WWW-Authenticate", "X-Request-ID", "x-vercel-ai-ui-message-stream")
PREFLIGHT_SECONDS = 600


def listed_origins(settings: Settings) -> frozenset[str]:
    """Return the origins as browsers write them.

    Raises ConfigurationError where one is no origin, and where any page at all could call a service that asks nobody
    who they are.
    """
    origins = frozenset(origin.rstrip("/").lower() for origin in settings.cors_origins)
    for origin in origins - {ANY_ORIGIN}:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.hostname or origin != f"{parts.scheme}://{parts.netloc}":
            raise ConfigurationError(
                f"cors_origins: {origin!r} is no origin.",
                suggestion="Write each as a browser does: https://wiki.example.com, with the port where it has one.",
            )
    if ANY_ORIGIN in origins and settings.auth.mode == "none":
        raise ConfigurationError(
            "cors_origins: '*' would let every web page read the library, since nobody is asked who they are.",
            suggestion="List the origins, or set CITEWELL_AUTH__MODE.",
        )
    return origins


def allow_origins(app: FastAPI, origins: frozenset[str]) -> None:
    """Let pages of these origins call the app. Cookies are nothing to it, so browsers are not told to send any."""
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
