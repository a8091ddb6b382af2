"""The scripted endpoint as a model that answers at once in 200 chunks, or stalls in the middle of an answer.

A question stays as it is, every passage is kept, and the answer quotes the first segments. The model ``stalling``
begins the answer and then waits until its client has left.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager

from bench.scripted_writer import DELTAS, SECTIONS
from evals.scripted_endpoint import Hold, ModelRequest, Reply, Say, Step, scripted_endpoint
from evals.scripted_replies import sensible

SENTENCES = 4
SECTIONED = '{"sections":'
TOKEN_CHARACTERS = 5
_SEGMENT = re.compile(r"^\[SEG=([^\]]+)\] (.+)$", re.MULTILINE)


class LoopbackModel:
    """What the model replies. ``left`` gets, for each request that stalls, when its client left, in nanoseconds."""

    base_url = ""

    def __init__(self) -> None:
        self.left: asyncio.Queue[int] = asyncio.Queue()

    def respond(self, request: ModelRequest) -> Reply:
        """Return the whole reply, or half of an answer from the model that stalls."""
        steps: list[Step] = [Say(piece) for piece in _pieces(_reply_to(request))]
        if request.body["model"] == "stalling" and request.prompt == "generate_answer":
            request.left.add_done_callback(self._note_left)
            steps = [*steps[: DELTAS // 2], Hold()]
        return Reply(steps, tokens=DELTAS + 1)

    def _note_left(self, left: "Future[bool]") -> None:
        self.left.put_nowait(time.monotonic_ns())


@asynccontextmanager
async def loopback_model() -> AsyncIterator[LoopbackModel]:
    """Listen on a free port until left."""
    model = LoopbackModel()
    async with scripted_endpoint(model.respond, keep_alive=True) as endpoint:
        model.base_url = endpoint.base_url
        yield model


def _reply_to(request: ModelRequest) -> str:
    if request.prompt in ("decide_retrieval", "grade_segments"):
        return sensible(request)
    sections = [
        {"text": ". ".join(text.split(". ")[:SENTENCES]).rstrip(".") + ".", "source_ids": [segment_id]}
        for segment_id, text in _SEGMENT.findall(request.text)[:SECTIONS]
    ]
    return json.dumps({"sections": sections or [{"text": "word " * DELTAS, "source_ids": []}]})


def _pieces(text: str) -> Iterator[str]:
    count = DELTAS if text.startswith(SECTIONED) else len(text) // TOKEN_CHARACTERS
    for place in range(count):
        yield text[len(text) * place // count : len(text) * (place + 1) // count]
