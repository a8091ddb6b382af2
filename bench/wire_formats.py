"""The twelve wire formats as their clients use them: how a question is asked, and the answer's text in a frame."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from bench.sse_client import Arrival, Connection

Frame = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WireFormat:
    """A wire format: the path and the body of a question, and the text that the data of a frame adds to the answer.

    ``sessions`` is the path that creates the session whose id goes into ``path``. A format that ``follows`` is asked
    for an answer in the background and read by another request; its frames hold the whole text so far.
    """

    name: str
    path: str
    body: Callable[[str], Frame]
    text_in: Callable[[Any], str]
    sessions: str = ""
    follows: bool = False

    async def ask(self, connection: Connection, question: str) -> list[Arrival]:
        """Ask a question in a session of its own, where the format has them; return the frames of its answer."""
        path = self.path
        if self.sessions:
            made = json.loads(await connection.post(self.sessions, {}))
            path = path.format(made.get("session_id") or made["thread_id"])
        if not self.follows:
            return await connection.frames(path, self.body(question))
        await connection.post(path, self.body(question))
        return await connection.frames(path)

    def texts(self, arrivals: Sequence[Arrival]) -> list[tuple[int, str]]:
        """Return the answer as its client has it after each frame that changes it, with the frame's arrival."""
        texts: list[tuple[int, str]] = []
        answer = ""
        for arrival in arrivals:
            data = arrival.data
            added = self.text_in(json.loads(data)) if data.startswith((b"{", b"[{")) else ""
            longer = added if self.follows else answer + added
            if added and longer != answer:
                answer = longer
                texts.append((arrival.at, answer))
        return texts


def _messages(question: str) -> list[Frame]:
    return [{"role": "user", "content": question}]


def _ui_chat(question: str) -> Frame:
    message = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": question}]}
    return {"id": str(uuid4()), "messages": [message], "trigger": "submit-message"}


def _agent_input(question: str) -> Frame:
    return {"threadId": str(uuid4()), "runId": "r1", "messages": [{"id": "u1", **_messages(question)[0]}]}


def _of_type(name: str, field: str) -> Callable[[Frame], str]:
    return lambda data: str(data[field]) if data.get("type") == name else ""


def _answer_row(data: Frame) -> str:
    return next((str(row["content"]) for row in data["messages"] if row["type"] == "ai"), "")


def _completion_delta(data: Frame) -> str:
    return "".join(choice["delta"].get("content") or "" for choice in data.get("choices", ()))


def _delta(data: Frame) -> str:
    return str(data.get("delta", ""))


WIRE_FORMATS = (
    WireFormat(
        "native",
        "/api/sessions/{}/runs",
        lambda question: {"question": question},
        _of_type("text_delta", "delta"),
        sessions="/api/sessions",
    ),
    WireFormat(
        "docmost",
        "/api/ai/chat/stream",
        lambda question: {"messages": _messages(question), "isSemanticSearchEnabled": True},
        _of_type("chunk", "data"),
    ),
    WireFormat(
        "docs_chatbot",
        "/api/docs-chat/messages",
        lambda question: {"query": question, "threshold": 0.3, "top_k": 10},
        _of_type("content", "delta"),
    ),
    WireFormat("self_rag", "/api/rag-chat/stream", lambda question: {"messages": _messages(question)}, _delta),
    WireFormat(
        "conversation", "/api/rag/query-stream", lambda question: {"query": question}, _of_type("content", "content")
    ),
    WireFormat(
        "id_citations",
        "/api/workspaces/default/messages",
        lambda question: {"content": question},
        _answer_row,
        follows=True,
    ),
    WireFormat(
        "openai",
        "/v1/chat/completions",
        lambda question: {"stream": True, "messages": _messages(question)},
        _completion_delta,
    ),
    WireFormat(
        "messages",
        "/v1/messages",
        lambda question: {"stream": True, "max_tokens": 1024, "messages": _messages(question)},
        lambda data: str(data["delta"].get("text", "")) if "delta" in data else "",
    ),
    WireFormat(
        "responses",
        "/v1/responses",
        lambda question: {"stream": True, "store": False, "input": question},
        _of_type("response.output_text.delta", "delta"),
    ),
    WireFormat("ai_sdk", "/api/chat", _ui_chat, _of_type("text-delta", "delta")),
    WireFormat("ag_ui", "/agui", _agent_input, _of_type("TEXT_MESSAGE_CONTENT", "delta")),
    WireFormat(
        "langgraph",
        "/langgraph/threads/{}/runs/stream",
        lambda question: {"input": {"messages": _messages(question)}, "stream_mode": ["messages-tuple"]},
        lambda data: str(data[0]["content"][0]["text"]) if isinstance(data, list) else "",
        sessions="/langgraph/threads",
    ),
)
