"""Questions over Word, Excel, PowerPoint and EPUB files, by command line and HTTP: cited to slide, sheet and cell.

The files are those of the demo.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import BIN, Home

DEMO = Path(__file__).parents[2] / "docs" / "demo"
FILES = ["moving-plan.docx", "equipment.xlsx", "first-week.pptx", "company-words.epub"]
ASKED = [
    ("When must the network at Pier 4 be ready?", "Network at Pier 4 | IT | 4 September", {"anchor": "who-does-what"}),
    ("What is the most that a standing desk may cost?", "Standing desk | 680", {"sheet": "Equipment", "cell": "A4"}),
    ("For how long does a newcomer have a buddy?", "buddy for six weeks", {"slide": 4}),
    ("How many signatures does a green slip need?", "two signatures", {"anchor": "text/ch002.xhtml#papers"}),
]
SAID = ["Moving plan > Who does what", "sheet Equipment\n      A4 · characters", "slide 5", "Company words"]
HERE = ("--workspace", "formats")


@pytest.fixture(scope="module")
def filled(home: Home) -> Home:
    done = home.citewell("ingest", *(str(DEMO / name) for name in FILES), *HERE, "--json")
    assert done.code == 0, done.err
    return home


@pytest.fixture(scope="module")
def served(filled: Home) -> Iterator[httpx.Client]:
    command = [str(BIN / "citewell"), "serve", "--port", "0", "--json"]
    environment = {**filled.environment, "CITEWELL_WORKSPACE": "formats"}
    with subprocess.Popen(command, cwd=filled.folder, env=environment, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            with httpx.Client(
                base_url=json.loads(b"".join(process.stdout.readline() for _ in range(5)))["url"], timeout=60
            ) as client:
                yield client
        finally:
            process.terminate()
            process.communicate()


def place_of(client: httpx.Client, citation: dict[str, Any]) -> dict[str, Any]:
    path = f"api/documents/{citation['document_id']}/segments/{citation['segment_index']}/place"
    span = {name: citation[name] for name in ("start", "end")}
    return dict(client.get(path, params=span).raise_for_status().json())


@pytest.mark.parametrize(("question", "quote", "place"), ASKED, ids=FILES)
def test_the_command_line_cites_the_place(filled: Home, question: str, quote: str, place: dict[str, Any]) -> None:
    answer = filled.citewell("ask", question, *HERE, "--json").json
    assert answer["outcome"] == "answered"
    [citation] = [each for each in answer["citations"] if quote in each["quote"]]
    told = {name: citation[name] for name in ("slide", "sheet", "cell") if name in citation}
    assert told == {name: value for name, value in place.items() if name != "anchor"}


@pytest.mark.parametrize(("question", "said"), list(zip((asked[0] for asked in ASKED), SAID, strict=True)), ids=FILES)
def test_the_command_line_says_the_place(filled: Home, question: str, said: str) -> None:
    shown = filled.citewell("ask", question, *HERE).out
    assert said in shown
    assert ", page " not in shown


@pytest.mark.parametrize(("question", "quote", "place"), ASKED, ids=FILES)
def test_the_api_cites_the_place(served: httpx.Client, question: str, quote: str, place: dict[str, Any]) -> None:
    session = served.post("api/sessions", json={}).raise_for_status().json()["session_id"]
    run = served.post(f"api/sessions/{session}/runs", json={"question": question})
    assert "answered" in run.raise_for_status().text
    answer = served.get(f"api/sessions/{session}").raise_for_status().json()["messages"][-1]
    [cited] = [each for each in answer["citations"] if quote in each["quote"]]
    found = place_of(served, cited)
    assert {name: found[name] for name in place} == place
    assert all(cited.get(name) == found[name] for name in ("slide", "sheet", "cell"))
