"""Units of an answer's Markdown: exact slices that a growing text never takes back, read in linear time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from text.answer_markdown import context_of, units
from text.mark_places import code_spans, follows_address, mark_place, settled_end
from text.offers import is_offer

SIGNS = [
    *(
        "Foo bar",
        "Baz",
        "25 days",
        "lower",
        "e.g.",
        "etc.",
        "U.S.",
        "**",
        "_",
        "`",
        "``",
        "\\",
        "|",
        " | ",
        "[",
        "](u)",
    ),
    *(
        "[1]",
        "[^2]",
        "](",
        ")",
        "<b>",
        "</b>",
        "<",
        "<!--",
        "-->",
        ". ",
        ".",
        ": ",
        ":",
        "? ",
        "!",
        "。",
        "”",
        '"',
        "''",
    ),
    *("\n", "\n", "\n\n", "\r\n", "  \n", "\\\n", "- ", "* ", "1. ", "2) ", "> ", "# ", "## ", "```", "~~~", "---"),
    *(
        "\n---\n",
        "===",
        "|---|---|\n",
        "---|---\n",
        "| a | b |\n",
        "a | b\n",
        "    ",
        "\t",
        "  ",
        "- [ ] ",
        "[!NOTE]\n",
    ),
    *(
        "**Label**\n",
        "**Term**: ",
        "Let me know if",
        "Bạn có cần thêm không?",
        "需要我继续吗？",
        "他说",
        "https://x.y",
        ":::",
    ),
    *("<div>", "<details>\n", "• ", "👍", "\u2028", "\u00a0", "\x00", "\f", "[a]: /u\n", "![i](u)", "(1) ", "A ", "x"),
]
MARKDOWN = st.lists(st.sampled_from(SIGNS), max_size=40).map("".join)


def claimed(text: str) -> list[str]:
    return [text[start:end] for unit in units(text) for start, end in unit.claims]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(unit.kind, text[unit.start : unit.end]) for unit in units(text)]


@given(MARKDOWN | st.text(max_size=200))
def test_units_are_ordered_disjoint_slices_that_hold_every_word(text: str) -> None:
    found = units(text)
    done = 0
    for unit in found:
        assert done <= unit.start < unit.end <= len(text)
        assert not any(sign.isalnum() for sign in text[done : unit.start]) or _only_markers(text[done : unit.start])
        done = unit.end
        inside = unit.start
        for start, end in unit.claims:
            assert inside <= start < end <= unit.end
            assert text[start:end] == text[start:end].strip()
            assert not any(span.start < end < span.end for span in unit.spans)
            inside = end
    assert not any(sign.isalnum() for sign in text[done:]) or _only_markers(text[done:])


def _only_markers(between: str) -> bool:
    """Whether text between units is numbers of items and cells beyond a table's columns."""
    return "|" in between or not any(sign.isalpha() for sign in between)


@given(MARKDOWN, st.data())
def test_a_growing_text_takes_no_claim_back(text: str, data: st.DataObject) -> None:
    whole = [claim for unit in units(text) for claim in unit.claims]
    cut = data.draw(st.integers(0, len(text)))
    early = [claim for unit in units(text[:cut], is_open=True) for claim in unit.claims]
    assert early == whole[: len(early)]


@pytest.mark.parametrize(
    "text", ["他说好？`a``` b", "It is. `A` is``` so. On", "a | b.\n---|---\nc | d", "Foo\n```x``` bar. B"]
)
def test_no_beginning_of_a_text_claims_what_the_whole_does_not(text: str) -> None:
    whole = [claim for unit in units(text) for claim in unit.claims]
    for cut in range(len(text)):
        early = [claim for unit in units(text[:cut], is_open=True) for claim in unit.claims]
        assert early == whole[: len(early)]


