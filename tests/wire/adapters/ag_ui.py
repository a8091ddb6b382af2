"""The AG-UI agent as the kit uses it."""

import json
from typing import Any
from uuid import uuid4

from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import BRACKET, Adapter, Heard, unmarked


class AgUiAdapter(Adapter):
    name = "ag_ui"
    resumes = False

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
        cited = frozenset(sources[int(number)]["document_id"] for number in BRACKET.findall(shown))
        return Heard(unmarked(shown, BRACKET), cited, "done")


def _sources(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Read the sources out of the shared state, as its patches leave them."""
    sources: list[dict[str, Any]] = []
    for change in (each for event in told if event["type"] == "STATE_DELTA" for each in event["delta"]):
        if change["path"] == "/sources/-":
            sources.append(change["value"])
        elif change["path"] == "/sources":
            sources = change["value"]
    return sources
