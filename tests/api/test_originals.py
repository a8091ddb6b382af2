"""Originals over HTTP: ranges, entity tags, headers that keep a file from acting as a page of ours, and places."""

import hashlib
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from api.original_files import _span
from tests.api.conftest import Deployment
from tests.unit.placed_pdf import Placed, column, placed_pdf

NOTES = ("Lamps burn at night. " * 400).encode()
HTML = b"<html><body><main><h1 id='top'>Top</h1><p id='evil'>Text.<script>alert(1)</script></p></main></body></html>"


@pytest.fixture(scope="module")
def client(deployment_of_module: Deployment) -> httpx.AsyncClient:
    return deployment_of_module.client


async def uploaded(client: httpx.AsyncClient, name: str, data: bytes, media_type: str = "") -> str:
    made = await client.post("/api/documents", files={"file": (name, data, media_type or "application/octet-stream")})
    assert made.status_code in (200, 201), made.text  # another test may have sent the same file
    return str(made.json()["document_id"])


async def test_an_uploaded_file_comes_back_as_it_was(client: httpx.AsyncClient) -> None:
    document_id = await uploaded(client, "notes.txt", NOTES)
    digest = hashlib.sha256(NOTES).hexdigest()
    document = (await client.get(f"/api/documents/{document_id}")).json()
    assert document["original"] == {
        "sha256": digest,
        "size": len(NOTES),
        "media_type": "text/plain",
        "name": "notes.txt",
    }
    response = await client.get(f"/api/documents/{document_id}/original")
    assert (response.status_code, response.content) == (200, NOTES)
    assert response.headers["etag"] == f'"{digest}"'
    assert response.headers["content-length"] == str(len(NOTES))
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["content-disposition"].startswith('inline; filename="notes.txt"')
    head = await client.head(f"/api/documents/{document_id}/original")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(NOTES)))
    assert head.headers["accept-ranges"] == "bytes"


@pytest.mark.parametrize(
    ("asked", "span"),
    [
        ("bytes=0-9", (0, 10)),
        ("bytes=8000-", (8000, 8400)),
        ("bytes=-5", (8395, 8400)),
        ("bytes=8390-99999", (8390, 8400)),
        ("bytes=-99999", (0, 8400)),
    ],
)
async def test_a_range_is_answered_with_its_bytes(client: httpx.AsyncClient, asked: str, span: tuple[int, int]) -> None:
    path = f"/api/documents/{await uploaded(client, 'notes.txt', NOTES)}/original"
    response = await client.get(path, headers={"range": asked})
    start, end = span
    assert response.content == NOTES[start:end]
    if span != (0, len(NOTES)):
        assert response.status_code == 206
        assert response.headers["content-range"] == f"bytes {start}-{end - 1}/{len(NOTES)}"
        assert response.headers["content-length"] == str(end - start)


async def test_ranges_that_cannot_be_and_copies_that_are_known(client: httpx.AsyncClient) -> None:
    path = f"/api/documents/{await uploaded(client, 'notes.txt', NOTES)}/original"
    tag = f'"{hashlib.sha256(NOTES).hexdigest()}"'
    outside = await client.get(path, headers={"range": "bytes=8400-"})
    assert (outside.status_code, outside.headers["content-range"]) == (416, "bytes */8400")
    assert outside.json()["code"] == "invalid_request"
    for ignored in ("bytes=5-2", "lines=1-2", "bytes=0-1,4-5", "bytes=-", "bytes=a-b"):
        whole = await client.get(path, headers={"range": ignored})
        assert (whole.status_code, len(whole.content)) == (200, len(NOTES)), ignored
    same = await client.get(path, headers={"range": "bytes=0-9", "if-range": tag})
    other = await client.get(path, headers={"range": "bytes=0-9", "if-range": '"other"'})
    assert (same.status_code, other.status_code, len(other.content)) == (206, 200, len(NOTES))
    known = await client.get(path, headers={"if-none-match": f'"a", W/{tag}'})
    assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", tag)


@given(asked=st.text(max_size=40) | st.from_regex(r"bytes=\d{0,20}-\d{0,20}", fullmatch=True), size=st.integers(1, 99))
def test_no_range_reaches_outside_of_the_file(asked: str, size: int) -> None:
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "headers": [(b"range", asked.encode("latin-1", "replace"))],
    }
    span = _span(Request(scope), '"x"', size)
    assert span is None or 0 <= span[0] < span[1] <= size


@pytest.mark.parametrize(
    ("name", "data", "shown"),
    [
        ("page.html", HTML, "attachment"),
        ("page.md", b"# Hi\n\n<script>alert(1)</script>", "attachment"),
        ("table.csv", b"a,b\n1,2\n", "attachment"),
        ("lamps.pdf", placed_pdf([[Placed(72, 700, "Lamps burn.")]]), "inline"),
    ],
)
async def test_no_file_acts_as_a_page_of_ours(client: httpx.AsyncClient, name: str, data: bytes, shown: str) -> None:
    path = f"/api/documents/{await uploaded(client, name, data)}/original"
    for response in (await client.get(path), await client.head(path)):
        assert response.headers["content-disposition"].partition(";")[0] == shown
        assert response.headers["x-content-type-options"] == "nosniff"
        policy = response.headers["content-security-policy"].split("; ")
        assert {"default-src 'none'", "sandbox"} <= set(policy)


