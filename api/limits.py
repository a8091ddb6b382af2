"""Who may speak to the service and how much: bodies are counted as they arrive, and only this machine is served."""

from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.error_table import RequestTooLarge
from api.errors import in_its_shape, problem, problem_of
from tools.loopback import is_loopback

BODY_BYTES = 1_000_000
DOCUMENTS = "/api/documents"
FORM_BYTES = 1_000_000  # what a form or JSON may hold beside the document's own bytes


class BodyLimit:
    """Answers 413 where a request's body is larger than its route takes, whether its length was declared or not."""

    def __init__(self, app: ASGIApp, *, document_bytes: int) -> None:
        self._app = app
        self._document_bytes = document_bytes + FORM_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body counted."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._document_bytes if scope["path"].startswith(DOCUMENTS) else BODY_BYTES
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isdigit() and int(declared) > limit:
            response = problem_of(_too_large(limit))
            await in_its_shape(scope["path"], response)(scope, receive, send)
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


class LoopbackOnly:
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
            await in_its_shape(scope["path"], response)(scope, receive, send)
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
