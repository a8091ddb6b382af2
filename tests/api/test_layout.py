"""How a document is laid out, over HTTP: its blocks at the offsets of its text, and its pictures."""

import zipfile
from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from graph.evidence import Segment, SegmentBlock
from tests.api.conftest import Deployment
from tests.api.test_originals import uploaded
from tests.unit.pictured_office import PNG, png, with_picture
from tools.library.layout import _blocks
from tools.library.sandbox_tasks import TASKS
from tools.parsers.raster import MOST_PIXELS
from tools.parsers.shape_order import Place
from tools.parsers.slide_shapes import Shape, Slide

DOCUMENTS = Path(__file__).parents[1] / "fixtures/documents"
MARKDOWN = f"""# Lamps

Red lamps burn.

## Care

- Wipe them.
  - Twice.
- Wait.

![A lamp](data:image/png;base64,{b64encode(PNG).decode()})

| Lamp | Watts |
|---|---|
| Red | 40 |

{"Green lamps are wiped on Sundays and polished on Mondays. " * 60}
"""


@pytest.fixture(scope="module")
def client(deployment_of_module: Deployment) -> httpx.AsyncClient:
    return deployment_of_module.client


async def laid_out(client: httpx.AsyncClient, name: str, data: bytes) -> tuple[str, dict[str, Any], str]:
    document_id = await uploaded(client, name, data)
    layout = (await client.get(f"/api/documents/{document_id}/layout")).json()
    raw = (await client.get(f"/api/documents/{document_id}/raw-text")).json()
    return document_id, layout, "".join(segment["text"] for segment in raw["segments"])


