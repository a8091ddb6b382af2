"""What is wrong with a record, in words, and which mistakes make it wrong."""

from typing import Any

from evals.error_analysis import errors_of, is_right
from evals.records import GoldPassage, Record
from evals.report.report_failures import failures
from tests.evals_records import FARE, FIRST_BOAT, citation, claim, failed, gold, record, refused, retrieved, section


def kinds(record: Record) -> list[str]:
    return [mistake.kind for mistake in errors_of(record)]


def test_a_right_answer_and_a_right_refusal_have_no_mistake() -> None:
    assert kinds(record()) == []
    assert kinds(refused(expected="abstained", variant="removed")) == []
    assert is_right(record())
    assert is_right(refused(expected="abstained", evidence=[], answers=[]))


def test_a_refusal_of_an_answerable_question_tells_where_the_evidence_ranked() -> None:
    found = refused(retrieved=retrieved("museum", "ferry"))

    assert kinds(found) == ["refused"]
    assert "(nothing relevant)" in errors_of(found)[0].why
    assert "2 of 2" in errors_of(found)[0].why
    assert not is_right(found)


def test_a_gold_document_that_was_not_retrieved_is_named() -> None:
    found = refused(retrieved=retrieved("museum", "bakery"))

    assert kinds(found) == ["refused", "gold_not_retrieved"]
    assert errors_of(found)[1].why.startswith("ferry: ")
    assert " 2 documents " in errors_of(found)[1].why


def test_an_answer_without_evidence_in_the_library_is_wrong_in_both_variants() -> None:
    for variant, why in (("asked", "no document has the answer"), ("removed", "were removed")):
        found = record(expected="abstained", variant=variant)
        assert kinds(found) == ["answered_without_evidence"]
        assert why in errors_of(found)[0].why


def test_quotes_that_are_not_gold_count_and_are_told_from_a_late_one() -> None:
    other = citation(FARE, sentences=[1])
    late = record(claims=[claim(FARE, other), claim()])
    never = record(claims=[claim(FARE, other)])

    assert kinds(late) == ["first_not_gold"]
    assert "Passage 2 of 2" in errors_of(late)[0].why
    assert is_right(late)
    assert kinds(never) == ["no_gold_shown"]
    assert not is_right(never)


def test_an_accepted_sentence_is_as_good_as_gold() -> None:
    assert kinds(record(accepted=[gold(FARE, index=1)], claims=[claim(FARE, citation(FARE, sentences=[1]))])) == []


def test_an_answer_that_quotes_nothing_is_wrong() -> None:
    found = record(claims=[{**claim(), "citations": []}])

    assert kinds(found) == ["no_gold_shown"]
    assert not is_right(found)


def test_quotes_that_are_not_exact_or_were_never_offered_are_wrong() -> None:
    found = record(claims=[claim("x", citation(exact=False), citation(offered=False))])

    assert kinds(found) == ["citation_not_exact", "citation_not_offered"]
    assert not is_right(found)


def test_an_invented_id_is_told_and_leaves_the_rest_right() -> None:
    found = record(sections=[section(unknown_ids=2)])

    assert kinds(found) == ["id_invented"]
    assert errors_of(found)[0].why.startswith("2 ")
    assert is_right(found)


def test_a_claim_that_failed_is_given_with_its_reasons() -> None:
    found = record(claims=[claim(), claim("It is 13 kroner.", verdict="contradicted", reasons=("12, not 13",))])

    assert [mistake.why for mistake in errors_of(found)] == ["“It is 13 kroner.” is contradicted: 12, not 13."]


def test_a_lie_on_the_right_evidence_is_not_right() -> None:
    """Of 15 questions 9 are right: two answers in a model's words cite the evidence and say something else."""

    def said(case_id: str, text: str) -> Record:
        return record(case_id, answer=text, claims=[claim(text, verdict="unverified")], family="llm")

    right = [said(f"q{number}", "At 6:40, from Askvik.") for number in range(9)]
    lies = [said("q10", "The first boat leaves at 7:15."), said("q11", "No boat leaves in the morning.")]
    wrong = [*lies, *(refused(f"q{number}") for number in range(12, 16))]

    assert [is_right(each) for each in (*right, *wrong)] == [True] * 9 + [False] * 6
    assert kinds(lies[0]) == ["answer_not_contained", "mark_not_borne"]


