"""A writer's reply becomes the same sections however it is cut and whatever the model made of the format."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import ModelReplyInvalid
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText
from tools.llm.section_reader import SectionReader

OFFERED = [f"0f0e0d0c-0b0a-4909-8807-06050403020{n}:{n}" for n in range(4)]
TEXT = st.text(st.sampled_from('ab "\\/{}[],:é漢😀\n\t`.<'), min_size=1, max_size=40).map(lambda t: f"x{t}x")
CITED = st.lists(st.sampled_from(OFFERED), max_size=4)
SECTIONS = st.lists(st.tuples(TEXT, CITED, st.booleans()), min_size=1, max_size=4)
WRAPPINGS = st.sampled_from(["{}", "\n\n {}\n", "```json\n{}\n```", "Here is the answer:\n{}\nI hope it helps."])


def cuts(text: str, data: st.DataObject) -> list[str]:
    points = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=20), label="cuts"))
    return [text[a:b] for a, b in zip([0, *points], [*points, len(text)], strict=True)]


def read(pieces: list[str], *, cut: bool = False) -> list[Draft]:
    reader = SectionReader(OFFERED)
    return [draft for piece in pieces for draft in reader.feed(piece)] + reader.end(cut=cut)


def sections(drafts: list[Draft]) -> list[DraftClosed]:
    """Give the closed sections, having checked that each was opened, streamed as its text, and closed in turn."""
    closed: list[DraftClosed] = []
    streamed: str | None = None
    for draft in drafts:
        if isinstance(draft, DraftOpened):
            assert streamed is None
            streamed = ""
        elif isinstance(draft, DraftText):
            assert streamed is not None
            assert draft.delta
            streamed += draft.delta
        elif isinstance(draft, DraftClosed):
            assert streamed == draft.text
            streamed = None
            closed.append(draft)
    assert streamed is None
    return closed


@given(SECTIONS, WRAPPINGS, st.booleans(), st.data())
def test_sections_are_the_same_wherever_tokens_are_cut(written, wrapping, escaped, data):
    rows = [
        {"source_ids": ids, "text": text} if ids_first else {"text": text, "source_ids": ids}
        for text, ids, ids_first in written
    ]
    reply = wrapping.replace("{}", json.dumps({"sections": rows}, ensure_ascii=escaped))
    drafts = sections(read(cuts(reply, data)))
    assert drafts == [DraftClosed(text, tuple(dict.fromkeys(ids))) for text, ids, _ in written]


ANY_SIGNS = st.text(st.sampled_from('ab {}"[]:,\\\n`SEG=sections1') | st.characters(exclude_categories=["Cs"]))
PIECES = [
    "[SEG=",
    "SEG=",
    "[",
    "]",
    "(",
    ")",
    "^1]",
    "[^1]",
    "[2, 3]",
    "【1†a】",
    "[1](x)",
    "[^1]:",
    "Source:",
    ",",
    ".",
]
PIECES += ["`", "```", "{", "}", '"', '"text": "', '"source_ids":', "made:1", "ab", " ", "\n", "\n\n"]
SLOPPY = st.lists(st.sampled_from([*PIECES, OFFERED[0], OFFERED[1][:9]])).map("".join)


@given(ANY_SIGNS | SLOPPY, st.data())
def test_any_reply_at_all_is_read_alike_wherever_it_is_cut(reply, data):
    def outcome(pieces: list[str]) -> object:
        try:
            return sections(read(pieces))
        except ModelReplyInvalid as error:
            return error.code

    assert outcome(cuts(reply, data)) == outcome([reply])


def test_half_a_section_is_out_before_the_rest_has_come():
    reader = SectionReader(OFFERED)
    assert reader.feed('{"sections":[{"text":"The bridge was fin') == [DraftOpened(), DraftText("The bridge was fin")]


@pytest.mark.parametrize(
    ("begun", "known"),
    [
        (f'{{"source_ids": ["{OFFERED[1]}", "invented:1"], "text": "The', (OFFERED[1],)),
        ('{"source_ids": [], "text": "The', ()),
        (f'{{"source_ids": "{OFFERED[1]}", "text": "The', (OFFERED[1],)),
        ('{"text": "The', None),
    ],
)
def test_a_section_opens_with_the_ids_that_came_before_its_text(begun, known):
    reader = SectionReader(OFFERED)
    assert reader.feed('{"sections": [' + begun) == [DraftOpened(source_ids=known), DraftText("The")]
    more = reader.feed(f' end.", "source_ids": ["{OFFERED[2]}"]}}, {{"text": "B')
    assert more[-2:] == [DraftOpened(source_ids=None), DraftText("B")], "each section has ids of its own"


def test_no_section_opens_before_it_has_text():
    reader = SectionReader(OFFERED)
    assert reader.feed(f'{{"sections": [{{"source_ids": ["{OFFERED[1]}"], "text": " ') == []
    assert reader.feed('"}, {"source_ids": [], "text": "A') == [DraftOpened(source_ids=()), DraftText("A")]


def test_ids_that_were_not_offered_are_dropped_and_counted():
    ids = [OFFERED[1], "invented:1", 7, OFFERED[1], f"[SEG={OFFERED[0]}]"]
    (only,) = sections(read([json.dumps({"sections": [{"text": "A.", "source_ids": ids}]})]))
    assert only == DraftClosed("A.", (OFFERED[1], OFFERED[0]), unknown_ids=2)


@given(st.data())
def test_tags_in_the_text_are_taken_out_and_their_ids_kept(data):
    reply = json.dumps({"sections": [{"text": f"A [SEG={OFFERED[0]}]. B [SEG=x:1] [note].", "source_ids": []}]})
    (only,) = sections(read(cuts(reply, data)))
    assert only == DraftClosed("A. B [note].", (OFFERED[0],), unknown_ids=1)


def test_an_empty_list_is_an_honest_no():
    assert read(['{"sections": [', "]}"]) == []
    assert read(['{"sections": [{"text": " ", "source_ids": []}]}']) == []


@given(st.data())
def test_prose_becomes_a_section_a_paragraph_citing_only_what_it_tags(data):
    reply = f"First line,\nstill first [SEG=made:up].\n \nSecond [SEG={OFFERED[2]}].\n"
    assert sections(read(cuts(reply, data))) == [
        DraftClosed("First line,\nstill first.", (), unknown_ids=1),
        DraftClosed("Second.", (OFFERED[2],)),
    ]


def test_long_prose_streams_once_it_cannot_be_json_any_more():
    reader = SectionReader(OFFERED)
    assert reader.feed("word " * 20) == []
    assert isinstance(reader.feed("word " * 60)[0], DraftOpened)


@pytest.mark.parametrize("cut", [True, False])
def test_a_section_that_the_reply_breaks_off_in_stands_and_shows_it(cut):
    whole = json.dumps(
        {"sections": [{"text": "Whole.", "source_ids": [OFFERED[0]]}, {"text": "Cut here", "source_ids": []}]}
    )
    drafts = sections(read([whole[: whole.index(" here")]], cut=cut))
    assert drafts == [DraftClosed("Whole.", (OFFERED[0],)), DraftClosed("Cut…", ())]


A, B = OFFERED[:2]
TWO = [DraftClosed("One is so.", (A,)), DraftClosed("Two is so.", (B,))]
ONE_ROW = f'{{"text": "One is so.", "source_ids": ["{A}"]}}'
TWO_ROW = f'{{"text": "Two is so.", "source_ids": ["{B}"]}}'
WHOLE = f'{{"sections": [{ONE_ROW}, {TWO_ROW}]}}'
FAULTS = {
    "a fault between sections": f'{{"sections": [{ONE_ROW}, oops {TWO_ROW}]}}',
    "no comma between them": f'{{"sections": [{ONE_ROW} {TWO_ROW}]}}',
    "no comma between fields": WHOLE.replace('so.", ', 'so." '),
    "an object a line": f"{ONE_ROW}\n{TWO_ROW}",
    "single quotation marks": WHOLE.replace('"', "'"),
    "curly quotation marks": WHOLE.replace(' "', " “").replace('{"', "{“").replace('["', "[“").replace('"', "”"),
    "names without quotation marks": WHOLE.replace('"text"', "text").replace('"source_ids"', "source_ids"),
    "ids without quotation marks": WHOLE.replace(f'"{A}"', A).replace(f'"{B}"', f"SEG={B}"),
    "other fields": f"[{ONE_ROW}, {TWO_ROW}]".replace("text", "content").replace("source_ids", "sources"),
    "JSON behind a long preamble": f"{'I think about it. ' * 20}\n```json\n{WHOLE}\n```",
    "prose": f"One is so. [SEG={A}]\n\nTwo is so. ({B})\n",
    "prose with its sources below": f"One is so.\n\nSource: [SEG={A}]\n\nTwo is so.\n**Nguồn tham khảo:** {B}",
    "prose with footnotes": f"One is so.[^1]\n[^1]: {A}\n\nTwo is so. [1], [2]\n\n[1]: {B}",
}


@pytest.mark.parametrize("fault", FAULTS)
@given(st.data())
def test_no_fault_of_form_costs_a_section_or_its_ids(fault, data):
    assert sections(read(cuts(FAULTS[fault], data)))[-2:] == TWO


@pytest.mark.parametrize(
    "ids", [f'"{A}, {B}"', f'["{A}, {B}"]', f'["[{A}]", "SEG={B}"]', f'"{A}; {B}"', f'["[SEG={A}][SEG={B}]"]']
)
def test_ids_may_be_joined_and_wrapped(ids):
    assert sections(read([f'{{"source_ids": {ids}, "text": "Both."}}'])) == [DraftClosed("Both.", (A, B))]


@pytest.mark.parametrize(
    ("written", "shown", "ids"),
    [
        ("It is so[^1], and so[2][3].", "It is so, and so.", ()),
        ("[1] It is so.\n- [2] So it is.【3†page】", "It is so.\n- So it is.", ()),
        ("It is so [[1](#note)].", "It is so [].", ()),
        (f"It is so (source: {A}, {B}), and so {A}.", "It is so, and so.", (A, B)),
        (f"It is so ([SEG={A}]).", "It is so.", (A,)),
        ("Call `a[1]` here:\n```\nb[2] = 1\n```\nDone [3].", "Call `a[1]` here:\n```\nb[2] = 1\n```\nDone.", ()),
        ("The list is [1, 2]. The wiki says so[4].", "The list is [1, 2]. The wiki says so[4].", ()),
        ("At (12:30) see [note] and [2024].", "At (12:30) see [note] and [2024].", ()),
    ],
)
@given(st.data())
def test_a_models_own_marks_and_ids_leave_the_text(written, shown, ids, data):
    reader = SectionReader(OFFERED, "The list is [1, 2]. The wiki says so[4].")
    pieces = cuts(json.dumps({"text": written, "source_ids": []}), data)
    (only,) = sections([draft for piece in pieces for draft in reader.feed(piece)] + reader.end(cut=False))
    assert (only.text, only.source_ids) == (shown, ids)


@pytest.mark.parametrize(
    "reply", ["", "  \n", "{}", '{"answer": "x"}', '{"sections": [', '{"sections": [{"te', "{oops}"]
)
def test_a_reply_without_a_readable_section_is_invalid(reply):
    with pytest.raises(ModelReplyInvalid):
        read([reply])


def test_control_characters_and_half_characters_do_not_get_through():
    reply = '{"sections":[{"text":"a\\u0000b\\u001b[31mc\\ud800d","source_ids":[]}]}'
    (only,) = sections(read([reply]))
    assert only.text == "ab[31mc\N{REPLACEMENT CHARACTER}d"
