"""The types of what travels, written for the page from the API's own description.

``python -m tests.page.wire_types`` writes them anew, as ``make page`` does.
"""

import json
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from api.app import create_app
from api.static_files import PAGE_FOLDER
from tools.settings import Settings

WIRE_TYPES = PAGE_FOLDER / "api" / "wire.d.ts"
HEAD = "// Made from the API's description by `make page`: what the native dialect sends and takes.\n"
REFERENCE = "#/components/schemas/"
WIDTH = 120
# What the page asks for, by the tags of the description, and the list of models, which a dialect gives.
TAGS = {"documents", "graph", "jobs", "login", "notes", "runs", "search", "sessions", "sources", "workspaces"}
MODELS = "/v1/models"

Schema = Mapping[str, Any]


def wire_types() -> str:
    """Write the types of all that the page sends and is told, in the order of their names."""
    described = create_app(Settings(_env_file=None)).openapi()
    schemas = described["components"]["schemas"]
    operations = [
        operation
        for path, methods in described["paths"].items()
        for operation in methods.values()
        if path == MODELS or not TAGS.isdisjoint(operation.get("tags", ()))
    ]
    told = _reached([operation["responses"] for operation in operations], schemas)
    sent = _reached([operation.get("requestBody", {}) for operation in operations], schemas)
    types = {name: _type(schemas[name], is_sent=name not in told) for name in sorted(told | sent)}
    called = _short_names(types)
    declarations = {
        called[name]: f"{_comment(schemas[name].get('description', ''), '')}export type {called[name]} = {typed};\n"
        for name, typed in types.items()
    }
    written = "\n".join([HEAD, *(declarations[name] for name in sorted(declarations))])
    return re.sub(r"\w+__\w+", lambda found: called.get(found[0], found[0]), written).replace(" \n", "\n")


def _short_names(types: Mapping[str, str]) -> dict[str, str]:
    """Name what the description names with its module by its own name, where that is the name of nothing else."""
    known = dict(types)
    ends = {name: name.rsplit("__", 1)[-1] for name in types}
    return {name: end if known.setdefault(end, types[name]) == types[name] else name for name, end in ends.items()}


def _reached(part: Any, schemas: Schema) -> set[str]:
    """Return the names of the schemas that a part of a description refers to, directly or not."""
    reached: set[str] = set()
    waiting = list(_references(part))
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(_references(schemas[name]))
    return reached


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].removeprefix(REFERENCE)
        part = part.values()
    elif not isinstance(part, list):
        return
    for each in part:
        yield from _references(each)


def _type(schema: Schema, indent: str = "", *, is_sent: bool = False) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(REFERENCE)
    if "const" in schema or "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")]))
    for combined in ("anyOf", "oneOf"):
        if combined in schema:
            return _union([_type(each, indent, is_sent=is_sent) for each in schema[combined]], indent)
    match schema.get("type"):
        case "array":
            item = _type(schema.get("items", {}), indent, is_sent=is_sent)
            return f"({item})[]" if " | " in item else f"{item}[]"
        case "object" if "properties" in schema:
            return _object(schema, indent, is_sent=is_sent)
        case "object":
            values, names = schema.get("additionalProperties", True), schema.get("propertyNames")
            value = _type(values, indent, is_sent=is_sent) if isinstance(values, Mapping) else "unknown"
            return f"Partial<Record<{_type(names)}, {value}>>" if names else f"Record<string, {value}>"
        case "integer":
            return "number"
        case "string" | "number" | "boolean" | "null" as plain:
            return str(plain)
    return "unknown"


def _union(types: list[str], indent: str) -> str:
    line = " | ".join(dict.fromkeys(types))
    return line if len(line) + len(indent) < WIDTH - 40 else "".join(f"\n{indent}  | {each}" for each in types)


def _object(schema: Schema, indent: str, *, is_sent: bool) -> str:
    inner = f"{indent}  "
    lines = []
    for name, field in schema["properties"].items():
        key = name if name.isidentifier() else json.dumps(name)
        optional = "?" if _may_be_left_out(name, schema, is_sent=is_sent) else ""
        typed = _type(field, inner, is_sent=is_sent)
        lines += [_comment(field.get("description", ""), inner), f"{inner}{key}{optional}: {typed};\n"]
    return "{\n" + "".join(lines) + indent + "}"


def _may_be_left_out(name: str, schema: Schema, *, is_sent: bool) -> bool:
    """Tell whether a field may be missing: one with a default may be left out of what is sent, but is always told."""
    is_always_told = not is_sent and "default" in schema["properties"][name]
    return name not in schema.get("required", ()) and not is_always_told


def _comment(text: str, indent: str) -> str:
    """Write a description as a comment, if there is one."""
    words = " ".join(text.split()).replace("``", "`").replace("*/", "* /")
    if not words:
        return ""
    if len(words) + len(indent) + 7 <= WIDTH:
        return f"{indent}/** {words} */\n"
    lines = textwrap.wrap(words, WIDTH - len(indent) - 3, break_long_words=False)
    return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in lines) + f"{indent} */\n"


def main(arguments: list[str]) -> None:
    """Write the types, or with ``--check`` fail where they are not those of today."""
    types = wire_types()
    if "--check" not in arguments:
        WIRE_TYPES.write_text(types, "utf-8")
    elif WIRE_TYPES.read_text("utf-8") != types:
        sys.exit("Out of date: api/page/api/wire.d.ts. `make page` writes it anew.")


if __name__ == "__main__":
    main(sys.argv[1:])