@given(MARKDOWN, st.data())
def test_reading_may_begin_anywhere(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    rest = [unit for unit in units(text) if unit.end > start]
    again = [unit for unit in units(text, start) if unit.end > start]
    assert [(unit.kind, unit.start, unit.end, unit.claims) for unit in again] == [
        (unit.kind, unit.start, unit.end, unit.claims) for unit in rest
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (
            "# Leave\n\nStaff get 25 days. Managers get 30, e.g. Anna.",
            ["Staff get 25 days.", "Managers get 30, e.g. Anna."],
        ),
        ("Leave\n=====\nOf staff.\n---\nRest", ["Of staff.", "Rest"]),
        ("The steps are:\n\n1. Open it.\n2. **Term**: what it is", ["Open it.", "**Term**: what it is"]),
        ("It has limits. They are:\n- 25 days\n- 3 trips", ["It has limits.", "25 days", "3 trips"]),
        ("- [ ] Open\n- [x] Shut. Lock.\n  Then go\n  home.", ["Open", "Shut.", "Lock.", "Then go\n  home."]),
        ("| A | B |\n|---|---|\n| x. Y | 1 |\n| z |\n| | |", ["x. Y | 1", "z"]),
        ("> - Item\n>   | A | B |\n>   |---|---|\n>   | x | 1 |", ["Item", "x | 1"]),
        ("A | B\n---|---\nx | 1\ny | 2 | 3\n\nEnd", ["x | 1", "y | 2", "End"]),
        ("Run `a. B` or [c. D](e.f). Then\n\n```\nx. Y\n```\n\n    z. Q", ["Run `a. B` or [c. D](e.f).", "Then"]),
        ("**1. Set it up**\n\nDo it.\n\n**25 days**\n\n**Team lead**", ["Do it.", "**25 days**", "**Team lead**"]),
        ("> [!NOTE]\n> Ask first.\n\n:::tip\nSo do.\n:::", ["Ask first.", "So do."]),
        ("Sources:\n- [Handbook](/h)\n- <https://x.y>\n- ![a](b)\n\n[1]: https://x.y", []),
        ("Line one  \nline two\\\nline three\nstill three", ["Line one", "line two", "line three\nstill three"]),
        ("It is so. Let me know if you need more!", ["It is so."]),
        ("Có 25 ngày. Bạn có cần thêm thông tin không?", ["Có 25 ngày."]),
        ("有25天。需要我继续说明吗？", ["有25天。"]),
        ("Wait! 👍 Really? ... ---", ["Wait!"]),
        ("Q: Is it 70 euros? A: Yes. Was it? So **is it?** It opens “Who?”", ["A: Yes.", "It opens “Who?”"]),
        ("[Staff get 25 days.](/h) All do.", ["[Staff get 25 days.](/h)", "All do."]),
        ("<p>It is. So.</p>\n\n<!-- no -->\n\n<pre>\nx\n</pre>", ["<p>It is.", "So.</p>"]),
        ("> " * 60 + "too deep. Yes", ["too deep. Yes"]),
    ],
)
def test_what_claims_something(text: str, expected: list[str]) -> None:
    assert claimed(text) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Would you like me to explain the second step?",
        "Would you like me to go on.",
        "Is there anything else I can do",
        "If you'd like, I can also show an example.",
        "**Feel free to ask if anything is unclear.**",
        "I hope this helps!",
        "Nếu bạn cần thêm, hãy cho tôi biết.",
        "Hy vọng thông tin này hữu ích.",
        "如果您还有其他问题，请随时告诉我。",
        "希望以上信息对您有帮助。",
        "需要我继续说明吗。",
        "要不要我再举一个例子。",
    ],
)
def test_an_offer_claims_nothing(sentence: str) -> None:
    assert claimed(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "If you need more than 30 days, ask your manager.",
        "Do not hesitate to contact the fire brigade.",
        "Nếu bạn cần nghỉ hơn 5 ngày, hãy liên hệ phòng nhân sự.",
        "如果您需要报销，请联系财务部。",
        "I hope is a song of 1999.",
        "Let me know if " + "you want it " * 40,
    ],
)
def test_advice_of_a_source_is_no_offer(sentence: str) -> None:
    assert not is_offer(sentence)


