"""Power laws of the growth benchmark, and the charts that show them."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.bulk_filling import WORKSPACE, bulk_documents
from bench.corpus import TOKENS
from bench.growth.power_laws import Cost, Growth, chart
from bench.svg_charts import Chart, Line, Point
from tools.retrieval.segment_rows import packed_rows
from tools.retrieval.segmenting import SegmentSpan

SIZES = (10, 100, 1_000, 10_000)


@given(st.floats(0.1, 100), st.floats(-1, 2))
def test_the_exponent_of_a_power_law_is_found(factor: float, exponent: float) -> None:
    costs = [Cost(size, [factor * size**exponent]) for size in SIZES]
    law = Growth("anything", "ms", costs).law()
    assert law.exponent == pytest.approx(exponent, abs=1e-6)
    assert law.low - 1e-9 <= law.exponent <= law.high + 1e-9
    assert law.at(50) == pytest.approx(factor * 50**exponent, rel=1e-3)


def test_scattered_points_have_a_wide_interval_and_their_median_counts() -> None:
    even = Growth("even", "ms", [Cost(size, [1, size, 1e9]) for size in SIZES]).law()
    assert even.exponent == pytest.approx(1)
    uneven = Growth("uneven", "ms", [Cost(size, [value]) for size, value in zip(SIZES, (1, 90, 20, 900), strict=True)])
    law = uneven.law()
    assert law.high - law.low > 1
    assert uneven.figure()["beside"]["from"] == pytest.approx(law.low, abs=1e-3)


def test_no_law_goes_through_two_sizes() -> None:
    with pytest.raises(ValueError, match="2 sizes"):
        Growth("short", "ms", [Cost(1, [1]), Cost(2, [2])]).law()


@pytest.mark.parametrize("logarithmic", [True, False])
def test_a_chart_is_well_formed_and_draws_every_point_within_its_frame(logarithmic: bool) -> None:
    points = [Point(size, size * 2, size, size * 3) for size in SIZES]
    text = Chart("Cost & <size>", "size", "ms", [Line("a <line>", points)], logarithmic=logarithmic).svg()
    drawn = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    assert drawn.findtext(f"{space}title") == "Cost & <size>"
    _, _, width, height = map(float, drawn.attrib["viewBox"].split())
    dots = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in drawn.iter(f"{space}circle")]
    assert len(dots) == len(SIZES) + 1  # one in the legend
    assert all(0 <= x <= width and 0 <= y <= height for x, y in dots)
    assert "prefers-color-scheme: dark" in text


def test_each_line_of_a_chart_tells_its_exponent() -> None:
    growth = Growth("search", "ms", [Cost(size, [size / 4]) for size in SIZES])
    assert "search: exponent 1.00 (1.00 to 1.00)" in chart("Searches", "segments", "ms", [growth]).svg()


def test_lines_of_a_chart_tell_their_units_where_these_differ() -> None:
    costs = [Cost(size, [size / 4]) for size in SIZES]
    text = chart("Turns", "turns", "ms, KiB", [Growth("turn", "ms", costs), Growth("bytes", "KiB", costs)]).svg()
    assert "turn, ms: exponent" in text
    assert "bytes, KiB: exponent" in text


def test_documents_made_in_bulk_have_the_rows_that_ingestion_makes_of_their_texts() -> None:
    for made in bulk_documents(chunk=3, documents=2):
        ends = [sum(map(len, made.bodies[: place + 1])) for place in range(len(made.bodies))]
        spans = [
            SegmentSpan(index, end - len(body), end, None, "", TOKENS)
            for index, (body, end) in enumerate(zip(made.bodies, ends, strict=True))
        ]
        text = "".join(made.bodies)
        assert list(packed_rows(WORKSPACE, str(made.document_id), made.title, spans, text, [])) == made.rows


def test_another_chunk_has_other_texts_and_the_same_one_the_same() -> None:
    first, again, other = [next(bulk_documents(chunk, documents=1)) for chunk in (1, 1, 2)]
    assert first == again
    assert not set(first.bodies) & set(other.bodies)
