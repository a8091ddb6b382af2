"""What goes over the wire, byte for byte: every event in each dialect, and whole runs from question to end.

Where a change is wanted, the failing test names the file that holds the new stream; look at it, then copy it over the
golden one.
"""

from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.dialects.registry import DIALECTS
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, with_model
from tests.api.serving import client_of
from tests.scripted_openai import Reply, ScriptedOpenAI, Think, answer, scripted_openai
from tests.wire.adapters import ADAPTERS
from tests.wire.adapters.ag_ui import AgUiAdapter
from tests.wire.adapters.ai_sdk import AiSdkAdapter
from tests.wire.deployments import LEAVE, QUESTIONS, client, failing_client, settings_of_module
from tests.wire.normal import normal
from tests.wire.script import envelopes
from tools.settings import Settings

__all__ = ["client", "failing_client", "scripted_openai", "settings_of_module"]

GOLDEN = Path(__file__).parent / "golden"
CHAT = "/v1/chat/completions"
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "usage": (LEAVE, {"stream_options": {"include_usage": True}}),
    "open_webui": (LEAVE, {"citewell": {"events": True}}),
    "links": ("Which class is booked for trains?", {"citewell": {"links": True}}),
}
WRONG = {"text": "Every employee gets 30 days of annual leave a year.", "source_ids": [f"{LIBRARY[0].document_id}:0"]}


def assert_golden(name: str, told: bytes, scratch: Path) -> None:
    assert b"\r" not in told
    (scratch / name).write_bytes(told)
    golden = GOLDEN / name
    assert golden.exists(), f"no {golden.name} yet; the stream is in {scratch / name}"
    assert told.decode() == golden.read_text("utf-8"), f"the new stream is in {scratch / name}"


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_event_in_every_dialect(dialect: str, tmp_path: Path) -> None:
    speaker = DIALECTS[dialect].encoder()
    assert_golden(f"{dialect}_events.sse", b"".join(map(speaker.encode, envelopes())), tmp_path)


@pytest.mark.parametrize("dialect", sorted(ADAPTERS))
@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_run(dialect: str, name: str, client: httpx.AsyncClient, tmp_path: Path) -> None:
    response = await ADAPTERS[dialect]().ask(client, QUESTIONS[name])
    assert_golden(f"{dialect}_{name}.sse", normal(response.content), tmp_path)


@pytest.mark.parametrize("dialect", sorted(ADAPTERS))
async def test_a_run_that_fails(dialect: str, failing_client: httpx.AsyncClient, tmp_path: Path) -> None:
    response = await ADAPTERS[dialect]().ask(failing_client, LEAVE)
    assert_golden(f"{dialect}_failed.sse", normal(response.content), tmp_path)


@pytest.mark.parametrize("name", VARIANTS)
async def test_what_a_client_of_openai_may_ask_for(name: str, client: httpx.AsyncClient, tmp_path: Path) -> None:
    question, fields = VARIANTS[name]
    body = {"stream": True, "messages": [{"role": "user", "content": question}], **fields}
    response = await client.post(CHAT, json=body)
    assert_golden(f"openai_{name}.sse", normal(response.content), tmp_path)


async def test_a_draft_with_a_thought_that_is_repaired(
    settings: Settings, scripted_openai: ScriptedOpenAI, tmp_path: Path
) -> None:
    configured = with_model(settings.model_copy(update={"auto_title": False}), scripted_openai)
    async with open_citewell(configured) as citewell:
        await citewell.library.ingestor.ingest(Identity(), LIBRARY[0])
        async with client_of(create_app(configured, citewell=citewell)) as client:
            for adapter, accepted in ((AiSdkAdapter(), "text-citations, reset-step"), (AgUiAdapter(), "")):
                written = answer(WRONG, cut=1000).steps
                scripted_openai.script(Reply(steps=[Think("The handbook says so."), *written]), to="generate_answer")
                response = await adapter.ask(client, LEAVE, **{"x-citewell-accept": accepted})
                assert_golden(f"{adapter.name}_repaired.sse", normal(response.content), tmp_path)
