"""The messages dialect as the kit uses it."""

import json
from typing import Any

from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import Adapter, Heard


class MessagesAdapter(Adapter):
    name = "messages"
    resumes = False

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        body = {"stream": True, "max_tokens": 1024, "messages": [{"role": "user", "content": question}]}
        return "POST", "/v1/messages", {"json": body}

    def heard(self, stream: bytes) -> Heard:
        frames = parse_frames(stream.decode())
        told = [json.loads(frame["data"]) for frame in frames]
        assert [frame["event"] for frame in frames] == [each["type"] for each in told]
        last = told[-1] if told else {"type": ""}
        if last["type"] == "error":
            return Heard("", frozenset(), "error", last["error"]["code"])
        if last["type"] != "message_stop":
            return Heard("", frozenset(), "cut")
        deltas = [each["delta"] for each in told if each["type"] == "content_block_delta"]
        citations = [delta["citation"] for delta in deltas if delta["type"] == "citations_delta"]
        answer = "".join(delta.get("text", "") for delta in deltas)
        return Heard(answer, frozenset(each["citewell"]["document_id"] for each in citations), "done")
