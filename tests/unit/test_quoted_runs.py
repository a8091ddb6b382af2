"""Claims that repeat one passage share its quote, told the same way while it is written and when it is over."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from answers.citations import build_claim, context_of_quote
from answers.quoted_runs import LONGEST_RUN, continues, extended, joined, quoted_once, with_next
from api.dialects.ai_sdk.schemas import citation_records
from api.dialects.citation_marks import bracket, joined_claims, marked_pieces, placed_claims
from api.dialects.section_buffer import SectionBuffer, final_sections
from graph import events as told
from graph.evidence import Claim, ContextSlice, Message, Section, SectionClaim, Segment, SegmentBlock
from graph.ports import CheckedClaim, WrittenSection
from graph.rows import ClaimRow
from tests.fakes import check_section
from tests.wire.runs import MESSAGE_ID, SPENT
from tests.wire.texts import source

SOURCE = source(1)
ID = SOURCE["segment_id"]
DOCUMENT = SOURCE["document_id"]


def segment(text: str, blocks: tuple[SegmentBlock, ...] = ()) -> Segment:
    return Segment(DOCUMENT, 1, 100, 100 + len(text), text, blocks=blocks)


def block(text: str, part: str, kind: str = "paragraph", *context: ContextSlice) -> SegmentBlock:
    start = 100 + text.index(part)
    return SegmentBlock(start, start + len(part), kind, context)


def slice_of(text: str, part: str, role: str) -> ContextSlice:
    start = 100 + text.index(part)
    return ContextSlice(role, start, start + len(part), part)


def check(answer: str, of: Segment) -> list[CheckedClaim]:
    return joined(check_section(WrittenSection(answer, (of,))), {of.segment_id: of})


def row(claim: CheckedClaim) -> ClaimRow:
    return ClaimRow(
        section_index=0,
        start=claim.start,
        end=claim.end,
        verdict=claim.verdict,
        reasons=list(claim.reasons),
        proofs=list(claim.proofs),
    )


def cited(answer: str, claims: list[CheckedClaim], of: Segment) -> list[Claim]:
    section = Section(text=answer, source_ids=[of.segment_id])
    return [build_claim(row(each), section, {of.segment_id: of}, {of.segment_id: 1}) for each in claims]


def quotes(answer: str, of: Segment) -> list[str]:
    return [each["quote"] for each in quoted_once(cited(answer, check(answer, of), of))]


STEPS = "To back up:\n\n1. Stop the server.\n2. Copy the folder.\n3. Start it again.\n\nThat is all. Dogs bark."


def test_a_list_that_is_repeated_is_quoted_as_the_block_that_it_is() -> None:
    of = segment(STEPS)
    answer = "1. Stop the server.\n2. Copy the folder.\n3. Start it again."
    assert quotes(answer, of) == ["1. Stop the server.\n2. Copy the folder.\n3. Start it again."]
    assert [each.verdict for each in check(answer, of)] == ["supported"] * 3


def test_only_what_stands_together_and_in_its_order_is_one_quote() -> None:
    of = segment(STEPS)
    assert quotes("Stop the server. Start it again.", of) == ["1. Stop the server.", "3. Start it again."]
    assert quotes("Copy the folder. Stop the server.", of) == ["2. Copy the folder.", "1. Stop the server."]
    assert quotes("Copy the folder. The moon is cheese. Start it again.", of)[0] == "2. Copy the folder."


def test_a_paraphrase_in_between_ends_the_run_and_keeps_its_own_verdict() -> None:
    of = segment("Leave is paid. It lapses in March. Ask the desk.")
    claims = check("Leave is paid. In March it does lapse. Ask the desk.", of)
    assert [each.verdict for each in claims] == ["supported", "unverified", "supported"]
    assert claims[0].proofs != claims[2].proofs


def test_a_sentence_that_is_said_twice_is_listed_once() -> None:
    of = segment("Leave is paid. It lapses in March.")
    assert quotes("Leave is paid. Leave is paid.", of) == ["Leave is paid."]


def test_a_run_stays_below_its_limit() -> None:
    sentences = [f"Rule {number} holds for all of the {number * 7} offices of the firm." for number in range(1, 40)]
    text = " ".join(sentences)
    found = quotes(text, segment(text))
    assert len(found) > 1
    assert all(len(each) < LONGEST_RUN for each in found)
    assert " ".join(found) == text


WORDS = st.sampled_from(["Dogs bark.", "Cats sleep.", "Fish swim in 3 seas.", "- Birds fly.", "1. Bees hum.", "Rain?"])


@given(st.lists(WORDS, min_size=1, max_size=8), st.lists(WORDS, max_size=5), st.sampled_from([" ", "\n", "\n\n"]))
def test_quotes_are_exact_and_the_same_however_much_of_the_answer_is_known(
    said: list[str], written: list[str], between: str
) -> None:
    of = segment(between.join([*written, *said, *written[:1]]))
    answer = "\n".join(said)
    alone = check_section(WrittenSection(answer, (of,)))
    claims = joined(alone, {of.segment_id: of})
    growing: list[CheckedClaim] = []
    for each in alone:
        growing.append(extended(growing[-1] if growing else None, each, {of.segment_id: of}))
    for own, grown, whole in zip(alone, growing, claims, strict=True):
        assert (own.start, own.end, own.verdict) == (whole.start, whole.end, whole.verdict)
        for proof in whole.proofs:
            assert proof["end"] - proof["start"] < LONGEST_RUN or whole.proofs == own.proofs
            assert of.text[proof["start"] - 100 : proof["end"] - 100].strip()
        if own.verdict == "supported":
            assert whole.proofs[0]["start"] == grown.proofs[0]["start"] <= own.proofs[0]["start"]
            assert whole.proofs[0]["end"] >= grown.proofs[0]["end"] >= own.proofs[-1]["end"]
    told_growing: list[Claim] = []
    for each in cited(answer, growing, of):
        told_growing = with_next(told_growing, each)
    assert told_growing == cited(answer, claims, of)


@given(st.lists(WORDS, min_size=1, max_size=6), st.integers(0, 6), st.booleans(), st.data())
def test_a_mark_is_sent_once_and_where_the_stored_answer_has_it(
    said: list[str], early: int, stops: bool, data: st.DataObject
) -> None:
    """Claims leave one by one while the section is written, or all when it closes; the marked text is the same."""
    gaps = [data.draw(st.sampled_from(["", "Snow falls."])) for _ in said]
    of = segment(" ".join(word for pair in zip(said, gaps, strict=True) for word in pair if word))
    answer = "\n".join(said) + data.draw(st.sampled_from(["", "\n", "\n```\nx = 1\n```"]))
    alone = check_section(WrittenSection(answer, (of,)))
    claims = cited(answer, joined(alone, {of.segment_id: of}), of)
    growing: list[CheckedClaim] = []
    events: list[told.AnyEvent] = [
        told.RunStarted(
            question="Why?",
            message_id=MESSAGE_ID,
            family="llm",
            model="m",
            budget=told.BudgetCaps(model_calls=8, tokens=None, seconds=None),
        ),
        told.RetrievalDecided(needs_retrieval=True, reason="", standalone_question="Why?", intent="content_query"),
        told.SectionStarted(section_index=0),
    ]
    end = 0
    for each in alone[:early]:
        growing.append(extended(growing[-1] if growing else None, each, {of.segment_id: of}))
        events.append(told.TextDelta(section_index=0, delta=answer[end : each.end + 1]))
        end = min(len(answer), each.end + 1)
        [claim] = cited(answer, growing[-1:], of)
        events.append(told.ClaimChecked(section_index=0, claim=claim))
    sections = [Section(text=answer, source_ids=[ID])]
    message = Message(
        answer=answer,
        sections=sections,
        citations=quoted_once(claims),
        sources=[SOURCE],
        claims=[SectionClaim(**each, section_index=0) for each in claims],
    )
    if answer[end:]:
        events.append(told.TextDelta(section_index=0, delta=answer[end:]))
    events += [
        told.SectionFinished(section_index=0, text=answer, source_ids=[ID]),
        *([] if stops else [told.SectionChecked(section_index=0, claims=claims)]),
        told.RunFinished(outcome="answered", stop_reason="answer_complete", message=message, spent=SPENT),
    ]
    buffer = SectionBuffer()
    sent = [part for event in events for part in buffer.feed(event)]
    whole = "".join(piece for part in final_sections(message) for piece in marked_pieces(part, bracket))
    assert "".join(piece for part in sent for piece in marked_pieces(part, bracket)) == whole
    runs = sum(not continues(one, other) for one, other in pairwise(claims)) + bool(claims)
    assert whole.count("[1]") == runs
    places = list(placed_claims(sent, bracket))
    assert [each.claim["text"] for each in places] == [each["text"] for each in claims]
    latest = [replace(each, claim=claim) for each, claim in zip(places, claims, strict=True)]
    assert len(joined_claims(latest)) == runs == len(citation_records(latest))


ROWS = (
    "Item | Upper Limit\ncolumns per table | 1,600\nindexes per table | unlimited\n\n"
    "work_mem (integer)\nThe default is 4MB."
)


def structured() -> Segment:
    header = slice_of(ROWS, "Item | Upper Limit", "header")
    heading = ContextSlice("heading", 0, 6, "Limits")
    caption = ContextSlice("caption", 10, 25, "Table 1: limits")
    term = slice_of(ROWS, "work_mem (integer)", "term")
    return segment(
        ROWS,
        (
            block(ROWS, "Item | Upper Limit", "table_row", heading, caption),
            block(ROWS, "columns per table | 1,600", "table_row", heading, caption, header),
            block(ROWS, "indexes per table | unlimited", "table_row", heading, caption, header),
            block(ROWS, "work_mem (integer)", "term", heading),
            block(ROWS, "The default is 4MB.", "paragraph", heading, term),
        ),
    )


def context(start: str, end: str) -> list[tuple[str, str]]:
    of = structured()
    found = context_of_quote(of, 100 + ROWS.index(start), 100 + ROWS.index(end) + len(end))
    for each in found:
        if each["start"] >= 100:
            assert of.text[each["start"] - 100 : each["end"] - 100] == each["text"]
    return [(each["role"], each["text"]) for each in found]


def test_a_quote_says_what_it_hangs_on_but_for_headings_and_what_is_part_of_it() -> None:
    caption, header = ("caption", "Table 1: limits"), ("header", "Item | Upper Limit")
    assert context("columns", "1,600") == [caption, header]
    assert context("columns", "unlimited") == [caption, header]
    assert context("Item", "1,600") == [caption]
    assert context("The default", "4MB.") == [("term", "work_mem (integer)")]
    assert context("work_mem", "4MB.") == []
    assert context("indexes", "4MB.") == [caption, header]


def test_a_citation_holds_the_context_of_its_quote_or_no_such_key() -> None:
    of = structured()
    answer = "The default is 4MB."
    [claim] = cited(answer, check(answer, of), of)
    start = 100 + ROWS.index("work_mem (integer)")
    assert claim["citations"][0]["context"] == [
        {"role": "term", "start": start, "end": start + 18, "text": "work_mem (integer)"}
    ]
    [bare] = cited("Dogs bark.", check("Dogs bark.", segment("Dogs bark.")), segment("Dogs bark."))
    assert "context" not in bare["citations"][0]


def test_a_definition_with_its_term_is_one_quote() -> None:
    assert quotes("work_mem (integer) is this:\n\nThe default is 4MB.", structured()) == ["The default is 4MB."]
    assert quotes("- work_mem (integer)\n- The default is 4MB.", structured()) == [
        "work_mem (integer)\nThe default is 4MB."
    ]
