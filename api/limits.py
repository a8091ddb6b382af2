"""Who may speak to the service and how much: bodies are counted as they arrive, and only this machine is served."""

from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.dependencies import is_loopback
from api.errors import problem

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
            response = problem("request_too_large", *_words(limit))
            await response(scope, receive, send)
            return
        arrived = 0

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > limit:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _words(limit)[0])
            return message

        await self._app(scope, counted, send)


def _words(limit: int) -> tuple[str, str]:
    return f"The request is larger than {limit} bytes.", "Send less at once."


class LoopbackOnly:
    """Refuses what a web page elsewhere makes a browser on this machine send.

    A service that asks nobody who they are must not be reached through a name that was pointed at 127.0.0.1 (DNS
    rebinding), nor by a form of another site; no such page can leave out its own Host and Origin.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what names this machine."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            named = [urlsplit(f"//{headers.get('host', '')}").hostname]
            if origin is not None:
                named.append(urlsplit(origin).hostname)
            if not all(name and is_loopback(name) for name in named):
                response = problem(
                    "invalid_request",
                    "Host and Origin must name this machine: localhost, 127.0.0.1 or [::1].",
                    "Open the service under one of these names, or let your own server call it.",
                    status=HTTPStatus.FORBIDDEN,
                )
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)
