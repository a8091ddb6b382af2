"""Claims that code leaves open, and what a judge says of them while the answer is being written."""

import asyncio

import pytest

from graph.errors import ModelReplyInvalid, ModelUnavailable
from graph.events import SectionChecked
from graph.evidence import Verdict
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, Judgement, Revision
from tests.fakes import ScriptedFamily, ScriptedJudge, quote
from tests.graph.asking import Asked
from tests.graph.wrong_answers import GOOD

QUESTION = "staff get days of annual leave"
OPEN = "The staff have 25 days of leave every year."


class Unhurried(ScriptedFamily):
    """A writer that lets others work between its drafts, as one does that waits for a model."""

    async def write(self, question, sources, *, language, meter):  # type: ignore[no-untyped-def]
        async for draft in super().write(question, sources, language=language, meter=meter):
            yield draft
            await asyncio.sleep(0)


def judged(judge: ScriptedJudge, *texts: str, revisions: list[Revision] | None = None) -> Asked:
    """Ask for an answer of these sections, all citing the leave days, with a judge."""
    drafts = [draft for text in texts for draft in quote(text, "handbook:0")]
    return Asked(family=ScriptedFamily(drafts=[drafts], revisions=[revisions or []]), ports={"judge": judge})


def checks(asked: Asked, index: int = 0) -> list[SectionChecked]:
    return [event for event in asked.told("section_checked") if event.section_index == index]


async def test_what_code_leaves_open_is_settled_by_the_judge_who_is_named() -> None:
    judge = ScriptedJudge()
    asked = judged(judge, OPEN)
    state = await asked.ask(QUESTION)
    first, second = checks(asked)
    assert (first.judging, first.claims[0]["verdict"], "by" in first.claims[0]) == (True, "unverified", False)
    assert (second.judging, second.claims[0]["verdict"], second.claims[0]["by"]) == (False, "supported", "judge")
    assert second.claims[0]["judge"] == {"model": "judge", "exam": {"language": "en", "right": 58, "of": 60}}
    assert state.stop_reason == "answer_complete"
    message = await asked.message(state)
    assert message["claims"][0]["judge"]["model"] == "judge"
    assert message["citations"][0]["verdict"] == "supported"


@pytest.mark.parametrize(
    ("said", "verdict", "by", "mark"),
    [("supported", "supported", "text", "shown"), ("contradicted", "contradicted", "judge", "withheld")],
)
async def test_a_copy_is_one_unless_the_judge_reads_around_it_that_it_does_not_hold(
    said: Verdict, verdict: Verdict, by: str, mark: str
) -> None:
    asked = Asked(family=ScriptedFamily(drafts=[GOOD]), ports={"judge": ScriptedJudge(otherwise=said, exam=None)})
    state = await asked.ask(QUESTION)
    (claim,) = (await asked.message(state))["claims"]
    assert (claim["verdict"], claim["by"], claim["mark"]) == (verdict, by, mark)


async def test_a_copy_that_a_judge_doubts_is_not_looked_for_where_it_does_not_stand() -> None:
    class Wrong(ScriptedJudge):
        """A judge without an exam that errs both ways: it doubts where a copy stands, and sees it anywhere else."""

        async def judge(self, claims, *, meter):  # type: ignore[no-untyped-def]
            self.otherwise = "supported" if self.asked else "unsupported"
            return await super().judge(claims, meter=meter)

    judge = Wrong(exam=None)
    asked = Asked(family=ScriptedFamily(drafts=[GOOD]), ports={"judge": judge})
    state = await asked.ask(f"{QUESTION} when the kitchen closes at nine")
    (claim,) = (await asked.message(state))["claims"]
    assert (len(judge.asked), claim["mark"]) == (1, "withheld")


async def test_a_claim_goes_to_the_judge_with_its_question_and_what_it_cites() -> None:
    judge = ScriptedJudge()
    await judged(judge, f"Staff get 25 days of annual leave. {OPEN}").ask(QUESTION)
    ((_, claim),) = judge.asked
    assert (claim.claim, claim.question) == (OPEN, QUESTION)
    assert claim.before == "Staff get 25 days of annual leave."
    assert [(entry.title, "25 days" in " ".join([entry.text, *entry.context])) for entry in claim.entries] == [
        ("handbook", True)
    ]


async def test_an_item_goes_to_the_judge_with_the_line_that_leads_to_it() -> None:
    judge = ScriptedJudge()
    await judged(judge, f"The handbook grants:\n\n- Unpaid leave in the first year.\n- {OPEN}").ask(QUESTION)
    asked = {claim.claim: claim.before for claim in judge.asked[0]}
    assert asked[OPEN].startswith("The handbook grants:")
    assert "Unpaid" not in asked[OPEN]


async def test_what_a_section_cites_goes_to_the_judge_whatever_words_it_shares() -> None:
    judge = ScriptedJudge()
    drafts = quote(OPEN, "kitchen:0", "handbook:0")
    asked = Asked(family=ScriptedFamily(drafts=[drafts]), ports={"judge": judge})
    await asked.ask(f"{QUESTION} when the kitchen closes at nine")
    ((claim,),) = judge.asked
    assert [entry.title for entry in claim.entries] == ["handbook", "kitchen"]


