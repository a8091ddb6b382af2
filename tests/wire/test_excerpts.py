"""What a reader sees of a source that is cited: its excerpt holds the quote, while the answer comes and ever after."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from api.dialects.ai_sdk.schemas import ui_messages
from api.dialects.docmost.schemas import AiMessage
from api.dialects.docs_chatbot.schemas import DocsMessage
from api.dialects.openai.encoder import OpenAIEncoder
from api.dialects.openai.schemas import CompletionForm
from api.dialects.registry import DIALECTS
from api.event_frames import Encoder
from graph.events import AnyEvent, Envelope, RunFinished, RunStarted
from graph.evidence import Message
from graph.state import State
from tests.fakes import MemoryLibrary, ScriptedFamily, quote, segment
from tests.graph.asking import Asked
from tools.sessions.history import StoredMessage

BEFORE = "Nothing that anybody asks about is said in this part of the page, however long it goes on. " * 7
COUNT = 40
EXCERPTS = ("excerpt", "content", "snippet_preview", "document")
WITHOUT = {"openai", "responses", "messages", "langgraph"}  # their annotations have no excerpt


@dataclass
class Answered:
    """An answer that cites each of many documents once, far behind its beginning."""

    events: list[AnyEvent]
    message: Message
    quotes: dict[str, str]  # by document


async def answered() -> Answered:
    quotes = {str(uuid.UUID(int=at)): f"Locker number {at} is opened by its own key." for at in range(100, 100 + COUNT)}
    library = MemoryLibrary([segment(each, 0, f"{BEFORE}{said} {BEFORE}") for each, said in quotes.items()])
    drafts = [draft for each, said in quotes.items() for draft in quote(said, f"{each}:0")]
    session = Asked(library=library, family=ScriptedFamily(drafts=[drafts]))
    state: State = await session.ask("Which key opens a locker?", pages=list(quotes), page_tokens=100_000)
    message = await session.message(state)
    started = RunStarted(
        question="Which key opens a locker?",
        message_id=str(uuid.UUID(int=1000)),
        family="llm",
        model="scripted",
        budget={"model_calls": 8, "tokens": None, "seconds": 120.0},
    )
    finished = RunFinished(outcome="answered", stop_reason="answer_complete", message=message, spent={})
    return Answered([started, *session.events, finished], message, quotes)


def told(encoder: Encoder, events: list[AnyEvent]) -> list[Any]:
    """Give what the frames of a run hold."""
    at = "2026-11-21T12:00:00.000Z"
    ids = str(uuid.UUID(int=1001)), str(uuid.UUID(int=1002))
    frames = b"".join(encoder.encode(Envelope(*ids, seq, at, each)) for seq, each in enumerate(events, start=1))
    lines = (line[6:] for line in frames.decode().splitlines() if line.startswith("data: {"))
    return [json.loads(line) for line in lines]


def excerpts(value: Any, within: str = "") -> Iterator[tuple[str, str]]:
    """Yield each excerpt that is shown, in order, with what tells of which document it is."""
    if isinstance(value, list):
        for each in value:
            yield from excerpts(each, within)
    elif isinstance(value, dict):
        named = " ".join(str(each) for each in value.values() if not isinstance(each, dict | list)) + within
        for name, each in value.items():
            texts = each if isinstance(each, list) else [each]
            if name in EXCERPTS and all(isinstance(text, str) for text in texts):
                yield from ((named + json.dumps(value), text) for text in texts)
            yield from excerpts(each, named)


def assert_shown(shown: Any, quotes: dict[str, str], name: str) -> None:
    """Check that what is shown last of each document holds its quote, in the middle where it is cut."""
    last: dict[str, str] = {}
    for about, text in excerpts(shown):
        of = [document for document in quotes if document in about]
        last |= {of[0]: text} if len(of) == 1 else {}
    assert set(last) == set(quotes), name
    for document, text in last.items():
        assert quotes[document] in text, name
        assert len(text) <= 500


@pytest.mark.parametrize("name", sorted(set(DIALECTS) - WITHOUT))
async def test_the_excerpt_of_what_is_cited_holds_the_quote_in_the_stream_of_every_dialect(name: str) -> None:
    run = await answered()
    assert_shown(told(DIALECTS[name].encoder(), run.events), run.quotes, name)


async def test_open_webui_is_shown_it_too() -> None:
    run = await answered()
    assert_shown(told(OpenAIEncoder(CompletionForm(events=True)), run.events), run.quotes, "openai")


async def test_the_excerpt_of_what_is_cited_holds_the_quote_when_a_session_is_opened_again() -> None:
    run = await answered()
    stored = StoredMessage(
        message_id=str(uuid.UUID(int=1)),
        run_id=None,
        parent_message_id=None,
        role="assistant",
        content=run.message["answer"],
        body=dict(run.message),
        outcome="answered",
        stop_reason="answer_complete",
        created_at=datetime.now(UTC),
    )
    assert_shown(AiMessage.of(stored).model_dump(mode="json"), run.quotes, "docmost")
    assert_shown(DocsMessage.of(stored, "s").model_dump(mode="json"), run.quotes, "docs_chatbot")
    assert_shown(ui_messages([stored]), run.quotes, "ai_sdk")
    assert_shown(run.message, run.quotes, "native")
