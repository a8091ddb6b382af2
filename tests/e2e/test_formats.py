"""Questions over Word, Excel, PowerPoint and EPUB files, by HTTP and command line: cited to slide, sheet and cell.

The files are those of the demo, and are uploaded as one job. The process that answers reads none of them itself.
"""

import re
import subprocess
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
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
SAID = [(ASKED[1][0], "sheet Equipment, A4 · characters"), (ASKED[2][0], "slide 5")]


Started = tuple[subprocess.Popen[str], dict[str, int]]


@pytest.fixture(scope="module")
def server(home: Home) -> Iterator[Started]:
    with started(home, "serve", "--port", "0", CITEWELL_WORKSPACE="formats") as process:
        yield process


@pytest.fixture(scope="module")
def served(server: Started) -> Iterator[httpx.Client]:
    url = f"http://127.0.0.1:{server[1]['port']}"
    with httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE) as client:
        files = [("file", (name, (DEMO / name).read_bytes())) for name in FILES]
        job_id = client.post("api/jobs", files=files).raise_for_status().json()["job_id"]
        client.get(f"api/jobs/{job_id}/events").raise_for_status()  # ends with the job
        job = client.get(f"api/jobs/{job_id}").raise_for_status().json()["job"]
        assert (job["state"], job["counts"]["stored"]) == ("finished", len(FILES))
        yield client


def place_of(client: httpx.Client, citation: dict[str, Any]) -> dict[str, Any]:
    path = f"api/documents/{citation['document_id']}/segments/{citation['segment_index']}/place"
    span = citation.get("highlight", citation)  # of a table the row that answers, not its first one
    span = {name: span[name] for name in ("start", "end")}
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


def swollen_document() -> bytes:
    """Return a Word document of a few kilobytes with a million elements that show nothing."""
    with zipfile.ZipFile(DEMO / "moving-plan.docx") as plan:
        parts = {name: plan.read(name) for name in plan.namelist()}
    name = "word/document.xml"
    parts[name] = parts[name].replace(b"<w:body>", b"<w:body><w:p><w:pPr>" + b"<x/>" * 1_000_000 + b"</w:pPr></w:p>")
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in parts.items():
            made.writestr(name, data)
    return written.getvalue()


def swollen_page() -> bytes:
    """Return a PDF of a few kilobytes whose page draws a line half a million times."""
    drawn = zlib.compress(
        b"BT /F1 12 Tf 10 700 Td (The tower is ninety metres high.) Tj ET " + b"0 0 m 9 9 l S " * 500_000
    )
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Filter/FlateDecode/Length %d>>stream\n%b\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    made = b"".join(b"%d 0 obj\n%b\nendobj\n" % (number, each) for number, each in enumerate(objects, 1))
    return b"%PDF-1.7\n" + made + b"trailer\n<</Root 1 0 R/Size 6>>\n%%EOF\n"


def peak_megabytes(process: subprocess.Popen[str]) -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text(encoding="ascii"))
    assert found is not None
    return int(found[1]) // 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux says how much memory a process had")
@pytest.mark.parametrize(
    ("name", "data", "views"),
    [
        ("swollen.docx", swollen_document(), ["layout", "pictures/0"]),
        ("swollen.pdf", swollen_page(), ["segments/0/place"]),
    ],
    ids=["docx", "pdf"],
)
def test_an_original_is_never_read_by_the_process_that_answers(
    server: Started, served: httpx.Client, name: str, data: bytes, views: list[str]
) -> None:
    assert len(data) < 30_000
    made = served.post("api/documents", files={"file": (name, data)}, headers={"Prefer": "wait=60"}).raise_for_status()
    document = f"api/documents/{made.json()['document_id']}"
    served.get("api/documents/00000000-0000-4000-8000-000000000000/layout")  # what the first request loads
    before = peak_megabytes(server[0])
    with ThreadPoolExecutor(4) as viewers:
        seen = list(viewers.map(served.get, [f"{document}/{view}" for view in views * 4]))
    assert all(each.is_success == (not each.url.path.endswith("pictures/0")) for each in seen)
    assert peak_megabytes(server[0]) - before < 40
