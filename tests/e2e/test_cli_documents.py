"""What ``ask``, ``verify`` and ``documents`` print with ``--json`` is what the published schema promises."""

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from cli.command import Exit
from tests.cli_schemas import SCHEMA
from tests.e2e.conftest import Done, Home, Writer
from tests.scripted_openai import ScriptedOpenAI, status

LIBRARY = {
    "glaze.md": "# Glazes\n\n## Firing\n\n- Celadon is fired at 1,280 degrees.\n- Tenmoku is fired at 1,300 degrees.\n",
    "rates.md": "# Rates\n\nA member pays 30 euros a month. Guests pay 8 euros an evening.\n",
    "older.md": "# Older rates\n\nA member pays 25 euros a month. Guests pay 8 euros an evening.\n",
}


def check(command: str, done: Done) -> Any:
    """Hold what a command has printed to its schema, and return it."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.validate(done.json, {**schema, "$ref": f"#/$defs/{command}"})
    return done.json


@pytest.fixture(scope="module")
def document_id(home: Home) -> str:
    folder = home.folder / "printed"
    folder.mkdir()
    for name, text in LIBRARY.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = home.citewell("ingest", "printed", "-w", "printed", "--space", "studio", "--json")
    return next(str(each["document_id"]) for each in done.json["documents"] if each["title"] == "Glazes")


@pytest.mark.parametrize(
    ("question", "outcome"),
    [
        ("At how many degrees is celadon fired?", "answered"),
        ("How much does a member pay a month?", "answered"),
        ("Thank you very much!", "answered"),
        ("How many documents do I have?", "answered"),
        ("Who composed the national anthem of Peru?", "abstained"),
    ],
)
def test_an_answer_has_the_promised_keys(home: Home, document_id: str, question: str, outcome: str) -> None:
    assert check("ask", home.citewell("ask", question, "-w", "printed", "--json"))["outcome"] == outcome


def test_a_models_answer_and_one_that_fails_have_them_too(
    home: Home, document_id: str, scripted_openai: ScriptedOpenAI
) -> None:
    models = json.dumps([{"name": "scripted", "base_url": scripted_openai.base_url, "model": "any"}])
    arguments = ["ask", "At how many degrees is celadon fired?", "-w", "printed", "--model", "scripted", "--json"]
    assert check("ask", home.citewell(*arguments, CITEWELL_MODELS=models))["family"] == "llm"
    scripted_openai.respond = lambda request: status(401, "no such key")
    failed = home.citewell(*arguments, CITEWELL_MODELS=models)
    assert (failed.code, check("ask", failed)["outcome"]) == (Exit.UNAVAILABLE, "failed")


def test_a_verification_has_the_promised_keys(home: Home, write: Writer, document_id: str) -> None:
    text = "Celadon is fired at 1,280 degrees [1]. Celadon is fired at 1,200 degrees [2]. Glazes are poisonous."
    write("printed-source/glaze.md", LIBRARY["glaze.md"])
    for where in (["-w", "printed"], ["--source", "printed-source/glaze.md"]):
        found = check("verify", home.citewell("verify", *where, "--no-judge", "--json", piped=text))
        assert found["totals"]["supported"] >= 1


def test_documents_have_the_promised_keys(home: Home, document_id: str) -> None:
    here = ["-w", "printed", "--json"]
    listed = check("documents list", home.citewell("documents", "list", *here))["documents"]
    assert document_id in [each["document_id"] for each in listed]
    assert check("documents show", home.citewell("documents", "show", document_id, *here))["title"] == "Glazes"
    assert check("documents raw", home.citewell("documents", "raw", document_id, *here))["segments"]
    assert check("documents versions", home.citewell("documents", "versions", document_id, *here))["versions"]
    last = home.citewell("documents", "list", "--title", "Older", *here).json["documents"][0]["document_id"]
    assert check("documents delete", home.citewell("documents", "delete", last, "--yes", *here))["deleted"]
    for command in ("show", "raw", "versions"):
        gone = home.citewell("documents", command, last, *here)
        assert (gone.code, check(f"documents {command}", gone)["error"]["code"]) == (Exit.NOT_FOUND, "not_found")
