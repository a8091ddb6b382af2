"""Sources that say the same with another number or name in one place are noticed; others are not."""

from dataclasses import replace

import pytest

from graph.ports import WrittenSection
from graph.reasons import Reason
from tests.fakes import check_section, segment


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (
            "The bridge was opened to traffic in 2001 by the mayor.",
            "The bridge was opened to traffic in 1998 by the mayor.",
            Reason("another_value", "1998", "2001"),
        ),
        (
            "The novel was written by Clara Diaz in Lisbon.",
            "The novel was written by Emma Stone in Lisbon.",
            Reason("another_value", "Emma Stone", "Clara Diaz"),
        ),
        (
            "The meal allowance is 42 euros for a full day and 28 euros for a half day.",
            "The meal allowance is 36 euros for a full day and 24 euros for a half day.",
            Reason("another_value", "36", "42"),
        ),
        ("这座桥于2001年由市长正式开放通车。", "这座桥于1998年由市长正式开放通车。", None),
        (
            "Cây cầu được khánh thành vào năm 2001 bởi thị trưởng.",
            "Cây cầu được khánh thành vào năm 1998 bởi thị trưởng.",
            None,
        ),
    ],
)
def test_a_claim_that_another_source_contradicts_is_supported_and_disputed(
    one: str, other: str, reason: str | None
) -> None:
    own, rival = segment("own", 0, one), segment("rival", 2, "Some words before. " + other, start=100)
    (claim,) = check_section(WrittenSection(one, (own,), (own, rival)))
    (dispute,) = claim.disputes
    assert claim.verdict == "supported"
    assert dispute.other["segment_id"] == "rival:2"
    assert rival.text[dispute.other["start"] - 100 : dispute.other["end"] - 100].endswith(other)
    assert reason is None or dispute.reason == reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The bridge was opened in 2001.", "The tunnel was closed in 1998."),
        ("The bridge was opened to traffic in 2001.", "The bridge was opened to traffic in 2001."),
        ("The bridge was opened in 2001.", "The bridge, which was opened in 2001, is 300 metres long."),
        ("In 2001 the town had 4 schools and 300 pupils.", "In 2011 the town had 5 schools and 410 pupils."),
        ("Anna Berg was born in Oslo in 1950.", "Ben Okafor studied law in Lagos from 1970 to 1975."),
        ("约翰出生于1950年。", "玛丽在1970年毕业于牛津大学。"),
        ("About 40 percent of it is forest.", "Roughly 40% of it is forest."),
    ],
)
def test_different_or_equal_sentences_do_not_disagree(one: str, other: str) -> None:
    own, rival = segment("own", 0, one), segment("rival", 0, other)
    assert check_section(WrittenSection(one, (own,), (rival,)))[0].disputes == ()


def test_a_claim_in_other_words_is_disputed_by_the_value_that_it_says() -> None:
    own = segment("own", 0, "The tower is 120 metres tall and open all year.")
    rival = segment("rival", 0, "The tower is 90 metres tall and open all year.")
    for said, disputed in (("All year you can climb its 120 metres.", True), ("You can climb it all year.", False)):
        (claim,) = check_section(WrittenSection(said, (own,), (rival,)))
        assert bool(claim.disputes) == disputed


GUIDE = "The museum is open to visitors on {} days a week."


@pytest.mark.parametrize(
    ("title", "other_title", "disagree"),
    [
        ("House rules", "Visitor leaflet", True),
        ("Visitor guide of the museum, 2024", "Visitor guide of the museum, 2025", False),
        ("Annual report of the museum, 2024", "Annual report of the museum, 2025", False),
        ("Rules of building 4", "Rules of building 5", False),
        ("Askvik ferry line: passengers", "Norholm ferry line: passengers", False),
        ("清澜 A3 净水器", "清澜 A5 净水器", False),
        ("澄湖市图书馆借阅规则", "澄湖市图书馆读者问答", True),
        ("Same title", "Same title", True),
    ],
)
def test_documents_whose_titles_differ_in_a_word_are_about_two_things(
    title: str, other_title: str, disagree: bool
) -> None:
    own = replace(segment("own", 0, GUIDE.format(6)), title=title)
    rival = replace(segment("rival", 0, GUIDE.format(5)), title=other_title)
    (claim,) = check_section(WrittenSection(own.text, (own,), (own, rival)))
    assert bool(claim.disputes) == disagree


@pytest.mark.parametrize(
    "said",
    [
        "The service needs PostgreSQL version {} or newer to start.",
        "The hotel limit is {} euros a night in Paris.",
    ],
)
def test_what_two_documents_say_of_one_thing_is_a_disagreement(said: str) -> None:
    own = replace(segment("own", 0, said.format(14)), title="Travel policy")
    rival = replace(segment("rival", 0, said.format(16)), title="Expense guide")
    (claim,) = check_section(WrittenSection(own.text, (own,), (own, rival)))
    assert len(claim.disputes) == 1


def test_a_document_is_not_held_against_itself() -> None:
    own, rival = segment("own", 0, GUIDE.format(6)), segment("own", 1, GUIDE.format(5))
    (claim,) = check_section(WrittenSection(own.text, (own,), (own, rival)))
    assert claim.disputes == ()
