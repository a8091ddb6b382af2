"""The page's types of what travels are those of the API's own description: TypeScript compares the two."""

import asyncio
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from api.app import create_app
from api.static_files import PAGE_FOLDER
from tests.wire.node_clients import SKIPPED
from tools.settings import Settings

TYPES = PAGE_FOLDER / "api" / "types.js"
COMPILER = Path(__file__).parent / "node" / "node_modules" / "typescript" / "bin" / "tsc"
# Of the page's types: what the description calls them where that is not the same, or None where it has no such thing.
SENT = {"Ask": "NewRun"}
OTHERWISE: Mapping[str, str | None] = {
    **SENT,
    "Budget": "BudgetCaps",
    "Envelope": None,
    "Fallback": "Failure",
    "Freshness": None,
    "Outcome": None,
    "SourceKind": None,
    "Verdict": None,
}
WHOLE = {"Citation", "Claim", "Message", "RunEvent", "Source"}  # the page knows every field of these
CHECKS = """\
import type * as Page from "./page/api/types.js";
import type * as Wire from "./wire.d.ts";
type Within<Part, Whole> = [Part] extends [Whole] ? true : false;
type Names<T> = T extends unknown ? keyof T : never;
type Kinds = Wire.RunEvent["type"];
declare function holds<T extends true>(): T;
// Each kind of event with its own fields, no more and no fewer.
type Same = { [K in Kinds]: [
  Within<keyof Extract<Page.RunEvent, { type: K }>, keyof Extract<Wire.RunEvent, { type: K }>>,
  Within<keyof Extract<Wire.RunEvent, { type: K }>, keyof Extract<Page.RunEvent, { type: K }>>] };
export const same: { [K in Kinds]: [true, true] } = null as unknown as Same;
export const kinds: Kinds = null as unknown as Page.RunEvent["type"];
"""
OPTIONS = {
    "allowJs": True,
    "allowImportingTsExtensions": True,
    "lib": ["ES2023", "DOM", "DOM.Iterable"],
    "module": "ES2022",
    "moduleResolution": "bundler",
    "noEmit": True,
    "skipLibCheck": True,
    "strict": True,
    "target": "ES2022",
    "types": [],
}


def declared(schema: Mapping[str, Any], *, sent: bool = False) -> str:
    """Write a JSON schema as a type. What has a default may be left out of what is sent, but is always told."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[1]
    if "const" in schema or "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")]))
    for name, sign in (("anyOf", "|"), ("oneOf", "|"), ("allOf", "&")):
        if name in schema:
            return f" {sign} ".join(f"({declared(each)})" for each in schema[name])
    match schema.get("type"):
        case "array":
            return f"Array<{declared(schema.get('items', {}))}>"
        case "object" if "properties" in schema:
            fields = (
                f"{json.dumps(name)}{'?' if _left_out(name, schema, sent) else ''}: {declared(field)};"
                for name, field in schema["properties"].items()
            )
            return f"{{ {' '.join(fields)} }}"
        case "object":
            values, names = schema.get("additionalProperties", True), schema.get("propertyNames")
            value = declared(values) if isinstance(values, Mapping) else "unknown"
            return f"Partial<Record<{declared(names)}, {value}>>" if names else f"Record<string, {value}>"
        case "integer":
            return "number"
        case "string" | "number" | "boolean" | "null" as plain:
            return str(plain)
    return "unknown"


def _left_out(name: str, schema: Mapping[str, Any], sent: bool) -> bool:
    field = schema["properties"][name]
    # The description leaves out a default that is null.
    always = not sent and ("default" in field or {"type": "null"} in field.get("anyOf", ()))
    return name not in schema.get("required", ()) and not always


def checks_of(name: str, wire: str) -> str:
    """Say what has to hold of a type: the page can read what is sent, and sends what can be read."""
    page, described = f"Page.{name}", f"Wire.{wire}"
    out, into = (page, described) if name in SENT else (described, page)
    lines = [
        f"export const {name}_travels: {into} = null as unknown as {out};",
        f"holds<Within<Names<{page}>, Names<{described}>>>();",
    ]
    if name in WHOLE:
        lines.append(f"holds<Within<Names<{described}>, Names<{page}>>>();")
    return "\n".join(lines)


async def test_the_pages_types_are_those_of_the_description(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not COMPILER.exists():
        pytest.skip(f"{SKIPPED}: typescript")
    schemas = create_app(Settings(_env_file=None)).openapi()["components"]["schemas"]
    names = re.findall(r"^ ?/?\*\*? @typedef \{.*?\}? ?(\w+)(?: \*/)?$", TYPES.read_text("utf-8"), re.MULTILINE)
    assert WHOLE - {"RunEvent"} <= set(names)
    wire = {name: OTHERWISE.get(name, name) for name in {*names, "RunEvent"}}
    checks = [checks_of(name, described) for name, described in sorted(wire.items()) if described is not None]
    (tmp_path / "page" / "api").mkdir(parents=True)
    shutil.copy(TYPES, tmp_path / "page" / "api")
    (tmp_path / "wire.d.ts").write_text(
        "\n".join(
            f"export type {name} = {declared(schema, sent=name in SENT.values())};" for name, schema in schemas.items()
        )
    )
    (tmp_path / "checks.ts").write_text("\n".join([CHECKS, *checks]))
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": OPTIONS, "include": ["checks.ts"]}))
    process = await asyncio.create_subprocess_exec(
        node, str(COMPILER), "-p", str(tmp_path), "--pretty", "false", stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
