"""The Responses API, by what OpenAI's own client, LangChain and the AI SDK's default model make of it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import httpx2
import openai
import pytest
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI
from openai.types.responses import Response, ResponseStreamEvent

from graph.errors import Overloaded
from tests.api.conftest import HANDBOOK, TRAVEL, new_session
from tests.api.test_openai import CHESS, LEAVE, TRAINS, client_at, thinking_client
from tests.scripted_openai import Hold, Reply, Say, ScriptedOpenAI, Think, answer, status
from tests.wire.adapters.openai import document_of
from tests.wire.node_clients import run_client
from tools.runs.runner import Runner
from tools.settings import Settings

PROBATION = "And during probation?"
OWN = "https://wiki.example/handbook#leave"
SAID = "Every employee gets 25 days of annual leave a year. Unused leave lapses in March."
BOTH = "Which class is booked for trains, and how many days of annual leave does an employee get?"
CITED = [
    ("Second class is booked for trains. Journeys above four hours may be in first class.", 1, "Travel policy"),
    (SAID, 2, "Staff handbook"),
]


@pytest.fixture
async def extractive(shared_client: httpx.AsyncClient) -> AsyncIterator[AsyncOpenAI]:
    async with client_at(shared_client.base_url) as client:
        yield client


@pytest.fixture
async def modelled(model_client: httpx.AsyncClient) -> AsyncIterator[AsyncOpenAI]:
    async with client_at(model_client.base_url) as client:
        yield client


async def ask(client: AsyncOpenAI, question: Any, **fields: Any) -> Response:
    made = await client.responses.create(input=question, **fields)
    assert isinstance(made, Response)
    return made


async def events_of(client: AsyncOpenAI, question: Any, **fields: Any) -> list[ResponseStreamEvent]:
    return [event async for event in await client.responses.create(input=question, stream=True, **fields)]


def parts(made: Response) -> list[Any]:
    return [part for item in made.output if item.type == "message" for part in item.content]


def annotations(made: Response) -> list[dict[str, Any]]:
    return [each.model_dump() for part in parts(made) for each in part.annotations]


def shown(text: str, cited: list[dict[str, Any]]) -> list[tuple[str, int, str]]:
    """Give each claim that is annotated, the place of its address among all of them, and its title.

    The text's own numbers have to be those places: clients have nothing else to tell what ``[n]`` stands for.
    """
    urls = list(dict.fromkeys(each["url"] for each in cited))
    claims = [(text[each["start_index"] : each["end_index"]], each["url"], each["title"]) for each in cited]
    for paragraph in text.split("\n\n"):
        [url] = {url for claim, url, _ in claims if claim in paragraph}
        assert paragraph.endswith(f".[{urls.index(url) + 1}]")
    return [(claim, urls.index(url) + 1, title) for claim, url, title in claims]


def told(made: Response) -> list[str]:
    return [summary.text for item in made.output if item.type == "reasoning" for summary in item.summary]


def ours(made: Response) -> dict[str, Any]:
    return dict((made.model_extra or {})["citewell"])


async def test_the_stream_and_the_whole_response_are_the_same(extractive: AsyncOpenAI) -> None:
    whole = await ask(extractive, LEAVE)
    async with extractive.responses.stream(input=LEAVE, model="extractive") as stream:
        streamed = await stream.get_final_response()
    assert whole.output_text == streamed.output_text == f"{SAID}[1]"
    assert annotations(whole) == annotations(streamed)
    assert told(whole) == told(streamed)
    assert told(whole)[:2] == ["Reading the question", "Searching the library"]
    assert (whole.status, streamed.status) == ("completed", "completed")
    assert whole.usage is not None
    assert whole.usage.total_tokens == 0
    [cited] = annotations(whole)
    assert (cited["type"], cited["url"], cited["title"]) == ("url_citation", OWN, "Staff handbook")
    assert whole.output_text[cited["start_index"] : cited["end_index"]] == SAID


async def test_events_come_in_order_and_are_numbered(extractive: AsyncOpenAI) -> None:
    events = await events_of(extractive, LEAVE)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type.removeprefix("response.") for event in events]
    assert kinds[:3] == ["created", "in_progress", "output_item.added"]
    text = kinds.index("content_part.added")
    assert kinds[text - 2 : text] == ["output_item.done", "output_item.added"]
    assert kinds[text:] == [
        "content_part.added",
        "output_text.delta",
        "output_text.annotation.added",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert not any(kind.startswith("reasoning") for kind in kinds[text:])


async def test_an_upload_is_cited_as_a_page_is_and_a_number_is_its_place_among_the_addresses(
    extractive: AsyncOpenAI, shared_client: httpx.AsyncClient
) -> None:
    whole = await ask(extractive, BOTH)
    *events, last = await events_of(extractive, BOTH)
    kind = "response.output_text.annotation.added"
    added = [event.model_dump()["annotation"] for event in events if event.type == kind]
    assert last.type == "response.completed"
    for made in (whole, last.response, await extractive.responses.retrieve(whole.id)):
        assert annotations(made) == added
        assert {each["type"] for each in annotations(made)} == {"url_citation"}
        assert shown(made.output_text, annotations(made)) == CITED
    assert [each["citewell"]["document_id"] for each in annotations(whole)] == [TRAVEL, HANDBOOK]
    page, own = dict.fromkeys(each["url"] for each in annotations(whole))
    assert own == OWN
    assert (await shared_client.get(page)).status_code == 200


async def test_marks_become_links_on_request(extractive: AsyncOpenAI) -> None:
    made = await ask(extractive, LEAVE, extra_body={"citewell": {"links": True, "steps": False}})
    assert made.output_text == f"{SAID}[[1]]({OWN})"
    assert told(made) == []
    headed = await ask(extractive, LEAVE, extra_headers={"X-Citewell-Links": "true"})
    assert headed.output_text == made.output_text


async def test_a_response_is_continued_by_its_id(extractive: AsyncOpenAI, shared_client: httpx.AsyncClient) -> None:
    first = await ask(extractive, "What is the notice period?")
    second = await ask(extractive, PROBATION, previous_response_id=first.id)
    assert "one month" in second.output_text
    assert second.previous_response_id == first.id
    assert ours(first)["session_id"] == ours(second)["session_id"]
    other = await ask(extractive, TRAINS, previous_response_id=first.id)  # beside the second
    session = (await shared_client.get(f"/api/sessions/{ours(other)['session_id']}")).json()
    said = [each["content"] for each in session["messages"] if each["role"] == "user"]
    assert said == ["What is the notice period?", TRAINS]


async def test_an_answer_sent_back_with_its_id_continues_its_conversation(extractive: AsyncOpenAI) -> None:
    first = await ask(extractive, "What is the notice period?")
    sent: list[Any] = [{"role": "user", "content": "What is the notice period?"}]
    followed = {"role": "user", "content": [{"type": "input_text", "text": PROBATION}]}
    reasoning, message = first.output
    for answered in (message.model_dump(), {"type": "item_reference", "id": message.id}):
        second = await ask(extractive, [*sent, reasoning.model_dump(), answered, followed])
        assert "one month" in second.output_text
        assert ours(second)["session_id"] == ours(first)["session_id"]
    unknown = {"type": "item_reference", "id": "msg_7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a99"}
    with pytest.raises(openai.NotFoundError) as error:
        await ask(extractive, [*sent, unknown, followed])
    assert error.value.param == "input.1.id"


async def test_what_is_not_stored_is_neither_listed_nor_read_nor_continued(
    extractive: AsyncOpenAI, shared_client: httpx.AsyncClient
) -> None:
    made = await ask(extractive, LEAVE, store=False)
    assert made.model_extra is not None
    assert made.model_extra["store"] is False
    listed = (await shared_client.get("/api/sessions")).json()["sessions"]
    assert ours(made)["session_id"] not in {session["session_id"] for session in listed}
    for refused in (
        extractive.responses.retrieve(made.id),
        extractive.responses.cancel(made.id),
        extractive.responses.delete(made.id),
        ask(extractive, PROBATION, previous_response_id=made.id),
    ):
        with pytest.raises(openai.NotFoundError):
            await refused


async def test_without_an_id_the_input_is_the_history(
    modelled: AsyncOpenAI, scripted_openai: ScriptedOpenAI, model_client: httpx.AsyncClient
) -> None:
    items: list[Any] = [
        {"role": "developer", "content": "Speak like a pirate."},
        {"role": "user", "content": "What is the notice period?"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"role": "assistant", "content": [{"type": "output_text", "text": "It is three months.[1]"}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"role": "user", "content": [{"type": "input_text", "text": PROBATION}]},
    ]
    await ask(
        modelled,
        items,
        store=False,
        instructions="Be a pirate.",
        temperature=0.1,
        max_output_tokens=5,
        tools=[{"type": "function", "name": "f", "parameters": {}, "strict": False}],
        metadata={"a": "b"},
        truncation="auto",
        include=["reasoning.encrypted_content"],
        reasoning={"summary": "auto"},
    )
    [prepared] = scripted_openai.asked("decide_retrieval")
    assert "It is three months. " not in prepared.text
    assert "It is three months." in prepared.text
    assert "[1]" not in prepared.text
    assert not any("pirate" in exchange.text for exchange in scripted_openai.requests)
    assert (await model_client.get("/api/sessions")).json()["sessions"] == []


async def test_a_conversation_is_a_session_of_ones_own_name(
    extractive: AsyncOpenAI, shared_client: httpx.AsyncClient
) -> None:
    first = await ask(extractive, "What is the notice period?", conversation="case 7")
    second = await ask(extractive, PROBATION, conversation={"id": "case 7"})
    assert "one month" in second.output_text
    assert second.conversation is not None
    assert second.conversation.id == "case 7"
    assert (await extractive.responses.retrieve(first.id)).conversation == second.conversation
    session_id = await new_session(shared_client)
    third = await ask(extractive, LEAVE, conversation=f"conv_{session_id}")
    assert ours(third)["session_id"] == session_id


async def test_a_response_is_read_again_with_its_input_and_deleted(extractive: AsyncOpenAI) -> None:
    made = await ask(extractive, LEAVE)
    again = await extractive.responses.retrieve(made.id)
    assert (again.output, again.status, again.created_at) == (made.output, made.status, made.created_at)
    [asked] = [item async for item in extractive.responses.input_items.list(made.id)]
    assert (asked.role, asked.content[0].text) == ("user", LEAVE)
    await extractive.responses.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        await extractive.responses.retrieve(made.id)


async def test_a_response_within_a_conversation_is_not_deleted_alone(extractive: AsyncOpenAI) -> None:
    made = await ask(extractive, LEAVE)
    await ask(extractive, TRAINS, previous_response_id=made.id)
    with pytest.raises(openai.BadRequestError, match="DELETE /api/sessions/"):
        await extractive.responses.delete(made.id)
    assert (await extractive.responses.retrieve(made.id)).output_text == made.output_text


async def test_a_stream_is_joined_again_after_any_event(extractive: AsyncOpenAI) -> None:
    events = await events_of(extractive, LEAVE)
    made = events[-1]
    assert made.type == "response.completed"
    for after in (0, 5, len(events) - 2, len(events) + 9):
        joined = await extractive.responses.retrieve(made.response.id, stream=True, starting_after=after)
        rest = [event async for event in joined]
        expected = events[after + 1 :] or events[-1:]
        assert [each.sequence_number for each in rest] == [each.sequence_number for each in expected]
        assert [each.type for each in rest] == [each.type for each in expected]


async def test_a_response_in_the_background_outlives_its_request_and_is_cancelled(
    modelled: AsyncOpenAI, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say('{"sections": [{"text": "Every'), hold]), to="generate_answer")
    made = await ask(modelled, LEAVE, background=True)
    assert made.status in ("queued", "in_progress")
    assert made.output == []
    await asyncio.to_thread(hold.wait_reached)
    assert (await modelled.responses.retrieve(made.id)).status == "in_progress"
    with pytest.raises(openai.ConflictError) as error:
        await modelled.responses.delete(made.id)
    assert error.value.code == "session_busy"
    cancelled = await modelled.responses.cancel(made.id)
    assert (cancelled.status, ours(cancelled)["stop_reason"]) == ("cancelled", "cancel_requested")
    assert (await modelled.responses.retrieve(made.id)).status == "cancelled"


async def test_a_stream_that_is_stopped_ends_as_incomplete(
    modelled: AsyncOpenAI, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say('{"sections": [{"text": "Every'), hold]), to="generate_answer")
    stream = await modelled.responses.create(input=LEAVE, stream=True)
    first = await anext(stream)
    assert first.type == "response.created"
    await asyncio.to_thread(hold.wait_reached)
    await modelled.responses.cancel(first.response.id)
    *_, last = [event async for event in stream]
    assert last.type == "response.incomplete"
    assert last.response.status == "cancelled"


async def test_an_abstention_is_an_answer_that_cites_nothing(extractive: AsyncOpenAI) -> None:
    made = await ask(extractive, CHESS)
    assert (made.status, annotations(made), ours(made)["outcome"]) == ("completed", [], "abstained")
    assert made.output_text


async def test_a_model_that_fails_is_an_error_before_the_stream_and_the_end_of_it(
    modelled: AsyncOpenAI, scripted_openai: ScriptedOpenAI
) -> None:
    scripted_openai.script(status(401, "key sk-secret is wrong"), status(401), to="generate_answer")
    with pytest.raises(openai.InternalServerError) as refused:
        await ask(modelled, LEAVE)
    assert (refused.value.status_code, refused.value.code) == (503, "model_refused")
    *_, last = await events_of(modelled, LEAVE)
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert last.response.error.code == "model_refused"
    assert "sk-secret" not in last.to_json()
    again = await modelled.responses.retrieve(last.response.id)
    assert (again.status, again.error) == ("failed", last.response.error)


async def test_a_full_service_leaves_no_empty_session(
    extractive: AsyncOpenAI, shared_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: Any) -> None:
        raise Overloaded("As many runs are going and waiting as this process takes.")

    listed = (await shared_client.get("/api/sessions")).json()["sessions"]
    monkeypatch.setattr(Runner, "start", full)
    with pytest.raises(openai.InternalServerError) as error:
        await ask(extractive, LEAVE)
    assert (error.value.status_code, error.value.code) == (503, "overloaded")
    assert (await shared_client.get("/api/sessions")).json()["sessions"] == listed


async def test_half_a_surrogate_pair_is_a_fault_of_the_request(shared_client: httpx.AsyncClient) -> None:
    for field in (rb'"input": "\ud800"', rb'"input": "?", "conversation": "\ud800"', rb'"input": 5'):
        response = await shared_client.post("/v1/responses", content=b"{" + field + b"}")
        assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")


async def test_thoughts_are_summaries_beside_the_steps(settings: Settings, scripted_openai: ScriptedOpenAI) -> None:
    quoted = answer({"text": SAID, "source_ids": [f"{HANDBOOK}:0"]})
    thoughts = Reply(steps=[Think("Let me "), Think("see."), *quoted.steps])
    async with thinking_client(settings, scripted_openai) as client:
        scripted_openai.script(thoughts, thoughts, to="generate_answer")
        whole = await ask(client, LEAVE, reasoning={"effort": "high"})
        events = await events_of(client, LEAVE, reasoning={"effort": "low"})
    assert "Let me see." in told(whole)
    deltas = [event.delta for event in events if event.type == "response.reasoning_summary_text.delta"]
    assert "Let me see." in "".join(deltas)
    assert "Let me" not in whole.output_text


PICTURE = {"type": "input_image", "image_url": "https://wiki.example/a.png"}
FILE = {"type": "input_file", "file_id": "f1"}
FORM = 'Reply in JSON: {"title": "Answer", "properties": {"answer": {"type": "string"}}}'


@pytest.mark.parametrize(
    ("changed", "param"),
    [
        ({"input": []}, "input"),
        ({"input": " "}, "input"),
        ({"input": [{"role": "assistant", "content": "Hello"}]}, "input"),
        ({"input": [{"type": "reasoning", "id": "rs_1", "summary": []}]}, "input.0"),
        ({"input": [{"role": "user", "content": [{"type": "input_text", "text": "?"}, PICTURE]}]}, "input.0.content.1"),
        ({"input": [{"role": "user", "content": [FILE]}]}, "input.0.content.0"),
        ({"input": "a" * 10_001}, "input.0.content"),
        ({"text": {"format": {"type": "json_object"}}}, "text.format"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"instructions": FORM}, "instructions"),
        ({"input": [{"role": "developer", "content": FORM}, {"role": "user", "content": LEAVE}]}, "input.0.content"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"store": False, "background": True}, "background"),
        ({"store": False, "conversation": "c1"}, "store"),
        ({"previous_response_id": "resp_1", "conversation": "c1"}, "previous_response_id"),
        ({"extra_body": {"citewell": {"top_k": 31}}}, "citewell.top_k"),
    ],
)
async def test_what_cannot_be_served_is_refused_by_its_name(
    extractive: AsyncOpenAI, changed: dict[str, Any], param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as error:
        await extractive.responses.create(**{"input": LEAVE, **changed})
    assert (error.value.type, error.value.param) == ("invalid_request_error", param)


@pytest.mark.parametrize("id_", ["resp_7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a99", "resp_x", "none"])
async def test_a_response_that_is_not_there_is_not_found(extractive: AsyncOpenAI, id_: str) -> None:
    with pytest.raises(openai.NotFoundError):
        await extractive.responses.retrieve(id_)
    with pytest.raises(openai.NotFoundError) as error:
        await ask(extractive, LEAVE, previous_response_id=id_)
    assert error.value.param == "previous_response_id"


async def test_an_unknown_route_names_what_there_is(shared_client: httpx.AsyncClient) -> None:
    response = await shared_client.post("/v1/embeddings", json={})
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (404, "not_found")
    assert "POST /v1/embeddings" in error["message"]
    for route in ("POST /v1/chat/completions", "POST /v1/responses", "GET /v1/models"):
        assert route in error["message"]


async def test_langchain_shows_our_citations_in_its_responses_mode(shared_client: httpx.AsyncClient) -> None:
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
        model = ChatOpenAI(
            model="extractive",
            base_url=f"{str(shared_client.base_url).rstrip('/')}/v1",
            api_key="none",
            http_async_client=http,
            max_retries=0,
            use_responses_api=True,
        )
        whole = await model.ainvoke(LEAVE)
        streamed = None
        async for chunk in model.astream(LEAVE):
            streamed = chunk if streamed is None else streamed + chunk
        followed = await model.ainvoke([("user", "What is the notice period?"), whole, ("user", TRAINS)])
        both = await model.ainvoke(BOTH)
    assert streamed is not None
    for message in (whole, streamed):
        [text] = [block for block in message.content_blocks if block["type"] == "text"]
        assert text["text"] == f"{SAID}[1]"
        [cited] = text["annotations"]
        assert (cited["type"], cited["url"], cited["title"]) == ("citation", OWN, "Staff handbook")
        assert text["text"][cited["start_index"] : cited["end_index"]] == SAID
    [text] = [block for block in followed.content_blocks if block["type"] == "text"]
    [cited, *_] = text["annotations"]
    assert cited["title"] == "Travel policy"
    [text] = [block for block in both.content_blocks if block["type"] == "text"]
    assert shown(text["text"], [dict(each) for each in text["annotations"]]) == CITED


async def test_the_default_model_of_the_ai_sdk_shows_our_citations(shared_client: httpx.AsyncClient) -> None:
    asked = json.dumps([LEAVE, TRAINS, BOTH])
    first, second, both = await run_client(
        "openai_responses.mjs", str(shared_client.base_url), asked, client="@ai-sdk/openai"
    )
    for each in (first, second, both):
        assert each["streamed"]["text"] == each["whole"]["text"]
        assert each["streamed"]["sources"] == each["whole"]["sources"]
        assert each["streamed"]["reasoning"] == each["whole"]["reasoning"]
        assert each["streamed"]["finishReason"] == each["whole"]["finishReason"] == "stop"
    assert first["whole"]["text"] == f"{SAID}[1]"
    [source] = first["whole"]["sources"]
    assert (source["sourceType"], source["url"], source["title"]) == ("url", OWN, "Staff handbook")
    assert {document_of(each["url"]) for each in first["whole"]["sources"]} == {HANDBOOK}
    [source, *_] = second["whole"]["sources"]
    assert (source["sourceType"], source["title"]) == ("url", "Travel policy")
    assert document_of(source["url"]) == TRAVEL
    assert "25 days" not in second["whole"]["text"]
    assert [(document_of(each["url"]), each["title"]) for each in both["whole"]["sources"]] == [
        (TRAVEL, "Travel policy"),
        (HANDBOOK, "Staff handbook"),
    ]
    assert re.findall(r"\[(\d)\]", both["whole"]["text"]) == ["1", "2"]
    assert second["session"] == first["session"]  # it sends back references to what is stored here
