"""The native dialect as the kit uses it."""

import json
from typing import Any

import httpx

from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import Adapter, Heard


class NativeAdapter(Adapter):
    name = "native"
    resumes = True

    def __init__(self) -> None:
        self._session = ""

    async def ask(self, client: httpx.AsyncClient, question: str, **headers: str) -> httpx.Response:
        self._session = (await client.post("/api/sessions", json={})).json()["session_id"]
        return await super().ask(client, question, **headers)

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        return "POST", f"/api/sessions/{self._session}/runs", {"json": {"question": question}}

    def heard(self, stream: bytes) -> Heard:
        told = [json.loads(frame["data"]) for frame in parse_frames(stream.decode())]
        last = told[-1] if told else {"type": "none"}
        if last["type"] == "run_failed":
            return Heard("", frozenset(), "error", last["code"])
        if last["type"] != "run_finished":
            return Heard("", frozenset(), "cut")
        citations = last["message"]["citations"]
        cited = frozenset(each["document_id"] for each in citations if each["mark"] == "shown")
        return Heard(last["message"]["answer"], cited, "done")