async def test_a_name_breaks_out_of_no_header(client: httpx.AsyncClient) -> None:
    path = f"/api/documents/{await uploaded(client, 'ví dụ%22; x=y.md', b'Text.')}/original"
    said = (await client.get(path)).headers["content-disposition"]
    assert said.startswith('attachment; filename="')
    assert said.count('"') == 2
    assert "filename*=UTF-8''v%C3%AD%20d%E1%BB%A5" in said


async def test_a_text_has_no_original(client: httpx.AsyncClient) -> None:
    made = await client.post("/api/documents", json={"text": "Leave by the stairs."})
    path = f"/api/documents/{made.json()['document_id']}"
    assert (await client.get(path)).json()["original"] is None
    assert (await client.get(f"{path}/original")).status_code == 404


PDF = placed_pdf(
    [
        column(72, 700, ["The first page tells of ferries.", "They sail at noon."]),
        [
            *column(72, 700, ["Lamps are lit at dusk by the kee-", "per of the tower, who sleeps by day."]),
            *column(72, 640, ["Lamps are put out at dawn."]),
        ],
    ]
)


async def placed(client: httpx.AsyncClient, document_id: str, words: str) -> dict[str, Any]:
    """Ask for the place of words in the canonical text."""
    raw = (await client.get(f"/api/documents/{document_id}/raw-text")).json()["segments"]
    whole = "".join(segment["text"] for segment in raw)
    start = whole.index(words)
    index = next(segment["segment_index"] for segment in raw if segment["start"] <= start < segment["end"])
    path = f"/api/documents/{document_id}/segments/{index}/place"
    response = await client.get(path, params={"start": start, "end": start + len(words)})
    assert response.status_code == 200, response.text
    return dict(response.json())


async def test_a_quote_of_a_pdf_stands_in_boxes(client: httpx.AsyncClient) -> None:
    document_id = await uploaded(client, "lamps.pdf", PDF)
    place = await placed(client, document_id, "lit at dusk by the keeper of the tower")
    assert place["page_idx"] == 1
    first, second = place["boxes"]
    assert (first["page_idx"], first["width"], first["height"]) == (1, 595, 842)
    # The base lines are 700 and 688 points from the page's foot, and the letters 10 points high.
    assert 842 - 700 - 9 <= first["top"] < first["bottom"] <= 842 - 700 + 3
    assert 842 - 688 - 9 <= second["top"] < second["bottom"] <= 842 - 688 + 3
    assert first["left"] > 72 + 40
    assert 71 <= second["left"] < second["right"] < first["right"]
    put_out = await placed(client, document_id, "Lamps are put out")
    [box] = put_out["boxes"]
    assert 842 - 640 - 9 <= box["top"] < box["bottom"] <= 842 - 640 + 3


async def test_a_whole_segment_stands_in_boxes_too(client: httpx.AsyncClient) -> None:
    document_id = await uploaded(client, "lamps.pdf", PDF)
    place = (await client.get(f"/api/documents/{document_id}/segments/0/place")).json()
    assert (place["page_idx"], place["slide"], place["anchor"], len(place["boxes"])) == (0, None, None, 2)
    assert place["passage"] is None


async def test_a_part_of_a_text_stands_in_its_passage_and_a_row_under_its_header(client: httpx.AsyncClient) -> None:
    table = "| Item | Price |\n|---|---|\n| Lamp | 9 € |\n| Rope | 4 € |\n"
    text = f"# Prices\n\nBoth are new. The lamp turns.\n\n## List\n\n{table}"
    document_id = await uploaded(client, "prices.md", text.encode())
    found = await placed(client, document_id, "The lamp turns.")
    assert found["passage"]["quote"] == found["passage"]["text"] == "Both are new. The lamp turns."
    assert found["passage"]["highlight"] == {"start": found["start"], "end": found["end"]}
    assert found["passage"]["heading_path"] == ["Prices"]
    row = (await placed(client, document_id, "Rope | 4 €"))["passage"]["text"]
    assert row.split("\n") == ["| Item | Price |", "| --- | --- |", "| Lamp | 9 € |", "| Rope | 4 € |"]


async def test_a_part_of_a_page_stands_at_its_anchor(client: httpx.AsyncClient) -> None:
    document_id = await uploaded(client, "page.html", HTML)
    place = await placed(client, document_id, "Text.")
    assert (place["anchor"], place["page_idx"], place["boxes"], place["sheet"]) == ("evil", None, [], None)


async def test_only_parts_of_segments_have_places(client: httpx.AsyncClient) -> None:
    document_id = await uploaded(client, "notes.txt", NOTES)
    path = f"/api/documents/{document_id}/segments"
    assert (await client.get(f"{path}/0/place", params={"start": 5, "end": 5})).status_code == 422
    assert (await client.get(f"{path}/0/place", params={"end": 99_999})).status_code == 422
    assert (await client.get(f"{path}/999/place")).status_code == 404
