"""What a stranger may try: every route of the service, with the ids of someone else wherever it takes one.

``gone``: there is no such thing for the stranger, 404. ``apart``: the id is a host's own, or there is none, so the
stranger is served, but from what is the stranger's alone. ``public``: the same for everybody. Braces hold names of the
owner's ids.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

QUESTION = "What is the zebra in my diary called?"
ASK = {"question": QUESTION, "min_score": 0}
SHARED = "c1"  # an id that two hosts could give
FRAMES = {"accept": "text/event-stream"}
LEFT_OFF = {"last-event-id": "{run_id}:1"}
CHAT = {"role": "user", "content": QUESTION}
UI_MESSAGE = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": QUESTION}]}
UI_ANSWER = {"id": "{message_id}", "role": "assistant", "parts": [{"type": "text", "text": "?"}]}
AGUI = {
    "threadId": SHARED,
    "runId": "r1",
    "state": {},
    "messages": [{"id": "u1", "role": "user", "content": QUESTION}],
    "tools": [],
    "context": [],
    "forwardedProps": {},
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request. ``silent``: not even its owner is told anything in reply; ``first``: it makes what others ask for."""

    method: str
    path: str
    sent: Mapping[str, Any]
    kind: Literal["gone", "apart", "public"]
    silent: bool = False
    first: bool = False

    @property
    def name(self) -> str:
        return f"{self.method} {self.path} {' '.join(map(str, self.sent.values()))[:60]}"

    def filled(self, ids: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
        """Give the path and what is sent, with the ids in their places."""
        return self.path.format(**ids), {name: fill(value, ids) for name, value in self.sent.items()}


def fill(value: Any, ids: Mapping[str, str]) -> Any:
    """Put ids into their places, however deep."""
    if isinstance(value, dict):
        return {key: fill(inner, ids) for key, inner in value.items()}
    if isinstance(value, list):
        return [fill(inner, ids) for inner in value]
    return value.format(**ids) if isinstance(value, str) else value


def gone(method: str, path: str, **sent: Any) -> Attempt:
    return Attempt(method, path, sent, "gone")


def apart(method: str, path: str, *, silent: bool = False, first: bool = False, **sent: Any) -> Attempt:
    return Attempt(method, path, sent, "apart", silent, first)


def message(method: str, **params: Any) -> Attempt:
    """A message of the Model Context Protocol, whose errors are replies like any other."""
    sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return apart("POST", "/mcp", json=sent, headers={"accept": "application/json, text/event-stream"})


def tool(name: str, **arguments: Any) -> Attempt:
    return message("tools/call", name=name, arguments=arguments)


def public(method: str, path: str) -> Attempt:
    return Attempt(method, path, {}, "public")


NATIVE = [
    apart("POST", "/api/sessions", json={}, silent=True),
    apart("POST", "/api/sessions", json={"page_ids": ["{document_id}"]}, silent=True),
    apart("GET", "/api/sessions"),
    gone("GET", "/api/sessions/{session_id}"),
    gone("GET", "/api/sessions/{session_id}", params={"branch": "{message_id}"}),
    gone("PATCH", "/api/sessions/{session_id}", json={"title": "Mine"}),
    gone("PATCH", "/api/sessions/{session_id}", json={"pinned": True}),
    gone("GET", "/api/sessions/{session_id}/events"),
    gone("GET", "/api/sessions/{session_id}/follow-ups"),
    apart("GET", "/api/sessions", params={"query": "zebra"}),
    apart("GET", "/api/suggestions", silent=True),
    gone("POST", "/api/sessions/{session_id}/auto-title"),
    gone("GET", "/api/sessions/{session_id}/export", params={"format": "md"}),
    gone("GET", "/api/sessions/{session_id}/export", params={"format": "html", "message": "{message_id}"}),
    gone("POST", "/api/sessions/{session_id}/shares", json={}),
    gone("GET", "/api/sessions/{session_id}/shares"),
    gone("DELETE", "/api/sessions/{session_id}/shares/{share_id}"),
    apart("GET", "/api/notes"),
    gone("POST", "/api/notes", json={"entry": {"session_id": "{session_id}", "message_id": "{message_id}"}}),
    gone("POST", "/api/notes", json={"entry": {"document_id": "{document_id}", "quote": "{quote}"}}),
    gone("GET", "/api/notes/{note_id}"),
    gone("PATCH", "/api/notes/{note_id}", json={"shared": True}),
    gone("POST", "/api/notes/{note_id}/entries", json={"document_id": "{document_id}", "quote": "{quote}"}),
    gone("GET", "/api/notes/{note_id}/export", params={"format": "md"}),
    gone("DELETE", "/api/notes/{note_id}/entries/{entry_id}"),
    gone("DELETE", "/api/notes/{note_id}"),
    gone("POST", "/api/flashcards", json={"document_ids": ["{document_id}"]}),
    gone("POST", "/api/sessions/{session_id}/messages/{message_id}/feedback", json={"rating": "up"}),
    gone("DELETE", "/api/sessions/{session_id}/messages/{message_id}/feedback"),
    gone("DELETE", "/api/sessions/{session_id}"),
    gone("GET", "/api/sessions/{session_id}/runs"),
    gone("POST", "/api/sessions/{session_id}/runs", json={"regenerate": "{message_id}"}),
    gone("POST", "/api/sessions/{session_id}/runs", json=ASK),
    apart("GET", "/api/runs"),
    apart("POST", "/api/sessions/{own_session_id}/runs", json=ASK),
    apart("POST", "/api/sessions/{own_session_id}/runs", json=ASK | {"page_ids": ["{document_id}"]}),
    gone("GET", "/api/runs/{run_id}"),
    gone("GET", "/api/runs/{run_id}/stream"),
    gone("GET", "/api/runs/{run_id}/stream", headers=LEFT_OFF),
    gone("POST", "/api/runs/{run_id}/cancel"),
]
DOCUMENTS = [
    apart("POST", "/api/documents", json={"text": "Mine."}, silent=True),
    apart("GET", "/api/documents"),
    apart("GET", "/api/documents", params={"title": "Diary"}),
    apart("GET", "/api/documents", params={"q": "Diary", "sort": "name", "count": "true"}),
    apart("GET", "/api/library", silent=True),
    apart("GET", "/api/library", params={"source": "{source_id}"}, silent=True),
    apart("POST", "/api/deletions", json={"document_ids": ["{document_id}"]}, silent=True),
    apart("POST", "/api/deletions/undo", json={"document_ids": ["{document_id}"]}, silent=True),
    apart("GET", "/api/documents", params={"collection": "{collection_id}"}),
    apart("GET", "/api/collections", silent=True),
    apart("POST", "/api/collections", json={"name": "Mine", "document_ids": ["{document_id}"]}, silent=True),
    gone("PATCH", "/api/collections/{collection_id}", json={"name": "Mine"}),
    gone("PATCH", "/api/collections/{collection_id}", json={"add": ["{document_id}"]}),
    gone("DELETE", "/api/collections/{collection_id}"),
    gone("PATCH", "/api/documents/{document_id}", json={"title": "Mine"}),
    gone("GET", "/api/documents/{document_id}"),
    gone("PUT", "/api/documents/{document_id}", json={"text": "Overwritten."}),
    gone("PATCH", "/api/documents/{document_id}", json={"readers": ["everyone"]}),
    gone("PATCH", "/api/documents/{document_id}", json={"owner": "local"}),
    gone("DELETE", "/api/documents/{document_id}"),
    gone("GET", "/api/documents/{document_id}/raw-text"),
    gone("GET", "/api/documents/{document_id}/guide"),
    gone("GET", "/api/documents/{document_id}/versions"),
    gone("GET", "/api/documents/{document_id}/versions/{text_version}"),
    gone("POST", "/api/documents/{document_id}/versions/{text_version}/restore"),
    gone("GET", "/api/documents/{document_id}/original"),
    gone("GET", "/api/documents/{document_id}/layout"),
    gone("GET", "/api/documents/{document_id}/pictures/{picture_number}"),
    gone("GET", "/api/documents/{document_id}/segments/{segment_index}/place"),
    gone("GET", "/documents/{document_id}"),
    apart("GET", "/api/search", params={"q": "diary", "min_score": 0}),
    apart("POST", "/api/verify", json={"answer": "The zebra in my diary [SEG={document_id}:0]."}),
    apart("POST", "/api/verify", json={"claims": ["The zebra in my diary."], "document_ids": ["{document_id}"]}),
]
SOURCES = [
    apart("POST", "/api/sources", json={"kind": "folder", "location": "{folder}"}, silent=True),
    apart("GET", "/api/sources"),
    gone("GET", "/api/sources/{source_id}"),
    gone("PATCH", "/api/sources/{source_id}", json={"readers": ["everyone"]}),
    gone("POST", "/api/sources/{source_id}/sync", json={"dry_run": True}),
    gone("DELETE", "/api/sources/{source_id}", params={"documents": "delete"}),
]
JOBS = [
    apart("POST", "/api/jobs", files={"file": ("mine.md", b"Mine.")}, silent=True),
    apart("GET", "/api/jobs"),
    gone("GET", "/api/jobs/{job_id}"),
    gone("GET", "/api/jobs/{job_id}/events"),
    gone("POST", "/api/jobs/{job_id}/{action}"),
]
DOCMOST_QUESTION = {"messages": [CHAT], "isSemanticSearchEnabled": True}
DOCMOST = [
    apart("POST", "/api/ai/sessions", json={}, silent=True),
    apart("GET", "/api/ai/sessions"),
    gone("GET", "/api/ai/sessions/{docmost_id}"),
    gone("PATCH", "/api/ai/sessions/{docmost_id}", json={"title": "Mine"}),
    gone("DELETE", "/api/ai/sessions/{docmost_deleted_id}"),
    gone("POST", "/api/ai/sessions/{docmost_id}/auto-title"),
    gone("POST", "/api/ai/chat/stream", json=DOCMOST_QUESTION | {"sessionId": "{docmost_id}"}),
    apart("POST", "/api/ai/chat/stream", json=DOCMOST_QUESTION | {"selectedPageIds": ["{document_id}"]}),
    apart("POST", "/api/ai/pages/search", json={"pageIds": ["{document_id}"]}),
    apart("POST", "/api/ai/pages/search", json={"query": "Diary"}),
]
DOCS_CHATBOT = [
    apart("POST", "/api/docs-chat/messages", json={"query": QUESTION, "threshold": 0}),
    gone("POST", "/api/docs-chat/messages", json={"query": QUESTION, "session_id": "{docs_chatbot_id}"}),
    gone("GET", "/api/docs-chat/sessions/{docs_chatbot_id}"),
    gone("DELETE", "/api/docs-chat/sessions/{docs_chatbot_id}"),
]
CONVERSATION = [
    apart("POST", "/api/rag/query-stream", json={"query": QUESTION, "conversationId": SHARED, "userId": "local"}),
    gone("POST", "/api/rag/query-stream", json={"query": QUESTION}, headers=LEFT_OFF),
    apart("GET", "/api/rag/query-stream", params={"query": QUESTION, "conversationId": SHARED, "userId": "local"}),
    gone("GET", "/api/rag/query-stream", params={"query": QUESTION}, headers=LEFT_OFF),
]
ID_CITATIONS = [
    apart("POST", "/api/workspaces/{workspace_id}/messages", json={"content": QUESTION}, headers=FRAMES),
    apart("GET", "/api/workspaces/{workspace_id}/messages"),
    apart("DELETE", "/api/workspaces/{workspace_id}/messages", silent=True),
    gone("GET", "/api/workspaces/{workspace_id}/messages", headers=FRAMES | {"last-event-id": "{workspace_run_id}:1"}),
]
SELF_RAG = [apart("POST", "/api/rag-chat/stream", json={"messages": [CHAT], "min_score": 0})]
OPENAI = [
    apart("GET", "/api/workspaces", silent=True),
    apart("GET", "/api/audit", silent=True),
    apart("GET", "/api/keys", silent=True),
    apart("POST", "/api/keys", json={"label": "mine", "scopes": ["ask"]}, silent=True),
    gone("DELETE", "/api/keys/{key_id}"),
    apart("GET", "/api/spending", params={"by": "session"}, silent=True),
    public("GET", "/api/graph"),
    public("GET", "/metrics"),
    public("GET", "/v1/models"),
    public("GET", "/v1/models/{model}"),
    gone("POST", "/v1/chat/completions", json={"messages": [CHAT], "metadata": {"session_id": "{session_id}"}}),
    apart("POST", "/v1/chat/completions", json={"messages": [CHAT], "citewell": {"page_ids": ["{document_id}"]}}),
]
ASKED_AGAIN = {"input": QUESTION, "previous_response_id": "{response_id}", "citewell": {"min_score": 0}}
REFERENCE = {"type": "item_reference", "id": "{answer_item_id}"}
SENT_BACK = {"role": "assistant", "id": "{answer_item_id}", "content": [{"type": "output_text", "text": "?"}]}
RESPONSES = [
    apart("POST", "/v1/messages", json={"model": "extractive", "max_tokens": 500, "messages": [CHAT]}),
    apart("POST", "/v1/responses", json={"input": QUESTION, "citewell": {"min_score": 0}}),
    apart("POST", "/v1/responses", json={"input": QUESTION, "conversation": SHARED, "citewell": {"min_score": 0}}),
    gone("POST", "/v1/responses", json=ASKED_AGAIN),
    gone("POST", "/v1/responses", json={"input": QUESTION, "conversation": "conv_{session_id}"}),
    gone("POST", "/v1/responses", json={"input": [REFERENCE, CHAT]}),
    apart("POST", "/v1/responses", json={"input": [SENT_BACK, CHAT], "citewell": {"min_score": 0}}),
    gone("GET", "/v1/responses/{response_id}"),
    gone("GET", "/v1/responses/{response_id}", params={"stream": "true"}),
    gone("GET", "/v1/responses/{response_id}/input_items"),
    gone("POST", "/v1/responses/{response_id}/cancel"),
    gone("DELETE", "/v1/responses/{deleted_response_id}"),
]
AI_SDK = [
    apart("POST", "/api/chat", json={"id": SHARED, "messages": [UI_MESSAGE], "min_score": 0}, first=True),
    apart(
        "POST",
        "/api/chat",
        json={
            "id": SHARED,
            "messages": [UI_MESSAGE, UI_ANSWER, UI_MESSAGE],
            "trigger": "regenerate-message",
            "messageId": "{message_id}",
            "min_score": 0,
        },
    ),
    apart("GET", "/api/chat/{shared}", silent=True),
    apart("GET", "/api/chat/{shared}/stream", silent=True),
    apart("DELETE", "/api/chat/{shared}/stream", silent=True),
]
AG_UI = [apart("POST", "/agui", json=AGUI)]
THREAD = "5eed0000-0000-4000-8000-000000000001"  # which two clients could give
GRAPH_RUN = {"input": {"messages": [CHAT]}, "context": {"min_score": 0}, "if_not_exists": "create"}
LANGGRAPH = [
    public("GET", "/langgraph/info"),
    apart("POST", "/langgraph/assistants/search", json={}, silent=True),
    apart("POST", "/langgraph/threads", json={"thread_id": THREAD}, silent=True),
    apart("POST", "/langgraph/threads/{thread}/runs/stream", json=GRAPH_RUN, first=True),
    apart("GET", "/langgraph/threads/{thread}", silent=True),
    apart("GET", "/langgraph/threads/{thread}/state", silent=True),
    apart("POST", "/langgraph/threads/{thread}/history", json={}, silent=True),
    apart("POST", "/langgraph/threads/search", json={}, silent=True),
    gone("GET", "/langgraph/threads/{thread}/runs/{graph_run_id}/stream"),
    gone("POST", "/langgraph/threads/{thread}/runs/{graph_run_id}/cancel"),
]
MCP = [
    tool("search", query=QUESTION, min_score=0),
    tool("search", query=QUESTION, min_score=0, document_ids=["{document_id}"]),
    tool("fetch", id="{document_id}"),
    tool("fetch", id="{document_id}:{segment_index}"),
    tool("read", document_id="{document_id}"),
    tool("read", document_id="{document_id}", offset=0),
    tool("read", segment_id="{document_id}:{segment_index}"),
    tool("ask", question=QUESTION, document_ids=["{document_id}"]),
    tool("ask", question=QUESTION, document_ids=["{document_id}"], session_id="{session_id}"),
    tool("verify", text="The zebra is called Zoe.", document_ids=["{document_id}"]),
    message("resources/list"),
    message("resources/read", uri="citewell://documents/{document_id}"),
    message("resources/read", uri="citewell://documents/{document_id}/parts/1"),
    message("resources/read", uri="citewell://documents/{document_id}/segments/{segment_index}"),
]
LOGIN = [
    public("GET", "/api/login"),
    apart("GET", "/api/me", silent=True),
]
OPEN = [public("GET", path) for path in ("/healthz", "/readyz", "/", "/embed.js", "/page/{version}/{page_file}")]
ATTEMPTS = [
    *NATIVE,
    *DOCUMENTS,
    *JOBS,
    *SOURCES,
    *DOCMOST,
    *DOCS_CHATBOT,
    *CONVERSATION,
    *ID_CITATIONS,
    *SELF_RAG,
    *OPENAI,
    *RESPONSES,
    *AI_SDK,
    *AG_UI,
    *LANGGRAPH,
    *MCP,
    *LOGIN,
    *OPEN,
]
# In test_workspaces.py: it makes what has no owner yet. In test_studies.py: it takes two documents.
TRIED_APART = {("POST", "/api/workspaces"), ("POST", "/api/comparisons")}
NAMES = sorted(set(re.findall(r"\{(\w+)\}", " ".join(f"{each.path} {each.sent}" for each in ATTEMPTS))))
