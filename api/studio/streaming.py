"""An answer as it is written, on LangGraph's streams of messages, which listen to chat models."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any, Self, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tracers._streaming import _V2StreamingCallbackHandler  # as LangGraph itself tells its streams apart
from pydantic import PrivateAttr

from api.dialects.annotated_text import SourceAddresses
from api.dialects.langgraph.thread_messages import ChatText, Json, block
from api.dialects.section_buffer import Retracted, SectionBuffer
from api.studio.messages import run_id_of
from graph.context import Context
from graph.events import AnyEvent, BudgetCaps, RetrievalDecided, RunStarted
from graph.evidence import Source
from graph.ports import Family
from graph.state import State

log = logging.getLogger("citewell.studio")


class AnswerStream:
    """The text of a step that writes, on its way to LangGraph's message streams: in pieces that stand, with marks."""

    def __init__(
        self, state: State, context: Context, family: Family, sources: list[Source], answer: AIMessage
    ) -> None:
        self._buffer = _buffer_of(state, context, family)
        addresses = SourceAddresses("")
        addresses.learn(sources)
        self._text = ChatText(addresses)
        self._run_id = run_id_of(answer)
        self._model: PieceModel | None = None  # from the first piece on
        self._saying: asyncio.Task[Any] | None = None
        self._said: list[str] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._model is None or self._saying is None:
            return
        self._model.put(block("", self._text.annotations))
        self._model.put(None)
        if kind is not None:
            self._saying.cancel()
        await asyncio.gather(self._saying, return_exceptions=kind is not None)

    @property
    def content(self) -> list[str | Json]:
        """What was streamed, as the content of a message."""
        return [block("".join(self._said), self._text.annotations)] if self._said else []

    def feed(self, event: AnyEvent) -> None:
        """Stream what an event releases."""
        try:
            for section in self._buffer.feed(event):
                for piece in filter(None, self._text.write(section)):
                    self._send(piece)
        except Retracted:
            log.warning("text that was streamed no longer stands; the message of the step has what does")

    def _send(self, piece: str) -> None:
        if self._model is None:
            self._model = PieceModel()
            self._saying = asyncio.create_task(self._model.ainvoke("", {"run_id": self._run_id}))
        self._said.append(piece)
        self._model.put({"type": "text", "text": piece, "index": 0})


async def stream_again(answer: AIMessage) -> None:
    """Stream a message anew, for clients that prefer what was streamed to the messages of the state.

    Others would add it to what they have, and get nothing: the state that follows tells them.
    """
    model = PieceModel(again=True)
    for each in [*answer.content, None]:
        model.put(cast(Json | None, each))
    await model.ainvoke("", {"run_id": run_id_of(answer)})


def _buffer_of(state: State, context: Context, family: Family) -> SectionBuffer:
    """Return a buffer that knows of the run what its first events would tell."""
    buffer = SectionBuffer()
    caps = BudgetCaps(model_calls=context.max_model_calls, tokens=context.max_tokens)
    begun = RunStarted(
        question=state.asked,
        message_id="",
        family=family.name,
        model=family.model,
        budget=caps,
        release=context.release,
    )
    decided = RetrievalDecided(
        needs_retrieval=state.needs_retrieval,
        reason="",
        standalone_question=state.standalone_question,
        intent=state.intent,
    )
    for event in (begun, decided):
        buffer.feed(event)
    return buffer


class PieceModel(BaseChatModel):
    """A chat model that says what it is given, piece by piece: every stream of messages in LangGraph listens to these.

    ``again``: it replaces what has been said under its run's id, which only the newer kind of stream can tell.
    """

    again: bool = False
    _pieces: "asyncio.Queue[Json | None]" = PrivateAttr(default_factory=asyncio.Queue)

    def put(self, piece: Json | None) -> None:
        """Say a piece of the only block; None is the end."""
        self._pieces.put_nowait(piece)

    @property
    def _llm_type(self) -> str:
        return "citewell"

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        handlers = run_manager.handlers if run_manager is not None else []
        replaces = any(isinstance(each, _V2StreamingCallbackHandler) for each in handlers)
        while (piece := await self._pieces.get()) is not None:
            if replaces or not self.again:
                yield ChatGenerationChunk(message=AIMessageChunk(content=[piece]))
        yield ChatGenerationChunk(message=AIMessageChunk(content=[]))  # a stream without any is an error

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        said = "".join([chunk.text async for chunk in self._astream(messages)])
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=said))])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("An answer is streamed.")
