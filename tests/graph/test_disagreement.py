"""Sources that contradict each other on what an answer says: noticed, quoted both, and told in order."""

from dataclasses import replace
from typing import Any

import pytest

import prompts
from answers.document_dates import document_date
from api.dialects.section_buffer import SectionBuffer
from graph.evidence import Proof, Segment, Span
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, Revision
from tests.fakes import MemoryLibrary, ScriptedFamily, WordJudge, quote, segment
from tests.graph.asking import FOOD, LEAVE, Asked
from tests.graph.wrong_answers import GOOD

MEMO = segment("memo", 0, "Staff get 30 days of annual leave.", title="Memo")
KITCHEN = quote("The kitchen closes at nine.", "kitchen:0")
OPEN = "All staff get the 25 days of annual leave."
QUESTION = "staff get days of annual leave"


def sent(session: Asked) -> str:
    """Return the text of a run as a reader gets it that can't take anything back."""
    buffer = SectionBuffer()
    parts = [part for event in session.events for part in buffer.feed(event)]
    return "\n".join(part.text[part.start :] for part in parts)


async def test_an_answer_that_another_source_contradicts_says_so_and_quotes_both() -> None:
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), ScriptedFamily(drafts=[GOOD]))
    state = await session.ask(QUESTION, min_score=0.5)
    (told,) = session.told("sources_disagree")
    assert told.segment_ids == ["handbook:0", "memo:0"]
    assert "25" in told.reason
    assert "30" in told.reason
    message = await session.message(state)
    (disagreement,) = message["disagreements"]
    assert (disagreement["segment_ids"], disagreement["reason"]) == (told.segment_ids, told.reason)
    assert (disagreement["code"], disagreement["parts"]) == ("another_value", ["25", "30"])
    assert [each["quote"] for each in disagreement["positions"]] == [LEAVE.text[:34], MEMO.text]
    (said,) = message["sections"]
    assert "“Staff get 25 days of annual leave.”" in said["text"]
    assert "“Staff get 30 days of annual leave.” (Memo)" in said["text"]
    quotes = [citation["quote"] for citation in message["citations"]]
    assert quotes == ["Staff get 25 days of annual leave.", "Staff get 30 days of annual leave."]


async def test_what_it_quotes_is_not_quoted_before() -> None:
    family = ScriptedFamily(drafts=[[*GOOD, *quote(MEMO.text, "memo:0"), *KITCHEN]])
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), family)
    state = await session.ask(f"{QUESTION} kitchen closes", min_score=0.1)
    assert [each["text"][:19] for each in state.sections] == ["", "", "The kitchen closes ", "The sources disagre"]
    assert [(each.section_index, each.text, each.moved) for each in session.told("section_revised")] == [
        (0, "", True),
        (1, "", True),
    ]
    assert sent(session).splitlines() == [each["text"] for each in state.sections[2:]]
    assert session.told("correction") == []


def shown(whole: Segment, best: int) -> list[Draft]:
    """Return a section that shows a whole segment as a passage, whose highlight has so many characters."""
    span = Span(start=whole.start, end=whole.start + best)
    proof = Proof(segment_id=whole.segment_id, start=whole.start, end=whole.end, origin="cited", highlight=span)
    return [DraftOpened(), DraftText(whole.text), DraftClosed(whole.text, (whole.segment_id,), passage=proof)]


async def test_passages_stay_and_disagree_once_by_what_they_highlight() -> None:
    memo = replace(MEMO, text=f"{MEMO.text} Ask the office.", end=len(MEMO.text) + 16)
    family = ScriptedFamily(drafts=[[*shown(LEAVE, 34), *shown(memo, len(MEMO.text))]])
    session = Asked(MemoryLibrary([LEAVE, memo, FOOD]), family)
    state = await session.ask(QUESTION, min_score=0.3)
    assert [each["text"] for each in state.sections[:2]] == [LEAVE.text, memo.text]
    (told,) = session.told("sources_disagree")
    assert {each["quote"] for each in told.positions} == {LEAVE.text[:34], MEMO.text}
    assert len(state.sections) == 3


async def test_what_stands_beside_it_stays_and_is_checked_by_itself() -> None:
    draft = quote(f"{LEAVE.text} {LEAVE.text[:34]}", "handbook:0")
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), ScriptedFamily(drafts=[draft]))
    state = await session.ask(f"{QUESTION} unused expire", min_score=0.1)
    assert state.sections[0]["text"] == "Unused days expire in March."
    assert [row["verdict"] for row in state.claims] == ["supported", "supported"]
    (quoted,) = (each for each in (await session.message(state))["citations"] if each["section_index"] == 0)
    assert quoted["quote"] == "Unused days expire in March."
    assert sent(session).startswith("Unused days expire in March.\nThe sources disagree.")