def test_what_is_right_without_answers_or_evidence() -> None:
    other = [claim(FARE, citation(FARE, sentences=[1]))]
    unknown: dict[str, Any] = {"answers": [], "evidence": []}

    assert is_right(record(answers=[], answer="It goes early."))  # by its evidence alone
    assert not is_right(record(answers=[], claims=other))
    assert is_right(record(evidence=[], claims=other))  # by its words alone
    assert not is_right(record(evidence=[], answers=["7:15"]))
    assert is_right(record(**unknown, claims=other))  # answered, as it should be
    assert not is_right(refused(**unknown))


def test_a_passage_without_a_mark_shows_nothing() -> None:
    found = record(claims=[claim(mark="withheld")])

    assert kinds(found) == ["no_gold_shown"]
    assert not is_right(found)


def test_what_a_reader_sees_around_a_quoted_passage_is_said_too() -> None:
    above = {"answer": FARE, "claims": [claim(FARE, citation(FARE, heading_path=["Boats at 6:40"]))]}

    assert is_right(record(evidence=[[gold(FARE, index=1)]], **above))
    assert not is_right(record(evidence=[[gold(FARE, index=1)]], family="llm", **above))


def test_a_missing_gold_answer_is_named() -> None:
    found = record(answers=["7:15", "quarter past seven"])

    assert kinds(found) == ["answer_not_contained"]
    assert "“7:15” or “quarter past seven”" in errors_of(found)[0].why


def test_a_failed_run_says_its_error_and_a_cancelled_one_its_reason() -> None:
    assert errors_of(failed())[0].why.startswith("model_unavailable: ")
    assert kinds(refused(outcome="cancelled", stop_reason="server_stopped")) == ["run_failed"]


PASSAGE = GoldPassage(document="ferry", text=FIRST_BOAT, alternative=False)


def of_manuals(**changes: Any) -> Record:
    """A question whose evidence is a passage, answered rightly unless told otherwise."""
    return record(**{"evidence": [], "passages": [PASSAGE], "tags": {"language": "en", "kind": "table"}, **changes})


def test_an_answer_over_manuals_is_wrong_without_a_passage_or_what_is_asked_for() -> None:
    other = claim(FARE, citation(FARE, sentences=[1]))

    assert kinds(of_manuals()) == []
    assert kinds(of_manuals(claims=[other])) == ["no_gold_shown"]
    assert "a gold passage" in errors_of(of_manuals(claims=[other]))[0].why
    assert kinds(of_manuals(claims=[other, claim()])) == ["first_not_gold"]
    assert kinds(of_manuals(all_of=[["Askvik"], ["daily", "every day"]])) == ["answer_not_contained"]
    right = [of_manuals(), of_manuals(claims=[other, claim()])]
    wrong = [of_manuals(claims=[other]), of_manuals(answers=["7:15"]), of_manuals(all_of=[["daily"]])]
    assert [is_right(each) for each in (*right, *wrong)] == [True, True, False, False, False]


def test_where_the_search_left_a_manual_is_told() -> None:
    late = refused(evidence=[], passages=[PASSAGE], retrieved=retrieved("museum", "ferry"))
    missed = refused(evidence=[], passages=[PASSAGE], retrieved=retrieved("museum"))

    assert "2 of 2" in errors_of(late)[0].why
    assert kinds(missed) == ["refused", "gold_not_retrieved"]


def test_the_report_lists_each_wrong_question_over_manuals_with_its_kind() -> None:
    wrong = [
        of_manuals(case_id="m1", claims=[claim(FARE, citation(FARE))]),
        of_manuals(case_id="m2", answers=["7:15"], tags={"language": "vi", "kind": "value"}),
        refused("m3", evidence=[], passages=[PASSAGE], tags={"language": "zh", "kind": "list"}),
        record("m4", expected="abstained", evidence=[], tags={"language": "en", "kind": "unanswerable"}),
    ]
    markup = str(failures([*wrong, of_manuals(case_id="m5")]))

    assert markup.count("data-card") == len(wrong)
    for name, kind in (("m1", "table"), ("m2", "value"), ("m3", "list"), ("m4", "unanswerable")):
        assert f'data-kind="{kind}"' in markup
        assert f">{name}<" in markup
        assert f">{kind}<" in markup
    assert ">m5<" not in markup
