"""Given texts as segments: they join to the text as it was given, and carry the headings that they stand under."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import InvalidRequest
from tools.library.given_texts import MOST_BYTES, MOST_TEXTS, GivenText, given_segments

LONG = "The mill grinds forty tons of rye a year, and sells most of it in town. " * 30


@given(st.lists(st.text(alphabet="ab .\n#`~\r\f中é", min_size=1, max_size=200).filter(str.strip), max_size=3))
def test_segments_join_to_the_given_text(texts: list[str]) -> None:
    segments = given_segments([GivenText(text) for text in texts])
    for number, text in enumerate(texts, start=1):
        own = [each for each in segments if each.document_id == str(number)]
        assert "".join(each.text for each in own) == text
        assert all(text[each.start : each.end] == each.text for each in own)


def test_a_segment_has_the_title_and_the_headings_above_it() -> None:
    text = f"# Mills\n\n{LONG}\n\n```\n# no heading\n```\n\n## Prices ##\n\n{LONG}"
    segments = given_segments([GivenText(text, "Guide", "Town", "https://town.example")])
    assert {each.heading for each in segments} == {"Town > Mills", "Town > Mills > Prices"}
    assert {(each.title, each.url) for each in segments} == {("Guide", "https://town.example")}


@pytest.mark.parametrize(
    ("texts", "fault"),
    [
        ([GivenText("a")] * (MOST_TEXTS + 1), "sources: there are 51"),
        ([GivenText("é" * (MOST_BYTES // 2)), GivenText("a")], "sources: .* 500,001 bytes"),
        ([GivenText("a"), GivenText(" \n")], "sources.1.text: .*blank"),
    ],
)
def test_a_limit_names_the_field_and_what_to_do(texts: list[GivenText], fault: str) -> None:
    with pytest.raises(InvalidRequest, match=fault) as refused:
        given_segments(texts)
    assert refused.value.advice


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["# a\n", "```\n# a\n", "x", "#", " "])
def test_no_text_takes_long(piece: str) -> None:
    text = "a" + piece * ((MOST_BYTES - 1) // len(piece))
    assert sum(len(each.text) for each in given_segments([GivenText(text)])) == len(text)
