"""What goes over the wire, byte for byte: every event in each dialect, and whole runs from question to end.

Where a change is wanted, ``pytest tests/wire/test_golden.py --update-golden`` writes the new streams over the golden
ones and prints the differences; read them before you commit.
"""

import json
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.dialects.registry import DIALECTS
from evals.scripted_replies import judged
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.conftest import LIBRARY, with_model
from tests.api.serving import client_of
from tests.judging import pass_exam
from tests.scripted_openai import Reply, ScriptedOpenAI, Think, answer, say, scripted_openai
from tests.wire.adapters import ADAPTERS
from tests.wire.adapters.ag_ui import AgUiAdapter
from tests.wire.adapters.ai_sdk import AiSdkAdapter
from tests.wire.deployments import LEAVE, QUESTIONS, client, failing_client, settings_of_module
from tests.wire.normal import normal
from tests.wire.script import envelopes
from tools.judges.examiner import without_background_exam
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


Golden = Callable[[str, bytes], None]


def compare(golden: Path, stream: bytes, *, update: bool) -> str:
    """Return how a stream differs from the golden one, which is rewritten where ``update`` says so."""
    assert b"\r" not in stream
    before = golden.read_bytes().decode() if golden.exists() else ""
    lines = unified_diff(before.splitlines(), stream.decode().splitlines(), golden.name, golden.name, n=1, lineterm="")
    if update and (not golden.exists() or before != stream.decode()):
        golden.write_bytes(stream)
    return "\n".join(lines) or ("" if before == stream.decode() else f"{golden.name}: line ends differ")


@pytest.fixture
def assert_golden(request: pytest.FixtureRequest) -> Golden:
    """Assert that a stream is the golden one of that name; with ``--update-golden`` write and print it instead."""
    update = request.config.getoption("--update-golden")

    def check(name: str, stream: bytes) -> None:
        differences = compare(GOLDEN / name, stream, update=update)
        if not update:
            assert (GOLDEN / name).exists(), f"there is no {name} yet: run with --update-golden"
            assert differences == "", "the stream has changed: if that is wanted, run with --update-golden"
        elif differences:
            request.node.add_report_section("call", "golden", differences)

    return check


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_event_in_every_dialect(dialect: str, assert_golden: Golden) -> None:
    speaker = DIALECTS[dialect].encoder()
    assert_golden(f"{dialect}_events.sse", b"".join(map(speaker.encode, envelopes())))


@pytest.mark.parametrize("dialect", sorted(ADAPTERS))
@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_run(dialect: str, name: str, client: httpx.AsyncClient, assert_golden: Golden) -> None:
    response = await ADAPTERS[dialect]().ask(client, QUESTIONS[name])
    assert_golden(f"{dialect}_{name}.sse", normal(response.content))
    for session in (await client.get("/api/sessions")).json()["sessions"]:  # what one has said the next need not
        await client.delete(f"/api/sessions/{session['session_id']}")


@pytest.mark.parametrize("dialect", sorted(ADAPTERS))
async def test_a_run_that_fails(dialect: str, failing_client: httpx.AsyncClient, assert_golden: Golden) -> None:
    response = await ADAPTERS[dialect]().ask(failing_client, LEAVE)
    assert_golden(f"{dialect}_failed.sse", normal(response.content))


@pytest.mark.parametrize("name", VARIANTS)
async def test_what_a_client_of_openai_may_ask_for(name: str, client: httpx.AsyncClient, assert_golden: Golden) -> None:
    question, fields = VARIANTS[name]
    body = {"stream": True, "messages": [{"role": "user", "content": question}], **fields}
    response = await client.post(CHAT, json=body)
    assert_golden(f"openai_{name}.sse", normal(response.content))


async def test_a_draft_with_a_thought_that_is_repaired(
    settings: Settings, scripted_openai: ScriptedOpenAI, assert_golden: Golden
) -> None:
    configured = without_background_exam(with_model(settings.model_copy(update={"auto_title": False}), scripted_openai))
    async with open_citewell(configured) as citewell:
        await pass_exam(citewell, configured)
        await citewell.library.ingestor.ingest(Identity(), LIBRARY[0])
        async with client_of(create_app(configured, citewell=citewell)) as client:
            for adapter, accepted in ((AiSdkAdapter(), "text-citations, reset-step"), (AgUiAdapter(), "")):
                written = answer(WRONG, cut=1000).steps
                scripted_openai.script(Reply(steps=[Think("The handbook says so."), *written]), to="generate_answer")
                scripted_openai.script(say(json.dumps({"1": judged("contradicted")})), to="judge_claims")
                response = await adapter.ask(client, LEAVE, **{"x-citewell-accept": accepted})
                assert_golden(f"{adapter.name}_repaired.sse", normal(response.content))


def test_a_golden_stream_is_rewritten_only_on_request(tmp_path: Path) -> None:
    golden = tmp_path / "native_events.sse"
    assert compare(golden, b"data: 1\n\n", update=False)
    assert not golden.exists()
    compare(golden, b"data: 1\n\n", update=True)
    assert compare(golden, b"data: 1\n\n", update=False) == ""
    changed = compare(golden, b"data: 2\n\n", update=False)
    assert changed.splitlines()[-3:] == ["-data: 1", "+data: 2", " "]
    assert golden.read_bytes() == b"data: 1\n\n"
    assert compare(golden, b"data: 2\n\n", update=True) == changed
    assert golden.read_bytes() == b"data: 2\n\n"
    assert compare(golden, b"data: 2\n", update=False)
