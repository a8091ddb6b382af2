"""The responses dialect: a run as the typed events of OpenAI's Responses API, and as the response object of its end.

A response has at most two items: one of reasoning, whose summaries are the steps of the run and what a thinking model
thinks, and the message. Reasoning ends where the message begins, since clients read items one after the other. Text
can't be retracted, so it is sent once it may leave, and corrected in words.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import singledispatchmethod
from typing import Any

from api.dialects.annotated_text import AnnotatedText, Annotation
from api.dialects.buffered import BufferedEncoding
from api.dialects.openai_api import STEPS, error, extension, outcome_text
from api.dialects.responses.schemas import MESSAGE, REASONING, ResponseOptions, response_object, usage
from api.dialects.section_buffer import FinalSection, final_sections
from api.event_frames import DRAFT_EVENTS, INTERNAL_EVENTS, frame, silent
from graph import events
from graph.events import Envelope

Item = dict[str, Any]


def text_part(text: str, annotations: Sequence[Annotation]) -> dict[str, Any]:
    """Return the content of a message."""
    return {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}


class ResponsesEncoder(BufferedEncoding):
    """An encoder for clients of the Responses API: reasoning, text with marks, annotations, and the whole response.

    Events up to ``options.after`` are counted and left out, for a reader that comes back; never the terminal one.
    """

    cut_short_fails = False
    advice = "Ask the question again."
    ignored = DRAFT_EVENTS | INTERNAL_EVENTS | {events.RetrievalDecided, events.AnswerAssessed}

    def __init__(self, options: ResponseOptions | None = None) -> None:
        super().__init__()
        self._options = options or ResponseOptions()
        self._addresses = self._options.addresses
        self._text = self._options.text(self._addresses)
        self._sequence = 0
        self._created = 0
        self._model = self._options.model
        self._in_progress = False
        self._summary: list[str] = []
        self._thinking = False  # whether the last summary is a thought that goes on
        self._reasoning_done = False
        self._written: list[str] = []

    def encode(self, envelope: Envelope) -> bytes:
        """Return the frames of an event, after those of the text that it releases."""
        if isinstance(envelope.event, events.RunStarted) and not self._options.model:
            self._model = envelope.event.model
        opening = self._begin(envelope)
        if not self._in_progress and not isinstance(envelope.event, events.Queued):
            self._in_progress = True
            opening += self._event("response.in_progress", response=self._response("in_progress"))
        return opening + self._released(envelope.event)

    def _open(self) -> bytes:
        self._created = int(datetime.fromisoformat(self._envelope.at).timestamp())
        status = "queued" if isinstance(self._envelope.event, events.Queued) else "in_progress"
        return self._event("response.created", response=self._response(status))

    def finished(self, end: events.RunFinished) -> dict[str, Any]:
        """Return the response of a finished run, all of whose events were encoded, with the text as it was repaired."""
        addresses = self._options.addresses
        addresses.learn(end.message["sources"])
        text = self._options.text(addresses)
        content = "".join(piece for section in final_sections(end.message) for piece in text.write(section))
        return self._finished(end, content, text)

    def failed(self, event: events.RunFailed) -> dict[str, Any]:
        """Return the response of a failed run. ``code`` is ours, which is stable."""
        told = error(event.code, event.message, event.suggestion)["error"]
        return self._response("failed", error={"code": told["code"], "message": told["message"]})

    @property
    def _run_id(self) -> str:
        return self._envelope.run_id

    def _response(self, status: str, **fields: Any) -> dict[str, Any]:
        return response_object(
            self._run_id, self._created, status, self._options, model=self._model or "citewell", **fields
        )

    def _finished(self, end: events.RunFinished, content: str, text: AnnotatedText) -> dict[str, Any]:
        cut = end.outcome == "cancelled"
        output = [self._reasoning()] if self._summary else []
        if content:
            output.append(self._message("incomplete" if cut else "completed", [text_part(content, text.annotations)]))
        return self._response(
            "cancelled" if cut else "completed",
            completed_at=None if cut else int(datetime.fromisoformat(self._envelope.at).timestamp()),
            # Of OpenAI's reasons for incomplete text this is the only one that blames nobody.
            incomplete_details={"reason": "max_output_tokens"} if cut else None,
            output=output,
            usage=usage(end.spent),
            citewell=extension(self._run_id, self._envelope.session_id, end),
        )

    def _event(self, kind: str, **fields: Any) -> bytes:
        number = self._sequence
        self._sequence += 1
        return b"" if number <= self._options.after else self._frame(kind, number, fields)

    def _end(self, kind: str, response: dict[str, Any]) -> bytes:
        return self._frame(kind, self._sequence, {"response": response})

    def _frame(self, kind: str, number: int, fields: Mapping[str, Any]) -> bytes:
        return frame({"type": kind, "sequence_number": number, **fields}, event=kind)

    # Reasoning

    def _reasoning(self) -> Item:
        summary = [{"type": "summary_text", "text": text} for text in self._summary]
        return {"id": f"{REASONING}{self._run_id}", "type": "reasoning", "summary": summary, "status": "completed"}

    def _summary_event(self, kind: str, **fields: Any) -> bytes:
        place = {"output_index": 0, "summary_index": len(self._summary) - 1}
        return self._event(
            f"response.reasoning_summary_{kind}", item_id=f"{REASONING}{self._run_id}", **place, **fields
        )

    def _begin_summary(self) -> bytes:
        begun = b""
        if not self._summary:
            item = {**self._reasoning(), "status": "in_progress"}
            begun = self._event("response.output_item.added", output_index=0, item=item)
        ended = self._end_summary()
        self._summary.append("")
        return begun + ended + self._summary_event("part.added", part={"type": "summary_text", "text": ""})

    def _sum_up(self, delta: str) -> bytes:
        self._summary[-1] += delta
        return self._summary_event("text.delta", delta=delta)

    def _end_summary(self) -> bytes:
        """End the thought that goes on, if any."""
        if not self._thinking:
            return b""
        self._thinking = False
        text = self._summary[-1]
        done = self._summary_event("text.done", text=text)
        return done + self._summary_event("part.done", part={"type": "summary_text", "text": text})

    def _tell(self, text: str) -> bytes:
        """Tell what is being done, as a summary of its own."""
        if not self._options.steps or self._reasoning_done:
            return b""
        begun = self._begin_summary()
        self._thinking = True
        return begun + self._sum_up(text) + self._end_summary()

    def _end_reasoning(self) -> bytes:
        if self._reasoning_done:
            return b""
        ended = self._end_summary()
        self._reasoning_done = True
        if self._summary:
            ended += self._event("response.output_item.done", output_index=0, item=self._reasoning())
        return ended

    # The message

    @property
    def _message_index(self) -> int:
        return 1 if self._summary else 0

    def _message(self, status: str, content: Sequence[dict[str, Any]]) -> Item:
        item_id = f"{MESSAGE}{self._run_id}"
        return {"id": item_id, "type": "message", "status": status, "role": "assistant", "content": list(content)}

    def _text_event(self, kind: str, **fields: Any) -> bytes:
        place = {"item_id": f"{MESSAGE}{self._run_id}", "output_index": self._message_index, "content_index": 0}
        return self._event(f"response.{kind}", **place, **fields)

    def _section(self, section: FinalSection) -> bytes:
        frames: list[bytes] = []
        known = len(self._text.first)
        for piece in filter(None, self._text.write(section)):
            if not self._written:
                frames.append(self._end_reasoning())
                item = self._message("in_progress", [])
                frames.append(self._event("response.output_item.added", output_index=self._message_index, item=item))
                frames.append(self._text_event("content_part.added", part=text_part("", [])))
            self._written.append(piece)
            frames.append(self._text_event("output_text.delta", delta=piece, logprobs=[]))
        return b"".join([*frames, *self._annotate(self._text.first, known)])

    def _annotate(self, annotations: Sequence[Annotation], known: int) -> list[bytes]:
        return [
            self._text_event("output_text.annotation.added", annotation_index=number, annotation=annotations[number])
            for number in range(known, len(annotations))
        ]

    def _end_message(self, status: str) -> bytes:
        if not self._written:
            return b""
        text = "".join(self._written)
        part = text_part(text, self._text.annotations)
        item = self._message(status, [part])
        return (
            b"".join(self._annotate(self._text.annotations, len(self._text.first)))
            + self._text_event("output_text.done", text=text, logprobs=[])
            + self._text_event("content_part.done", part=part)
            + self._event("response.output_item.done", output_index=self._message_index, item=item)
        )

    # Events of a run

    _encode = singledispatchmethod(silent)

    @_encode.register
    def _queued(self, event: events.Queued) -> bytes:
        return self._event("response.queued", response=self._response("queued"))

    @_encode.register
    def _run_started(self, event: events.RunStarted) -> bytes:
        return b""  # told when the response was opened

    @_encode.register
    def _step_started(self, event: events.StepStarted) -> bytes:
        return self._tell(STEPS[event.step]) if event.step in STEPS else b""

    @_encode.register
    def _search_failed(self, event: events.SearchFailed) -> bytes:
        return self._tell(event.message)

    @_encode.register
    def _sources_graded(self, event: events.SourcesGraded) -> bytes:
        self._addresses.learn(event.sources)
        return b""

    @_encode.register
    def _thinking_delta(self, event: events.ThinkingDelta) -> bytes:
        if self._reasoning_done:
            return b""
        begun = b""
        if not self._thinking:
            begun = self._begin_summary()
            self._thinking = True
        return begun + self._sum_up(event.delta)

    @_encode.register
    def _run_finished(self, event: events.RunFinished) -> bytes:
        cut = event.outcome == "cancelled"
        shown = b"" if self._written or cut else self._tell(outcome_text(event))
        shown += self._end_reasoning() + self._end_message("incomplete" if cut else "completed")
        response = self._finished(event, "".join(self._written), self._text)
        return shown + self._end(f"response.{'incomplete' if cut else 'completed'}", response)

    @_encode.register
    def _run_failed(self, event: events.RunFailed) -> bytes:
        ended = self._end_reasoning() + self._end_message("incomplete")
        return ended + self._end("response.failed", self.failed(event))
