"""The graph behind LangGraph's server takes and gives messages: what its chat clients send, and what they show."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver

from api.studio.chat_steps import ChatSteps, RunFailure
from api.studio.messages import ours_of
from graph.builder import build
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, Revision
from tests.fakes import MemoryLibrary, ScriptedChecker, ScriptedFamily, resources
from tests.graph.asking import FOOD, LEAVE, PAY
from tests.graph.modelled import session
from tests.scripted_openai import ScriptedOpenAI

SAID = "Staff get 25 days of annual leave. Unused days expire in March.[1]"
THREAD: dict[str, Any] = {"configurable": {"thread_id": "one"}}


def chat(family: ScriptedFamily | None = None, **ports: Any) -> Any:
    """Compile the graph as the server has it, over small fakes."""
    behind = resources(MemoryLibrary([LEAVE, PAY, FOOD]), family or ScriptedFamily(), **ports)
    return build(behind, around=ChatSteps(behind)).compile(checkpointer=InMemorySaver())


async def say(graph: Any, text: str, **fields: Any) -> list[AnyMessage]:
    """Send a message to the thread, and return all that it then has."""
    values = await graph.ainvoke({"messages": [{"role": "user", "content": text, **fields}]}, THREAD)
    return list(values["messages"])


def drafts(*sections: str) -> list[Draft]:
    """Write each section at once, with the leave segment as its source."""
    return [part for text in sections for part in (DraftOpened(), DraftText(text), DraftClosed(text, ("handbook:0",)))]


def texts(messages: Sequence[AnyMessage]) -> list[str]:
    return [message.text for message in messages]


async def test_an_answer_is_a_message_with_citations_in_the_standard_form() -> None:
    asked, answer = await say(chat(), "annual leave")
    assert (asked.text, answer.text) == ("annual leave", SAID)
    [block] = answer.content_blocks
    assert [(note["type"], note["title"], note["cited_text"]) for note in block["annotations"]] == [
        ("citation", "handbook", LEAVE.text)
    ] * 2
    first = block["annotations"][0]
    assert SAID[first["start_index"] : first["end_index"]] == "Staff get 25 days of annual leave."
    place = {"segment_id": "handbook:0", "start": 0, "end": len(LEAVE.text), "verdict": "supported", "source_index": 1}
    assert first["extras"]["citewell"] == place
    ours = ours_of(answer)
    assert ours is not None
    assert (ours["outcome"], [source["segment_id"] for source in ours["sources"]]) == ("answered", ["handbook:0"])
    assert {citation["quote"] for citation in ours["citations"]} == {LEAVE.text}


async def test_a_question_is_asked_by_its_field_as_well() -> None:
    values = await chat().ainvoke({"question": "annual leave"}, THREAD)
    assert texts(values["messages"]) == ["annual leave", SAID]


async def test_text_is_streamed_under_the_id_that_the_answer_keeps() -> None:
    graph = chat(ScriptedFamily(drafts=[drafts("supported one.", "supported two.")]), checker=ScriptedChecker())
    sent: AnyMessage | None = None
    pieces = 0
    asked = {"messages": [("user", "annual leave")]}
    async for message, _ in graph.astream(asked, THREAD, stream_mode="messages"):
        if isinstance(message, AIMessageChunk):
            sent = message if sent is None else sent + message
            pieces += bool(message.text)
    [_, answer] = (await graph.aget_state(THREAD)).values["messages"]
    assert sent is not None
    assert pieces > 1
    assert (sent.id, sent.content) == (answer.id, answer.content)


@pytest.mark.parametrize("effort", ["balanced", "thorough"])
async def test_a_models_own_replies_are_not_streamed_as_messages(scripted_openai: ScriptedOpenAI, effort: str) -> None:
    behind = session(scripted_openai).of
    assert behind is not None
    graph = build(behind, around=ChatSteps(behind)).compile(checkpointer=InMemorySaver())
    pieces = [
        message.text
        async for message, _ in graph.astream(
            {"messages": [("user", "Which days of annual leave expire?")]},
            THREAD,
            context={"effort": effort},
            stream_mode="messages",
        )
    ]
    [_, said] = (await graph.aget_state(THREAD)).values["messages"]
    assert scripted_openai.requests
    assert said.text
    assert said.text == "".join(pieces)


async def test_what_failed_is_never_shown_and_a_repair_replaces_what_was_streamed() -> None:
    family = ScriptedFamily(
        drafts=[drafts("supported one.", "contradicted two.")],
        revisions=[[Revision(1, "supported again.", ("handbook:0",))]],
    )
    graph = chat(family, checker=ScriptedChecker())
    shown = [
        values["messages"][-1].text
        async for values in graph.astream({"messages": [("user", "annual leave")]}, THREAD, stream_mode="values")
    ]
    assert list(dict.fromkeys(shown)) == [
        "annual leave", "", "supported one.[1]", "supported one.[1]\n\nsupported again.[1]",
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol:langchain_core._api.beta_decorator.LangChainBetaWarning")
async def test_the_newer_streams_are_told_a_repaired_answer_anew() -> None:
    family = ScriptedFamily(
        drafts=[drafts("contradicted one.", "supported two.")],
        revisions=[[Revision(0, "supported again.", ("handbook:0",))]],
    )
    graph = chat(family, checker=ScriptedChecker())
    stream = await graph.astream_events({"messages": [("user", "annual leave")]}, THREAD, version="v3")
    told = [(await each.output).text async for each in stream.messages]
    assert told[-1] == "supported again.[1]\n\nsupported two.[1]"


async def test_a_follow_up_is_asked_with_the_turns_before_it() -> None:
    family = ScriptedFamily()
    graph = chat(family)
    await say(graph, "annual leave")
    messages = await say(graph, "salaries paid")
    assert texts(messages) == ["annual leave", SAID, "salaries paid", f"{PAY.text}[1]"]
    assert [[turn["question"] for turn in turns] for turns in family.seen_turns] == [[], ["annual leave"]]
    assert family.seen_turns[1][0]["answer"] == LEAVE.text


async def test_messages_before_the_question_are_the_history_of_a_new_thread() -> None:
    family = ScriptedFamily()
    told = [("user", "annual leave"), ("assistant", "25 days.[1]"), ("user", "salaries paid")]
    await chat(family).ainvoke({"messages": told}, THREAD)
    assert family.seen_turns == [
        [{"question": "annual leave", "standalone_question": "annual leave", "answer": "25 days."}]
    ]


async def test_a_message_edited_in_its_place_replaces_what_followed_it() -> None:
    family = ScriptedFamily()
    graph = chat(family)
    [first, *_] = await say(graph, "annual leave")
    await say(graph, "salaries paid")
    messages = await say(graph, "kitchen closes", id=first.id)
    assert texts(messages) == ["kitchen closes", f"{FOOD.text}[1]"]
    assert family.seen_turns[-1] == []


async def test_a_message_of_blocks_is_asked_by_its_text_and_stays_as_it_is() -> None:
    graph = chat()
    content = [{"type": "text", "text": "annual\r\nleave"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    [asked, answer] = (await graph.ainvoke({"messages": [HumanMessage(content=content)]}, THREAD))["messages"]
    assert (asked.content, answer.text) == (content, SAID)
    assert len(await say(graph, "salaries paid")) == 4


async def test_an_answer_that_was_removed_is_written_again() -> None:
    graph = chat()
    [first, answer] = await say(graph, "annual leave")
    again = (await graph.ainvoke({"messages": [RemoveMessage(id=answer.id)]}, THREAD))["messages"]
    assert (again[0].id, texts(again)) == (first.id, ["annual leave", SAID])
    assert again[1].id != answer.id


async def test_regenerated_from_the_state_before_it_an_answer_gets_a_new_id() -> None:
    graph = chat()
    [_, answer] = await say(graph, "annual leave")
    history = [state async for state in graph.aget_state_history(THREAD)]
    first_seen = [state for state in history if any(m.id == answer.id for m in state.values.get("messages", []))][-1]
    again = (await graph.ainvoke(None, first_seen.parent_config))["messages"]
    assert texts(again) == ["annual leave", SAID]
    assert again[1].id != answer.id


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"messages": []},
        {"messages": [("user", " ")]},
        {"messages": [HumanMessage(content=[{"type": "image_url", "image_url": {"url": "data:,"}}])]},
        {"question": "\n"},
        {"messages": [("assistant", "Ask me.")]},
    ],
    ids=["nothing", "no message", "blank", "image", "blank field", "answer"],
)
async def test_without_a_question_a_run_fails_and_says_what_to_send(asked: dict[str, Any]) -> None:
    graph = chat()
    await say(graph, "annual leave")
    with pytest.raises(RunFailure, match=r"^messages: .* `question`") as failed:
        await graph.ainvoke(asked, THREAD)
    assert failed.value.model_dump()["error"] == "invalid_request"
    assert texts(await say(graph, "salaries paid"))[-2:] == ["salaries paid", f"{PAY.text}[1]"]


@pytest.mark.parametrize(
    ("given", "context", "field"),
    [
        ({}, {"top_k": 31}, "context.top_k"),
        ({}, {"max_model_calls": 9}, "context.max_model_calls"),
        ({}, {"web": "always"}, "context.web"),
        ({"page_ids": ["handbook"]}, {}, "page_ids.0"),
        ({"selected_text": "x" * 1001}, {}, "selected_text"),
        ({"question": "x" * 10_001}, {}, "question"),
        ({"history": [{"question": "x"}]}, {}, "history.0.standalone_question"),
    ],
)
async def test_a_run_keeps_to_the_limits_of_its_options(given: Any, context: Any, field: str) -> None:
    with pytest.raises(RunFailure, match=rf"^{field.replace('.', '[.]')}: "):
        await chat().ainvoke({"question": "annual leave", **given}, THREAD, context=context)


async def test_the_texts_of_segments_are_shown_beside_their_ids_and_never_stored() -> None:
    graph = chat()
    updates = [part async for part in graph.astream({"question": "annual leave"}, THREAD, stream_mode="updates")]
    graded = next(part["grade_segments"] for part in updates if "grade_segments" in part)
    assert graded["passages"]["handbook:0"] == LEAVE.text
    async for state in graph.aget_state_history(THREAD):
        assert not state.values.get("passages")


async def test_an_answer_after_an_edit_that_removed_its_message_is_told_all_the_same() -> None:
    graph = chat()
    await graph.ainvoke({"messages": [("user", "annual leave")]}, THREAD, interrupt_after=["grade_segments"])
    [_, answer] = (await graph.aget_state(THREAD)).values["messages"]
    await graph.aupdate_state(THREAD, {"messages": [RemoveMessage(id=answer.id)]}, as_node="grade_segments")
    messages = (await graph.ainvoke(None, THREAD))["messages"]
    assert texts(messages) == ["annual leave", SAID]
    assert isinstance(messages[1], AIMessage)
