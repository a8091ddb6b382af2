"""Who asks: settled for every request before any of its body is read, and by its credentials alone.

What a deployment accepts is one of three: nothing, where only this machine can reach it; an API key; a token of an
issuer that it trusts. A request without good credentials gets no further, whether there is such a route or not.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import in_its_shape, problem_of
from graph.errors import CitewellError, NotAuthenticated
from graph.evidence import Identity
from tools.keys import ApiKeys
from tools.resources import Library
from tools.settings import Settings
from tools.tokens import TokenVerifier

# The probes of an orchestrator bring no credentials, the description is the same in every deployment, and so is the
# page, which asks for a key only once it is open.
OPEN = frozenset({"/", "/healthz", "/readyz", "/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json"})
PAGE_FILES = "/page/"
CHALLENGE = 'Bearer realm="citewell"'
SCHEMES: dict[str, dict[str, Any]] = {
    "none": {},
    "keys": {
        "key": {"type": "http", "scheme": "bearer", "description": "A key of `citewell keys create`."},
        "keyHeader": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "The same key."},
    },
    "jwt": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
}

Identify = Callable[[Headers, Library], Awaitable[Identity]]


class Identification:
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
                await in_its_shape(scope["path"], response)(scope, receive, send)
                return
            scope.setdefault("state", {})["identity"] = identity
        await self._app(scope, receive, send)


def identify_by(settings: Settings) -> Identify:
    """Give the way in which a deployment identifies requests.

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
    return path in OPEN or path.startswith(PAGE_FILES)


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
    """Give what is sent as Bearer; another scheme is for a proxy on the way, and not for us."""
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
