"""The graph's steps as chat clients of LangGraph need them: messages beside the graph's own fields.

Each step runs as it is. Before it the run's question is found among the messages, and its options are checked; after
it the message of the answer is written again, under one id. While it writes, its text is streamed as a chat model's.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, replace
from typing import Any, Self, cast
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, RemoveMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tracers._streaming import _V2StreamingCallbackHandler  # as LangGraph itself tells its streams apart
from langgraph.runtime import Runtime
from pydantic import PrivateAttr, TypeAdapter, ValidationError

from answers.citations import describe_source
from api.fields import SearchOptions
from api.dialects.section_buffer import Retracted, SectionBuffer
from api.studio.messages import Block, ChatText, answer_message, answer_of, block, new_answer, read_question, run_id_of
from graph.builder import StepNode, Update
from graph.context import Context
from graph.errors import CitewellError, InvalidRequest
from graph.events import AnyEvent, BudgetCaps, RetrievalDecided, RunStarted
from graph.evidence import Source
from graph.ports import Family, Resources
from graph.state import FIRST_STEP, State, Turn
from tools.retrieval.segment_store import resources_of_run
from tools.runs.completion import finished_message

log = logging.getLogger("citewell.studio")

WRITING = ("generate_answer", "answer_directly", "abstain")
READING = ("grade_segments", "generate_answer", "check_claims")  # after which the texts are shown beside their ids
SHOWN = ("sources", "sections", "claims", "disagreements", "assessment", "outcome", "stop_reason")
_CONTEXT: TypeAdapter[Context] = TypeAdapter(Context)
_HISTORY: TypeAdapter[list[Turn] | None] = TypeAdapter(list[Turn] | None)


class RunFailure(RuntimeError):
    """A failed step, as the LangGraph server may tell it: of errors that it does not know it tells the name alone."""

    def __init__(self, error: CitewellError) -> None:
        super().__init__(f"{error.message} {error.advice}")
        self.error = error

    def model_dump(self) -> dict[str, Any]:
        """Return what the server sends to clients."""
        kind = type(self.error)
        told = {"message": self.error.message, "suggestion": self.error.advice}
        return {"error": kind.code, **told, "retryable": kind.retryable}


class ChatSteps:
    """Wraps the steps of a graph over some resources, for ``graph.builder.build``."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def __call__(self, name: str, node: StepNode) -> StepNode:
        """Return a step with the messages that belong to it."""

        async def chat_step(state: State, runtime: Runtime[Context]) -> Update:
            try:
                runtime = runtime.override(context=checked_context(runtime.context))
                if name == FIRST_STEP:
                    return await _begin(state, runtime, node)
                return await self._go_on(name, state, runtime, node)
            except CitewellError as error:
                raise RunFailure(error) from error

        chat_step.__name__ = name
        return chat_step

    async def _go_on(self, name: str, state: State, runtime: Runtime[Context], node: StepNode) -> Update:
        context = runtime.context
        resources = resources_of_run(self._resources)
        family = resources.families(context.model, thinking=context.thinking)
        answer = answer_of(state)
        shown = answer.content
        if name in WRITING and not state.sections:  # a repair is not streamed as it is written
            sources = await _sources(state, resources, context)
            async with AnswerStream(state, context, family, sources, run_id_of(answer)) as stream:

                def emit(event: AnyEvent) -> None:
                    runtime.stream_writer(event)
                    stream.feed(event)

                update = dict(await node(state, runtime.override(stream_writer=emit)))
            shown = stream.content or shown
        else:
            update = dict(await node(state, runtime))
        after = replace(state, **{field: update[field] for field in SHOWN if field in update})
        if {"sections", "claims", "outcome"} & update.keys():
            message = await finished_message(after, resources.reader, context.identity, family.name)
            told = answer_message(answer, message, after)
            update["messages"] = [] if told == answer else [told]
            if after.outcome and shown != told.content:
                await stream_again(told)
        if after.outcome:
            update["passages"] = {}  # the server keeps the last values of a thread
        elif name in READING:
            update["passages"] = await _passages(after, resources, context)
        return update


async def _begin(state: State, runtime: Runtime[Context], node: StepNode) -> Update:
    """Run the first step on the question among the messages, and add the message that its answer is to fill."""
    _check_input(state)
    asked = read_question(state)
    update = await node(replace(state, question=asked.question, history=asked.history), runtime)
    removed = [RemoveMessage(id=str(each.id)) for each in asked.replaced]
    return {**update, "messages": [*removed, asked.message, new_answer(asked.question)], "passages": {}}


def checked_context(context: Context | None) -> Context:
    """Return the options of a run within their limits. Raises InvalidRequest that names the option."""
    try:
        return _CONTEXT.validate_python(asdict(context)) if context is not None else Context()
    except ValidationError as error:
        raise _invalid("context.", error) from None


def _check_input(state: State) -> None:
    try:
        SearchOptions.model_validate({"page_ids": state.page_ids, "selected_text": state.selected_text or None})
    except ValidationError as error:
        raise _invalid("", error) from None
    try:
        _HISTORY.validate_python(state.history)
    except ValidationError as error:
        raise _invalid("history.", error) from None


def _invalid(before: str, error: ValidationError) -> InvalidRequest:
    fault = error.errors()[0]
    field = before + ".".join(str(part) for part in fault["loc"])
    return InvalidRequest(f"{field}: {fault['msg'].removeprefix('Value error, ')}")


async def _sources(state: State, resources: Resources, context: Context) -> list[Source]:
    segments = await resources.reader.read_segments([row["segment_id"] for row in state.sources], context.identity)
    by_id = {segment.segment_id: segment for segment in segments}
    return [describe_source(row, by_id[row["segment_id"]]) for row in state.sources if row["segment_id"] in by_id]


async def _passages(state: State, resources: Resources, context: Context) -> Mapping[str, str]:
    ids = dict.fromkeys(row["segment_id"] for row in [*state.sources, *state.candidates])
    segments = await resources.reader.read_segments(list(ids), context.identity)
    return {segment.segment_id: segment.text for segment in segments}


class AnswerStream:
    """The text of a step that writes, on its way to LangGraph's message streams in pieces that stand, with their marks."""

    def __init__(
        self, state: State, context: Context, family: Family, sources: list[Source], run_id: UUID | None
    ) -> None:
        self._buffer = _buffer_of(state, context, family)
        self._text = ChatText(sources)
        self._run_id = run_id
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
    def content(self) -> list[Block]:
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
        model.put(cast(Block | None, each))
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
    _pieces: "asyncio.Queue[Block | None]" = PrivateAttr(default_factory=asyncio.Queue)

    def put(self, piece: Block | None) -> None:
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
