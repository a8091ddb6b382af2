"""The langgraph dialect as the kit uses it."""

import json
from typing import Any
from uuid import uuid4

from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import Adapter, Heard, unmarked
from tests.wire.marked_sentences import LINK


class LangGraphAdapter(Adapter):
    name = "langgraph"
    resumes = False

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        body = {
            "assistant_id": "citewell",
            "input": {"messages": [{"type": "human", "content": question}]},
            "stream_mode": ["values", "messages-tuple"],
            "if_not_exists": "create",
        }
        return "POST", f"/langgraph/threads/{uuid4()}/runs/stream", {"json": body}

    def heard(self, stream: bytes) -> Heard:
        told = [(frame["event"], json.loads(frame["data"])) for frame in parse_frames(stream.decode())]
        event, last = told[-1] if told else ("", {})
        if event == "error":
            return Heard("", frozenset(), "error", last["error"])
        if event != "values" or last["messages"][-1]["type"] != "ai":
            return Heard("", frozenset(), "cut")
        blocks = last["messages"][-1]["content"]
        cited = [each["extras"]["citewell"]["segment_id"] for block in blocks for each in block["annotations"]]
        answer = "".join(unmarked(block["text"], LINK) for block in blocks)
        return Heard(answer, frozenset(each.rpartition(":")[0] for each in cited), "done")