async def test_an_answer_that_is_all_told_there_is_assessed_by_it() -> None:
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), ScriptedFamily(drafts=[GOOD]))
    await session.ask(QUESTION, min_score=0.5)
    (assessed,) = session.told("answer_assessed")
    assert (assessed.supported, assessed.claims["supported"]) == (True, 1)


async def test_more_disagreements_than_are_said_leave_the_rest_quoted() -> None:
    facts = ("The {} opens at {}:00 in the morning.", [("library", 8), ("kitchen", 9), ("garden", 7)])
    ours = [segment(f"a{at}", 0, facts[0].format(*fact), title=f"Sheet {fact[0]}") for at, fact in enumerate(facts[1])]
    theirs = [
        segment(f"b{at}", 0, facts[0].format(name, hour + 2), title=f"Notes on the {name}")
        for at, (name, hour) in enumerate(facts[1])
    ]
    family = ScriptedFamily(drafts=[[draft for each in ours for draft in quote(each.text, each.segment_id)]])
    session = Asked(MemoryLibrary([*ours, *theirs]), family)
    state = await session.ask("library kitchen garden opens in the morning", min_score=0.1)
    assert len(state.disagreements) == 2
    assert [bool(each["text"]) for each in state.sections] == [False, False, True, True, True]
    assert sent(session).splitlines() == [each["text"] for each in state.sections[2:]]


async def test_saying_so_proves_nothing_of_the_answer() -> None:
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), ScriptedFamily(drafts=[quote(OPEN, "handbook:0")]))
    state = await session.ask(QUESTION, min_score=0.5)
    assert len(state.disagreements) == 1
    assert [row["verdict"] for row in state.claims] == ["unverified", "supported"]
    (assessed,) = session.told("answer_assessed")
    assert (assessed.supported, assessed.claims["supported"], assessed.claims["unverified"]) == (False, 0, 1)
    assert assessed.utility <= 0.5


async def test_it_is_told_after_the_answer_was_checked_and_as_a_section_of_its_own() -> None:
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), ScriptedFamily(drafts=[GOOD]))
    await session.ask(QUESTION, min_score=0.5)
    within = session.steps.index("check_claims")
    kinds = [event.type for event in session.events]
    begun = [at for at, event in enumerate(session.events) if event.type == "step_started"][within]
    assert kinds[begun : kinds.index("answer_assessed") - 1] == [
        "step_started",
        "section_revised",
        "sources_disagree",
        "section_started",
        "text_delta",
        "section_finished",
        "section_checked",
        "step_finished",
    ]


async def test_what_a_withdrawn_section_cited_is_in_no_disagreement() -> None:
    family = ScriptedFamily(drafts=[[*quote("Staff get 20 days of annual leave.", "handbook:0"), *KITCHEN]])
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), family, ports={"judge": WordJudge()})
    state = await session.ask(f"{QUESTION} kitchen closes", min_score=0.1)
    assert state.sections[0]["text"] == ""
    assert session.told("sources_disagree") == []
    assert (state.disputes, state.disagreements) == ([], [])


async def test_a_disagreement_waits_for_the_repair() -> None:
    family = ScriptedFamily(
        drafts=[quote("Staff get 20 days of annual leave.", "handbook:0")],
        revisions=[[Revision(0, "Staff get 25 days of annual leave.", ("handbook:0",))]],
    )
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), family, ports={"judge": WordJudge()})
    state = await session.ask(QUESTION, min_score=0.5)
    told = [event.type for event in session.events if event.type in ("section_revised", "sources_disagree")]
    assert told == ["section_revised", "sources_disagree"]
    assert len(state.disagreements) == 1


async def test_a_title_that_is_a_link_goes_out_of_the_section_and_is_reported() -> None:
    linked = segment("memo", 0, MEMO.text, title="![x](https://evil.example/?q=1)")
    session = Asked(MemoryLibrary([LEAVE, linked, FOOD]), ScriptedFamily(drafts=[GOOD]))
    state = await session.ask(QUESTION, min_score=0.5)
    assert "evil.example" not in state.sections[-1]["text"]
    (removed,) = session.told("content_removed")
    assert (removed.section_index, removed.kind) == (1, "image")


def dated(name: str, days: int, **fields: Any) -> Segment:
    return replace(segment(name, 0, f"Staff get {days} days of annual leave a year."), title="Leave", **fields)


OLD = dated("old", 20, metadata={"date": "2023-01-15"})
NEW = dated("new", 25, metadata={"Updated": "2024-06"})
NEWEST = dated("newest", 30, metadata={"date": 2025})


