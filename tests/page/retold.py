"""Sessions that are told as a test says: their streams may break anywhere, say things twice, be of other times."""

import asyncio
import copy
import json
import re
from asyncio import StreamWriter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.page.relay import Relay, reply, stream, told

NOW = "2026-11-22T12:00:00.000Z"
GOLDEN = Path(__file__).parents[1] / "wire" / "golden"
Event = dict[str, Any]
NOTHING: dict[str, Any] = {
    "outcome": None, "stop_reason": None, "family": None, "sections": [], "citations": [], "sources": [],
    "nearest": [], "claims": [], "assessment": None, "disagreements": [], "spent": {},
}  # fmt: skip


def uuid(number: int) -> str:
    return str(UUID(int=number + (4 << 76) + (8 << 60)))


def golden(name: str) -> list[Event]:
    """Read the events of a recorded stream."""
    lines = (GOLDEN / f"native_{name}.sse").read_text().replace('"seq":SEQ', '"seq":0').splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


@dataclass(slots=True)
class Retold:
    """A numbered session with one run: ``bytes_at_once`` and ``pause`` say how it is told, ``cuts`` where it breaks."""

    number: int
    events: list[Event]
    cuts: list[int] = field(default_factory=list)  # bytes of one connection after which it is broken off
    bytes_at_once: int = 1 << 20
    pause: float = 0
    hold: asyncio.Event | None = None  # nothing but the first half is told before
    earlier: list[Event] = field(default_factory=list)  # messages
    frame: Callable[[Event], str] = lambda event: f"data: {json.dumps(event)}\n\n"
    ended: bool = False
    kept: bool = True  # whether the session can be read once the run has ended

    def __post_init__(self) -> None:
        ids = {"schema": 1, "run_id": self.run, "session_id": self.id, "at": NOW}
        self.events = [{**copy.deepcopy(event), **ids, "seq": at} for at, event in enumerate(self.events, 1)]

    @property
    def id(self) -> str:
        return uuid(1000 + self.number)

    @property
    def run(self) -> str:
        return uuid(2000 + self.number)

    @property
    def question(self) -> str:
        return f"The question of session {self.number}?"

    def session(self) -> Event:
        return {
            "session_id": self.id,
            "title": f"Session {self.number}",
            "page_ids": [],
            "created_at": NOW,
            "updated_at": NOW,
        }

    def status(self) -> Event:
        status = "finished" if self.ended else "running"
        run = {"run_id": self.run, "session_id": self.id, "question": self.question, "created_at": NOW}
        return {**run, "status": status, "outcome": "answered" if self.ended else None, "stop_reason": None}

    def messages(self) -> list[Event]:
        if not self.ended:
            return self.earlier
        question = self.message(1, role="user", content=self.question)
        last = self.events[-1]
        if last["type"] == "run_failed":
            return [*self.earlier, question]
        how = {key: last.get(key) for key in ("outcome", "stop_reason", "spent")}
        answer = self.message(2, role="assistant", content="", parent_message_id=uuid(1), **last["message"], **how)
        return [*self.earlier, question, answer]

    def message(self, number: int, **more: Any) -> Event:
        ids = {"message_id": uuid(number), "run_id": self.run, "parent_message_id": None, "created_at": NOW}
        return {**ids, **NOTHING, "versions": [], "page_ids": [], "selected_text": None, **more}

    def detail(self) -> Event:
        return {"session": self.session(), "messages": self.messages(), "next_cursor": None}

    async def tell(self, writer: StreamWriter, after: str) -> None:
        had = int(after.rpartition(":")[2] or 0)
        rest = [event for event in self.events if event["seq"] > had]
        data = "".join(f"id: {self.run}:{event['seq']}\n{self.frame(event)}" for event in rest).encode()
        cut = self.cuts.pop(0) if self.cuts else None
        half = data.index(b"\n\n", len(data) // 2) + 2 if self.hold else None
        for at in range(0, len(data), self.bytes_at_once):
            until = min(at + self.bytes_at_once, len(data) if cut is None else cut)
            if self.hold and half is not None and at <= half < until:
                writer.write(data[at:half])
                await writer.drain()
                await self.hold.wait()
                at = half
            writer.write(data[at:until])
            await writer.drain()
            if cut is not None and until >= cut:
                raise ConnectionResetError
            await asyncio.sleep(self.pause)
        self.ended = True


def tell_all(relay: Relay, sessions: Iterable[Retold]) -> None:
    """Answer the page's requests for these sessions, and nothing of others."""
    known = list(sessions)
    relay.answer(
        "GET /api/sessions", told(lambda: {"sessions": [each.session() for each in known], "next_cursor": None})
    )
    relay.answer(
        "GET /api/runs",
        told(lambda: {"runs": [each.status() for each in known if not each.ended], "next_cursor": None}),
    )
    for each in known:
        relay.answer(f"GET /api/sessions/{each.id}", _detail(each))
        relay.answer(f"GET /api/sessions/{each.id}/runs", told(_runs(each)))
        onward = {"status": "ready", "message_id": None, "questions": []}
        relay.answer(f"GET /api/sessions/{each.id}/follow-ups", told(lambda onward=onward: onward))
        relay.answer(f"GET /api/runs/{each.run}/stream", stream(each.tell))


def _detail(session: Retold) -> Any:
    async def answer(writer: StreamWriter, after: str) -> None:
        if session.ended and not session.kept:
            return await reply(503, "text/html", "<h1>later</h1>")(writer, after)
        await told(session.detail)(writer, after)

    return answer


def _runs(session: Retold) -> Callable[[], Event]:
    return lambda: {"runs": [session.status()], "next_cursor": None}


# An answer of many sections, one event after the other.


def written(
    texts: list[str], *, sources: int = 1, claims: Callable[[str, int], list[Event]] | None = None, delta: int = 40
) -> list[Event]:
    """Make the run of an answer with these sections, each a claim of all its sources if nothing else is said."""
    found = [source(index) for index in range(1, sources + 1)]
    claims = claims or (lambda text, index: [claim(0, len(text), text, range(1, sources + 1))])
    events: list[Event] = [
        {
            "type": "run_started",
            "question": "?",
            "message_id": uuid(1),
            "family": "model",
            "model": "m",
            "budget": {"model_calls": 8, "tokens": None},
        },
        {"type": "step_started", "step": "grade_segments"},
        {"type": "sources_graded", "sources": found, "dropped": [], "fallback": None},
        {"type": "step_finished", "step": "grade_segments", "ms": 1},
        {"type": "step_started", "step": "generate_answer"},
    ]
    for index, text in enumerate(texts):
        events.append({"type": "section_started", "section_index": index, "fallback": None, "grounded": True})
        deltas = re.findall(rf"(?s).{{1,{delta}}}", text)
        events += [{"type": "text_delta", "section_index": index, "delta": each} for each in deltas]
        events.append(
            {
                "type": "section_finished",
                "section_index": index,
                "text": text,
                "source_ids": [each["segment_id"] for each in found],
                "unknown_ids": 0,
            }
        )
    events += [
        {"type": "step_finished", "step": "generate_answer", "ms": 1},
        {"type": "step_started", "step": "check_claims"},
    ]
    checked = [claims(text, index) for index, text in enumerate(texts)]
    events += [
        {"type": "section_checked", "section_index": index, "claims": each, "fallback": None}
        for index, each in enumerate(checked)
    ]
    events.append({"type": "step_finished", "step": "check_claims", "ms": 1})
    all_claims = [{**one, "section_index": index} for index, each in enumerate(checked) for one in each]
    events.append(
        {
            "type": "run_finished",
            "outcome": "answered",
            "stop_reason": "answer_complete",
            "spent": {},
            "message": {
                "answer": "\n\n".join(texts),
                "sections": [{"text": text, "source_ids": []} for text in texts],
                "citations": [],
                "sources": found,
                "nearest": [],
                "family": "model",
                "claims": all_claims,
                "assessment": None,
                "disagreements": [],
            },
        }
    )
    return events


def source(index: int) -> Event:
    place = {
        "segment_id": f"{uuid(index)}:{index}",
        "document_id": uuid(index),
        "segment_index": index,
        "page_idx": None,
        "start": 0,
        "end": 50,
    }
    named = {"title": f"Source {index}", "heading": "Leave > Days", "kind": "search", "source_type": "document"}
    return {
        "index": index,
        **place,
        **named,
        "slug": None,
        "space": None,
        "url": None,
        "score": 0.5,
        "excerpt": "Words.",
        "metadata": {},
    }


def claim(start: int, end: int, text: str, indexes: Iterable[int], verdict: str = "supported") -> Event:
    citations = []
    for index in indexes:
        place = {key: source(index)[key] for key in ("segment_id", "document_id", "segment_index", "page_idx")}
        citations.append(
            {
                **place,
                "start": 0,
                "end": 10,
                "quote": f"Quote {index}",
                "origin": "cited",
                "verdict": verdict,
                "source_index": index,
                "section_index": 0,
            }
        )
    return {
        "start": start,
        "end": end,
        "text": text[start:end],
        "verdict": verdict,
        "reasons": [],
        "citations": citations,
    }
