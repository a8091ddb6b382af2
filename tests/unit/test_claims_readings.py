"""Numbers, dates and units read the same in every notation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import segment
from text.numbers import read_chinese, read_digits
from tools.claims.alignment import common_in_order, edits
from tools.claims.cited_sources import MOST_SHARING, Sources
from tools.claims.exact_forms import exact_form
from tools.claims.lexicon import denials_in, lists
from tools.claims.sentence_parsing import parse_sentence
from tools.claims.source_sentences import flat_words, rough_words

DENIALS = lists()["denials"]
WRITTEN = [
    "1,234,567 km",
    "the 21st",
    "don't",
    "twenty-five of **them**",
    "`code`",
    "5 per cent",
    "can't",
    "2.5,",
    "one hundred",
]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("twenty-five", "#25"),
        ("do n't say John 's", "do not say john 's"),
        ("one hundred and five", "#105"),
        ("two million three hundred thousand", "#2300000"),
        ("1.5 million", "#1500000"),
        ("1,345.5", "#1345.5"),
        ("1.345.595", "#1345595"),
        ("28,5", "#28.5"),
        ("5 000", "#5000"),
        ("6½", "#6.5"),
        ("-5 °C", "#-5 u:°c"),
        ("the 21st century", "the #21 u:century"),
        ("twenty-first", "#21"),
        ("$5.5 million", "#5500000 u:$"),
        ("25 per cent", "#25 u:%"),
        ("the 1990s", "the #1990s"),
        ("at 7:30", "at #7:30"),
        ("二十五", "#25"),
        ("二〇二〇年", "#2020"),
        ("3.5万", "#35000"),
        ("三亿二千万", "#320000000"),
        ("两千零三", "#2003"),
        ("1亿2000万人", "#120000000 u:person"),
        ("百分之二十五", "#25 u:%"),
        ("三个月", "#3 u:month"),
        ("统一", "统 一"),
        ("hai mươi lăm", "#25"),
        ("một trăm lẻ năm", "#105"),
        ("hai mươi năm", "#20 u:year"),
        ("mười lăm triệu", "#15000000"),
        ("3,5 triệu", "#3500000"),
        ("hai triệu rưỡi", "#2500000"),
        ("năm 1999", "#1999"),
        ("5 March 2020", "@2020-3-5"),
        ("March 5, 2020", "@2020-3-5"),
        ("the 5th of March 2020", "the @2020-3-5"),
        ("2020-03-05", "@2020-3-5"),
        ("05/03/2020", "@2020-3-5?"),
        ("25/03/2020", "@2020-3-25"),
        ("2020年3月5日", "@2020-3-5"),
        ("ngày 5 tháng 3 năm 2020", "@2020-3-5"),
        ("tháng ba năm 2020", "@2020-3-"),
        ("May 1998", "@1998-5-"),
        ("You may march", "you may march"),
        ("30 to 50 thousand", "#30000 to #50000"),
        ("30 to 50,000", "#30000 to #50000"),
        ("from 5 to 40 people", "from #5 to #40 u:person"),
        ("a million", "#1000000"),
        ("17-19 October, 2016", "@2016-10-17 @2016-10-19"),
        ("October 17-19, 2016", "@2016-10-17 @2016-10-19"),
        ("17 to 19 October", "@-10-17 @-10-19"),
        ("ngày 28/5", "@-5-28"),
        ("ngày 28 tháng 5", "@-5-28"),
        ("七成", "#70 u:%"),
        ("三成员", "#3 成 员"),
        ("760 nanomet", "#760 u:nm"),
    ],
)
def test_notations_are_read(text: str, keys: str) -> None:
    assert " ".join(parse_sentence(text).keys) == keys


@given(st.integers(0, 10**12))
def test_digits_with_any_separator_are_one_number(value: int) -> None:
    for sign in (",", ".", "'", ""):
        assert read_digits(f"{value:,}".replace(",", sign)) == value


@given(st.text("零一二三四五六七八九十百千万亿两", min_size=1, max_size=40))
def test_any_run_of_chinese_numerals_can_be_read(text: str) -> None:
    value = read_chinese(text)
    assert value is None or value >= 0


@given(st.text(max_size=300))
def test_any_text_is_read_into_tokens_inside_it(text: str) -> None:
    reading = parse_sentence(text)
    assert len(reading.keys) == len(reading.names) == len(reading.negates)
    assert all(0 <= token.start <= token.end <= len(reading.folded) for token in reading.tokens)


@given(st.lists(st.sampled_from("abcde"), max_size=30), st.lists(st.sampled_from("abcde"), max_size=30))
def test_edits_turn_one_sequence_into_the_other(one: list[str], other: list[str]) -> None:
    found = edits(one, other)
    assert found is not None
    rebuilt: list[str] = []
    at = 0
    for i, j, k, m in found:
        rebuilt += one[at:i] + other[k:m]
        at = j
    assert rebuilt + one[at:] == other


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_the_longest_common_order_is_the_table_s(one: list[str], other: list[str]) -> None:
    row = [0] * (len(other) + 1)
    for left in one:
        past = row.copy()
        for at, right in enumerate(other):
            row[at + 1] = past[at] + 1 if left == right else max(row[at], past[at + 1])
    assert common_in_order(one, other) == row[-1]


@pytest.mark.parametrize(
    "unit", ["1,", "1.000 ", "二", "3万", "a'", "not ", "[1]", "According to the ", "không ", "A.B."]
)
def test_a_long_text_is_read_in_one_pass(unit: str) -> None:
    assert parse_sentence(unit * 20_000) is not None


@given(st.text(st.characters(max_codepoint=127)) | st.text(st.sampled_from("a1,.'-*` ")) | st.sampled_from(WRITTEN))
def test_ascii_is_read_the_same_beside_other_letters(text: str) -> None:
    assert exact_form(f"{text} x z")[:-2] == exact_form(f"{text} é z")[:-2]


@pytest.mark.parametrize("name", DENIALS)
def test_every_phrase_that_denies_is_found_among_whole_words(name: str) -> None:
    for phrase in DENIALS[name].strip().split(", "):
        assert name in denials_in(flat_words(f"As {phrase} it was")), phrase
        if phrase.isascii():
            assert name not in denials_in(flat_words(f"Asq{phrase}q it was")), phrase


SAID = st.lists(st.sampled_from(["ferry", "pass", "dogs", "travel", "free", "winter", "渡船"]), min_size=1, max_size=5)


@given(st.lists(SAID, max_size=60), SAID, st.integers(1, 3))
def test_sentences_that_share_words_are_the_same_whether_indexed_or_looked_at(
    said: list[list[str]], words: list[str], fewest: int
) -> None:
    sources = Sources([segment("d", 0, "\n\n".join(" ".join(each) + "." for each in said) or "None.")])
    wanted = rough_words(" ".join(words))
    shared = [len(wanted & sentence.words) for _, sentence in sources.places]
    enough = {at for at, count in enumerate(shared) if count >= fewest}
    found = sources.holding(wanted, fewest)
    assert found == set(sources.sharing(wanted, fewest)) <= enough
    assert found == enough or len(enough) > len(found) == MOST_SHARING
