"""What a usual process loads: no engine for more than one machine, and early what calls its model."""

import os
import subprocess
import sys
from pathlib import Path

from tools.settings import Settings

ROOT = Path(__file__).parents[2]
PROGRAM = """
import asyncio, os, sys
import httpx
from typer.testing import CliRunner
from cli.main import app as commands
from cli.http_server import create_app
from tools.settings import load_settings

QUESTION = "How many days of paid leave does an employee have?"
ENGINES = "tools.bulk", "tools.milvus", "tools.moves", "tools.nats", "tools.replica", "nats", "pymilvus", "ray"

def assert_at_rest():
    assert not [name for name in sys.modules if any(f"{name}.".startswith(f"{each}.") for each in ENGINES)]

async def serve():
    app = create_app(load_settings())
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            session_id = (await client.post("/api/sessions", json={})).json()["session_id"]
            asked = {"question": QUESTION, "stream": False}
            answered = await client.post(f"/api/sessions/{session_id}/runs", json=asked)
            assert answered.json()["outcome"] == "answered", answered.text
    assert_at_rest()

for command in (["ingest", "leave.md"], ["ask", QUESTION]):
    done = CliRunner().invoke(commands, command)
    assert done.exit_code == 0, done.output
    assert_at_rest()
asyncio.run(serve())

async def serve_with_a_model():
    app = create_app(load_settings())
    async with app.router.lifespan_context(app):
        assert "openai" not in sys.modules
        while "tools.llm.model_call" not in sys.modules:
            await asyncio.sleep(0.01)

os.environ["CITEWELL_MODELS"] = '[{"name": "scripted", "base_url": "http://127.0.0.1:9/v1", "model": "any"}]'
asyncio.run(serve_with_a_model())
assert_at_rest()
"""


def test_what_stores_asks_and_serves_loads_none_and_with_a_model_what_calls_it_before_the_first_question(
    settings: Settings, tmp_path: Path
) -> None:
    assert settings.database_url is not None
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "CITEWELL_DATABASE_URL": settings.database_url.get_secret_value(),
        "CITEWELL_DATA_DIR": str(settings.data_dir),
    }
    (tmp_path / "leave.md").write_text("# Leave\n\nAn employee has 25 days of paid leave a year.\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
