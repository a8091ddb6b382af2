"""The JSON of the commands that scripts use most is published as a schema, which is that of the code."""

import json
import os
import re
from pathlib import Path

from tests.cli_schemas import DOCUMENTS, SCHEMA, output_schema

MANUAL = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def test_the_published_schema_is_that_of_the_code() -> None:
    schema = json.dumps(output_schema(), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_DOCS"):
        SCHEMA.write_text(schema, encoding="utf-8")
    assert SCHEMA.read_text(encoding="utf-8") == schema


def test_the_manual_gives_the_keys_of_each_of_these_documents() -> None:
    definitions = output_schema()["$defs"]
    told = dict(
        re.findall(r"^\| `([a-z ]+)` \| (`.+`) \|$", MANUAL.split("## JSON")[1].split("\n## ")[0], re.MULTILINE)
    )
    assert told.keys() == DOCUMENTS.keys()
    for command, keys in told.items():
        kind = definitions[definitions[command]["anyOf"][0]["$ref"].rpartition("/")[2]]
        assert re.findall(r"`(\w+)`", keys) == list(kind["properties"]), command
