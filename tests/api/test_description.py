"""The OpenAPI description, the graph, and the two probes."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest

from api.app import create_app
from api.problems import SHAPES
from graph.builder import build
from graph.entrypoint import Citewell
from graph.events import AnyEvent
from tests.api.conftest import new_session
from tests.api.reading import events_of
from tests.api.serving import client_of
from tests.conftest import BARE
from tests.fakes import MemoryLibrary, ScriptedFamily, resources
from tools.settings import AuthSettings, Settings


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return create_app(BARE).openapi()


def test_every_event_is_described_under_its_own_type(description: dict[str, Any]) -> None:
    run = description["paths"]["/api/sessions/{session_id}/runs"]["post"]["responses"]["200"]["content"]
    event = run["text/event-stream"]["schema"]["properties"]
    assert event["data"]["contentSchema"] == {"$ref": "#/components/schemas/RunEvent"}
    assert event["id"] == event["event"] == {"type": "string"}
    mapping = description["components"]["schemas"]["RunEvent"]["discriminator"]["mapping"]
    kinds = {kind.__dataclass_fields__["type"].default: kind for kind in get_args(AnyEvent)}
    assert set(mapping) == set(kinds)
    for name, kind in kinds.items():
        schema = description["components"]["schemas"][mapping[name].rsplit("/", 1)[1]]
        envelope = {"schema", "run_id", "session_id", "seq", "at"}
        assert set(schema["required"]) == envelope | set(kind.__dataclass_fields__)


def test_every_reference_leads_somewhere(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]

    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return own + [found for value in part.values() for found in references(value)]
        return [found for value in part for found in references(value)] if isinstance(part, list) else []

    for reference in references(description):
        assert reference.removeprefix("#/components/schemas/") in schemas, reference


def test_fields_of_forms_are_described_as_the_texts_that_forms_have(description: dict[str, Any]) -> None:
    found = set()
    for path, methods in description["paths"].items():
        for operation in methods.values():
            form = operation.get("requestBody", {}).get("content", {}).get("multipart/form-data")
            for name, field in (form or {"schema": {"properties": {}}})["schema"]["properties"].items():
                found.add(name)
                texts = [field, *([field["items"]] if field.get("type") == "array" else [])][-1]
                assert texts.get("type") == "string", (path, name, field)
                if name in ("space", "readers", "metadata"):
                    assert texts["contentMediaType"] == "application/json"
    assert {"file", "title", "owner", "space"} <= found


def test_every_route_describes_its_problems(description: dict[str, Any]) -> None:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            if path in ("/healthz", "/api/login"):  # they ask nothing of anybody
                continue
            problems = {status: r for status, r in operation["responses"].items() if status >= "400"}
            assert "503" in problems, (method, path)
            shaped = any(path.startswith(prefix) for prefix in SHAPES)
            for response in problems.values():
                told = "application/json" if shaped else "application/problem+json"
                assert list(response["content"]) == [told], (method, path)


async def test_events_on_the_wire_have_the_fields_described(
    shared_client: httpx.AsyncClient, description: dict[str, Any]
) -> None:
    schemas = description["components"]["schemas"]
    mapping = schemas["RunEvent"]["discriminator"]["mapping"]
    session_id = await new_session(shared_client)
    told = await shared_client.post(f"/api/sessions/{session_id}/runs", json={"question": "What is the notice period?"})
    for event in events_of(told):
        assert set(event) == set(schemas[mapping[event["type"]].rsplit("/", 1)[1]]["required"])


async def test_the_graph_is_the_one_that_runs(shared_client: httpx.AsyncClient) -> None:
    given = (await shared_client.get("/api/graph")).json()
    compiled = build(resources(MemoryLibrary([]), ScriptedFamily())).compile().get_graph()
    names = [node["id"] for node in given["nodes"]]
    assert names == list(compiled.nodes)
    assert (names[0], names[-1]) == ("__start__", "__end__")
    edges = [(edge["from"], edge["to"], edge["conditional"]) for edge in given["edges"]]
    assert sorted(edges) == sorted((edge.source, edge.target, edge.conditional) for edge in compiled.edges)
    assert edges == sorted(edges, key=lambda edge: (names.index(edge[0]), names.index(edge[1])))
    assert ("search_segments", "grade_segments", False) in edges
    assert ("grade_segments", "rewrite_query", True) in edges


async def test_the_graph_is_sent_again_only_where_it_is_another(shared_client: httpx.AsyncClient) -> None:
    first = await shared_client.get("/api/graph")
    assert first.headers["cache-control"] == "private, no-cache"
    tag = first.headers["etag"]
    again = await shared_client.get("/api/graph", headers={"if-none-match": f'"other", {tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    other = await shared_client.get("/api/graph", headers={"if-none-match": '"other"'})
    assert (other.status_code, other.content) == (200, first.content)


async def test_the_graph_is_described(shared_client: httpx.AsyncClient, description: dict[str, Any]) -> None:
    described = description["paths"]["/api/graph"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert described == {"$ref": "#/components/schemas/GraphStructure"}
    (edge, *_) = (await shared_client.get("/api/graph")).json()["edges"]
    assert set(edge) == set(description["components"]["schemas"]["GraphEdge"]["required"])


async def test_the_graph_takes_credentials_as_all_of_the_api_does(settings: Settings, citewell: Citewell) -> None:
    keyed = settings.model_copy(update={"auth": AuthSettings(mode="keys")})
    async with client_of(create_app(keyed, citewell=citewell)) as client:
        assert (await client.get("/api/graph")).status_code == 401


async def test_a_deployment_that_can_answer_is_ready(shared_client: httpx.AsyncClient) -> None:
    assert (await shared_client.get("/healthz")).json() == {"status": "ok"}
    ready = await shared_client.get("/readyz")
    assert ready.status_code == 200
    checks = ("database", "migrations", "embedding", "disk", "server")
    assert ready.json()["checks"] == dict.fromkeys(checks, "ok")


async def test_a_full_disk_is_said_before_a_write_fails(
    settings: Settings, citewell: Citewell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.storage.supervision.RESERVE_MEGABYTES", 10**9)  # no disk has that
    kept = replace(citewell.library, settings=settings.model_copy(update={"originals": str(tmp_path)}))
    async with client_of(create_app(settings, citewell=replace(citewell, library=kept))) as client:
        response = await client.get("/readyz")
    assert response.status_code == 503
    assert "disk of the originals" in response.json()["detail"]


async def test_a_process_that_stops_is_no_longer_ready_and_still_alive(settings: Settings, citewell: Citewell) -> None:
    async with client_of(create_app(settings, citewell=citewell)) as client:
        await citewell.runner.drain()
        response = await client.get("/readyz")
        assert (response.status_code, response.json()["detail"]) == (503, "server: it is stopping")
        assert (await client.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("DELETE FROM alembic_version", "migrations: the database lacks"),
        ("UPDATE checkpointer_setup SET release = 'older'", "migrations: the database lacks checkpointer"),
        ("UPDATE embedding_models SET model = 'another'", "embedding: "),
    ],
)
async def test_what_stands_in_the_way_of_answers_is_said(
    settings: Settings, citewell: Citewell, damage: str, reason: str
) -> None:
    async with citewell.library.database.connection() as connection:
        await connection.execute(damage)
    async with client_of(create_app(settings, citewell=citewell)) as client:
        response = await client.get("/readyz")
        assert (response.status_code, response.json()["code"]) == (503, "not_ready")
        assert reason in response.json()["detail"]
        assert (await client.get("/healthz")).status_code == 200


async def test_a_method_that_a_path_has_not_is_answered_with_all_that_it_has(shared_client: httpx.AsyncClient) -> None:
    """The router names the methods of one route, and several share a path."""
    missing = "00000000-0000-4000-8000-000000000000"
    for path, allowed in (
        ("/api/sessions", "GET, POST"),
        (f"/api/documents/{missing}", "DELETE, GET, PATCH, PUT"),
        (f"/api/documents/{missing}/original", "GET, HEAD"),
        (f"/api/jobs/{missing}/events", "GET"),
    ):
        response = await shared_client.options(path)
        assert (response.status_code, response.headers["allow"]) == (405, allowed)
        told = response.json()["suggestion"]
        assert all(f"{method} /api/" in told for method in allowed.split(", "))


async def test_a_method_that_a_dialect_of_others_has_not_is_answered_with_its_routes(
    shared_client: httpx.AsyncClient,
) -> None:
    for method, path in (("POST", "/v1/responses/input_tokens"), ("GET", "/v1/chat/completions")):
        response = await shared_client.request(method, path)
        assert response.status_code == 405
        assert "POST /v1/chat/completions" in response.json()["error"]["message"]


def test_generators_find_a_title_of_its_own_for_each_schema_and_no_lists_in_headers(
    description: dict[str, Any],
) -> None:
    schemas = description["components"]["schemas"]
    titles = [schema.get("title", name) for name, schema in schemas.items()]
    assert [title for title in titles if titles.count(title) > 1] == []
    assert [name for name in schemas if "__" in name] == []
    parameters = [
        each
        for methods in description["paths"].values()
        for op in methods.values()
        for each in op.get("parameters", ())
    ]
    assert [each["name"] for each in parameters if each["in"] == "header" and "array" in str(each["schema"])] == []


@pytest.mark.parametrize(
    ("path", "sent", "named"),
    [
        ("/api/sessions", {"ephemeral": 0}, "ephemeral: must be"),
        ("/api/docs-chat/messages", {"query": "Leave?", "threshold": False}, "threshold: must be"),
        ("/api/docs-chat/messages", {"query": "Leave?", "top_k": "5"}, "top_k: must be"),
        ("/api/rag/query-stream", {"query": "Leave?", "thinking": 0}, "thinking: must be"),
    ],
)
async def test_no_value_is_taken_for_one_of_another_type(
    shared_client: httpx.AsyncClient, path: str, sent: dict[str, Any], named: str
) -> None:
    response = await shared_client.post(path, json=sent)
    assert response.status_code in (400, 422)
    assert named in response.text


def test_the_description_has_what_the_framework_leaves_out(description: dict[str, Any]) -> None:
    paths, schemas = description["paths"], description["components"]["schemas"]
    assert {"200", "201", "400"} <= set(paths["/api/documents/{document_id}"]["put"]["responses"])
    assert "400" in paths["/api/sessions"]["post"]["responses"]
    assert set(schemas["FileProblem"]["required"]) == {"code", "message", "suggestion"}
    question = schemas["DocsQuery"]["properties"]["query"]
    assert re.search(question["pattern"], "How many\ndays?")
    for refused in (" \n", "a\x07", "\x85"):
        assert not re.search(question["pattern"], refused)
