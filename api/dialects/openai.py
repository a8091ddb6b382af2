"""The OpenAI dialect: a run as the chunks of a streamed chat completion.

Chunks can't be taken back, so sections are held until their verdicts. All that OpenAI has no chunk for is a well-formed
one without choices, since clients stumble over anything else.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from api.dialects.frames import frame
from api.dialects.holding import Retracted, Told
from api.dialects.openai_completion import Wanted, completion_id, extension, finish_reason, usage_of
from api.dialects.openai_errors import error
from api.dialects.openai_events import STEPS, ending, source_event, status_event
from api.dialects.openai_text import Addresses
from api.dialects.retelling import Retelling
from api.dialects.reticent import Reticent
from graph.events import (
    Envelope,
    Queued,
    RunFailed,
    RunFinished,
    SearchFailed,
    SourcesGraded,
    StepStarted,
    ThinkingDelta,
)

DONE = b"data: [DONE]\n\n"


class OpenAIDialect(Reticent):
    """Speaks to the clients of Chat Completions: the role, the text with its marks, what it cites, and how it ended."""

    remembers = True
    rejoins = False
    _envelope: Envelope

    def __init__(self, wanted: Wanted | None = None) -> None:
        self._wanted = wanted or Wanted()
        self._retelling = Retelling(self, self._content, cut_short_fails=False, advice="Ask the question again.")
        self._addresses = Addresses(self._wanted.base_url)
        self._text = self._wanted.text(self._addresses)
        self._head: dict[str, Any] = {}

    def speak(self, envelope: Envelope) -> bytes:
        """Give the chunks of an event, with the sections that it settles before its own."""
        self._envelope = envelope
        opening = b"" if self._head else self._open(envelope)
        return opening + self._retelling.tell(envelope.event)

    def _open(self, envelope: Envelope) -> bytes:
        self._head = {
            "id": completion_id(envelope.run_id),
            "object": "chat.completion.chunk",
            "created": int(datetime.fromisoformat(envelope.at).timestamp()),
            "model": self._wanted.model,
        }
        return self._delta({"role": "assistant", "content": ""})

    def _delta(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        return frame({**self._head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more})

    def _aside(self, **fields: Any) -> bytes:
        return frame({**self._head, "choices": [], **fields})

    def _content(self, settled: Sequence[Told]) -> bytes:
        return b"".join(self._delta({"content": piece}) for told in settled for piece in self._text.write(told))

    def _status(self, description: str, *, done: bool = False) -> bytes:
        return self._aside(event=status_event(description, done=done)) if self._wanted.events else b""

    def queued(self, event: Queued) -> bytes:
        """Say that the question waits."""
        return self._status(f"Waiting, {event.position} in the queue")

    def step_started(self, event: StepStarted) -> bytes:
        """Say what is being done."""
        return self._status(STEPS[event.step]) if event.step in STEPS else b""

    def search_failed(self, event: SearchFailed) -> bytes:
        """Say what could not be searched."""
        return self._status(event.message)

    def sources_graded(self, event: SourcesGraded) -> bytes:
        """Remember the sources, and show those that are new.

        Raises Retracted where one that was shown has given its number to another.
        """
        if self._wanted.events and self._addresses.changes(event.sources):
            raise Retracted
        new = self._addresses.learn(event.sources)
        if not self._wanted.events:
            return b""
        return b"".join(self._aside(event=source_event(source, self._addresses.url(source))) for source in new)

    def thinking_delta(self, event: ThinkingDelta) -> bytes:
        """Give what the model thinks apart from the answer."""
        return self._delta({"reasoning_content": event.delta})

    def run_finished(self, event: RunFinished) -> bytes:
        """Give what was cited, how it ended and what it used.

        The annotations are one chunk, since clients add lists of several up by an index that these have not.
        """
        shown = self._status(ending(event), done=True)
        if self._text.annotations and not self._wanted.events:
            shown += self._delta({"annotations": self._text.annotations})
        ours = extension(self._envelope.run_id, self._envelope.session_id, event)
        finish = self._delta({}, finish_reason(event), citewell=ours)
        usage = self._aside(usage=usage_of(event.spent)) if self._wanted.usage else b""
        return shown + finish + usage + DONE

    def run_failed(self, event: RunFailed) -> bytes:
        """Give the error, after which there is nothing more to wait for."""
        failed = frame(error(event.code, event.message, event.suggestion))
        return self._status("The answer failed", done=True) + failed + DONE

    run_started = Reticent.silent
    retrieval_decided = Reticent.silent
    answer_assessed = Reticent.silent
