"""The docs_chatbot dialect as the kit uses it: the parts of a reply put together as the chatbot's page would."""

import json
from typing import Any

import httpx

from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import BRACKET, Adapter, Heard, unmarked

STREAMED = {"accept": "text/event-stream"}


class DocsChatbotAdapter(Adapter):
    name = "docs_chatbot"
    resumes = False

    async def ask(self, client: httpx.AsyncClient, question: str, **headers: str) -> httpx.Response:
        method, path, arguments = self.asking(question)
        arguments["headers"] = {**headers, **arguments["headers"]}
        return await client.request(method, path, **arguments)

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        # The threshold is the native dialect's, so that both find the same sources.
        body = {"query": question, "threshold": 0.3, "top_k": 10}
        return "POST", "/api/docs-chat/messages", {"json": body, "headers": STREAMED}

    def heard(self, stream: bytes) -> Heard:
        sources: list[dict[str, Any]] = []
        text = ""
        for frame in parse_frames(stream.decode()):
            told = json.loads(frame["data"])
            if told["type"] == "sources":
                sources = told["sources"]
            elif told["type"] == "content":
                text += told["delta"]
            elif told["type"] == "error":
                return Heard("", frozenset(), "error", told["code"])
            elif told["type"] == "done":
                cited = frozenset(sources[int(place) - 1]["document_id"] for place in BRACKET.findall(text))
                return Heard(unmarked(text, BRACKET), cited, "done")
        return Heard("", frozenset(), "cut")
