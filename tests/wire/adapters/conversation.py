"""The conversation dialect as the kit uses it."""

import json
from typing import Any

from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import BRACKET, Adapter, Heard, unmarked


class ConversationAdapter(Adapter):
    name = "conversation"
    resumes = True

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        return "POST", "/api/rag/query-stream", {"json": {"query": question}}

    def heard(self, stream: bytes) -> Heard:
        told = [json.loads(frame["data"]) for frame in parse_frames(stream.decode())]
        last: dict[str, Any] = told[-1] if told else {"type": "none"}
        if last["type"] == "error":
            return Heard("", frozenset(), "error", last["code"])
        if last["type"] != "done":
            return Heard("", frozenset(), "cut")
        shown = last["formattedAnswer"]
        cited = frozenset(last["sources"][int(number) - 1]["documentId"] for number in BRACKET.findall(shown))
        return Heard(unmarked(shown, BRACKET), cited, "done")
