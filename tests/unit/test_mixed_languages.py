"""The library of several languages: its questions are balanced, and what they rest on stands in its documents."""

from collections import Counter
from pathlib import Path

from evals.sets.manuals import company_set
from research.recorded import load_recorded

RESEARCH = Path(__file__).parents[2] / "research"


def test_each_language_asks_for_what_stands_in_its_own_in_another_and_nowhere() -> None:
    data = company_set(RESEARCH / "mixed_languages")  # refuses a gold text that its document does not hold
    assert Counter(case.tags["language"] for case in data.cases) == {"vi": 20, "zh": 20, "de": 20}
    assert Counter(case.tags["kind"] for case in data.cases) == {
        "same_language": 26,
        "other_language": 26,
        "unanswerable": 8,
    }
    assert len(data.documents) >= 40


def test_the_replies_that_its_figures_rest_on_can_be_played_back() -> None:
    assert len(load_recorded(RESEARCH / "data" / "replies.mixed_languages.jsonl")) > len(
        company_set(RESEARCH / "mixed_languages").cases
    )
    assert load_recorded(RESEARCH / "data" / "replies.manuals.jsonl")
