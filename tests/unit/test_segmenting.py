"""Segments partition their text exactly, keep to their size, and end where the text pauses."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.errors import ConfigurationError
from text.words import count_words, cut_near, is_boundary
from tools.embeddings.embedder import count_tokens
from tools.parsers import Parsed, parse
from tools.parsers.plain import read_text
from tools.retrieval.segmenting import SegmentSize, SegmentSpan, segment, tokens_of_every_script

LETTERS = "abc Z.?!-\t\n\r\f0\u0301é灯。、ไมย한ᄀ\u1161\u11a8😀🏽\u200d👩🇻🇳\ufe0f"
TEXTS = st.text(LETTERS, max_size=400) | st.text(max_size=100) | st.text("ab. \n", min_size=100, max_size=1000)
SIZES = st.builds(SegmentSize, st.integers(1, 60), st.sampled_from(["tokens", "words"]))


def characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def check_partition(parsed: Parsed, spans: Sequence[SegmentSpan]) -> None:
    assert "".join(parsed.text[span.start : span.end] for span in spans) == parsed.text
    assert [span.segment_index for span in spans] == list(range(len(spans)))
    assert all(span.start < span.end for span in spans)


def measure(text: str, size: SegmentSize) -> int:
    [count] = tokens_of_every_script(count_tokens)([text]) if size.unit == "tokens" else count_words([text])
    return count


def one_grapheme(text: str) -> bool:
    return not any(is_boundary(text, offset) for offset in range(1, len(text)))


@given(TEXTS, SIZES)
@example("", SegmentSize(5))
@example("\r\n" * 50, SegmentSize(1))
@example("a" * 5000, SegmentSize(2, "words"))
@example("👩\u200d👩\u200d👧 " * 40, SegmentSize(8))
@example("e" + "\u0301" * 300, SegmentSize(3))
@example("🇻🇳" * 100, SegmentSize(5))
@example(" a" * 400, SegmentSize(30))
@example("? ", SegmentSize(1))
def test_segments_partition_any_text_and_keep_to_their_size(text: str, size: SegmentSize) -> None:
    parsed = read_text(text)
    spans = segment(parsed, size, count_tokens)
    check_partition(parsed, spans)
    for span in spans:
        body = parsed.text[span.start : span.end]
        assert [span.tokens] == count_tokens([body])
        assert measure(body, size) <= size.limit or one_grapheme(body)


@given(TEXTS, st.integers(1, 60))
@example("。\u0301", 1)
@example("a\n\n \u0301b", 1)
def test_no_cut_falls_inside_a_grapheme(text: str, limit: int) -> None:
    parsed = read_text(text.replace("\f", ""))
    for span in segment(parsed, SegmentSize(limit), characters):
        assert is_boundary(parsed.text, span.start)


@given(st.lists(TEXTS, min_size=1, max_size=5), SIZES)
def test_a_segment_lies_on_one_page(pages: list[str], size: SegmentSize) -> None:
    parsed = read_text("\f".join(page.replace("\f", " ") for page in pages))
    spans = segment(parsed, size, count_tokens)
    check_partition(parsed, spans)
    for block in parsed.blocks:
        holding = [span for span in spans if span.start < block.end and span.end > block.start]
        assert {span.page_idx for span in holding} == {block.page_idx}


def test_page_ends_are_segment_ends_however_short_the_pages() -> None:
    parsed = read_text("One.\fTwo.\f\fFour.")
    spans = segment(parsed, SegmentSize(300), count_tokens)
    assert [(parsed.text[span.start : span.end], span.page_idx) for span in spans] == [
        ("One.\f", 0),
        ("Two.\f\f", 1),
        ("Four.", 3),
    ]


def markdown(text: str, limit: int, unit: str = "words") -> list[tuple[str, str]]:
    parsed = parse(text.encode(), name="x.md")
    spans = segment(parsed, SegmentSize.parse(f"{limit} {unit}"), count_tokens)
    check_partition(parsed, spans)
    return [(span.heading, parsed.text[span.start : span.end].strip()) for span in spans]


SENTENCE = "This sentence has exactly six words. "


def test_segments_follow_headings_and_carry_their_path() -> None:
    text = f"# A\n\n{SENTENCE * 5}\n\n## B\n\n{SENTENCE * 5}\n\n# C\n\n{SENTENCE * 5}"
    assert [heading for heading, _ in markdown(text, 40)] == ["A", "A > B", "C"]
    assert [body[:3].strip() for _, body in markdown(text, 40)] == ["A", "B", "C"]


@pytest.mark.parametrize("limit", range(8, 40))
def test_a_heading_stays_with_what_follows_it(limit: int) -> None:
    text = "\n\n".join(f"{'#' * (n % 3 + 1)} Part\n\n{SENTENCE * (n % 4 + 1)}" for n in range(12))
    for _, body in markdown(text, limit):
        assert not body.endswith("Part")


@pytest.mark.parametrize("limit", range(30, 90, 7))
def test_a_question_stays_with_what_follows_it(limit: int) -> None:
    text = "\n\n".join(f"How is plan {n} left?\n\n{SENTENCE * (n % 3 + 1)}" for n in range(40))
    found = markdown(text, limit)
    assert len(found) > 1
    assert not any(body.endswith("?") for _, body in found)


def test_a_short_part_merges_with_its_neighbour() -> None:
    text = f"Intro.\n\n# A\n\n{SENTENCE * 6}\n\n# B\n\nShort."
    assert [heading for heading, _ in markdown(text, 50)] == [""]
    assert [heading for heading, _ in markdown(text, 39)] == ["", "B"]


def test_a_long_part_is_shared_out_evenly() -> None:
    lengths = [len(body.split()) for _, body in markdown(SENTENCE * 21, 60)]
    assert lengths == [42, 42, 42]


def test_cuts_fall_between_paragraphs_where_one_ends_near() -> None:
    paragraphs = [SENTENCE * 3] * 8
    for _, body in markdown("\n\n".join(paragraphs), 45):
        assert body.count("\n\n") == 1
        assert body.endswith("words.")


def test_rows_and_lines_of_code_are_not_torn() -> None:
    rows = "\n".join(f"| row number {n} | has. two sentences. |" for n in range(30))
    for _, body in markdown(f"| a | b |\n|---|---|\n{rows}", 40):
        assert all(line.startswith(("a |", "row")) and line.count("|") == 1 for line in body.splitlines())
    code = "\n".join(f"value_{n} = compute(first, second). strip(third)" for n in range(30))
    for _, body in markdown(f"```\n{code}\n```", 40):
        assert all(line.startswith("value_") and line.endswith(")") for line in body.splitlines())


def test_a_sentence_too_large_is_cut_between_words() -> None:
    text = " ".join(f"word{n}" for n in range(500))
    parsed = read_text(text)
    for span in segment(parsed, SegmentSize(50), count_tokens):
        assert parsed.text[span.start : span.end].split() == [
            word for word in text.split() if word in parsed.text[span.start : span.end].split()
        ]
        assert span.start == 0 or parsed.text[span.start - 1] == " "


def test_a_large_text_takes_linear_work() -> None:
    counted: list[int] = []

    def counting(texts: Sequence[str]) -> list[int]:
        counted.append(sum(map(len, texts)))
        return count_words(texts)

    for text in (SENTENCE * 5_000, "x" * 175_000, "灯" * 175_000, " a" * 90_000):
        counted.clear()
        segment(read_text(text), SegmentSize(300), counting)
        assert sum(counted) <= 6 * len(text)


@pytest.mark.parametrize(
    "paragraph",
    [
        "The harbour office is open every day from eight until six, and the lamps along the quay are lit at dusk.",
        "Văn phòng cảng mở cửa mỗi ngày từ tám giờ sáng đến sáu giờ chiều, và đèn dọc bến được thắp lúc chạng vạng.",
        "港口办公室每天八点到六点开放，码头沿线的灯在黄昏时点亮。",
        "สำนักงานท่าเรือเปิดทุกวันตั้งแต่แปดโมงถึงหกโมงเย็น และไฟตามแนวท่าเรือจะเปิดตอนพลบค่ำ",
        "Портовая контора открыта каждый день с восьми до шести, а фонари вдоль причала зажигают в сумерках.",
        "항만 사무소는 매일 여덟 시부터 여섯 시까지 열고 부두의 등불은 해질녘에 켜진다.",
    ],
)
def test_a_paragraph_is_as_large_in_every_script(paragraph: str) -> None:
    [size] = tokens_of_every_script(count_tokens)([paragraph])
    assert 18 <= size <= 32
    assert len(segment(read_text(paragraph), SegmentSize(32), count_tokens)) == 1


def test_paragraphs_are_segments_one_to_one() -> None:
    paragraphs = ["Có.", "Văn phòng cảng mở cửa mỗi ngày. " * 40, "港口办公室每天八点到六点开放。" * 40, "Yes."]
    text = "\n\n".join(paragraph.strip() for paragraph in paragraphs)
    spans = segment(read_text(text), SegmentSize.parse("paragraph"), count_tokens)
    assert [text[span.start : span.end].strip() for span in spans] == [each.strip() for each in paragraphs]


def test_by_paragraphs_a_heading_goes_with_its_text_and_a_table_is_whole() -> None:
    parsed = parse(b"# Fees\n\nBy size.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nEnd.\n", name="x.md")
    spans = segment(parsed, SegmentSize.parse("paragraph"), count_tokens)
    texts = [parsed.text[span.start : span.end].strip() for span in spans]
    assert [text.splitlines()[0] for text in texts] == ["Fees", "a | b", "End."]
    [long] = [segment(read_text("a b. " * 8_000), SegmentSize.parse("paragraph"), count_tokens)]
    assert len(long) > 1


def test_sizes_are_read_and_told() -> None:
    assert SegmentSize.parse("500 tokens") == SegmentSize(500, "tokens")
    assert str(SegmentSize.parse("1000 words")) == "1000 words"
    for text in ("0 tokens", "tokens", "12 pages", "-3 words", "300 tokens "):
        with pytest.raises(ConfigurationError):
            SegmentSize.parse(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("One, two; three-four it's 5.", 5),
        ("Chiến tranh bắt đầu năm 1914.", 6),
        ("战争始于1914年。", 6),
        ("ひらがなカナ", 6),
        ("한국어 문장", 2),
        ("— … !", 0),
        ("ประเทศไทย", 3),
    ],
)
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    assert count_words([text]) == [words]


MARKED = ["e\u0301", "ệ\u0300", "❤\ufe0f", "กำ", "\r\n"]
SYLLABLES = ["\u1112\u1161\u11ab", "하\u11ab", "한\u11ab"]
EMOJI = ["👍🏽", "👩\u200d👩\u200d👧", "🇻🇳", "🏴\U000e0067\U000e007f"]


@pytest.mark.parametrize("whole", [*MARKED, *SYLLABLES, *EMOJI])
def test_what_a_reader_sees_as_one_is_not_torn(whole: str) -> None:
    assert one_grapheme(whole)
    assert is_boundary(f"a{whole}b", 1)
    assert is_boundary(f"a{whole}b", 1 + len(whole))


def test_flags_stay_in_pairs() -> None:
    flags = "🇻🇳🇨🇳🇬🇧"
    assert [offset for offset in range(7) if is_boundary(flags, offset)] == [0, 2, 4, 6]


@given(st.text(LETTERS, min_size=1, max_size=60), st.integers(1, 60))
def test_a_cut_is_a_boundary_beyond_the_floor(text: str, offset: int) -> None:
    cut = cut_near(text, offset)
    assert cut > 0
    assert is_boundary(text, cut)
