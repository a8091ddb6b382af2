"""The largest body that each route accepts."""

from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.dependencies import RouteTable
from api.problems import RequestTooLarge, in_dialect_shape, problem_of

BODY_BYTES = 1_000_000  # of any other route, and of JSON that is read in this process
FORM_BYTES = 1_000_000  # that a form or JSON may add to the document's own bytes
# Routes that take documents, and as how many of the largest one their bodies may be.
DOCUMENT_ROUTES: dict[tuple[str, str], int] = {
    ("POST", "/api/documents"): 1,
    ("PUT", "/api/documents/{document_id}"): 1,
    ("POST", "/api/jobs"): 10,
}


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
        limit = self._limit(scope)
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

    def _limit(self, scope: Scope) -> int:
        table: RouteTable = scope["app"].state.route_table
        route = table.find(scope["method"], scope["path"])
        documents = 0 if route is None else DOCUMENT_ROUTES.get((scope["method"], route.template), 0)
        return documents * self._document_bytes or BODY_BYTES


def _too_large(limit: int) -> RequestTooLarge:
    return RequestTooLarge(f"The request is larger than {limit} bytes.")
