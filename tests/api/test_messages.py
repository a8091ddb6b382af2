"""The Messages API, by what Anthropic's own Python client makes of it, and LangChain's ChatAnthropic on top of that."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import anthropic
import httpx
import httpx2
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message, TextBlock
from langchain_anthropic import ChatAnthropic

from graph.errors import Overloaded
from tests.api.conftest import HANDBOOK, new_session
from tests.scripted_openai import Reply, ScriptedOpenAI, Think, answer, status
from tests.wire.node_clients import run_client
from tools.runs.runner import Runner

LEAVE = "How many days of annual leave does an employee get?"
QUOTED = "Every employee gets 25 days of annual leave a year. Unused leave lapses in March."
CHESS = "Who won the chess championship of 1972?"
WIRE = ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta")


def asked(*texts: str, **fields: Any) -> dict[str, Any]:
    """Lay out a conversation, the user first."""
    roles = ["user", "assistant"] * len(texts)
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    return {"model": "citewell", "max_tokens": 1024, "messages": messages, **fields}


def client_at(url: httpx.URL | str) -> AsyncAnthropic:
    """Give a client that asks once and knows no proxy."""
    http = httpx2.AsyncClient(trust_env=False, timeout=60)
    return AsyncAnthropic(base_url=str(url).rstrip("/"), api_key="none", http_client=http, max_retries=0)


@pytest.fixture
async def extractive(shared_client: httpx.AsyncClient) -> AsyncIterator[AsyncAnthropic]:
    async with client_at(shared_client.base_url) as client:
        yield client


@pytest.fixture
async def modelled(model_client: httpx.AsyncClient) -> AsyncIterator[AsyncAnthropic]:
    async with client_at(model_client.base_url) as client:
        yield client


def blocks_of(message: Message) -> list[TextBlock]:
    return [block for block in message.content if isinstance(block, TextBlock)]


def cited(blocks: Sequence[TextBlock]) -> list[tuple[str, list[str]]]:
    return [(block.text, [each.cited_text for each in block.citations or []]) for block in blocks]


async def test_the_stream_and_the_whole_message_are_the_same(extractive: AsyncAnthropic) -> None:
    whole = await extractive.messages.create(**asked(LEAVE))
    async with extractive.messages.stream(**asked(LEAVE)) as stream:
        kinds = [event.type async for event in stream]
        final = await stream.get_final_message()
    assert set(WIRE) <= set(kinds)
    assert cited(blocks_of(final)) == cited(blocks_of(whole)) == [(QUOTED, [QUOTED])]
    assert whole.stop_reason == final.stop_reason == "end_turn"
    assert (whole.model, whole.role, whole.usage.input_tokens) == ("extractive", "assistant", 0)
    [[citation]] = [block.citations or [] for block in blocks_of(whole)]
    assert citation.type == "char_location"
    assert (citation.document_index, citation.document_title) == (0, "Staff handbook")
    ours = (citation.model_extra or {})["citewell"]
    assert (ours["document_id"], ours["url"]) == (HANDBOOK, "https://wiki.example/handbook#leave")


async def test_a_citation_is_where_it_says_in_the_text_of_the_document(
    extractive: AsyncAnthropic, shared_client: httpx.AsyncClient
) -> None:
    [[citation]] = [each.citations or [] for each in blocks_of(await extractive.messages.create(**asked(LEAVE)))]
    assert citation.type == "char_location"
    held = (await shared_client.get(f"/api/documents/{HANDBOOK}/raw-text")).json()
    text = "".join(each["text"] for each in held["segments"])
    assert text[citation.start_char_index : citation.end_char_index] == citation.cited_text == QUOTED


async def test_blocks_joined_are_the_answer_and_only_what_is_marked_has_citations(
    modelled: AsyncAnthropic, scripted_openai: ScriptedOpenAI
) -> None:
    said = f"In short:\n\n- {QUOTED} Ask the office for more."
    scripted_openai.script(answer({"text": said, "source_ids": [f"{HANDBOOK}:0"]}), to="generate_answer")
    blocks = blocks_of(await modelled.messages.create(**asked(LEAVE)))
    assert "".join(block.text for block in blocks) == said
    assert [block.text for block in blocks if block.citations] == [QUOTED, "Ask the office for more."]
    assert (blocks[0].text, blocks[0].citations) == ("In short:\n\n- ", None)


async def test_what_a_model_thinks_is_a_block_where_it_is_asked_for(
    modelled: AsyncAnthropic, scripted_openai: ScriptedOpenAI
) -> None:
    for fields, expected in (({}, []), ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, ["The handbook."])):
        written = answer({"text": QUOTED, "source_ids": [f"{HANDBOOK}:0"]}).steps
        for _ in range(2):
            scripted_openai.script(Reply(steps=[Think("The handbook."), *written]), to="generate_answer")
        whole = await modelled.messages.create(**asked(LEAVE, **fields))
        async with modelled.messages.stream(**asked(LEAVE, **fields)) as stream:
            final = await stream.get_final_message()
        for message in (whole, final):
            assert [block.thinking for block in message.content if block.type == "thinking"] == expected


async def test_the_messages_are_the_history_or_a_session_of_ones_own_is(
    extractive: AsyncAnthropic, shared_client: httpx.AsyncClient
) -> None:
    probation = "And during probation?"
    before = [{"type": "text", "text": "The notice period is "}, {"type": "text", "text": "three months."}]
    sent = asked("What is the notice period?", "", probation)
    sent["messages"][1]["content"] = before
    made = await extractive.messages.create(**sent, system="Speak like a pirate.", extra_body={"temperature": 0.2})
    assert "one month" in "".join(block.text for block in blocks_of(made))
    own: Any = {"extra_body": {"citewell": {"session_id": await new_session(shared_client)}}}
    await extractive.messages.create(**asked("What is the notice period?"), **own)
    made = await extractive.messages.create(**asked(probation), **own)
    assert "one month" in "".join(block.text for block in blocks_of(made))


async def test_an_abstention_is_a_message_that_cites_nothing(extractive: AsyncAnthropic) -> None:
    made = await extractive.messages.create(**asked(CHESS))
    assert made.stop_reason == "end_turn"
    assert [quotes for _, quotes in cited(blocks_of(made))] == [[]]
    assert made.model_extra is not None
    assert made.model_extra["citewell"]["outcome"] == "abstained"


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"messages": []}, "messages: "),
        ({"messages": [{"role": "robot", "content": "Hello"}]}, "messages.0.role: "),
        ({"messages": [{"role": "assistant", "content": "Hello"}]}, "messages: "),
        ({"messages": [{"role": "user", "content": " "}]}, "messages: "),
        ({"messages": [{"role": "user", "content": 5}]}, "messages.0.content: "),
        ({"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]}, "messages.0.content.0: "),
        ({"messages": [{"role": "user", "content": [{"type": "document", "source": {}}]}]}, "messages.0.content.0: "),
        ({"messages": [{"role": "user", "content": "a" * 10_001}]}, "messages.0.content: "),
        ({"tool_choice": {"type": "any"}}, "tool_choice: "),
        ({"system": 'JSON by this: {"title": "Answer", "properties": {}}'}, "system: "),
        ({"system": [{"type": "text", "text": '{"title": "Answer", "properties": {}}'}]}, "system: "),
        ({"extra_body": {"output_config": {"format": {"type": "json_schema", "schema": {}}}}}, "output_config: "),
        ({"extra_body": {"citewell": {"top_k": 31}}}, "citewell.top_k: "),
        ({"extra_body": {"citewell": {"topk": 3}}}, "citewell.topk: "),
    ],
)
async def test_what_cannot_be_served_is_refused_by_its_name(
    extractive: AsyncAnthropic, changed: dict[str, Any], named: str
) -> None:
    with pytest.raises(anthropic.BadRequestError) as error:
        await extractive.messages.create(**{**asked(LEAVE), **changed})
    body: Any = error.value.body
    assert (body["error"]["type"], body["error"]["code"]) == ("invalid_request_error", "invalid_request")
    assert body["error"]["message"].startswith(named)


@pytest.mark.parametrize("choice", [{}, {"tool_choice": {"type": "auto"}}, {"tool_choice": {"type": "none"}}])
async def test_tools_are_no_reason_to_refuse(extractive: AsyncAnthropic, choice: Any) -> None:
    tools: Any = [{"name": "f", "input_schema": {"type": "object"}}]
    made = await extractive.messages.create(**asked(LEAVE), tools=tools, **choice)
    assert cited(blocks_of(made)) == [(QUOTED, [QUOTED])]


async def test_what_is_not_there_is_not_found_in_the_shape_that_clients_know(extractive: AsyncAnthropic) -> None:
    with pytest.raises(anthropic.NotFoundError) as error:
        await extractive.messages.create(**asked(LEAVE, model="claude"))
    with pytest.raises(anthropic.NotFoundError) as missing:
        await extractive.messages.count_tokens(model="citewell", messages=[{"role": "user", "content": LEAVE}])
    assert [one.value.type for one in (error, missing)] == ["not_found_error"] * 2
    assert "POST /v1/messages" in missing.value.message


async def test_a_full_service_and_a_model_that_fails_are_told_as_such(
    extractive: AsyncAnthropic,
    modelled: AsyncAnthropic,
    scripted_openai: ScriptedOpenAI,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripted_openai.script(*[status(401)] * 2, to="generate_answer")
    with pytest.raises(anthropic.APIStatusError) as error:
        await modelled.messages.create(**asked(LEAVE))
    assert error.value.type == "api_error"
    with pytest.raises(anthropic.APIStatusError) as error:
        async with modelled.messages.stream(**asked(LEAVE)) as stream:
            await stream.until_done()
    assert error.value.type == "api_error"

    async def full(*_: Any) -> None:
        raise Overloaded("As many runs are going and waiting as this process takes.")

    monkeypatch.setattr(Runner, "start", full)
    with pytest.raises(anthropic.APIStatusError) as error:
        await extractive.messages.create(**asked(LEAVE))
    assert (error.value.status_code, error.value.type) == (503, "overloaded_error")


async def test_langchain_shows_the_citations(shared_client: httpx.AsyncClient) -> None:
    model = ChatAnthropic(model="citewell", base_url=str(shared_client.base_url), api_key="none", max_retries=0)
    [block] = (await model.ainvoke(LEAVE)).content_blocks
    assert block["type"] == "text"
    assert block["text"] == QUOTED
    [annotation] = block["annotations"]
    assert annotation["type"] == "citation"
    assert (annotation["cited_text"], annotation["title"]) == (QUOTED, "Staff handbook")


async def test_the_client_of_javascript_hears_the_same(shared_client: httpx.AsyncClient) -> None:
    url = str(shared_client.base_url)
    heard: Any = await run_client("messages.mjs", url, LEAVE, client="Anthropic's client")
    assert heard["whole"] == heard["streamed"]
    [block] = heard["whole"]["content"]
    assert (block["text"], [each["cited_text"] for each in block["citations"]]) == (QUOTED, [QUOTED])
    assert heard["cited"] == [QUOTED]
    assert heard["refused"] == [400, "invalid_request_error"]
