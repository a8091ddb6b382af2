"""The OpenAI dialect as the kit uses it."""

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.api.conftest import LIBRARY
from tests.api.reading import parse_frames
from tests.wire.adapters.adapter import BRACKET, Adapter, Heard, unmarked

ADDRESSES: Mapping[str, str] = {each.url: each.document_id for each in LIBRARY if each.url and each.document_id}


class OpenAIAdapter(Adapter):
    name = "openai"
    resumes = False

    def asking(self, question: str) -> tuple[str, str, dict[str, Any]]:
        body = {"stream": True, "messages": [{"role": "user", "content": question}]}
        return "POST", "/v1/chat/completions", {"json": body}

    def heard(self, stream: bytes) -> Heard:
        told = [frame["data"] for frame in parse_frames(stream.decode())]
        chunks = [json.loads(data) for data in told if data != "[DONE]"]
        failed = [chunk["error"]["code"] for chunk in chunks if "error" in chunk]
        if told[-1:] != ["[DONE]"]:
            return Heard("", frozenset(), "cut")
        if failed:
            return Heard("", frozenset(), "error", failed[0])
        deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
        annotations = [each["url_citation"] for delta in deltas for each in delta.get("annotations", [])]
        text = "".join(delta.get("content", "") for delta in deltas)
        answer = unmarked(text, BRACKET)
        return Heard(answer, frozenset(document_of(each["url"]) for each in annotations), "done")


def document_of(url: str) -> str:
    """Give the document behind an address: one that the library's owner gave it, or its page of this service."""
    page = re.search(r"/documents/([0-9a-f-]{36})#segment-\d+$", url)
    return page[1] if page else ADDRESSES.get(url.partition("#")[0], url)
