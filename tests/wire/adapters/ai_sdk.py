"""The AI SDK's message stream as the kit uses it."""

import json
from typing import Any
from uuid import uuid4

from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import BRACKET, Adapter, Heard, unmarked


class AiSdkAdapter(Adapter):
    name = "ai_sdk"
    resumes = False  # the stream of a chat is joined from its start, never behind an id

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        message = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": question}]}
        return "POST", "/api/chat", {"json": {"id": str(uuid4()), "messages": [message], "trigger": "submit-message"}}

    def heard(self, stream: bytes) -> Heard:
        data = [frame["data"] for frame in parse_frames(stream.decode())]
        parts = [json.loads(each) for each in data if each != "[DONE]"]
        about: dict[str, Any] = {}
        for part in parts:
            about |= part.get("messageMetadata") or {}
        if any(part["type"] == "error" for part in parts):
            return Heard("", frozenset(), "error", about["code"])
        if data[-1:] != ["[DONE]"]:
            return Heard("", frozenset(), "cut")
        shown = "".join(part["delta"] for part in parts if part["type"] == "text-delta")
        sources = {part["sourceId"]: part for part in parts if part["type"].startswith("source-")}
        cited = {
            sources[f"c{number}"]["providerMetadata"]["citewell"]["document_id"] for number in BRACKET.findall(shown)
        }
        return Heard(unmarked(shown, BRACKET), frozenset(cited), "done")
