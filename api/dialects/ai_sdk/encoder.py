"""The UI message stream of the AI SDK (version 1): what ``useChat`` and ``DefaultChatTransport`` read.

Releases differ in strictness: an unknown part fails the stream in all of them, an unknown field in some, such as 6.0.0,
6.0.150 and 7.0.15. So a stream has only what all of them know, unless its reader lists what else it accepts.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import singledispatchmethod
from typing import Any

from answers.citations import show_quotes
from answers.library_listing import FROM_CATALOGUE
from answers.marks import marked_citations
from api.dialects.ai_sdk.answer_draft import AnswerDraft, DraftChange
from api.dialects.ai_sdk.schemas import NAMESPACE, ClientFeature, citation_records, proof, source_part, text_citations
from api.dialects.buffered import BufferedEncoding
from api.dialects.citation_marks import bracket, marked_pieces, placed_claims, with_latest_verdicts
from api.dialects.section_buffer import FinalSection, final_sections
from api.event_frames import DRAFT_EVENTS, ProgressEvent, frames, silent
from graph import events
from graph.events import TERMINAL, AnyEvent, Envelope, payload
from graph.evidence import Message, Source

Part = dict[str, Any]
TEXT = "answer"


class MessageParts:
    """A builder of the parts of a message: thoughts, sources, and text, which is one part named ``answer``.

    Clients refuse a delta or an end of a part that is not open, so an open part is ended before another starts.
    """

    def __init__(self) -> None:
        self._in_step = False
        self._in_text = False
        self._thought = 0
        self._thinking = False
        self._cited: set[int] = set()

    def begin_step(self) -> list[Part]:
        """Start a step; ``reset`` drops only what follows."""
        ended = self.end_step()
        self._in_step = True
        return [*ended, {"type": "start-step"}]

    def end_step(self) -> list[Part]:
        """End the step and everything that is open in it."""
        ended = [*self.end_thought(), *self.end_text()]
        if self._in_step:
            self._in_step = False
            ended.append({"type": "finish-step"})
        return ended

    def think(self, delta: str) -> list[Part]:
        """Append to the thought of a reasoning model, apart from the answer."""
        begun: list[Part] = []
        if not self._thinking:
            self._thought += 1
            self._thinking = True
            begun.append({"type": "reasoning-start", "id": f"thought-{self._thought}"})
        return [*begun, {"type": "reasoning-delta", "id": f"thought-{self._thought}", "delta": delta}]

    def end_thought(self) -> list[Part]:
        """End the thought, if one is open."""
        if not self._thinking:
            return []
        self._thinking = False
        return [{"type": "reasoning-end", "id": f"thought-{self._thought}"}]

    def cite(self, sources: Sequence[Source]) -> list[Part]:
        """Add the sources that the next text cites, each once, in the order of their marks."""
        fresh = [source for source in sources if source["index"] not in self._cited]
        self._cited |= {source["index"] for source in fresh}
        return [source_part(source) for source in sorted(fresh, key=lambda source: source["index"])]

    def write(self, text: str) -> list[Part]:
        """Append to the answer."""
        begun = self.end_thought()
        if not self._in_text:
            self._in_text = True
            begun.append({"type": "text-start", "id": TEXT})
        return [*begun, {"type": "text-delta", "id": TEXT, "delta": text}]

    def reset(self) -> list[Part]:
        """Drop everything that the step has sent; clients then have nothing of it open."""
        self._in_text = self._thinking = False
        self._cited.clear()
        return [{"type": "reset-step"}]

    def end_text(self, extra: Mapping[str, Any] | None = None) -> list[Part]:
        """End the text, if any, with ``extra`` fields, such as its proof."""
        if not self._in_text:
            return []
        self._in_text = False
        return [{"type": "text-end", "id": TEXT, **(extra or {})}]


HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}
ENVELOPE = ("schema", "run_id", "session_id", "seq", "at")
DONE = b"data: [DONE]\n\n"


class AiSdkEncoder(BufferedEncoding):
    """An encoder of one assistant message: status parts, then sources, text with ``[n]`` marks, and their proof.

    ``accepts`` are the newer features that its reader understands: ``text-citations`` at the end of the text, and
    ``reset-step``, with which text is sent as it is written, and dropped if it turns out wrong.
    """

    cut_short_fails = False
    ignored = DRAFT_EVENTS | {events.AnswerAssessed}

    def __init__(self, accepts: Collection[ClientFeature] = ()) -> None:
        super().__init__()
        self._cites_text = "text-citations" in accepts
        self._drafted = AnswerDraft(bracket) if "reset-step" in accepts else None
        self._message = MessageParts()
        self._sources: list[Source] = []
        self._written: list[FinalSection] = []
        self._drafting = False

    def encode(self, envelope: Envelope) -> bytes:
        """Return the frames of an event, after the text that it makes final; none after the end."""
        event = envelope.event
        if isinstance(event, events.RunFinished) and event.message["sources"]:
            self._sources = event.message["sources"]
        return super().encode(envelope)

    def _released(self, event: AnyEvent) -> bytes:
        if self._drafted is None or self._over:
            return super()._released(event)
        self._over = isinstance(event, TERMINAL)
        return frames(self._draft(self._drafted.feed(event))) + self._encode(event)

    def _section(self, section: FinalSection) -> bytes:
        self._written.append(section)
        citations = [citation for claim in section.claims for citation in marked_citations(claim)]
        cited = {citation["source_index"] for citation in citations}
        # A part can't be replaced, so its excerpt shows the quote from the first.
        shown = show_quotes([Source(**each) for each in self._sources if each["index"] in cited], citations, {})
        text = [part for piece in marked_pieces(section, bracket) for part in self._message.write(piece)]
        return frames([*self._message.cite(shown), *text])

    def _draft(self, drafted: DraftChange | None) -> list[Part]:
        if drafted is None:
            return []
        parts: list[Part] = []
        if not self._drafting:
            self._drafting = True  # in a new step, so that a reset keeps what came before
            parts = self._message.begin_step()
        elif drafted.anew:
            parts = self._message.reset()
        return [*parts, *(self._message.write(drafted.text) if drafted.text else [])]

    _encode = singledispatchmethod(silent)

    @_encode.register
    def _run_started(self, event: events.RunStarted) -> bytes:
        about = {"session_id": self._envelope.session_id, "run_id": self._envelope.run_id, "model": event.model}
        start = {"type": "start", "messageId": event.message_id, "messageMetadata": about}
        return frames([start, *self._message.begin_step()])

    @_encode.register
    def _thinking_delta(self, event: events.ThinkingDelta) -> bytes:
        return frames(self._message.think(event.delta))

    @_encode.register
    def _step_finished(self, event: events.StepFinished) -> bytes:
        return frames(self._message.end_thought()) + self._status()

    @_encode.register
    def _sources_graded(self, event: events.SourcesGraded) -> bytes:
        self._sources = event.sources  # sent when the text cites them
        return self._status()

    @_encode.register
    def _run_finished(self, event: events.RunFinished) -> bytes:
        listed = event.message["sources"] if event.stop_reason == FROM_CATALOGUE else []
        parts = [*self._message.cite(listed), *self._proof(event.message), *self._message.end_step()]
        about = _ending(event)
        if event.outcome == "cancelled":
            parts += [{"type": "message-metadata", "messageMetadata": about}, {"type": "abort"}]
        else:
            parts.append({"type": "finish", "finishReason": "stop", "messageMetadata": about})
        return frames(parts) + DONE

    @_encode.register
    def _run_failed(self, event: events.RunFailed) -> bytes:
        about = {"outcome": "failed", "stop_reason": "error", "code": event.code, "retryable": event.retryable}
        parts = [
            *(self._message.reset() if self._drafting else []),
            *self._message.end_step(),
            {"type": "message-metadata", "messageMetadata": about},
            # Clients stop at the error, so only the end comes after it.
            {"type": "error", "errorText": f"{event.message} {event.suggestion}".strip()},
            {"type": "finish", "finishReason": "error"},
        ]
        return frames(parts) + DONE

    def _proof(self, message: Message) -> list[Part]:
        # A cancelled run's message has no citations, but the sections already sent have marks that need proof.
        placed = list(placed_claims(self._written if self._drafted is None else final_sections(message), bracket))
        if self._drafted is None:
            placed = with_latest_verdicts(placed, self._buffer.latest)
        cited = {citation["source_index"] for each in placed for citation in marked_citations(each.claim)}
        sources = self._message.cite([source for source in self._sources if source["index"] in cited])
        extra: Part = {}
        if citations := citation_records(placed):
            extra["providerMetadata"] = {NAMESPACE: {"citations": citations}}
        if self._cites_text and citations:
            extra["citations"] = text_citations(placed, self._sources)
        data = {"type": "data-citations", "id": "citations", "data": proof(message, placed)}
        return [*self._message.end_thought(), *sources, *self._message.end_text(extra), data]

    @_encode.register
    def _progress(self, event: ProgressEvent | events.RunResumed | events.StepStarted) -> bytes:
        return self._status()

    def _status(self) -> bytes:
        """Return the event as a transient status part, which never becomes part of the message."""
        data = {name: value for name, value in payload(self._envelope).items() if name not in ENVELOPE}
        return frames([{"type": "data-status", "data": data, "transient": True}])


def _ending(event: events.RunFinished) -> dict[str, Any]:
    message = event.message
    return {
        "outcome": event.outcome,
        "stop_reason": event.stop_reason,
        "assessment": message.get("assessment"),
        "family": message.get("family"),
        "spent": event.spent,
    }
