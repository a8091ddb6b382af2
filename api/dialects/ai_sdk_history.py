"""A session's messages as the AI SDK keeps them: what a page that is opened again starts its chat with."""

from collections.abc import Iterable
from typing import Any, cast

from api.dialects.ai_sdk_parts import NAMESPACE, citation_records, proof, source_part
from api.dialects.holding import told_of
from api.dialects.markers import bracket, marked_text
from api.dialects.placing import placed_claims
from graph.evidence import Message
from tools.sessions import StoredMessage


def ui_messages(stored: Iterable[StoredMessage]) -> list[dict[str, Any]]:
    """Lay messages out as ``UIMessage``s, an answer with the parts that its stream left in it but for its thoughts."""
    return [_answer(message) if message.role == "assistant" else _question(message) for message in stored]


def _question(stored: StoredMessage) -> dict[str, Any]:
    return {"id": stored.message_id, "role": "user", "parts": [{"type": "text", "text": stored.content}]}


def _answer(stored: StoredMessage) -> dict[str, Any]:
    message = cast(Message, stored.body)
    placed = list(placed_claims(told_of(message), bracket))
    cited = {citation["source_index"] for each in placed for citation in each.claim["citations"]}
    text: dict[str, Any] = {"type": "text", "text": marked_text(message, bracket), "state": "done"}
    if citations := citation_records(placed):
        text["providerMetadata"] = {NAMESPACE: {"citations": citations}}
    return {
        "id": stored.message_id,
        "role": "assistant",
        "metadata": {
            "run_id": stored.run_id,
            "outcome": stored.outcome,
            "stop_reason": stored.stop_reason,
            "assessment": message.get("assessment"),
            "family": message.get("family"),
        },
        "parts": [
            {"type": "step-start"},
            *(source_part(source) for source in message["sources"] if source["index"] in cited),
            *([text] if text["text"] else []),
            {"type": "data-citations", "id": "citations", "data": proof(message, placed)},
        ],
    }
