"""Whether clients of the Responses API that can't be installed beside Citewell show its citations unchanged.

Run it by the Python of an environment that has the client, with the address of a service that has no other documents:

    python -m venv /tmp/client && /tmp/client/bin/pip install litellm
    /tmp/client/bin/python research/responses_clients.py litellm --url http://127.0.0.1:8400

``litellm`` needs an openai older than ours, ``openai-agents`` a websockets older than ours. It prints one JSON object,
and fails where a client shows anything else than what the service has sent.
"""

import argparse
import asyncio
import json
import urllib.request
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

MODEL = "extractive"
HANDBOOK_URL = "https://wiki.example/handbook"
DOCUMENTS = {
    "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2b01": {
        "title": "Staff handbook",
        "url": HANDBOOK_URL,
        "text": "# Leave\n\nEvery employee gets 25 days of annual leave a year. Unused leave lapses in March.\n",
    },
    "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2b02": {
        "title": "Travel policy",
        "text": "# Trains\n\nSecond class is booked for trains. Journeys above four hours may be in first class.\n",
    },
}
LEAVE = "How many days of annual leave does an employee get?"
TRAINS = "Which class is booked for trains?"
SAID = "Every employee gets 25 days of annual leave a year."
BOOKED = "Second class is booked for trains."
EXPECTED = {LEAVE: (SAID, "Staff handbook", HANDBOOK_URL), TRAINS: (BOOKED, "Travel policy", "http")}

Shown = tuple[str, list[dict[str, Any]]]  # the text, and its annotations
Asking = Callable[[str, str], Coroutine[Any, Any, list[Shown]]]


def _plain(annotations: Any) -> list[dict[str, Any]]:
    return [each if isinstance(each, dict) else each.model_dump() for each in annotations]


async def ask_litellm(url: str, question: str) -> list[Shown]:
    """Ask by ``litellm.aresponses``, whole and streamed; return what each shows."""
    import litellm

    options = {"model": f"openai/{MODEL}", "input": question, "api_base": f"{url}/v1", "api_key": "none"}
    responses = [await litellm.aresponses(**options)]
    async for event in await litellm.aresponses(**options, stream=True):
        if event.type == "response.completed":
            responses.append(event.response)
    parts = [
        part
        for response in responses
        for item in response.output
        for part in (item.content or [] if item.type == "message" else [])
    ]
    return [(part.text, _plain(part.annotations)) for part in parts]


async def ask_agents(url: str, question: str) -> list[Shown]:
    """Ask by an agent of openai-agents, whole and streamed; return what each shows."""
    from agents import Agent, OpenAIResponsesModel, RunConfig, Runner
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=f"{url}/v1", api_key="none")
    agent = Agent(name="handbook", model=OpenAIResponsesModel(model=MODEL, openai_client=client))
    untraced = RunConfig(tracing_disabled=True)
    whole = await Runner.run(agent, question, run_config=untraced)
    streamed = Runner.run_streamed(agent, question, run_config=untraced)
    async for _ in streamed.stream_events():
        pass
    results = [whole, streamed]
    again = [*whole.to_input_list(), {"role": "user", "content": question}]
    results.append(await Runner.run(agent, again, run_config=untraced))
    messages = [item.raw_item for each in results for item in each.new_items if item.type == "message_output_item"]
    return [(part.text, _plain(part.annotations)) for message in messages for part in message.content]


CLIENTS: dict[str, Asking] = {"litellm": ask_litellm, "openai-agents": ask_agents}


def check(shown: list[Shown], question: str) -> None:
    """Raise AssertionError where a client shows another text or another citation than it was sent."""
    assert len(shown) >= 2, shown
    for text, annotations in shown:
        cited = annotations[0]
        claim, title, url = EXPECTED[question]
        assert text.startswith(claim), text
        assert "[1]" in text, text
        assert (cited["type"], cited["title"]) == ("url_citation", title), cited
        assert cited["url"].startswith(url), cited
        assert text[cited["start_index"] : cited["end_index"]] == claim, cited


def main() -> None:
    """Ask by one client, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("--url", default="http://127.0.0.1:8400")
    arguments = parser.parse_args()
    for document_id, document in DOCUMENTS.items():
        request = urllib.request.Request(
            f"{arguments.url}/api/documents/{document_id}",
            json.dumps(document).encode(),
            {"content-type": "application/json"},
            method="PUT",
        )
        urllib.request.urlopen(request).close()
    for question in (LEAVE, TRAINS):
        check(asyncio.run(CLIENTS[arguments.client](arguments.url, question)), question)
    found = {"client": arguments.client, "version": version(arguments.client), "citations": "unchanged"}
    print(json.dumps({**found, "openai": version("openai"), "date": datetime.now(UTC).date().isoformat()}))


if __name__ == "__main__":
    main()
