"""Sentences partition any text exactly, and end where a reader of the language would end them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from text.sentences import sentences, trimmed

PIECES = st.sampled_from(
    [
        ".",
        "!",
        "?",
        "。",
        "！？",
        "…",
        "”",
        '"',
        "''",
        "``",
        ")",
        "[1]",
        " ",
        "\n",
        "\r\n",
        "\n\n",
        "\f",
        "- ",
        "1. ",
        "# ",
        "|",
        "```\n",
        "Mr.",
        "U.S.",
        "J.",
        "e.g.",
        "v.v.",
        "3.14",
        "The",
        "he",
        "Đó",
        "你好",
        "，",
        "👍🏽",
        "e\u0301",
        "\u200d",
        "É",
    ]
)


def split(text: str) -> list[str]:
    return [text[slice(*trimmed(text, start, end))] for start, end in sentences(text)]


@given(st.one_of(st.lists(PIECES).map("".join), st.text()))
def test_spans_partition_the_text(text: str) -> None:
    spans = sentences(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    assert all(not text[start].isspace() for start, _ in spans[1:])


@given(st.lists(PIECES).map("".join))
def test_only_a_text_of_white_space_has_a_blank_sentence(text: str) -> None:
    assert all(piece for piece in split(text)) or not text.strip()


@given(st.text(), st.integers(0, 50), st.integers(0, 50))
def test_trimming_leaves_out_white_space_and_nothing_else(text: str, first: int, second: int) -> None:
    start, end = sorted((min(first, len(text)), min(second, len(text))))
    left, right = trimmed(text, start, end)
    assert start <= left <= right <= end
    assert text[left:right] == text[start:end].strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Mr. J. R. Smith came. He left.", ["Mr. J. R. Smith came.", "He left."]),
        ("It is in the U.S. Army. See St. Louis.", ["It is in the U.S. Army.", "See St. Louis."]),
        ("He moved to the U.S. The law changed.", ["He moved to the U.S.", "The law changed."]),
        ("Pay 3.5 m, e.g. by card. Ask fig. 2.", ["Pay 3.5 m, e.g. by card.", "Ask fig. 2."]),
        ('"Stop!" he said. "Why?" She left.', ['"Stop!" he said.', '"Why?"', "She left."]),
        ("Well... maybe. It ended... Then rain.", ["Well... maybe.", "It ended...", "Then rain."]),
        ("It grew.[1][2] It fell.[^3] Yes.", ["It grew.[1][2]", "It fell.[^3]", "Yes."]),
        ("the `` season . '' It is over .", ["the `` season . ''", "It is over ."]),
        ("今天很好。“你好！”他走了；真的吗？是。", ["今天很好。", "“你好！”", "他走了；真的吗？", "是。"]),
        (
            "Es ist am 27. Juni in Raum 3. Mittags wird gegessen.",
            ["Es ist am 27. Juni in Raum 3.", "Mittags wird gegessen."],
        ),
        ("Til den 5. Mars. We had 31. Then more.", ["Til den 5. Mars.", "We had 31.", "Then more."]),
        ("共3.5万人。", ["共3.5万人。"]),
        ("Tại TP. Hồ Chí Minh. Đó là 1.345 người.", ["Tại TP. Hồ Chí Minh.", "Đó là 1.345 người."]),
        ("# Title\nSome wrapped\ntext. More.", ["# Title", "Some wrapped\ntext.", "More."]),
        ("- one\n- two. Three.\n1. Four", ["- one", "- two.", "Three.", "1. Four"]),
        ("| a | b |\n| 1 | 2 |\n", ["| a | b |", "| 1 | 2 |"]),
        ("Run:\n```sh\na. B\nc! D\n```\nDone. Ok.", ["Run:", "```sh\na. B\nc! D\n```", "Done.", "Ok."]),
        ("Page one\fPage two", ["Page one\fPage two"]),
        ("Page one.\n\fPage two.", ["Page one.", "Page two."]),
    ],
)
def test_sentences_end_where_readers_end_them(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@pytest.mark.parametrize("unit", ["a. ", "\n", '."', "```\n", ". '' ", "([", ".[1]", "Mr. A", "|x\n", "。」"])
def test_a_long_text_is_split_in_one_pass(unit: str) -> None:
    text = unit * 30_000
    assert "".join(text[start:end] for start, end in sentences(text)) == text


def test_each_row_of_a_table_stands_alone() -> None:
    table = "Option | Meaning\n--owner USER | The only reader.\n--space ID | Where it stands\n\nPlain text."
    assert split(table) == [
        "Option | Meaning",
        "--owner USER | The only reader.",
        "--space ID | Where it stands",
        "Plain text.",
    ]
