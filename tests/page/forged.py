"""A server of lies: every reply is well-formed, every text in it is an attack, and every name an unknown one."""

import json
from collections.abc import Iterator
from itertools import cycle
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from playwright.async_api import Page, Route

from tests.page.attacks import BROKEN, EVERY, KEYS, MARKUP, marked

NOW = "2026-11-22T12:00:00.000Z"
SECTIONS = 40
SOURCES = 20


def uuid(number: int) -> str:
    return str(UUID(int=number + (4 << 76) + (8 << 60)))


RUN, SESSION = uuid(1), uuid(2)
VERDICTS = ("supported", "contradicted", "unsupported", "unverified")


class Forgery:
    """Replies in the place of the API's; the run ends in a failure where ``fails`` is set."""

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails
        self.ended = False
        self._texts: Iterator[str] = cycle([*marked(), *BROKEN.values()])
        self._keys: Iterator[str] = cycle(KEYS)
        self._seq = 0
        self.sources = [self.source(index) for index in range(1, SOURCES + 1)]
        self.sections = [{"text": text, "source_ids": [self._segment(1)]} for text, _ in self._drafts()]

    async def answer(self, page: Page) -> None:
        """Reply to whatever the page asks of the API."""
        await page.route(lambda url: urlsplit(url).path.startswith(("/api/", "/v1/")), self._reply)

    async def _reply(self, route: Route) -> None:
        path = urlsplit(route.request.url).path
        match path.strip("/").split("/"):
            case ["api", "runs", _, "stream"]:
                frames = [f"id: {RUN}:{event['seq']}\ndata: {json.dumps(event)}\n\n" for event in self.run()]
                self.ended = True
                return await route.fulfill(body="".join(frames), content_type="text/event-stream")
            case ["api", "sessions"]:
                sessions = [self.session(number) for number in range(2, 60)]
                reply: Any = {"sessions": sessions, "next_cursor": None, "hits": []}
            case ["api", "sessions", _]:
                messages = self.messages() if self.ended else []
                reply = {"session": self.session(2), "messages": messages, "next_cursor": None}
            case ["api", "runs"] | ["api", "sessions", _, "runs"]:
                run = {"run_id": RUN, "session_id": SESSION, "question": self.text(), "created_at": NOW}
                running = {**run, "status": "running", "outcome": None, "stop_reason": None}
                reply = {"runs": [] if self.ended else [running], "next_cursor": None}
            case ["api", "documents"]:
                documents = [self.document(number) for number in range(3, 60)]
                reply = {"documents": documents, "next_cursor": None, "total": len(documents)}
            case ["api", "documents", document_id]:
                reply = {**self.document(3), "document_id": document_id}
            case ["api", "documents", document_id, "raw-text"]:
                reply = {"document_id": document_id, "title": self.text(), "segments": self._segments()}
            case ["v1", "models"]:
                names = [{"id": text, "name": text} for text in MARKUP.values()]
                reply = {"object": "list", "data": names}
            case _:
                reply = {"results": self.sources, "query": self.text(), "degraded": self.text()}
        await route.fulfill(body=json.dumps(reply), content_type="application/json")

    def text(self) -> str:
        return next(self._texts)

    def key(self) -> str:
        return next(self._keys)

    def _segment(self, index: int) -> str:
        return f"{uuid(100 + index)}:{index}"

    def source(self, index: int) -> dict[str, Any]:
        metadata = {"__proto__": {"polluted": True}, "constructor": {"prototype": {"polluted": True}}, self.text(): 1}
        return {
            "index": index,
            "segment_id": self._segment(index),
            "document_id": uuid(100 + index),
            "segment_index": index,
            "page_idx": index,
            "title": self.text(),
            "heading": self.text(),
            "kind": ("page", "search", "web")[index % 3],
            "source_type": self.text(),
            "slug": self.text(),
            "space": {"id": self.text(), "slug": self.text()},
            "url": self.text() if index % 2 else "javascript:pwned()",
            "score": 0.5,
            "excerpt": self.text(),
            "start": 0,
            "end": 10,
            "metadata": metadata,
        }

    def document(self, number: int) -> dict[str, Any]:
        more = {
            "segments": 3,
            "page_count": 3,
            "updated_at": NOW,
            "expires_at": None,
            "media_type": self.text(),
            "left_out": [self.text()],
            "file_name": self.text(),
            "folder": self.text(),
            "tokens": 3,
            "places": [],
            "created_at": NOW,
            "original": None,
            "readers": None,
        }
        return {**self.source(number), "document_id": uuid(number), "owner": self.text(), **more}

    def session(self, number: int) -> dict[str, Any]:
        named = {"session_id": uuid(number), "title": self.text(), "page_ids": [uuid(3), uuid(4)]}
        return {**named, "created_at": NOW, "updated_at": NOW, "dialect": "native", "external_id": self.text()}

    def claims(self, text: str, verdict: str) -> list[dict[str, Any]]:
        quote = self.text()
        citation = {
            "segment_id": self._segment(1),
            "document_id": uuid(101),
            "segment_index": 1,
            "page_idx": 0,
            "start": 0,
            "end": len(quote),
            "quote": quote,
            "section_index": 0,
            "origin": "cited",
            "verdict": verdict,
            "source_index": 1,
            "freshness": "changed",
        }
        claim = {"start": 0, "end": len(text), "text": text, "verdict": verdict, "reasons": [self.text(), self.key()]}
        return [{**claim, "citations": [citation]}]

    def _drafts(self) -> Iterator[tuple[str, str]]:
        texts = list(EVERY.values())
        return ((texts[at * 3 % len(texts)], VERDICTS[at % 4]) for at in range(SECTIONS))

    def _segments(self) -> list[dict[str, Any]]:
        segments, start = [], 0
        for index, text in enumerate(marked()):
            placed = {"segment_index": index, "page_idx": index, "start": start, "end": start + len(text)}
            segments.append({**placed, "text": text})
            start += len(text)
        return segments

    def messages(self) -> list[dict[str, Any]]:
        ids = {"run_id": RUN, "created_at": NOW, "versions": [], "page_ids": [], "selected_text": self.text()}
        empty = {"outcome": None, "stop_reason": None, "family": None, "sections": [], "citations": [], "sources": []}
        none = {"nearest": [], "claims": [], "assessment": None, "disagreements": [], "spent": {}}
        asked = {**ids, **empty, **none, "message_id": uuid(5), "parent_message_id": None, "role": "user"}
        finished = self.finished()
        message = finished["message"]
        answered = {**asked, **message, "message_id": uuid(6), "parent_message_id": uuid(5), "role": "assistant"}
        how = {"outcome": "answered", "stop_reason": finished["stop_reason"], "spent": finished["spent"]}
        return [{**asked, "content": self.text()}, {**answered, **how, "content": self.text()}]

    def finished(self) -> dict[str, Any]:
        claims = [
            {**claim, "section_index": index}
            for index, (text, verdict) in enumerate(self._drafts())
            for claim in self.claims(text, verdict)
        ]
        message = {
            "answer": self.text(),
            "sections": self.sections,
            "citations": [citation for claim in claims for citation in claim["citations"]],
            "sources": self.sources,
            "nearest": self.sources,
            "family": self.text(),
            "claims": claims,
            "assessment": self._assessment(),
            "disagreements": [{"segment_ids": [self._segment(1), self._segment(2)], "reason": self.text()}],
        }
        spent = {name: {"calls": 1, "tokens": 1, "ms": 1.0} for name in [*KEYS, self.text(), "generate_answer"]}
        return {
            "type": "run_finished",
            "outcome": "answered",
            "stop_reason": self.key(),
            "message": message,
            "spent": spent,
            "cost": None,
        }

    def _assessment(self) -> dict[str, Any]:
        counts = {verdict: SECTIONS // 4 for verdict in VERDICTS}
        return {
            "supported": True,
            "utility": 0.5,
            "claims": counts,
            "reason": self.text(),
            "model_score": None,
            "answerhood": 0.7,
        }

    def _fallback(self) -> dict[str, str]:
        return {"code": self.key(), "message": self.text(), "suggestion": self.text()}

    def run(self) -> list[dict[str, Any]]:
        """Give all events of a run, each enveloped."""
        return [self._enveloped(event) for event in self._events()]

    def _enveloped(self, event: dict[str, Any]) -> dict[str, Any]:
        self._seq += 1
        return {"schema": 1, "run_id": RUN, "session_id": SESSION, "seq": self._seq, "at": NOW, **event}

    def _step(self, name: str, *events: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield {"type": "step_started", "step": name}
        yield from events
        yield {"type": "step_finished", "step": name, "ms": 1.0}

    def _events(self) -> Iterator[dict[str, Any]]:
        started = {"question": self.text(), "message_id": uuid(5), "family": self.text(), "model": self.text()}
        yield {"type": "run_started", **started, "budget": {"model_calls": 8, "seconds": 120, "tokens": None}}
        for key in KEYS:
            yield from self._step(key, {"type": key, "reason": self.text()})
        decided = {"needs_retrieval": True, "reason": self.text(), "standalone_question": self.text()}
        decided |= {"intent": "content_query", "fallback": self._fallback(), "why": [], "sub_questions": []}
        yield from self._step("decide_retrieval", {"type": "retrieval_decided", **decided})
        pages = [{"document_id": uuid(3), "title": self.text(), "segments": 1, "of": 2}]
        loaded = {"type": "pages_loaded", "used": pages, "cut": pages, "unused": [uuid(4)]}
        yield from self._step("load_selected_pages", loaded)
        for kind, step in (("search", "search_segments"), ("web", "search_web")):
            found = {"type": "sources_found", "kind": kind, "query": self.text(), "count": 3, "degraded": self.text()}
            found |= {"why": [], "servers": [], "also_searched": [self.text()]}
            failed = {"type": "search_failed", "kind": kind, "code": self.key(), "message": self.text(), "servers": []}
            yield from self._step(step, found, failed)
        dropped = [{"segment_id": self._segment(30), "reason": self.text()}]
        graded = {"sources": self.sources, "dropped": dropped, "fallback": self._fallback()}
        disagree = {"type": "sources_disagree", "segment_ids": [self._segment(1)], "reason": self.text()}
        yield from self._step("grade_segments", {"type": "sources_graded", **graded}, disagree)
        rewritten = {"query": self.text(), "reason": self.text(), "attempt": 1, "fallback": self._fallback()}
        rewritten["why"] = []
        yield from self._step("rewrite_query", {"type": "query_rewritten", **rewritten})
        yield from self._step("generate_answer", *self._written())
        yield from self._step("check_claims", *self._checked())
        assessed = {"type": "answer_assessed", **self._assessment(), "fallback": self._fallback()}
        yield from self._step("assess_quality", assessed)
        yield {"type": "title_changed", "title": self.text()}
        failed = {"type": "run_failed", "code": self.key(), "message": self.text(), "suggestion": self.text()}
        yield {**failed, "retryable": True} if self.fails else self.finished()

    def _written(self) -> Iterator[dict[str, Any]]:
        for text in marked():
            yield {"type": "thinking_delta", "delta": f"{text}\n"}
        for index, section in enumerate(self.sections):
            at = {"section_index": index}
            yield {"type": "section_started", **at, "fallback": self._fallback(), "grounded": True}
            yield {"type": "text_delta", **at, "delta": section["text"][:7]}
            yield {"type": "text_delta", **at, "delta": section["text"][7:]}
            yield {"type": "section_finished", **at, **section, "unknown_ids": 1}
            yield {"type": "content_removed", **at, "kind": self.key(), "target": self.text()}

    def _checked(self) -> Iterator[dict[str, Any]]:
        for index, (text, verdict) in enumerate(self._drafts()):
            claims = self.claims(text, verdict)
            checked = {"section_index": index, "claims": claims}
            yield {"type": "section_checked", **checked, "fallback": self._fallback()}
            if index % 3 == 0:
                revised = {"text": text, "source_ids": [self._segment(1)], "moved": False}
                yield {"type": "section_revised", **checked, **revised}