def test_a_claim_hangs_on_its_lead_in_its_parents_and_its_header() -> None:
    text = "Limits:\n\n- Hotels\n  - 200 euros\n\n| Item | Limit |\n|---|---|\n| Train | 50 |\n\nEnd."
    hung = {text[a:b]: [text[c:d] for c, d in context_of(text, a)] for unit in units(text) for a, b in unit.claims}
    assert hung == {
        "Hotels": ["Limits:"],
        "200 euros": ["Limits:", "Hotels"],
        "Train | 50": ["Item | Limit"],
        "End.": [],
    }
    assert context_of(text, len(text)) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plain text.", "Plain text.^"),
        ("| A | B |\n|---|---|\n| x | y |", "| A | B |\n|---|---|\n| x | y^ |"),
        ("It is so.\n\n```\ncode\n```", "It is so.\n\n```\ncode\n```^"),  # in a line of its own below it
        ("It is so.\n\n```\ncode", "It is so.^\n\n```\ncode"),
        ("It is so.\n\n    code", "It is so.^\n\n    code"),
        ("- It is so.\n\n  ```\n  code\n  ```", "- It is so.^\n\n  ```\n  code\n  ```"),
        ("A | B\n---|---", "A | B^\n---|---"),
        ("## Title ##", "## Title^ ##"),
        ("```\ncode\n```", "```\ncode\n```^"),
        ("```\ncode", None),
    ],
)
def test_a_mark_stands_where_it_breaks_nothing(text: str, expected: str | None) -> None:
    place = mark_place(text, len(text))
    assert (None if place is None else f"{text[:place]}^{text[place:]}") == expected


@given(MARKDOWN)
def test_a_mark_may_stand_at_the_end_of_every_claim(text: str) -> None:
    for unit in units(text):
        for start, end in unit.claims:
            assert mark_place(text, end, start) == end
            assert not any(begin < end < past for begin, past in code_spans(text))


def test_an_address_takes_in_what_follows_it() -> None:
    for text in ("See https://x.y/z.", "(www.x.y)", "见https://x.y。"):
        assert follows_address(text, len(text))
    for text in ("See [x](https://x.y).", "See <https://x.y>.", "See `https://x.y`.", "https://x.y is", "x.y"):
        assert not follows_address(text, len(text))


def test_a_growing_text_is_shown_up_to_what_may_become_code_or_a_mark() -> None:
    shown = {
        text: text[: settled_end(text)]
        for text in ("Say `a[1", "See [", "So [1]", "So [1] x", "Hi\n```sh", "Hi\n```\na[1")
    }
    assert list(shown.values()) == ["Say ", "See ", "So ", "So [1] x", "Hi\n", "Hi\n```\na[1"]
    assert settled_end("") == 0


HEAVY = [
    "[",
    "](",
    "[](",
    "[a](b ",
    "*",
    "> ",
    "- ",
    "`",
    "` `` ",
    "<",
    "<a ",
    "<!-- ",
    "**a. ",
    "1. ",
    "\\",
    "a.",
    "[^1]",
    "```\n",
]


@pytest.mark.parametrize(
    "sign", [*HEAVY, "a\n", "> a\n", "- a\n", "| a |\n|---|\n", "a | b\n", "[a]: b\n", "**L**\n", " \n", "a. B "]
)
def test_reading_takes_linear_time(sign: str) -> None:
    def seconds(characters: int) -> float:
        begun = time.process_time()
        units(sign * (characters // len(sign)), is_open=True)
        return time.process_time() - begun

    allowed = 16 * min(seconds(6_000) for _ in range(3)) + 0.1
    assert any(seconds(48_000) < allowed for _ in range(3))


@pytest.mark.parametrize(
    ("lead_in", "claims"),
    [
        ("Flask 3.1.0, released on 2019-01-01, changed the following:", True),
        ("The release by Carla Novak changed the following:", True),
        ("Set `work_mem` in one of these ways:", True),
        ("2019年的版本改变了以下内容：", True),
        ("The following steps are needed:", False),
        ("Step 1:", False),
        ("**Installation on Debian 12:**", False),
    ],
)
def test_a_lead_in_that_states_a_fact_is_a_claim_and_still_leads(lead_in: str, claims: bool) -> None:
    text = f"{lead_in}\n\n- Bread"
    lead, item = units(text)
    assert [text[slice(*each)] for each in lead.claims] == ([lead_in] if claims else [])
    assert [text[slice(*each)] for each in item.context] == [lead_in]
