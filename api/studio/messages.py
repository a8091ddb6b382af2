"""The conversation as LangGraph's chat clients know it: a question among messages, and an answer as a message."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from api.dialects.annotated_text import SourceAddresses
from api.dialects.chat_request import MARKS, ChatMessage, parse_question, recent_turns, without_marks
from api.dialects.langgraph.thread_messages import OURS, short_sources, with_ours, written
from graph.errors import InvalidRequest
from graph.evidence import Message
from graph.rows import Turn
from graph.state import State
from nodes.decide_retrieval import finished_turns

RUN_PREFIX = "lc_run--"  # of the ids that LangChain gives to messages of a chat model, before the id of its run
NO_QUESTION = "messages: end them with a human message that has text, or give a `question`."


@dataclass(frozen=True, slots=True)
class Asked:
    """The question of a run: its message, those that it replaces, and the turns before it.

    ``history`` is None where the thread's own memory holds these turns already.
    """

    question: str
    message: AnyMessage
    replaced: Sequence[AnyMessage]
    history: list[Turn] | None


def read_question(state: State) -> Asked:
    """Find what a run is asked: a human message without an answer, or else the field ``question``.

    A message that was edited in its place is asked again; what followed it is replaced. The field counts unless a human
    message comes last. Raises InvalidRequest where nothing is asked, or where the text is too long or has control
    characters.
    """
    messages = state.messages
    at = _place_of_question(messages)
    said_last = text_of(messages[-1]) if messages and isinstance(messages[-1], HumanMessage) else ""
    if state.question.strip() and not said_last.strip():
        text, at = parse_question(state.question, "question"), None
    elif at is not None and text_of(messages[at]).strip():
        text = parse_question(text_of(messages[at]), "messages")
    else:
        raise InvalidRequest(NO_QUESTION)
    before, after = (messages, []) if at is None else (messages[:at], messages[at + 1 :])
    asked = HumanMessage(content=text, id=str(uuid4())) if at is None else messages[at]
    never_written = [each for each in before if ours_of(each) is not None and not each.content]
    return Asked(text, asked, [*never_written, *after], _history(state, text, before, is_edited=bool(after)))


def _place_of_question(messages: Sequence[AnyMessage]) -> int | None:
    """Return the place of the first message that was edited after its answer, or of a last one without answer."""
    place = None
    for at, message in enumerate(messages):
        if isinstance(message, HumanMessage):
            place = at
        elif isinstance(message, AIMessage) and place is not None:
            ours = ours_of(message)
            if ours is not None and ours.get("question") != text_of(messages[place]):
                return place
            if ours is None or ours.get("outcome"):
                place = None
    return place


def _history(state: State, question: str, before: Sequence[AnyMessage], *, is_edited: bool) -> list[Turn] | None:
    if state.history is not None:
        return state.history
    known = [turn["question"] for turn in finished_turns(state)]
    told = [ChatMessage("user" if isinstance(each, HumanMessage) else "assistant", text_of(each)) for each in before
            if isinstance(each, HumanMessage | AIMessage)]  # fmt: skip
    turns = recent_turns([*(without_marks(each, MARKS) for each in told), ChatMessage("user", question)])
    asked = [turn["question"] for turn in turns]
    if is_edited or (asked and asked != known[-len(asked) :]):
        return list(turns)
    return None


def text_of(message: AnyMessage) -> str:
    """Return the text of a message, whose content is a string or a list of blocks."""
    if isinstance(message.content, str):
        return message.content.replace("\r\n", "\n")
    blocks = (block if isinstance(block, str) else block.get("text", "") for block in message.content)
    return "\n".join(block for block in blocks if isinstance(block, str) and block).replace("\r\n", "\n")


def new_answer(question: str) -> AIMessage:
    """Return the message of an answer that is yet to be written, under the id that it keeps."""
    return AIMessage(content="", id=f"{RUN_PREFIX}{uuid4()}", additional_kwargs=with_ours({"question": question}))


def answer_of(state: State) -> AIMessage:
    """Return the message of the run's answer; a new one where an edit has removed it."""
    last = state.messages[-1] if state.messages else None
    return last if isinstance(last, AIMessage) and ours_of(last) is not None else new_answer(state.asked)


def ours_of(message: AnyMessage) -> Mapping[str, Any] | None:
    """Return what an answer of ours has beside its text, None for another message."""
    metadata = message.additional_kwargs.get("metadata")
    return metadata.get(OURS) if isinstance(message, AIMessage) and isinstance(metadata, Mapping) else None


def run_id_of(message: AIMessage) -> UUID | None:
    """Return the id of the run of a chat model that a message is told to come from."""
    try:
        return UUID((message.id or "").removeprefix(RUN_PREFIX))
    except ValueError:
        return None


def answer_message(answer: AIMessage, message: Message, state: State) -> AIMessage:
    """Return the message of an answer as it stands: one block of text with its citations, and what they rest on.

    ``outcome`` and ``stop_reason`` are there once the run has ended.
    """
    told: dict[str, Any] = {
        "question": state.asked,
        "citations": message["citations"],
        "sources": short_sources(message),
    }
    if state.outcome:
        told |= {"outcome": state.outcome, "stop_reason": state.stop_reason}
    if state.assessment is not None:
        told["assessment"] = state.assessment
    content: Any = written(message, SourceAddresses("")) or ""
    return AIMessage(content=content, id=answer.id, additional_kwargs=with_ours(told))
