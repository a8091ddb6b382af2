"""A conversation as LangChain's messages, with citations in their standard form, and as the states of a thread."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from api.dialects.annotated_text import AnnotatedText, Annotation, Cited, SourceAddresses, by_index, is_http
from api.dialects.citation_marks import bracket
from api.dialects.section_buffer import final_sections
from graph.events import timestamp
from graph.evidence import Message
from tools.sessions.history import History

OURS = "citewell"  # what an answer has beside its text, and a citation beside LangChain's fields
GRAPH = "citewell"
_EXTRAS = (
    *("source_index", "segment_id", "start", "end", "highlight", "heading_path", "verdict"),
    *("date", "dated_by", "copies"),
)
_SOURCE_FIELDS = ("index", "segment_id", "document_id", "title", "heading", "kind", "url", "page_idx", "score")

Json = dict[str, Any]


class ChatText(AnnotatedText):
    """Text whose marks are links where the source has an http address, with LangChain's citations."""

    def __init__(self, addresses: SourceAddresses) -> None:
        super().__init__(addresses, by_index, links=True, annotate=citation)

    def _mark(self, number: int) -> str:
        return super()._mark(number) if is_http(self._linked[number]) else bracket(number)


def citation(cited: Cited) -> Json:
    """Return a citation in LangChain's standard form; offsets count code points of the text, end exclusive.

    ``extras`` have its place in the source and the verdict.
    """
    made = {
        "type": "citation",
        "title": cited.title,
        "start_index": cited.start,
        "end_index": cited.end,
        "cited_text": cited.citation["quote"],
        "extras": {OURS: {name: value for name, value in cited.citation.items() if name in _EXTRAS}},
    }
    return {**made, "url": cited.url} if is_http(cited.url) else made


def block(text: str, annotations: Sequence[Annotation]) -> Json:
    """Return a block of text in LangChain's standard form, as it is also put together from a stream."""
    return {"type": "text", "text": text, "index": 0, "annotations": list(annotations)}


def written(message: Message, addresses: SourceAddresses) -> list[Json]:
    """Return the content of an answer as it stands: one block, none where it has no text."""
    addresses.learn(message.get("nearest") or message["sources"])
    text = ChatText(addresses)
    said = "".join(piece for section in final_sections(message) for piece in text.write(section))
    return [block(said, text.annotations)] if said else []


def with_ours(ours: Mapping[str, Any]) -> Json:
    """Return the additional_kwargs of an answer; assistant-ui shows what is under ``metadata``."""
    return {"metadata": {OURS: ours}}


def short_sources(message: Message) -> list[Json]:
    """Return the sources of an answer, or what came nearest, by the fields that tell them apart."""
    sources = message.get("nearest") or message["sources"]
    return [{name: source.get(name) for name in _SOURCE_FIELDS} for source in sources]


def human(message_id: str, text: str) -> Json:
    """Return a question as a message."""
    return {"type": "human", "id": message_id, "content": text, "additional_kwargs": {}, "response_metadata": {}}


def answer(message_id: str, message: Message, outcome: str | None, addresses: SourceAddresses) -> Json:
    """Return a finished answer as a message of a model."""
    told = {"outcome": outcome, "assessment": message.get("assessment"), "sources": short_sources(message)}
    content = {"content": written(message, addresses), "additional_kwargs": with_ours(told)}
    return {"type": "ai", "id": message_id, **content, "response_metadata": {}, "tool_calls": []}


def thread_states(thread_id: str, history: History, addresses: SourceAddresses) -> list[Json]:
    """Return the states of a thread, oldest first: one before its first message, and one after each.

    A checkpoint has the id of its state's last message, so that a client branches off by that.
    """
    messages: list[Json] = []
    made_at, place, before = history.session.created_at, thread_id, None
    states: list[Json] = []
    for stored in [None, *history.messages]:
        if stored is not None:
            made_at, place = stored.created_at, stored.message_id
            said = cast(Message, stored.body)
            is_question = stored.role == "user"
            of_run = addresses.of_another_run()
            messages.append(
                human(place, stored.content) if is_question else answer(place, said, stored.outcome, of_run)
            )
        checkpoint = {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": place}
        about = {"created_at": timestamp(made_at), "metadata": {"graph_id": GRAPH}}
        nothing: Json = {"next": [], "tasks": [], "interrupts": []}
        values = {"messages": list(messages)}
        states.append({"values": values, "checkpoint": checkpoint, "parent_checkpoint": before, **about, **nothing})
        before = checkpoint
    return states
