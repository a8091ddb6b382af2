"""The AI SDK's message stream as the kit uses it."""

import json
import re
from typing import Any
from uuid import uuid4

import httpx

from api.dialects.markers import JOINER
from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import Heard

MARK = re.compile(r"\[(\d+)\]")


class AiSdkAdapter:
    name = "ai_sdk"
    resumes = False  # the stream of a chat is joined from its start, never behind an id

    async def ask(self, client: httpx.AsyncClient, question: str, **headers: str) -> httpx.Response:
        method, path, arguments = self.asking(question)
        return await client.request(method, path, headers=headers, **arguments)

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
        cited = {sources[f"c{number}"]["providerMetadata"]["citewell"]["document_id"] for number in MARK.findall(shown)}
        return Heard(MARK.sub("", shown).replace(JOINER, ""), frozenset(cited), "done")
