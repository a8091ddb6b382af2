"""The conversation dialect as the kit uses it."""

import json
import re
from typing import Any

import httpx

from api.dialects.markers import JOINER
from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import Heard

MARK = re.compile(r"\[(\d+)\]")


class ConversationAdapter:
    name = "conversation"
    resumes = True

    async def ask(self, client: httpx.AsyncClient, question: str, **headers: str) -> httpx.Response:
        method, path, arguments = self.asking(question)
        return await client.request(method, path, headers=headers, **arguments)

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        return "POST", "/api/rag/query-stream", {"json": {"query": question}}

    def heard(self, stream: bytes) -> Heard:
        told = [json.loads(frame["data"]) for frame in parse_frames(stream.decode())]
        last: dict[str, Any] = told[-1] if told else {"type": "none"}
        if last["type"] == "error":
            return Heard("", frozenset(), "error", last["code"])
        if last["type"] != "done":
            return Heard("", frozenset(), "cut")
        shown = "".join(data["content"] for data in told if data["type"] == "content")
        assert shown == last["formattedAnswer"]
        cited = frozenset(last["sources"][int(number) - 1]["documentId"] for number in MARK.findall(shown))
        return Heard(MARK.sub("", shown).replace(JOINER, ""), cited, "done")
