"""What model servers tell of themselves, each in its own way, and what is no model server."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import patch

import pytest

from cli.model_servers import context_of, find_servers, list_models
from graph.errors import ModelRefused, ModelUnavailable

QWEN = {"id": "qwen", "object": "model"}
OTHER = {"id": "other", "object": "model"}
TOLD: dict[str, dict[str, Any]] = {
    "vLLM": {"/v1/models": {"data": [OTHER | {"max_model_len": 2048}, QWEN | {"max_model_len": 16384}]}},
    "llama.cpp": {
        "/v1/models": {"data": [QWEN | {"meta": {"n_ctx_train": 32768}}]},
        "/props": {"default_generation_settings": {"id": 0, "n_ctx": 16384}, "total_slots": 1},
    },
    "Ollama": {
        "/v1/models": {"data": [OTHER, QWEN]},
        "/api/ps": {
            "models": [
                {"name": "other", "model": "other", "context_length": 2048},
                {"name": "qwen", "model": "qwen", "context_length": 16384},
            ]
        },
    },
    "LM Studio": {
        "/v1/models": {"data": [OTHER, QWEN]},
        "/api/v0/models": {
            "data": [OTHER | {"loaded_context_length": 2048}, QWEN | {"loaded_context_length": 16384}],
        },
    },
    "says nothing": {"/v1/models": {"data": [QWEN]}},
}


@contextmanager
def served(told: Mapping[str, Any], status: int = 200) -> Iterator[int]:
    """Serve JSON by path, or a page where a text is told; give the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = told.get(self.path)
            self.send_response(404 if found is None else status)
            self.end_headers()
            self.wfile.write((found if isinstance(found, str) else json.dumps(found)).encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("kind", TOLD)
async def test_how_much_a_model_reads_at_once_is_known_where_its_server_tells(kind: str) -> None:
    with served(TOLD[kind]) as port:
        address = f"http://127.0.0.1:{port}/v1"
        listed = await list_models(address)
        assert listed is not None
        assert "qwen" in listed
        assert await context_of(address, "qwen", listed) == (None if kind == "says nothing" else 16384)


async def test_servers_on_usual_ports_are_found_and_other_ones_left_alone() -> None:
    page = {"/v1/models": "<html>A notebook</html>"}
    list_ = {"/v1/models": ["no", "models"]}
    with served(TOLD["Ollama"]) as ollama, served(page) as notebook, served(list_) as other:
        ports = {"Ollama": ollama, "LM Studio": notebook, "llama.cpp": other, "vLLM": 1}
        with patch.dict("cli.model_servers.USUAL_PORTS", ports, clear=True):
            found = await find_servers()
    assert {address: list(models) for address, models in found.items()} == {
        f"http://127.0.0.1:{ollama}/v1": ["other", "qwen"]
    }


@pytest.mark.parametrize(("status", "error"), [(401, ModelRefused), (403, ModelRefused), (503, ModelUnavailable)])
async def test_a_server_that_refuses_or_fails_says_so(status: int, error: type[ModelUnavailable]) -> None:
    with served({"/v1/models": {}}, status) as port, pytest.raises(error):
        await list_models(f"http://127.0.0.1:{port}/v1", "a key")
