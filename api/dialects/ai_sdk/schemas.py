"""Requests of the AI SDK's chat, and the message parts of its replies."""

import mimetypes
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, Field

from answers.citations import landing_url
from answers.library_listing import FROM_CATALOGUE
from answers.marks import marked_citations
from api.dialects.chat_request import (
    MARKS,
    ChatMessage,
    Role,
    parse_question,
    recent_turns,
    text_of_parts,
    without_marks,
)
from api.dialects.citation_marks import (
    PlacedClaim,
    bracket,
    claim_record,
    joined_claims,
    marked_text,
    placed_claims,
)
from api.dialects.section_buffer import final_sections
from api.fields import ChatOptions, Name
from graph.errors import InvalidRequest
from graph.evidence import Message, Source
from graph.rows import Turn
from tools.sessions.session_store import StoredMessage

MOST_MESSAGES = 10_000
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}
ClientFeature = Literal["text-citations", "reset-step"]


class UIMessage(BaseModel):
    """A message as the client stores it. Only text parts are read; the text of answers is already stored here.

    AI SDK 4 and messages for models have ``content`` instead of parts: a string, or a list of parts.
    """

    id: Annotated[str, Field(max_length=200)] = ""
    role: str
    parts: list[dict[str, Any]] = []
    content: Any = None

    @property
    def text(self) -> str:
        """The message's text parts, on separate lines; else its ``content``."""
        return text_of_parts(self.parts) or text_of_parts(self.content)


class UIChatRequest(ChatOptions):
    """A chat's next question, which is its last message; the session has those before it."""

    id: Name | None = Field(
        default=None,
        description="The chat's id, chosen by the client: the external id of a session. Without one, its history is "
        "in the messages, and it can't be joined, stopped or read again.",
    )
    messages: list[UIMessage] = Field(default=[], max_length=MOST_MESSAGES)
    message: UIMessage | None = Field(default=None, description="The last message, instead of `messages`.")
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: Annotated[str | None, Field(max_length=200)] = Field(
        default=None, alias="messageId", description="The answer to regenerate, or the question that was edited."
    )
    run_id: str | None = Field(default=None, alias="runId", description="Of a run of AG-UI, whose clients send it.")
    accepts: Annotated[list[ClientFeature], Field(max_length=10)] = Field(
        default=[], description="Features that the client understands and some releases do not."
    )

    @property
    def sent_messages(self) -> list[UIMessage]:
        """The messages that the client sent, with the question at the end."""
        return [self.message] if self.message is not None else self.messages

    def history(self) -> tuple[Turn, ...]:
        """Return the last exchanges before the question, without this dialect's marks in the answers."""
        told = [ChatMessage(_ROLES.get(each.role, "system"), each.text) for each in self.sent_messages]
        return recent_turns([without_marks(each, MARKS) for each in told])

    def question(self) -> str:
        """Return the text of the last message.

        Raises InvalidRequest if it is not a question of the user.
        """
        if not self.sent_messages:
            raise InvalidRequest("messages: send the chat's messages, or the last one as message.")
        last = self.sent_messages[-1]
        name = "message" if self.message is not None else f"messages.{len(self.messages) - 1}"
        if last.role != "user":
            raise InvalidRequest(f"{name}: the last message must be the user's.")
        if not last.text.strip():
            raise InvalidRequest(
                f"{name}: it has no text; files and images are not read.",
                suggestion="Send the question in parts: [{type: 'text', text: '...'}], or in content, as in AI SDK 4.",
            )
        return parse_question(last.text, f"{name}.{'parts' if last.parts else 'content'}")


NAMESPACE = "citewell"
_TYPES = mimetypes.MimeTypes()  # not the global table, which depends on the machine's /etc


def source_id(index: int) -> str:
    """Return the id of a source in the message: the mark ``[n]`` in the text refers to source ``c{n}``."""
    return f"c{index}"


def source_part(source: Source) -> dict[str, Any]:
    """Return a ``source-url`` part, or a ``source-document`` part for a source without a URL."""
    own = {"sourceId": source_id(source["index"]), **_name(source)}
    return {"type": f"source-{_kind(source)}", **own, "providerMetadata": {NAMESPACE: dict(source)}}


def _kind(source: Source) -> str:
    return "url" if source["url"] else "document"


def _name(source: Source) -> dict[str, Any]:
    if source["url"]:
        return {"url": source["url"], "title": source["title"]}
    media_type, _ = _TYPES.guess_type(source["title"])
    document = {"mediaType": media_type or "text/plain", "title": source["title"]}
    return document | ({"filename": source["slug"]} if source["slug"] else {})


def citation_records(placed: Iterable[PlacedClaim]) -> list[dict[str, Any]]:
    """Return each citation with its source's id and the span of its claims in the text (UTF-16)."""
    return [
        {
            "source_id": source_id(citation["source_index"]),
            "start_index": each.start,
            "end_index": each.end,
            **citation,
        }
        for each in joined_claims(placed)
        for citation in marked_citations(each.claim)
    ]


def text_citations(placed: Iterable[PlacedClaim], sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return citations in the format of ``text-end``, which only the newest releases accept."""
    by_index = {source["index"]: source for source in sources}
    return [
        {
            "source": _whole_source(by_index[citation["source_index"]], citation.get("anchor", "")),
            "startIndex": each.start,
            "endIndex": each.end,
            "citedText": citation["quote"],
        }
        for each in joined_claims(placed)
        for citation in marked_citations(each.claim)
        if citation["source_index"] in by_index
    ]


def _whole_source(source: Source, anchor: str) -> dict[str, Any]:
    place = Source(**{**source, "url": landing_url(source["url"], anchor)}) if source["url"] else source
    return {"type": "source", "sourceType": _kind(source), "id": source_id(source["index"]), **_name(place)}


def proof(message: Message, placed: Sequence[PlacedClaim]) -> dict[str, Any]:
    """Return the data of ``data-citations``: the citations of marks, claims with verdicts, and what else is known."""
    return {
        "citations": citation_records(placed),
        "claims": list(map(claim_record, placed)),
        "disagreements": message.get("disagreements", []),
        "nearest": message.get("nearest", []),
    }


def ui_messages(stored: Iterable[StoredMessage]) -> list[dict[str, Any]]:
    """Convert messages to ``UIMessage``s; an answer has the parts that its stream left in it, except thoughts."""
    return [
        _answer(message)
        if message.role == "assistant"
        else {"id": message.message_id, "role": "user", "parts": [{"type": "text", "text": message.content}]}
        for message in stored
    ]


def _answer(stored: StoredMessage) -> dict[str, Any]:
    message = cast(Message, stored.body)
    placed = list(placed_claims(final_sections(message), bracket))
    cited = {citation["source_index"] for each in placed for citation in marked_citations(each.claim)}
    listed = stored.stop_reason == FROM_CATALOGUE
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
            *(source_part(source) for source in message["sources"] if listed or source["index"] in cited),
            *([text] if text["text"] else []),
            {"type": "data-citations", "id": "citations", "data": proof(message, placed)},
        ],
    }


class ChatHistory(BaseModel):
    """A chat's history, for a page that is opened again."""

    id: str
    title: str
    messages: list[dict[str, Any]] = Field(description="`UIMessage`s in chronological order.")
    next_cursor: str | None = Field(description="Send it as `cursor` for earlier messages; null at the beginning.")
