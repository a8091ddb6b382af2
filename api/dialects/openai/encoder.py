"""The openai dialect: a run as the chunks of a streamed chat completion, with Open WebUI's events on request.

Chunks can't be retracted, so text is sent once it may leave, and corrected in words. What OpenAI has no chunk for is
sent as a well-formed chunk without choices, since clients fail on anything else. Open WebUI lists sources in the order
in which they arrive, one for each ``metadata.source``, and links ``[n]`` to the n-th of them; so they are sent by
index, before the text. Its direct connections from the browser ignore events.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import singledispatchmethod
from typing import Any

from api.dialects.buffered import BufferedEncoding
from api.dialects.openai.schemas import CompletionForm, completion_id, finish_reason, token_usage
from api.dialects.openai_api import STEPS, error, extension, outcome_text
from api.dialects.quotes import marked_quotes, shown_excerpt
from api.dialects.section_buffer import FinalSection, Retracted
from api.event_frames import DRAFT_EVENTS, INTERNAL_EVENTS, frame, silent
from graph import events
from graph.evidence import Message, Source


def source_event(source: Source, url: str) -> dict[str, Any]:
    """Return Open WebUI's event for a source; it shows the score (0 to 1) in percent and the page number from 1."""
    metadata: dict[str, Any] = {"source": source["segment_id"], "name": source["title"] or url, "source_url": url}
    if source["page_idx"] is not None:
        metadata["page"] = source["page_idx"]
    return {
        "type": "source",
        "data": {
            "source": {"id": source["segment_id"], "name": metadata["name"], "url": url},
            "document": [source["excerpt"]],
            "metadata": [metadata],
            "distances": [source["score"]],
        },
    }


DONE = b"data: [DONE]\n\n"


def text_chunks(completion: Mapping[str, Any], text: str) -> bytes:
    """Return the stream of a completion that is only text."""
    head = {**{name: completion[name] for name in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant", "content": text}, None), ({}, "stop")]
    chunks = [
        frame({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}) for delta, finish in deltas
    ]
    return b"".join(chunks) + DONE


class OpenAIEncoder(BufferedEncoding):
    """An encoder for Chat Completions clients: role, text with marks, annotations, and finish reason."""

    cut_short_fails = False
    advice = "Ask the question again."
    ignored = DRAFT_EVENTS | INTERNAL_EVENTS | {events.RunStarted, events.RetrievalDecided, events.AnswerAssessed}

    def __init__(self, options: CompletionForm | None = None) -> None:
        super().__init__()
        self._options = options or CompletionForm()
        self._addresses = self._options.addresses
        self._text = self._options.text(self._addresses)
        self._excerpts: dict[int, str] = {}  # that were sent, by the source's index
        self._head: dict[str, Any] = {}

    def _open(self) -> bytes:
        self._head = {
            "id": completion_id(self._envelope.run_id),
            "object": "chat.completion.chunk",
            "created": int(datetime.fromisoformat(self._envelope.at).timestamp()),
            "model": self._options.model,
        }
        return self._delta({"role": "assistant", "content": ""})

    def _delta(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        return frame({**self._head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more})

    def _chunk_without_choices(self, **fields: Any) -> bytes:
        return frame({**self._head, "choices": [], **fields})

    def _section(self, section: FinalSection) -> bytes:
        return b"".join(self._delta({"content": piece}) for piece in self._text.write(section))

    def _status(self, description: str, *, done: bool = False) -> bytes:
        """Return Open WebUI's event for the current step, or for the outcome if ``done``."""
        event = {"type": "status", "data": {"description": description, "done": done}}
        return self._chunk_without_choices(event=event) if self._options.events else b""

    _encode = singledispatchmethod(silent)

    @_encode.register
    def _queued(self, event: events.Queued) -> bytes:
        return self._status(f"Waiting, {event.position} in the queue")

    @_encode.register
    def _step_started(self, event: events.StepStarted) -> bytes:
        return self._status(STEPS[event.step]) if event.step in STEPS else b""

    @_encode.register
    def _search_failed(self, event: events.SearchFailed) -> bytes:
        return self._status(event.message)

    @_encode.register
    def _sources_graded(self, event: events.SourcesGraded) -> bytes:
        if self._options.events and self._addresses.changes(event.sources):
            raise Retracted  # a number already sent now belongs to another source
        new = self._addresses.learn(event.sources)
        return self._shown(new) if self._options.events else b""

    def _shown(self, sources: Iterable[Source]) -> bytes:
        """Return what an excerpt shows of each source, where that was not sent."""
        new = [source for source in sources if self._excerpts.get(source["index"]) != source["excerpt"]]
        self._excerpts |= {source["index"]: source["excerpt"] for source in new}
        return b"".join(
            self._chunk_without_choices(event=source_event(each, self._addresses.url(each))) for each in new
        )

    @_encode.register
    def _thinking_delta(self, event: events.ThinkingDelta) -> bytes:
        return self._delta({"reasoning_content": event.delta})

    @_encode.register
    def _run_finished(self, event: events.RunFinished) -> bytes:
        shown = self._status(outcome_text(event), done=True)
        # All annotations are in one chunk: clients merge lists of several chunks by an index that annotations lack.
        if self._text.annotations and not self._options.events:
            shown += self._delta({"annotations": self._text.annotations})
        if self._options.events:
            shown += self._quotes(event.message)
        ours = extension(self._envelope.run_id, self._envelope.session_id, event)
        finish = self._delta({}, finish_reason(event), citewell=ours)
        usage = self._chunk_without_choices(usage=token_usage(event.spent)) if self._options.usage else b""
        return shown + finish + usage + DONE

    def _quotes(self, message: Message) -> bytes:
        """Return what is quoted of the sources, where that was not shown, as more text of the same sources."""
        quotes = marked_quotes(message)
        return self._shown(
            Source(**{**each, "excerpt": shown_excerpt(each, quotes.get(each["index"], []))})
            for each in message["sources"]
        )

    @_encode.register
    def _run_failed(self, event: events.RunFailed) -> bytes:
        failed = frame(error(event.code, event.message, event.suggestion))
        return self._status("The answer failed", done=True) + failed + DONE
