"""Chat Completions, by what OpenAI's own Python client makes of it, and LangChain's ChatOpenAI on top of that."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
import openai
import pytest
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.errors import Overloaded
from graph.evidence import Identity
from tests.api.conftest import HANDBOOK, LIBRARY, TRAVEL, new_session, with_model
from tests.api.serving import served
from tests.scripted_openai import Fail, Hold, Reply, Say, ScriptedOpenAI, Think, answer, status
from tests.wire.adapters.openai import OpenAIAdapter, document_of
from tools.runs.live_run import Run
from tools.runs.runner import Runner
from tools.sessions.run_request import RunRequest
from tools.settings import Settings

LEAVE = "How many days of annual leave does an employee get?"
TRAINS = "Which class is booked for trains?"
CHESS = "Who won the chess championship of 1972?"
FORM = 'JSON by this schema:\n\n{"properties": {"answer": {"type": "string"}}, "title": "Answer"}\n\nNothing else.'


def asked(*texts: str, **fields: Any) -> dict[str, Any]:
    """Lay out a conversation, the user first."""
    roles = ["user", "assistant"] * len(texts)
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    return {"model": "", "messages": messages, **fields}


def client_at(url: httpx.URL | str, **options: Any) -> AsyncOpenAI:
    """Give a client that asks once and knows no proxy."""
    http = httpx2.AsyncClient(trust_env=False, timeout=60)
    return AsyncOpenAI(
        base_url=f"{str(url).rstrip('/')}/v1", api_key="none", http_client=http, max_retries=0, **options
    )


@pytest.fixture
async def extractive(shared_client: httpx.AsyncClient) -> AsyncIterator[AsyncOpenAI]:
    async with client_at(shared_client.base_url) as client:
        yield client


@pytest.fixture
async def modelled(model_client: httpx.AsyncClient) -> AsyncIterator[AsyncOpenAI]:
    async with client_at(model_client.base_url) as client:
        yield client


async def chunks_of(client: AsyncOpenAI, **body: Any) -> list[ChatCompletionChunk]:
    return [chunk async for chunk in await client.chat.completions.create(**body, stream=True)]


def text_of(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def events_of(chunks: list[ChatCompletionChunk], kind: str) -> list[dict[str, Any]]:
    told = [(chunk.model_extra or {}).get("event", {}) for chunk in chunks]
    return [event["data"] for event in told if event.get("type") == kind]


@pytest.mark.parametrize(
    "instructions",
    [
        'You have tools: {"name": "search", "parameters": {"title": "Search", "properties": {}}}',
        'Tool arguments: {"type": "object", "properties": {"input": {"type": "string"}}}',
        "{ not JSON",
        "{" + "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
async def test_instructions_that_ask_for_no_form_are_passed_over(extractive: AsyncOpenAI, instructions: str) -> None:
    messages: Any = [{"role": "system", "content": instructions}, {"role": "user", "content": LEAVE}]
    made = await extractive.chat.completions.create(model="", messages=messages)
    assert made.choices[0].message.annotations


@pytest.mark.parametrize(
    "prompt",
    [
        "\nCurrent Task: {asked}\n\nThis is the expected criteria for your final answer: One sentence\nyou MUST return "
        "the actual complete content as the final answer, not a summary.\n\nProvide your complete response:",
        "[[ ## question ## ]]\n{asked}\n\nRespond with the corresponding output fields, starting with the field "
        "`[[ ## answer ## ]]`, and then ending with the marker for `[[ ## completed ## ]]`.",
        "Use the tools to answer.\n\n{asked}\n\nAnswer in one sentence.",
    ],
)
async def test_a_question_that_a_framework_wraps_is_answered(extractive: AsyncOpenAI, prompt: str) -> None:
    bare = await extractive.chat.completions.create(**asked(LEAVE))
    made = await extractive.chat.completions.create(**asked(prompt.format(asked=LEAVE)))
    assert made.choices[0].message.content == bare.choices[0].message.content
    assert made.choices[0].message.annotations


async def test_models_are_listed_with_the_default_first(modelled: AsyncOpenAI) -> None:
    models = [model async for model in modelled.models.list()]
    assert [(model.id, model.owned_by) for model in models] == [("scripted", "citewell"), ("extractive", "citewell")]
    assert [(model.model_extra or {})["thinking"] for model in models] == [False, False]
    assert (await modelled.models.retrieve("extractive")).id == "extractive"
    with pytest.raises(openai.NotFoundError) as error:
        await modelled.models.retrieve("openai/gpt-4")
    assert (error.value.code, error.value.param) == ("model_not_found", "model")


async def test_the_stream_helper_and_the_whole_answer_are_the_same(extractive: AsyncOpenAI) -> None:
    whole = (await extractive.chat.completions.create(**asked(LEAVE))).choices[0]
    async with extractive.chat.completions.stream(**asked(LEAVE)) as stream:
        final = (await stream.get_final_completion()).choices[0]
    assert final.message.content == whole.message.content
    assert "25 days" in str(whole.message.content)
    assert final.message.annotations == whole.message.annotations
    assert final.finish_reason == whole.finish_reason == "stop"
    [annotation, *_] = whole.message.annotations or []
    cited = annotation.url_citation
    span = str(whole.message.content)[cited.start_index : cited.end_index]
    assert span == "Every employee gets 25 days of annual leave a year. Unused leave lapses in March."
    assert (cited.title, cited.url) == ("Staff handbook", "https://wiki.example/handbook#leave")
    assert str(whole.message.content)[cited.end_index :].startswith("[1]")


async def test_a_document_without_an_address_is_cited_at_its_page(
    extractive: AsyncOpenAI, shared_client: httpx.AsyncClient
) -> None:
    made = await extractive.chat.completions.create(**asked(TRAINS))
    [url, *_] = [each.url_citation.url for each in made.choices[0].message.annotations or []]
    assert url == f"{str(shared_client.base_url).rstrip('/')}/documents/{TRAVEL}#segment-0"
    page = await shared_client.get(url)
    assert page.status_code == 200
    assert 'id="segment-0"' in page.text
    assert document_of(url) == TRAVEL


async def test_chunks_come_in_the_order_that_clients_know(shared_client: httpx.AsyncClient) -> None:
    response = await OpenAIAdapter().ask(shared_client, LEAVE)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert b"\r" not in response.content
    frames = [line.removeprefix("data: ") for line in response.text.split("\n") if line.startswith("data: ")]
    assert frames[-1] == "[DONE]"
    chunks = [ChatCompletionChunk.model_validate_json(frame) for frame in frames[:-1]]
    assert len({(chunk.id, chunk.created, chunk.model) for chunk in chunks}) == 1
    assert chunks[0].id == f"chatcmpl-{response.headers['x-request-id']}"
    deltas = [chunk.choices[0].delta.model_dump(exclude_unset=True) for chunk in chunks]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert [set(delta) for delta in deltas[1:]] == [*([{"content"}] * (len(deltas) - 3)), {"annotations"}, set()]
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [*([None] * (len(chunks) - 1)), "stop"]
    heard = OpenAIAdapter().heard(response.content)
    assert (heard.ended, heard.cited) == ("done", {HANDBOOK})
    assert "[" not in heard.answer


async def test_usage_is_told_where_it_is_asked_for(
    extractive: AsyncOpenAI, modelled: AsyncOpenAI, scripted_openai: ScriptedOpenAI
) -> None:
    assert all(chunk.usage is None for chunk in await chunks_of(extractive, **asked(LEAVE)))
    *_, last = await chunks_of(extractive, **asked(LEAVE), stream_options={"include_usage": True})
    assert (last.choices, last.usage and last.usage.total_tokens) == ([], 0)
    *_, last = await chunks_of(modelled, **asked(LEAVE), stream_options={"include_usage": True})
    assert last.usage is not None
    assert last.usage.total_tokens == last.usage.prompt_tokens == 42 * len(scripted_openai.requests)


async def test_an_abstention_is_an_answer_that_cites_nothing(extractive: AsyncOpenAI) -> None:
    made = await extractive.chat.completions.create(**asked(CHESS))
    assert (made.choices[0].finish_reason, made.choices[0].message.annotations) == ("stop", [])
    assert made.choices[0].message.content
    assert made.model_extra is not None
    assert made.model_extra["citewell"]["outcome"] == "abstained"


async def test_a_session_of_ones_own_remembers_what_the_messages_do_not_say(
    extractive: AsyncOpenAI, shared_client: httpx.AsyncClient
) -> None:
    session_id = await new_session(shared_client)
    own: Any = {"metadata": {"session_id": session_id}}
    await extractive.chat.completions.create(**asked("What is the notice period?"), **own)
    again = asked(TRAINS, "First class.", "And during probation?")
    made = await extractive.chat.completions.create(**again, **own)
    assert "one month" in str(made.choices[0].message.content)
    session = (await shared_client.get(f"/api/sessions/{session_id}")).json()
    said = [message["content"] for message in session["messages"] if message["role"] == "user"]
    assert said == ["What is the notice period?", "And during probation?"]


async def test_without_a_session_the_messages_are_the_history_and_nothing_is_listed(
    modelled: AsyncOpenAI, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    messages = [
        {"role": "system", "content": "Speak like a pirate."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "What is the"}, {"type": "text", "text": "notice period?"}],
        },
        {"role": "assistant", "content": "It is three months.[1][[2]](https://wiki.example/x) See a[0]."},
        {"role": "tool", "tool_call_id": "t1", "content": "ignored"},
        {"role": "user", "content": "And during probation?\r\n"},
    ]
    made = await modelled.chat.completions.create(
        model="citewell",
        messages=messages,
        temperature=0.2,
        max_tokens=5,
        n=1,
        tools=[],
        user="u",
        extra_body={"x": 1},
    )
    assert made.model == "scripted"
    [prepared] = scripted_openai.asked("decide_retrieval")
    assert "What is the notice period?" in prepared.text
    assert "It is three months. See a[0]." in prepared.text
    assert not any("pirate" in exchange.text for exchange in scripted_openai.requests)
    assert (await model_client.get("/api/sessions")).json()["sessions"] == []
    assert made.model_extra is not None
    kept = (await model_client.get(f"/api/sessions/{made.model_extra['citewell']['session_id']}")).json()
    assert [message["role"] for message in kept["messages"]] == ["user", "assistant"]


@pytest.mark.parametrize(
    ("changed", "param"),
    [
        ({"n": 2}, "n"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"messages": [{"role": "system", "content": FORM}, {"role": "user", "content": LEAVE}]}, "messages.0.content"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "robot", "content": "Hello"}]}, "messages.0.role"),
        ({"messages": [{"role": "assistant", "content": "Hello"}]}, "messages"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}, "messages.0.content.0"),
        ({"messages": [{"role": "user", "content": "a" * 10_001}]}, "messages.0.content"),
        ({"metadata": {"session_id": "c1"}}, "metadata.session_id"),
        ({"extra_body": {"citewell": {"event": True}}}, "citewell.event"),
        ({"extra_body": {"citewell": {"top_k": 31}}}, "citewell.top_k"),
    ],
)
async def test_what_cannot_be_served_is_refused_by_its_name(
    extractive: AsyncOpenAI, changed: dict[str, Any], param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as error:
        await extractive.chat.completions.create(**{**asked(LEAVE), **changed})
    assert (error.value.type, error.value.param, error.value.code) == (
        "invalid_request_error",
        param,
        "invalid_request",
    )


async def test_what_is_not_there_is_not_found(extractive: AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as error:
        await extractive.chat.completions.create(**{**asked(LEAVE), "model": "gpt-4"})
    assert (error.value.code, error.value.param) == ("model_not_found", "model")
    metadata = {"session_id": "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a99"}
    with pytest.raises(openai.NotFoundError) as error:
        await extractive.chat.completions.create(**asked(LEAVE), metadata=metadata)
    assert error.value.code == "not_found"


async def test_an_overloaded_service_says_when_to_come_back(
    extractive: AsyncOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: Any) -> None:
        raise Overloaded("As many runs are going and waiting as this process takes.")

    monkeypatch.setattr(Runner, "start", full)
    with pytest.raises(openai.InternalServerError) as error:
        await chunks_of(extractive, **asked(LEAVE))
    assert (error.value.status_code, error.value.code, error.value.type) == (503, "overloaded", "server_error")
    assert int(error.value.response.headers["retry-after"]) > 0


async def test_the_client_asks_again_by_itself_where_the_service_was_full(
    extractive: AsyncOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, asked_for = Runner.start, 0

    async def full_at_first(self: Runner, session_id: str, request: RunRequest) -> Run:
        nonlocal asked_for
        asked_for += 1
        if asked_for == 1:
            raise Overloaded("As many runs are going and waiting as this process takes.")
        return await start(self, session_id, request)

    monkeypatch.setattr(Runner, "start", full_at_first)
    monkeypatch.setattr("api.problems.RETRY_AFTER_SECONDS", 0)  # the client then waits for half a second
    made = await extractive.with_options(max_retries=1).chat.completions.create(**asked(LEAVE))
    assert (made.choices[0].finish_reason, asked_for) == ("stop", 2)


async def test_half_a_surrogate_pair_is_a_fault_of_the_request(shared_client: httpx.AsyncClient) -> None:
    body = rb'{"messages": [{"role": "user", "content": "\ud800"}]}'
    response = await shared_client.post("/v1/chat/completions", content=body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_request"


async def test_a_model_that_fails_is_an_error_before_or_in_the_middle_of_the_answer(
    modelled: AsyncOpenAI, scripted_openai: ScriptedOpenAI
) -> None:
    scripted_openai.script(status(401, "key sk-secret is wrong"), status(401), to="generate_answer")
    with pytest.raises(openai.InternalServerError) as refused:
        await modelled.chat.completions.create(**asked(LEAVE))
    assert (refused.value.status_code, refused.value.code) == (503, "model_refused")
    assert "sk-secret" not in str(refused.value)
    with pytest.raises(openai.APIError) as broken:
        await chunks_of(modelled, **asked(LEAVE))
    assert not isinstance(broken.value, openai.APIStatusError)
    assert (broken.value.code, broken.value.type) == ("model_refused", "server_error")


async def test_a_run_that_is_stopped_ends_as_text_that_was_cut_off(
    modelled: AsyncOpenAI, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[Say('{"sections": [{"text": "Every'), hold]), to="generate_answer")
    stream = await modelled.chat.completions.create(**asked(LEAVE), stream=True)
    first = await anext(stream)
    await asyncio.to_thread(hold.wait_reached)
    assert (await model_client.post(f"/api/runs/{first.id.removeprefix('chatcmpl-')}/cancel")).status_code == 200
    *_, last = [chunk async for chunk in stream]
    assert last.choices[0].finish_reason == "length"
    assert last.model_extra is not None
    assert last.model_extra["citewell"]["stop_reason"] == "cancel_requested"


@pytest.mark.parametrize("streaming", [True, False], ids=["stream", "json"])
async def test_a_client_that_leaves_cancels_the_run(
    modelled: AsyncOpenAI, scripted_openai: ScriptedOpenAI, streaming: bool
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold]), to="generate_answer")
    body = asked(LEAVE, stream=streaming)
    leaving = asyncio.create_task(chunks_of(modelled, **asked(LEAVE)) if streaming else _create(modelled, body))
    await asyncio.to_thread(hold.wait_reached)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    assert await asyncio.to_thread(scripted_openai.asked("generate_answer")[0].wait_disconnected)


async def _create(client: AsyncOpenAI, body: dict[str, Any]) -> Any:
    return await client.chat.completions.create(**body)


async def test_a_busy_session_is_a_conflict(
    modelled: AsyncOpenAI, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    hold = Hold()
    scripted_openai.script(Reply(steps=[hold]), to="generate_answer")
    own: Any = {"metadata": {"session_id": await new_session(model_client)}}
    stream = await modelled.chat.completions.create(**asked(LEAVE), **own, stream=True)
    await asyncio.to_thread(hold.wait_reached)
    with pytest.raises(openai.ConflictError) as error:
        await modelled.chat.completions.create(**asked(TRAINS), **own)
    assert error.value.code == "session_busy"
    await stream.close()


@pytest.mark.parametrize(
    "switch", [{"extra_headers": {"X-Citewell-Events": "true"}}, {"extra_body": {"citewell": {"events": True}}}]
)
async def test_open_webui_is_told_sources_by_number_and_what_is_being_done(
    extractive: AsyncOpenAI, switch: dict[str, Any]
) -> None:
    chunks = await chunks_of(extractive, **asked(LEAVE), **switch)
    sources = events_of(chunks, "source")
    first_text = next(at for at, chunk in enumerate(chunks) if chunk.choices and chunk.choices[0].delta.content)
    numbered, quoted = events_of(chunks[:first_text], "source"), events_of(chunks[first_text:], "source")
    assert [*numbered, *quoted] == sources
    names = [source["metadata"][0]["source"] for source in numbered]
    assert {source["metadata"][0]["source"] for source in quoted} <= set(names), "more text of the same sources"
    assert len(set(names)) == len(names)
    assert all(0 <= source["distances"][0] <= 1 for source in sources)
    for number in map(int, re.findall(r"\[(\d+)\]", text_of(chunks))):
        assert sources[number - 1]["metadata"][0]["name"] == "Staff handbook"
    statuses = events_of(chunks, "status")
    assert [each["description"] for each in statuses][:2] == ["Reading the question", "Searching the library"]
    assert [each["done"] for each in statuses] == [*([False] * (len(statuses) - 1)), True]
    assert not any("annotations" in (choice.delta.model_extra or {}) for chunk in chunks for choice in chunk.choices)


async def test_a_failure_takes_open_webui_out_of_its_waiting(
    modelled: AsyncOpenAI, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    scripted_openai.script(Reply([Say('{"sections":['), Fail()]), Reply([Fail()]), to="generate_answer")
    body = asked(LEAVE, stream=True, citewell={"events": True})
    told = (await model_client.post("/v1/chat/completions", json=body)).text
    assert '"description":"The answer failed","done":true' in told
    assert '{"error":{"message"' in told.split("\n\n")[-3]


async def test_what_an_interface_asks_about_a_chat_is_answered_without_a_run(
    modelled: AsyncOpenAI, model_client: httpx.AsyncClient, scripted_openai: ScriptedOpenAI
) -> None:
    history = f"<chat_history>\nUSER: {LEAVE}\nASSISTANT: 25 days.[1]\n{'x' * 20_000}</chat_history>"
    task = f'### Task:\nGive it a title.\n### Output:\nJSON format: {{ "title": "a title" }}\n{history}'
    made = await modelled.chat.completions.create(**asked(task))
    assert made.choices[0].message.content == f'{{"title": "{LEAVE}"}}'
    chunks = await chunks_of(modelled, **asked(task))
    assert text_of(chunks) == made.choices[0].message.content
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert scripted_openai.requests == []
    assert (await model_client.get("/api/runs")).json()["runs"] == []


async def test_an_answer_in_a_form_is_refused_with_what_to_do(extractive: AsyncOpenAI) -> None:
    form: Any = {"type": "json_schema", "json_schema": {"name": "leave", "schema": {}}}
    with pytest.raises(openai.BadRequestError, match="response_format: "):
        await extractive.chat.completions.create(**asked(LEAVE), response_format=form)


async def test_marks_become_links_for_clients_that_show_markdown_alone(extractive: AsyncOpenAI) -> None:
    links: Any = {"extra_headers": {"X-Citewell-Links": "true"}}
    chunks = await chunks_of(extractive, **asked(LEAVE), **links)
    assert "[[1]](https://wiki.example/handbook#leave)" in text_of(chunks)
    whole = (await extractive.chat.completions.create(**asked(LEAVE), **links)).choices[0].message
    assert whole.content == text_of(chunks)
    for annotation in whole.annotations or []:
        cited = annotation.url_citation
        assert whole.content[cited.end_index :].startswith(f"[[1]]({cited.url})")


@asynccontextmanager
async def thinking_client(settings: Settings, server: ScriptedOpenAI) -> AsyncIterator[AsyncOpenAI]:
    [model] = with_model(settings, server).models
    configured = settings.model_copy(
        update={"models": [model.model_copy(update={"thinking_model": "deep"})], "default_model": "scripted"}
    )
    async with open_citewell(configured) as opened:
        for document in LIBRARY:
            await opened.library.ingestor.ingest(Identity(), document)
        async with served(create_app(configured, citewell=opened)) as url, client_at(url) as client:
            yield client


async def test_a_reasoning_effort_asks_the_thinking_model_and_its_thoughts_stay_apart(
    settings: Settings, scripted_openai: ScriptedOpenAI
) -> None:
    quoted = answer({"text": "Every employee gets 25 days of annual leave a year.", "source_ids": [f"{HANDBOOK}:0"]})
    thoughts = Reply(steps=[Think("Let me "), Think("see."), *quoted.steps])
    async with thinking_client(settings, scripted_openai) as client:
        scripted_openai.script(thoughts, thoughts, to="generate_answer")
        chunks = await chunks_of(client, **asked(LEAVE, reasoning_effort="high"))
        whole = (await client.chat.completions.create(**asked(LEAVE, reasoning_effort="low"))).choices[0].message
        await client.chat.completions.create(**asked(LEAVE, reasoning_effort="none"))
    extras = [choice.delta.model_extra or {} for chunk in chunks for choice in chunk.choices]
    thought = "".join(extra.get("reasoning_content", "") for extra in extras)
    assert thought == (whole.model_extra or {})["reasoning_content"] == "Let me see."
    assert "see" not in text_of(chunks)
    assert [exchange.body["model"] for exchange in scripted_openai.asked("generate_answer")] == ["deep", "deep", "any"]


async def test_an_effort_is_no_error_where_no_model_thinks(extractive: AsyncOpenAI) -> None:
    assert (await extractive.chat.completions.create(**asked(LEAVE, reasoning_effort="high"))).choices


async def test_citewells_own_options_bound_the_search(extractive: AsyncOpenAI) -> None:
    only: Any = {"extra_body": {"citewell": {"page_ids": [TRAVEL], "only_selected_pages": True}}}
    made = await extractive.chat.completions.create(**asked("What does the page say of trains?"), **only)
    urls = {each.url_citation.url for each in made.choices[0].message.annotations or []}
    assert {document_of(url) for url in urls} == {TRAVEL}


async def test_langchain_reads_it_as_any_chat_model(shared_client: httpx.AsyncClient) -> None:
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
        model = ChatOpenAI(
            model="extractive",
            base_url=f"{str(shared_client.base_url).rstrip('/')}/v1",
            api_key="none",
            http_async_client=http,
            max_retries=0,
        )
        whole = await model.ainvoke(LEAVE)
        streamed = [chunk async for chunk in model.astream(LEAVE)]
        shown = [chunk async for chunk in model.astream(LEAVE, extra_headers={"X-Citewell-Events": "true"})]
    assert "25 days" in str(whole.content)
    for chunks in (streamed, shown):
        assert "".join(str(chunk.content) for chunk in chunks) == whole.content
