"""Routes for clients that read frames and nothing else: an EventSource never sees the body of a refusal."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from api.dialects.conversation import failure
from api.dialects.frames import frame
from api.errors import fault
from api.stream import HEADERS, MEDIA_TYPE, wants_stream
from graph.errors import CitewellError, InvalidRequest

# An EventSource that is not closed comes back with the last id that it was given; 204 tells it to stop.
REFUSED = "refused"


class FramedRoute(APIRoute):
    """Answers a request that accepts ``text/event-stream`` with an `error` frame where another gets a problem."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give the handler, with refusals put into frames for those that read nothing else."""
        handle = super().get_route_handler()

        async def framed(request: Request) -> Response:
            if request.headers.get("last-event-id") == REFUSED:
                return Response(status_code=204)
            try:
                return await handle(request)
            except (CitewellError, RequestValidationError) as error:
                if not wants_stream(request):
                    raise
                return refusal(error, again="last-event-id" in request.headers)

        return framed


def refusal(error: CitewellError | RequestValidationError, *, again: bool = False) -> Response:
    """Make the stream of a request that was refused: one frame, whose id keeps it from being sent again.

    Where the reader has come back (``again``) and may do so once more, it keeps the id that it came with.
    """
    if isinstance(error, RequestValidationError):
        error = InvalidRequest("; ".join(fault(item) for item in error.errors()))
    retryable = type(error).retryable
    said = failure(error.code, error.message, error.advice, retryable=retryable)
    told = frame(said, event_id=None if again and retryable else REFUSED)
    return Response(told, media_type=MEDIA_TYPE, headers=HEADERS)
