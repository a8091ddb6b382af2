"""Questions over Word, Excel, PowerPoint and EPUB files, by HTTP and command line: cited to slide, sheet and cell.

The files are those of the demo, and are uploaded as one job.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Home
from tests.e2e.test_jobs import started
from tests.e2e.test_keys import PATIENCE

DEMO = Path(__file__).parents[2] / "docs" / "demo"
FILES = ["moving-plan.docx", "equipment.xlsx", "first-week.pptx", "company-words.epub"]
ASKED = [
    ("When must the network at Pier 4 be ready?", "Network at Pier 4 | IT | 4 September", {"anchor": "who-does-what"}),
    ("What is the most that a standing desk may cost?", "Standing desk | 680", {"sheet": "Equipment", "cell": "A4"}),
    ("For how long does a newcomer have a buddy?", "buddy for six weeks", {"slide": 4}),
    ("How many signatures does a green slip need?", "two signatures", {"anchor": "text/ch002.xhtml#papers"}),
]
SAID = [(ASKED[1][0], "sheet Equipment\n      A4 · characters"), (ASKED[2][0], "slide 5")]


@pytest.fixture(scope="module")
def served(home: Home) -> Iterator[httpx.Client]:
    with (
        started(home, "serve", "--port", "0", CITEWELL_WORKSPACE="formats") as (_, told),
        httpx.Client(base_url=f"http://127.0.0.1:{told['port']}", trust_env=False, timeout=PATIENCE) as client,
    ):
        files = [("file", (name, (DEMO / name).read_bytes())) for name in FILES]
        job_id = client.post("api/jobs", files=files).raise_for_status().json()["job_id"]
        client.get(f"api/jobs/{job_id}/events").raise_for_status()  # ends with the job
        job = client.get(f"api/jobs/{job_id}").raise_for_status().json()["job"]
        assert (job["state"], job["counts"]["stored"]) == ("finished", len(FILES))
        yield client


def place_of(client: httpx.Client, citation: dict[str, Any]) -> dict[str, Any]:
    path = f"api/documents/{citation['document_id']}/segments/{citation['segment_index']}/place"
    span = {name: citation[name] for name in ("start", "end")}
    return dict(client.get(path, params=span).raise_for_status().json())


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


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(("question", "said"), SAID, ids=FILES[1:3])
def test_the_command_line_says_the_place(home: Home, question: str, said: str) -> None:
    shown = home.citewell("ask", question, "--workspace", "formats").out
    assert said in shown
    assert ", page " not in shown
