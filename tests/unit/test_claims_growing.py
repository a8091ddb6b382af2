"""Claims of a section that is still being written: the same as those of the finished one, wherever it was cut."""

from hypothesis import given
from hypothesis import strategies as st

from graph.ports import CheckedClaim, WrittenSection
from tests.fakes import check_section, segment

SOURCE = segment(
    "doc",
    0,
    "Dr. Ito met Mr. Berg in Hue. The tower is 120 metres tall. Is it open? Yes. It opens at six.\n\n"
    "- Rye bread\n- Tea\n\n博物馆周一闭馆。票价为25元！你好吗？我们七点开门。\n\n"
    "Bảo tàng không mở cửa vào thứ hai. Vé giá hai mươi lăm nghìn đồng. Có. Mở lúc sáu giờ.",
)
PIECES = st.sampled_from(
    [
        *(
            "Dr. Ito met Mr. Berg in Hue.",
            "Dr.",
            " Ito",
            "The tower is 120 metres tall",
            ". ",
            "? ",
            "! ",
            "Yes.",
            "Yes, ",
        ),
        *(
            "It opens at six.",
            "In 2019 it changed these:",
            "No",
            "25",
            "3.5 ",
            "e.g. ",
            "U.S. ",
            "twenty-five",
            "[1]",
            "[^2]",
            "**",
            "`",
            "\n",
            "\n\n",
        ),
        *("- ", "1. ", "# ", "| a | b |\n", "|---|---|\n", "```\n", "> ", "Note: ", "“", "”", "...", "👍", " "),
        *("博物馆周一闭馆。", "票价为25元", "！", "，", "是的，", "你好吗？", "我们", "七点开门。", "没有。"),
        *("Bảo tàng không mở cửa ", "vào thứ hai.", "Có. ", "Vé giá ", "hai mươi", " lăm", " nghìn đồng.", "Không, "),
    ]
)
TEXTS = st.lists(PIECES, max_size=24).map("".join)


def written(text: str, cuts: list[int]) -> list[CheckedClaim]:
    """Check a text as it grows to each of some lengths, and then to its end."""
    found: list[CheckedClaim] = []
    for end in sorted({cut % (len(text) + 1) for cut in cuts}):
        start = found[-1].end if found else 0
        if end >= start:
            found += check_section(
                WrittenSection(text[:end], (SOURCE,), question="Is it open?", start=start, open=True)
            )
    start = found[-1].end if found else 0
    return [*found, *check_section(WrittenSection(text, (SOURCE,), question="Is it open?", start=start))]


@given(TEXTS, st.lists(st.integers(0, 500), max_size=12))
def test_cuts_change_no_claim(text: str, cuts: list[int]) -> None:
    assert written(text, cuts) == list(check_section(WrittenSection(text, (SOURCE,), question="Is it open?")))


def test_a_sentence_is_checked_as_soon_as_the_next_one_begins() -> None:
    text = "The tower is 120 metres tall. It"
    (claim,) = check_section(WrittenSection(text, (SOURCE,), open=True))
    assert (claim.text, claim.verdict) == ("The tower is 120 metres tall.", "supported")


def test_a_sentence_that_stops_before_its_source_does_not_wait_for_the_next() -> None:
    (claim,) = check_section(WrittenSection("The tower is 120 metres. It", (SOURCE,), open=True))
    assert claim.text == "The tower is 120 metres."


def test_what_may_still_be_the_beginning_of_a_source_sentence_waits() -> None:
    assert check_section(WrittenSection("Dr. Ito met Mr. B", (SOURCE,), open=True)) == ()