@pytest.mark.parametrize("at_once", [1, 200])
async def test_blocks_say_what_each_part_of_the_text_is(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("tools.library.layout.SEGMENTS_AT_ONCE", at_once)
    _, layout, text = await laid_out(client, "lamps.md", MARKDOWN.encode())
    found = [
        (each["kind"], each.get("level", 0), each.get("header", False), text[each["start"] : each["end"]])
        for each in layout["blocks"]
    ]
    assert found[:-1] == [
        ("heading", 1, False, "Lamps"),
        ("paragraph", 0, False, "Red lamps burn."),
        ("heading", 2, False, "Care"),
        ("list_item", 0, False, "- Wipe them."),
        ("list_item", 0, False, "  - Twice."),
        ("list_item", 0, False, "- Wait."),
        ("paragraph", 0, False, "A lamp"),
        ("table_row", 0, True, "Lamp | Watts"),
        ("table_row", 0, False, "Red | 40"),
    ]
    assert found[-1][3].count("Sundays") == 60, "a block that segments cut is one again"
    assert layout["media_type"] == "text/markdown"


async def test_pictures_are_given_as_what_they_are_and_where_they_stand(client: httpx.AsyncClient) -> None:
    document_id, layout, text = await laid_out(client, "lamps.md", MARKDOWN.encode())
    [picture] = layout["pictures"]
    assert text[: picture["after"]].endswith("A lamp")
    assert (picture["alt"], picture["width"], picture["height"]) == ("A lamp", 8, 4)
    response = await client.get(f"/api/documents/{document_id}/pictures/{picture['number']}")
    assert (response.content, response.headers["content-type"]) == (PNG, "image/png")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in response.headers["content-security-policy"]
    assert (await client.get(f"/api/documents/{document_id}/pictures/1")).status_code == 404

    _, layout, text = await laid_out(client, "handbook.docx", with_picture(DOCUMENTS / "handbook.docx"))
    [picture] = layout["pictures"]
    assert text[: picture["after"]].endswith("Each night the keeper checks:")
    _, layout, text = await laid_out(client, "talk.pptx", with_picture(DOCUMENTS / "talk.pptx"))
    [picture] = layout["pictures"]
    assert picture["page_idx"] == 1
    assert text[picture["after"] :].strip().startswith("Speaker notes")


@pytest.mark.parametrize(
    ("name", "data", "notation", "source"),
    [
        ("half.md", "Take $\\frac{1}{2}$ of a lamp.", "latex", "\\frac{1}{2}"),
        ("half.html", "<p>Take <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> of a lamp.", "mathml", "<mfrac>"),
        ("half.tex", "Take $\\frac{1}{2}$ of a lamp.", "latex", "\\frac{1}{2}"),
    ],
)
async def test_formulas_are_told_as_their_file_writes_them(
    client: httpx.AsyncClient, name: str, data: str, notation: str, source: str
) -> None:
    _, layout, text = await laid_out(client, name, data.encode())
    [formula] = layout["formulas"]
    assert text[formula["start"] : formula["end"]] == "1/2"
    assert formula["notation"] == notation
    assert source in formula["source"]


@pytest.mark.parametrize("name", ["halls.pptx", "halls.odp"])
async def test_slides_tell_where_their_boxes_stand(client: httpx.AsyncClient, name: str) -> None:
    _, layout, text = await laid_out(client, name, (DOCUMENTS / name).read_bytes())
    slides = {each["page_idx"]: each for each in layout["slides"]}
    assert slides[0]["ratio"] == pytest.approx(16 / 9, abs=0.01)
    heading, body = slides[0]["boxes"]
    assert text[heading["start"] : heading["end"]] == "Halls"
    assert text[body["start"] : body["end"]].split() == ["Each", "hall", "has:", "a", "lamp", "a", "keeper"]
    assert heading["left"] == pytest.approx(0.05, abs=0.005)
    assert heading["top"] + heading["height"] < body["top"] < 0.3
    assert heading["size"] > body["size"] > 0
    assert "Speak of the north hall" not in text[: body["end"]]  # notes stand in no box
    [_, table] = slides[2]["boxes"]
    assert text[table["start"] : table["end"]].count("North") == 2


async def test_pictures_of_slides_have_their_boxes(client: httpx.AsyncClient) -> None:
    data = with_picture(DOCUMENTS / "talk.pptx", PNG)
    place = (
        '<p:spPr><a:xfrm xmlns:a="{}"><a:off x="0" y="0"/><a:ext cx="3048000" cy="1714500"/></a:xfrm></p:spPr></p:pic>'
    )
    drawn = "http://schemas.openxmlformats.org/drawingml/2006/main"
    placed = _with_part(data, "ppt/slides/slide2.xml", "</p:pic>", place.format(drawn))
    _, layout, _ = await laid_out(client, "talk.pptx", placed)
    [picture] = layout["pictures"]
    [box] = [each for slide in layout["slides"] for each in slide["boxes"] if each["picture"] is not None]
    assert box["picture"] == picture["number"]
    assert (box["width"], box["height"]) == pytest.approx((1 / 3, 1 / 3))


@pytest.mark.parametrize(
    ("offset", "size", "boxes"),
    [
        ('<a:off x="0" y="0"/>', "1800", 1),
        ('<a:off x="-914400000" y="0"/>', "1800", 0),
        ('<a:off x="abc" y="0"/>', "²", 1),
        ('<a:off x="0" y="0"/>', "999999999", 1),
    ],
    ids=["usual", "far away", "no numbers", "huge letters"],
)
async def test_an_odd_shape_costs_its_own_box_alone(
    client: httpx.AsyncClient, offset: str, size: str, boxes: int
) -> None:
    drawn = "http://schemas.openxmlformats.org/drawingml/2006/main"
    extent = '<a:ext cx="3048000" cy="1714500"/>'
    inner = '<a:chOff x="0" y="0"/><a:chExt cx="3048000" cy="1714500"/>'
    shape = f"""
<p:grpSp xmlns:a="{drawn}"><p:nvGrpSpPr><p:cNvPr id="90" name="g"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>
<p:grpSpPr><a:xfrm>{offset}{extent}{inner}</a:xfrm></p:grpSpPr>
<p:sp><p:nvSpPr><p:cNvPr id="91" name="s"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr>
<p:spPr><a:xfrm><a:off x="0" y="0"/>{extent}</a:xfrm></p:spPr>
<p:txBody><a:bodyPr/><a:p><a:r><a:rPr sz="{size}"/><a:t>Zebra</a:t></a:r></a:p></p:txBody></p:sp>
</p:grpSp></p:spTree>"""
    data = _with_part(with_picture(DOCUMENTS / "talk.pptx", PNG), "ppt/slides/slide2.xml", "</p:spTree>", shape)
    _, layout, text = await laid_out(client, f"talk{boxes}{len(size)}.pptx", data)
    assert len(layout["pictures"]) == 1
    assert len(layout["slides"]) > 1
    found = [text[box["start"] : box["end"]] for slide in layout["slides"] for box in slide["boxes"]]
    assert found.count("Zebra") == boxes


async def test_slides_too_narrow_to_draw_cost_the_slides_alone(client: httpx.AsyncClient) -> None:
    data = _with_part(with_picture(DOCUMENTS / "talk.pptx", PNG), "ppt/presentation.xml", 'cx="', 'cx="1" was="')
    _, layout, _ = await laid_out(client, "narrow.pptx", data)
    assert (len(layout["pictures"]), layout["slides"]) == (1, [])


def test_any_fault_of_slides_ends_them_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = [Shape(Place(0.1, 0.1, 0.5, 0.5), "Halls", 0.02, None)]

    def faulty(*_: object) -> Iterator[Slide]:
        yield Slide(0, 1.5, shapes)
        raise TypeError("no shape")

    monkeypatch.setattr("tools.parsers.slide_shapes.slides_in", faulty)
    header = {"media_type": "application/pdf"}
    reply, _ = TASKS["layout"](header, [b"", b"Halls", b'[0, 5, "heading", 0]'], lambda *_: None)
    [slide] = reply["slides"]
    assert [(box["start"], box["end"]) for box in slide["boxes"]] == [(0, 5)]
    assert "no shape" in reply["fault"]


def _with_part(data: bytes, part: str, old: str, new: str) -> bytes:
    """Return an office file in which one part says something else."""
    written = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as file, zipfile.ZipFile(written, "w") as made:
        for name in file.namelist():
            own = file.read(name)
            made.writestr(name, own.replace(old.encode(), new.encode()) if name == part else own)
    return written.getvalue()


async def test_runs_of_links_alone_are_told_and_stay_in_the_text(client: httpx.AsyncClient) -> None:
    languages = "".join(f'<li><a href="https://lamps{at}.example/">Language {at}</a></li>' for at in range(20))
    few = "".join(f'<li><a href="/{at}">Part {at}</a></li>' for at in range(3))
    page = f"<h1>Lamps</h1><ul>{languages}</ul><p>Red lamps burn.</p><ul>{few}</ul><p>Green ones do not.</p>"
    _, layout, text = await laid_out(client, "lamps.html", page.encode())
    [fold] = layout["folds"]
    assert fold["count"] == 20
    assert text[fold["start"] : fold["end"]].splitlines() == [f"- Language {at}" for at in range(20)]


@pytest.mark.parametrize(
    "picture",
    [
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"<html><script>alert(1)</script></html>",
        png(8, 4)[:16] + MOST_PIXELS.to_bytes(4, "big") * 2 + png(8, 4)[24:],
    ],
    ids=["svg", "html", "too large"],
)
async def test_what_is_no_raster_picture_is_not_given(client: httpx.AsyncClient, picture: bytes) -> None:
    document_id, layout, _ = await laid_out(client, "h.docx", with_picture(DOCUMENTS / "handbook.docx", picture))
    assert [(each["width"], each["height"]) for each in layout["pictures"]] == [(0, 0)]
    assert (await client.get(f"/api/documents/{document_id}/pictures/0")).status_code == 404


async def test_rows_of_a_workbook_have_the_address_of_their_first_cell(client: httpx.AsyncClient) -> None:
    data = (DOCUMENTS / "prices.xlsx").read_bytes()
    _, layout, text = await laid_out(client, "prices.xlsx", data)
    rows = [each for each in layout["blocks"] if each["kind"] == "table_row"]
    assert [each["anchor"] for each in rows[:2]] == ["prices!A1", "prices!A2"]
    assert [each.get("header", False) for each in rows] == [True, *[False] * (len(rows) - 1)]
    assert text[rows[0]["start"] : rows[0]["end"]].startswith("Part | Name")


def test_headings_that_were_stored_without_their_depth_have_that_of_their_path() -> None:
    text = "Lamps\n\nCare\n\nWipe them."
    blocks = (SegmentBlock(0, 5, "heading"), SegmentBlock(7, 11, "heading"), SegmentBlock(13, 23, "paragraph"))
    segment = Segment("d", 0, 0, len(text), text, heading="Lamps > Care", blocks=blocks)
    assert [each.get("level") for each in _blocks([segment])] == [1, 2, None]
    plain = Segment("d", 0, 0, len(text), text)
    assert [(each["kind"], each["end"]) for each in _blocks([plain])] == [("paragraph", len(text))]


async def test_the_page_without_scripts_marks_the_quote_alone(client: httpx.AsyncClient) -> None:
    document_id, _, text = await laid_out(client, "lamps.md", MARKDOWN.encode())
    start = text.index("lamps burn")
    path = f"/documents/{document_id}"
    page = (await client.get(path, params={"quote": f"{start}-{start + 10}"})).text
    assert "Red <mark>lamps burn</mark>." in page
    changed = (await client.get(path, params={"quote": f"{start}-{start + 10}", "check": "1"})).text
    assert "<mark>" not in changed
    assert "changed since" in changed
    assert "<mark>" not in (await client.get(path)).text
    assert (await client.get(path, params={"quote": "x"})).status_code == 422
    address = page.partition('src="../')[2].partition('"')[0]
    script = await client.get(f"/{address}")
    assert script.headers["content-type"].startswith("text/javascript")
