"""The OpenAPI description, with schemas of stream events and of problems."""

import re
from typing import Any, get_args

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from api.middleware import LOGIN_PATHS, OPEN_PATHS
from api.problems import Problem, problems
from graph.events import SCHEMA, AnyEvent

REFERENCE = "#/components/schemas/{model}"
ENVELOPE: dict[str, Any] = {
    "schema": {"const": SCHEMA, "description": "The version of the event schema."},
    "run_id": {"type": "string", "format": "uuid"},
    "session_id": {"type": "string", "format": "uuid"},
    "seq": {"type": "integer", "minimum": 1, "description": "Counts from 1 without gaps."},
    "at": {"type": "string", "format": "date-time"},
}
_REFUSED = {str(status): described for status, described in problems(401, 403, 421, 429).items()}


def event_schemas() -> dict[str, Any]:
    """Return a schema for each event, flat with its envelope as on the wire, and for their union RunEvent."""
    adapters = [(kind.__name__, "serialization", TypeAdapter(kind)) for kind in get_args(AnyEvent)]
    _, shared = TypeAdapter.json_schemas(adapters, ref_template=REFERENCE)  # type: ignore[arg-type]
    schemas: dict[str, Any] = dict(shared.get("$defs", {}))
    for kind in get_args(AnyEvent):
        schema = schemas[kind.__name__]
        properties = {**ENVELOPE, **schema["properties"]}
        schemas[kind.__name__] = {**schema, "properties": properties, "required": list(properties)}
    names = {kind.__dataclass_fields__["type"].default: kind.__name__ for kind in get_args(AnyEvent)}
    schemas["RunEvent"] = {
        "description": "The `data` of one Server-Sent Event. Ignore types and fields that you do not know.",
        "oneOf": [{"$ref": REFERENCE.format(model=name)} for name in names.values()],
        "discriminator": {
            "propertyName": "type",
            "mapping": {kind: REFERENCE.format(model=name) for kind, name in names.items()},
        },
    }
    return schemas


def describe(app: FastAPI, schemes: dict[str, Any]) -> None:
    """Replace the app's OpenAPI description with one that has events, problems and security schemes."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                tags=app.openapi_tags,
            )
            components = schema.setdefault("components", {}).setdefault("schemas", {})
            components["Problem"] = Problem.model_json_schema(ref_template=REFERENCE)
            for name, event in event_schemas().items():
                components.setdefault(name, event)
            for name in ("HTTPValidationError", "ValidationError"):
                components.pop(name, None)
            for path, methods in schema["paths"].items():
                for method, operation in methods.items():
                    # Generated clients name their functions by it: the name of ours, which is enough.
                    operation["operationId"] = operation["operationId"].removesuffix(
                        re.sub(r"\W", "_", f"{path}_{method}")
                    )
                    _complete(operation)
            _secure(schema, schemes)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _complete(operation: dict[str, Any]) -> None:
    """Add what the framework leaves out: the 400 of what can't be decoded, and streams event by event.

    OpenAPI 3.1 has no word for a stream; readers of it check each event against the schema of its media type.
    """
    responses = operation["responses"]
    if "422" in responses and "400" not in responses:
        responses["400"] = {**responses["422"], "description": "Bad Request"}
        operation["responses"] = {status: responses[status] for status in sorted(responses)}
    for response in responses.values():
        stream = response.get("content", {}).get("text/event-stream")
        if stream is not None:
            stream["schema"] = _event_of(stream.get("schema", {}))


def _event_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of one Server-Sent Event whose data, if a reference, is that schema as JSON."""
    content = {"contentMediaType": "application/json", "contentSchema": data} if "$ref" in data else {}
    named = {name: {"type": "string"} for name in ("id", "event")}
    return {"type": "object", "required": ["data"], "properties": {**named, "data": {"type": "string", **content}}}


def _secure(schema: dict[str, Any], schemes: dict[str, Any]) -> None:
    """Add the credentials that routes accept, any one of them, and how a request is refused that they don't allow."""
    if not schemes:
        return
    schema["components"]["securitySchemes"] = schemes
    schema["security"] = [{name: []} for name in schemes]
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            if path in OPEN_PATHS or path in LOGIN_PATHS:
                operation["security"] = []
            else:
                operation["responses"] = {**operation["responses"], **_REFUSED}
