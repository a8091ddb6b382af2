"""The id_citations dialect as the kit uses it."""

import json
from typing import Any

from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import Adapter, Heard


class IdCitationsAdapter(Adapter):
    name = "id_citations"
    resumes = True

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        return "POST", "/api/workspaces/default/messages", {"json": {"content": question, "stream": True}}

    def heard(self, stream: bytes) -> Heard:
        rows: dict[str, Any] = {}
        for frame in parse_frames(stream.decode()):
            rows.update({row["id"]: row for row in json.loads(frame["data"])["messages"]})
        answer = next((row for row in rows.values() if row["type"] == "ai"), {"status": "processing"})
        if answer["status"] == "failed":
            return Heard("", frozenset(), "error", answer["metadata"]["error"]["code"])
        if answer["status"] == "processing":
            return Heard("", frozenset(), "cut")
        cited = {citation["document_id"] for citation in answer["metadata"]["citations"]}
        return Heard(answer["content"], frozenset(cited), "done")