async def test_a_section_without_sources_is_checked_before_the_answer_ends() -> None:
    asked = Asked(family=Unhurried(drafts=[[*GOOD, *quote("Whales sing at night."), *GOOD]]))
    await asked.ask(QUESTION)
    kinds = ("section_finished", "section_checked")
    order = [(event.type, event.section_index) for event in asked.events if event.type in kinds]
    assert order.index(("section_checked", 1)) < order.index(("section_finished", 2))


async def test_a_section_is_judged_while_the_one_before_it_still_is() -> None:
    class Patient(ScriptedJudge):
        """A judge that gives its first word only once it was asked for another."""

        another = asyncio.Event()

        async def judge(self, claims, *, meter):  # type: ignore[no-untyped-def]
            if self.asked:
                self.another.set()
            said = await super().judge(claims, meter=meter)
            async with asyncio.timeout(5):
                await self.another.wait()
            return said

    sections = [each for text in (OPEN, f"Every year {OPEN}") for each in quote(text, "handbook:0")]
    asked = Asked(family=Unhurried(drafts=[sections]), ports={"judge": Patient()})
    await asked.ask(QUESTION)
    assert [checks(asked, index)[-1].claims[0]["verdict"] for index in (0, 1)] == ["supported", "supported"]


async def test_a_judge_that_breaks_leaves_claims_open_and_the_run_whole() -> None:
    asked = judged(ScriptedJudge(failures=[ValueError("no such head")]), OPEN)
    state = await asked.ask(QUESTION)
    assert state.stop_reason == "answer_complete"
    assert checks(asked)[-1].claims[0]["verdict"] == "unverified"


@pytest.mark.parametrize("verdict", ["contradicted", "unsupported"])
async def test_what_the_judge_refutes_is_withdrawn_and_corrected(verdict: Verdict) -> None:
    refuted = f"The staff have 25 days of leave every year ({verdict})."
    asked = judged(ScriptedJudge(), "Staff get 25 days of annual leave.", refuted)
    state = await asked.ask(QUESTION)
    assert [section["text"] for section in state.sections] == ["Staff get 25 days of annual leave.", ""]
    (correction,) = asked.told("correction")
    assert (correction.section_index, [claim["text"] for claim in correction.claims]) == (1, [refuted])
    assert refuted in correction.text
    assert (state.outcome, state.stop_reason, state.withdrawn) == ("answered", "repairs_used_up", 1)


async def test_what_the_judge_refutes_is_repaired_in_its_section_alone() -> None:
    better = Revision(1, "Unused days expire in March.", ("handbook:0",))
    refuted = "The staff have 25 days of leave every year (unsupported)."
    asked = judged(ScriptedJudge(), "Staff get 25 days of annual leave.", refuted, revisions=[better])
    state = await asked.ask(QUESTION)
    assert [section["text"] for section in state.sections] == ["Staff get 25 days of annual leave.", better.text]
    (correction,) = asked.told("correction")
    assert correction.text.endswith(": Unused days expire in March.")
    assert state.stop_reason == "answer_complete"


async def test_a_sentence_is_cut_out_of_its_list_and_the_others_keep_their_places() -> None:
    items = ["Staff get 25 days of annual leave.", "The sea is blue (unsupported).", "Unused days expire in March."]
    text = "Leave:\n\n" + "\n".join(f"- {item}" for item in items)
    asked = judged(ScriptedJudge(), text)
    state = await asked.ask(QUESTION)
    kept = "Leave:\n\n- Staff get 25 days of annual leave.\n- Unused days expire in March."
    assert state.sections[0]["text"] == kept
    assert [kept[row["start"] : row["end"]] for row in state.claims if row["verdict"] == "supported"][-2:] == [
        "Staff get 25 days of annual leave.",
        "Unused days expire in March.",
    ]


async def test_the_doubt_of_a_judge_without_an_exam_takes_the_mark_and_nothing_else() -> None:
    asked = judged(ScriptedJudge(otherwise="contradicted", exam=None), OPEN)
    state = await asked.ask(QUESTION)
    (first, second) = (event.claims[0] for event in checks(asked))
    assert (first["mark"], second["mark"]) == ("pending", "withheld")
    assert (second["verdict"], second["by"], second["judge"]["says"]) == ("contradicted", "judge", "contradicted")
    assert (state.outcome, state.stop_reason, state.sections[0]["text"]) == ("answered", "answer_complete", OPEN)
    assert (state.repairs, state.withdrawn, asked.told("correction")) == (0, 0, [])
    assert state.assessment is not None
    assert not state.assessment["supported"]


async def test_the_support_of_a_judge_without_an_exam_leaves_the_mark_and_proves_nothing() -> None:
    asked = judged(ScriptedJudge(exam=None), OPEN)
    message = await asked.message(await asked.ask(QUESTION))
    (claim,) = message["claims"]
    assert (claim["verdict"], claim["by"], claim["mark"]) == ("unverified", "judge", "shown")
    judge = {"model": "judge", "exam": None, "says": "supported", "version": "1", "language": "en", "probability": None}
    code = claim["judge"].pop("code")
    assert (code["verdict"], code["doubted"]) == ("unverified", False)
    assert claim["judge"] == judge


