"""The Self-RAG chat as the kit uses it."""

import json
import re
from typing import Any

from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import Adapter, Heard, unmarked

MARK = re.compile(r"\[ref:(\d+)\]")


class SelfRagAdapter(Adapter):
    name = "self_rag"
    resumes = False

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        return "POST", "/api/rag-chat/stream", {"json": {"messages": [{"role": "user", "content": question}]}}

    def heard(self, stream: bytes) -> Heard:
        frames = parse_frames(stream.decode())
        told = [(frame["event"], json.loads(frame["data"])) for frame in frames]
        last = told[-1][0] if told else "none"
        if last == "error":
            return Heard("", frozenset(), "error")
        if last != "done":
            return Heard("", frozenset(), "cut")
        shown = "".join(data["delta"] for event, data in told if event == "content")
        listed = [data["sources"] for event, data in told if event == "retrieval"]
        sources = {source["index"]: source for source in (listed[-1] if listed else [])}
        cited = frozenset(sources[int(number)]["id"].partition(":")[0] for number in MARK.findall(shown))
        return Heard(unmarked(shown, MARK), cited, "done")
