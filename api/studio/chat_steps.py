"""The graph's steps as chat clients of LangGraph need them: messages beside the graph's own fields.

Each step runs as it is. Before the first one the run's question is found among the messages; before each the options of
the run are checked. What a step writes is streamed as a chat model's message, which the last step completes, under one
id.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from langchain_core.messages import RemoveMessage
from langgraph.runtime import Runtime
from pydantic import TypeAdapter, ValidationError

from answers.citations import describe_sources
from api.fields import SearchOptions
from api.studio.messages import answer_message, answer_of, new_answer, read_question
from api.studio.streaming import AnswerStream, stream_again
from graph.builder import StepNode, Update
from graph.context import Context
from graph.errors import CitewellError, InvalidRequest
from graph.events import AnyEvent
from graph.evidence import Source
from graph.ports import Resources
from graph.rows import FIRST_STEP, Turn
from graph.state import State
from tools.retrieval.segment_store import resources_of_run
from tools.runs.completion import finished_message

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
        if name in WRITING and not state.sections:  # a repair is not streamed as it is written
            sources = await _sources(state, resources, context)
            async with AnswerStream(state, context, family, sources, answer) as stream:

                def emit(event: AnyEvent) -> None:
                    runtime.stream_writer(event)
                    stream.feed(event)

                update = dict(await node(state, runtime.override(stream_writer=emit)))
            if stream.content:
                # Until the run ends, the message has no more than what has left: what failed may still be repaired.
                answer = answer.model_copy(update={"content": stream.content})
                update["messages"] = [answer]
        else:
            update = dict(await node(state, runtime))
        after = replace(state, **{field: update[field] for field in SHOWN if field in update})
        if after.outcome:
            message = await finished_message(after, resources.reader, context.identity, family.name)
            told = answer_message(answer, message, after)
            if told.content != answer.content:
                await stream_again(told)
            update["messages"] = [told]
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
    return describe_sources(state.sources, by_id)


async def _passages(state: State, resources: Resources, context: Context) -> Mapping[str, str]:
    ids = dict.fromkeys(row["segment_id"] for row in [*state.sources, *state.candidates])
    segments = await resources.reader.read_segments(list(ids), context.identity)
    return {segment.segment_id: segment.text for segment in segments}