@pytest.mark.parametrize("order", [[OLD, NEW], [NEW, OLD]])
@pytest.mark.parametrize("cited", [["old", "new"], ["new", "old"], ["old"], ["new"]])
async def test_it_is_said_once_with_values_and_dates_the_newest_first(order: list[Segment], cited: list[str]) -> None:
    quotes = {each.document_id: quote(each.text, each.segment_id) for each in order}
    family = ScriptedFamily(drafts=[[draft for name in cited for draft in quotes[name]]])
    state = await Asked(MemoryLibrary(order), family).ask("staff get days of annual leave a year", min_score=0.1)
    (told,) = state.disagreements
    assert told["parts"] == ["25", "20"]
    assert [(each["date"], each["dated_by"]) for each in told["positions"]] == [
        ("2024-06", "document"),
        ("2023-01-15", "document"),
    ]
    newest, older = f"“{NEW.text}” (Leave, 2024-06)", f"“{OLD.text}” (Leave, 2023-01-15)"
    assert state.sections[-1]["text"] == prompts.lines("en").disagree_dated.format(one=newest, other=older)
    assert [each["text"] for each in state.sections[:-1]] == [""] * len(cited)


async def test_three_sources_that_disagree_are_one_disagreement() -> None:
    family = ScriptedFamily(drafts=[quote(NEW.text, "new:0")])
    session = Asked(MemoryLibrary([OLD, NEW, NEWEST]), family)
    state = await session.ask("staff get days of annual leave a year", min_score=0.1)
    (told,) = state.disagreements
    assert told["segment_ids"] == ["newest:0", "new:0", "old:0"]
    assert told["parts"] == ["30", "25", "20"]


async def test_copies_are_one_source_and_do_not_disagree() -> None:
    text = "Row 1 of the plan costs 20 euros a month. Row 2 of the plan costs 30 euros a month."
    copies = [replace(segment(name, 0, text), title=f"Plan {name}") for name in ("a", "b", "c")]
    session = Asked(MemoryLibrary(copies), ScriptedFamily(drafts=[quote(text[:41], "a:0")]))
    state = await session.ask("row 1 of the plan costs euros", min_score=0.1)
    assert [row["segment_id"] for row in state.sources] == ["a:0"]
    assert state.disagreements == []
    (graded,) = session.told("sources_graded")
    assert graded.dropped == []


async def test_a_conflict_with_copies_is_said_once() -> None:
    copies = [replace(OLD, document_id=name, title=name) for name in ("x", "y", "z")]
    family = ScriptedFamily(drafts=[[*quote(NEW.text, "new:0"), *quote(OLD.text, "x:0")]])
    state = await Asked(MemoryLibrary([*copies, NEW]), family).ask("staff get days of annual leave a year")
    (told,) = state.disagreements
    assert told["segment_ids"] == ["new:0", "x:0"]


@pytest.mark.parametrize(
    ("metadata", "stored", "date"),
    [
        ({"date": "2024/3/1"}, "", ("2024-03-01", "document")),
        ({"Last-Modified": "2024-03-01T10:00:00Z"}, "2026-01-02T00:00:00+00:00", ("2024-03-01", "document")),
        ({"date": "soon", "published": "2020-13-40"}, "2026-01-02T00:00:00+00:00", ("2026-01-02", "library")),
        ({"date": True}, "", ("", "")),
    ],
)
def test_the_date_of_a_document(metadata: dict[str, Any], stored: str, date: tuple[str, str]) -> None:
    assert document_date(replace(OLD, metadata=metadata, updated_at=stored)) == date


async def test_dates_of_storing_order_what_has_no_date_of_its_own() -> None:
    one = dated("one", 20, updated_at="2026-03-01T08:00:00+00:00")
    two = dated("two", 25, updated_at="2026-03-02T08:00:00+00:00")
    family = ScriptedFamily(drafts=[quote(one.text, "one:0")])
    state = await Asked(MemoryLibrary([one, two]), family).ask("staff get days of annual leave a year", min_score=0.1)
    first, second = f"“{two.text}” (Leave, stored 2026-03-02)", f"“{one.text}” (Leave, stored 2026-03-01)"
    assert state.sections[-1]["text"] == prompts.lines("en").disagree.format(one=first, other=second)


async def test_a_section_with_a_false_claim_is_told_as_it_is_and_keeps_its_quote() -> None:
    draft = quote(f"{MEMO.text} Staff get 20 days of annual leave.", "handbook:0", "memo:0")
    judge = WordJudge()
    session = Asked(MemoryLibrary([LEAVE, MEMO, FOOD]), ScriptedFamily(drafts=[draft]), ports={"judge": judge})
    state = await session.ask(QUESTION, min_score=0.5)
    *_, checked = [each for each in session.told("section_checked") if each.section_index == 0]
    assert [claim["verdict"] for claim in checked.claims] == ["supported", "contradicted"]
    assert state.sections[0]["text"] == MEMO.text
    assert not any(each.moved for each in session.told("section_revised"))
    assert sent(session).startswith(MEMO.text)
