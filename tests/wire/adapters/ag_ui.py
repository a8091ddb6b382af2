"""The AG-UI agent as the kit uses it."""

import json
import re
from typing import Any
from uuid import uuid4

import httpx

from api.dialects.markers import JOINER
from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import Heard

MARK = re.compile(r"\[(\d+)\]")


class AgUiAdapter:
    name = "ag_ui"
    resumes = False

    async def ask(self, client: httpx.AsyncClient, question: str, **headers: str) -> httpx.Response:
        method, path, arguments = self.asking(question)
        return await client.request(method, path, headers=headers, **arguments)

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        messages = [{"id": "u1", "role": "user", "content": question}]
        return "POST", "/agui", {"json": {"threadId": str(uuid4()), "runId": "r1", "messages": messages}}

    def heard(self, stream: bytes) -> Heard:
        told = [json.loads(frame["data"]) for frame in parse_frames(stream.decode())]
        last = told[-1] if told else {"type": "none"}
        if last["type"] == "RUN_ERROR":
            return Heard("", frozenset(), "error", last["code"])
        if last["type"] != "RUN_FINISHED":
            return Heard("", frozenset(), "cut")
        shown = "".join(event["delta"] for event in told if event["type"] == "TEXT_MESSAGE_CONTENT")
        sources = {source["index"]: source for source in _sources(told)}
        cited = frozenset(sources[int(number)]["document_id"] for number in MARK.findall(shown))
        return Heard(MARK.sub("", shown).replace(JOINER, ""), cited, "done")


def _sources(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Read the sources out of the shared state, as its patches leave them."""
    sources: list[dict[str, Any]] = []
    for change in (each for event in told if event["type"] == "STATE_DELTA" for each in event["delta"]):
        if change["path"] == "/sources/-":
            sources.append(change["value"])
        elif change["path"] == "/sources":
            sources = change["value"]
    return sources
