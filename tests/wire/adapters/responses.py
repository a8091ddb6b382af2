"""The responses dialect as the kit uses it."""

import json
from typing import Any

from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import BRACKET, Adapter, Heard, unmarked
from tests.wire.adapters.openai import document_of


class ResponsesAdapter(Adapter):
    name = "responses"
    resumes = False

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        return "POST", "/v1/responses", {"json": {"stream": True, "input": question}}

    def heard(self, stream: bytes) -> Heard:
        events = [json.loads(frame["data"]) for frame in parse_frames(stream.decode())]
        last = events[-1] if events else {"type": ""}
        if last["type"] == "response.failed":
            return Heard("", frozenset(), "error", last["response"]["error"]["code"])
        if last["type"] not in ("response.completed", "response.incomplete"):
            return Heard("", frozenset(), "cut")
        annotations = [each["annotation"] for each in events if each["type"].endswith("annotation.added")]
        text = "".join(each["delta"] for each in events if each["type"] == "response.output_text.delta")
        cited = frozenset(document_of(each["url"]) for each in annotations)
        return Heard(unmarked(text, BRACKET), cited, "done")