async def test_a_doubt_of_a_judge_that_may_withdraw_is_repaired_beside_one_that_may_not() -> None:
    class OfTwoLanguages(ScriptedJudge):
        async def judge(self, claims, *, meter):  # type: ignore[no-untyped-def]
            return [
                Judgement("unsupported", exam=None if "leave" in each.claim else self.exam)
                for each in await super().judge(claims, meter=meter) and claims
            ]

    asked = judged(OfTwoLanguages(), f"{OPEN} Nghỉ phép là 30 ngày.")
    state = await asked.ask(QUESTION)
    assert (state.sections[0]["text"], state.withdrawn) == (OPEN, 1)
    (correction,) = asked.told("correction")
    assert [claim["text"] for claim in correction.claims] == ["Nghỉ phép là 30 ngày."]


async def test_a_doubted_claim_keeps_its_doubt_where_the_second_answer_can_not_be_read() -> None:
    class Unsure(ScriptedJudge):
        async def judge(self, claims, *, meter):  # type: ignore[no-untyped-def]
            said = await super().judge(claims, meter=meter)
            return said if len(self.asked) == 1 else [Judgement(None)] * len(said)

    judge = Unsure(otherwise="unsupported", exam=None)
    asked = judged(judge, OPEN)
    (claim,) = (await asked.message(await asked.ask(QUESTION, min_score=0.0)))["claims"]
    assert len(judge.asked) == 2
    assert (claim["verdict"], claim["mark"]) == ("unsupported", "withheld")
    assert [each["segment_id"] for each in claim["citations"]] == ["handbook:0"]


async def test_a_reply_that_can_not_be_read_leaves_the_claim_open() -> None:
    state = await judged(ScriptedJudge(otherwise=None), OPEN).ask(QUESTION)
    assert [row["verdict"] for row in state.claims] == ["unverified"]


async def test_a_judge_that_fails_is_not_asked_again_and_the_answer_says_so() -> None:
    judge = ScriptedJudge(failures=[ModelUnavailable("no reply")])
    asked = judged(judge, OPEN, f"{OPEN} It is so.")
    state = await asked.ask(QUESTION)
    assert len(judge.asked) == 1
    assert {(row["verdict"], "pending" in row) for row in state.claims} == {("unverified", False)}
    assert [event.fallback["code"] for event in checks(asked) if event.fallback] == ["model_unavailable"]


async def test_a_reply_that_can_not_be_read_costs_only_its_own_claims_their_verdicts() -> None:
    judge = ScriptedJudge(failures=[ModelReplyInvalid("no verdict")])
    drafts = [*quote(OPEN, "handbook:0"), *GOOD, *quote(OPEN, "handbook:0")]
    asked = Asked(family=Unhurried(drafts=[drafts]), ports={"judge": judge})
    state = await asked.ask(QUESTION)
    assert [row["verdict"] for row in state.claims] == ["unverified", "supported", "supported"]
    assert ["judge" in row for row in state.claims] == [False, True, True]
    assert [event.fallback["code"] for event in asked.told("section_checked") if event.fallback] == [
        "model_reply_invalid"
    ]


@pytest.mark.parametrize("cap", range(1, 9))
async def test_the_judge_stays_within_the_budget(cap: int) -> None:
    judge = ScriptedJudge()
    asked = judged(judge, *(f"{OPEN} That is rule {number}." for number in range(12)))
    state = await asked.ask(QUESTION, max_model_calls=cap)
    assert sum(row["calls"] for row in state.spent.values()) <= cap


async def test_a_section_is_judged_while_the_next_is_being_written() -> None:
    judge = ScriptedJudge()
    drafts = [*quote(OPEN, "handbook:0"), *GOOD, *quote(OPEN, "handbook:0")]
    await Asked(family=Unhurried(drafts=[drafts]), ports={"judge": judge}).ask(QUESTION)
    assert len(judge.asked[0]) == 1, "the first section did not wait for the last"


async def test_sentences_are_checked_one_by_one_where_the_sources_are_known_first() -> None:
    text = "Staff get 25 days of annual leave. Unused days expire in March."
    drafts: list[Draft] = [
        DraftOpened(source_ids=("handbook:0",)),
        *(DraftText(word) for word in text.replace(" ", " |").split("|")),
        DraftClosed(text, ("handbook:0",)),
    ]
    asked = Asked(family=ScriptedFamily(drafts=[drafts]))
    state = await asked.ask(QUESTION)
    kinds = [event.type for event in asked.events if event.type in ("claim_checked", "section_finished")]
    assert kinds == ["claim_checked", "section_finished"]
    (early,) = asked.told("claim_checked")
    assert (early.claim["text"], early.claim["verdict"]) == ("Staff get 25 days of annual leave.", "supported")
    assert [row["start"] for row in state.claims] == [0, 35]
