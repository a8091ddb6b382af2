"""One attempt at a model call: streamed, bounded, closed at once, and not over before the endpoint says so.

Importing this module takes a second or two: import it where it is first needed.
"""

import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import AIMessageChunk

from graph.errors import ModelReplyInvalid, ModelUnavailable
from graph.spending import Meter
from tools.llm.chat import REASONING, open_chat
from tools.llm.failures import FOREIGN, failure_of
from tools.llm.messages import Messages
from tools.llm.patience import within
from tools.llm.reply import AttemptFailed, Ended, ReplyPart, Said, SurrogateJoiner, Thought, ThoughtSplitter
from tools.llm.tokens import estimate_tokens
from tools.llm.transport import REQUEST_ID, Witnesses
from tools.settings import ModelSettings

THINKING_CHARACTERS = 100_000
UNSEEN = {"tags": ["nostream"]}  # else LangGraph streams the raw reply of a node as messages


@dataclass(slots=True)
class _Ending:
    reason: str | None = None
    tokens: int = 0


class Caller:
    """Makes calls to one upstream model."""

    def __init__(self, model: ModelSettings, upstream: str) -> None:
        self._witnesses = Witnesses()
        self._chat = open_chat(model, upstream, self._witnesses)
        self._patience = model.timeout_seconds

    async def attempt(
        self, messages: Messages, fields: dict[str, Any], *, max_characters: int, meter: Meter
    ) -> AsyncGenerator[ReplyPart, None]:
        """Stream one reply; ``fields`` are those of ChatOpenAI's payload. Tokens go on the meter, however it ends.

        ``max_characters`` bounds the reply; its thinking has a bound of its own. Raises AttemptFailed, and
        BudgetExhausted where the meter's seconds end before the reply.
        """
        splitter, joiner, ending = ThoughtSplitter(), SurrogateJoiner(), _Ending()
        room = {Said: max_characters, Thought: THINKING_CHARACTERS}
        read = 0
        try:
            async with aclosing(self._chunks(messages, fields, ending, meter)) as chunks:
                async for said, thought in chunks:
                    read += len(said) + len(thought)
                    for part in [*([Thought(thought)] if thought else []), *splitter.feed(joiner.feed(said))]:
                        if shown := part.text[: max(0, room[type(part)])]:
                            yield type(part)(shown)
                        room[type(part)] -= len(part.text)
                    if min(room.values()) < 0:
                        ending.reason = "length"
                        break
            for part in splitter.feed(joiner.end()) + splitter.end():
                yield part
            yield Ended(cut=ending.reason == "length")
        finally:
            meter.used(ending.tokens or _estimate(messages, read))

    async def _chunks(
        self, messages: Messages, fields: dict[str, Any], ending: _Ending, meter: Meter
    ) -> AsyncGenerator[tuple[str, str], None]:
        """Give texts of answer and thinking as they arrive, and note how the reply ended."""
        request_id = uuid.uuid4().hex
        witness = self._witnesses.attend(request_id)
        stream = self._chat.astream(list(messages), UNSEEN, extra_headers={REQUEST_ID: request_id}, **fields)  # type: ignore[arg-type]
        try:
            async with aclosing(cast(AsyncGenerator[AIMessageChunk, None], stream)) as chunks:
                async for chunk in within(self._patience, chunks, meter=meter):
                    ending.reason = chunk.response_metadata.get("finish_reason") or ending.reason
                    if chunk.usage_metadata:
                        ending.tokens = chunk.usage_metadata["total_tokens"]
                    yield str(chunk.text), chunk.additional_kwargs.get(REASONING, "")
        except FOREIGN as error:
            raise failure_of(error) from error
        finally:
            self._witnesses.dismiss(request_id)
            await witness.close()
        if ending.reason == "content_filter":
            raise AttemptFailed(ModelReplyInvalid("The model endpoint withheld the reply (content filter)."))
        if ending.reason is None or not witness.done:
            raise AttemptFailed(ModelUnavailable("The model endpoint's reply broke off before its end."), again=True)


def _estimate(messages: Messages, read: int) -> int:
    """Count tokens of a call whose endpoint reported none, so that a cap on tokens still binds."""
    return sum(estimate_tokens(text) for _, text in messages) + read // 4 if read else 0
