"""What a judge is shown of a claim that code left open: its entries, each with what it hangs on."""

from dataclasses import replace

from answers.nearness import Nearness
from answers.open_claims import judged_row, question_of
from graph.evidence import ContextSlice, Proof, Section, Segment, SegmentBlock
from graph.ports import Judgement
from graph.reasons import Reason, why
from graph.rows import ClaimRow
from tests.judging import RuleJudge, coin
from tools.judges.chat_judge import _numbered

TEXT = "Sets the memory. The default is 4MB."
TERM = ContextSlice("term", 10, 28, "work_mem (integer)")
SEGMENT = Segment(
    "d", 0, 100, 100 + len(TEXT), TEXT, title="Settings", blocks=(SegmentBlock(100, 136, "paragraph", (TERM,)),)
)
CLAIM = "The default of work_mem is 4MB."


def row(*spans: tuple[int, int]) -> ClaimRow:
    proofs = [Proof(segment_id="d:0", start=start, end=end, origin="cited") for start, end in spans]
    return ClaimRow(section_index=0, start=0, end=len(CLAIM), verdict="unverified", reasons=[], proofs=proofs)


def entries(asked: ClaimRow, segment: Segment = SEGMENT) -> list[tuple[str, tuple[str, ...]]]:
    section, near = Section(text=CLAIM, source_ids=["d:0"]), Nearness([segment])
    question = question_of(asked, section, [segment], "Which default?", near)
    assert question is not None
    return [(entry.text, entry.context) for entry in question.claim.entries]


def test_an_entry_is_judged_with_its_term_above_it() -> None:
    assert entries(row((117, 136))) == [("The default is 4MB.", ("work_mem (integer)", TEXT))]
    assert entries(row()) == [(TEXT, ("work_mem (integer)",))]


def test_an_entry_that_hangs_on_nothing_is_judged_with_the_text_around_it() -> None:
    assert entries(row((117, 136)), replace(SEGMENT, blocks=())) == [("The default is 4MB.", (TEXT,))]


def test_what_is_around_two_claims_is_shown_once_and_each_with_its_own_term() -> None:
    other = replace(SEGMENT, blocks=(SegmentBlock(100, 136, "paragraph", (replace(TERM, text="temp_mem"),)),))
    section = Section(text=CLAIM, source_ids=["d:0"])
    near = Nearness([SEGMENT, other])
    asked = [question_of(row((117, 136)), section, [each], "Which default?", near) for each in (SEGMENT, other)]
    prompt = _numbered([each.claim for each in asked if each], 2000)
    assert prompt.count("Sets the memory.") == 1
    assert "| ~ work_mem (integer)" in prompt
    assert "the same as in [1]:\n| # Settings\n| ~ temp_mem\n| The default is 4MB." in prompt


def test_a_judge_without_an_exam_leaves_what_code_has_said_of_the_claim() -> None:
    found = why(Reason("number_not_found", "8"))
    asked = ClaimRow(**{**row((117, 136)), "doubted": True, "why": found})
    for each, is_doubted, said in ((asked, True, found), (row((117, 136)), False, []), (row(), True, [])):
        question = question_of(each, Section(text=CLAIM, source_ids=["d:0"]), [SEGMENT], "Which?", Nearness([SEGMENT]))
        assert question is not None
        mark = judged_row(question, Judgement("unsupported"), RuleJudge(coin))["judge"]
        assert mark["code"] == {"verdict": "unverified", "doubted": is_doubted, "why": said}
