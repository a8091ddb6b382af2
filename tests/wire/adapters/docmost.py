"""The docmost dialect as the kit uses it: read as Docmost's client reads it, frame by frame."""

import json
import re
from typing import Any

import httpx

from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import Adapter, Heard, unmarked

MARK = re.compile(r"\[\^(\d+)\]")


class DocmostAdapter(Adapter):
    name = "docmost"
    resumes = False

    def __init__(self) -> None:
        self._session: str | None = None

    async def ask(self, client: httpx.AsyncClient, question: str, **headers: str) -> httpx.Response:
        made = (await client.post("/api/ai/sessions", json={}, headers=headers)).json()
        self._session = made["session"]["id"]
        return await super().ask(client, question, **headers)

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        body = {
            "messages": [{"role": "user", "content": question}],
            "sessionId": self._session,
            "isSemanticSearchEnabled": True,
        }
        return "POST", "/api/ai/chat/stream", {"json": body}

    def heard(self, stream: bytes) -> Heard:
        sources: list[dict[str, Any]] = []
        text = ""
        error: dict[str, Any] | None = None
        for frame in parse_frames(stream.decode()):
            if frame["data"] == "[DONE]":
                if error is not None:
                    return Heard("", frozenset(), "error", error["code"])
                cited = frozenset(sources[int(place) - 1]["pageId"] for place in MARK.findall(text))
                return Heard(unmarked(text, MARK), cited, "done")
            told = json.loads(frame["data"])
            if told["type"] == "sources":
                sources = told["data"]
            elif told["type"] == "chunk":
                text += told["data"]
            elif told["type"] == "error":
                error = told
        return Heard("", frozenset(), "cut")
