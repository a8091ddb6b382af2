"""What is quoted: what answers, of a search; what belongs to the answer, of a page."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.evidence import Hit, Segment, SourceKind
from tools.extractive.extractive_family import MOST_PAGE_QUOTES, MOST_QUOTES, best_set, select_quotes
from tools.extractive.reader import RankedSentences, rank_by_part
from tools.rules.candidate_sentences import candidate_sentences

PAGE = """# Ferry timetable

The ferry to Gull Island leaves at eight and at noon. The ferry takes forty minutes. A ticket for the ferry costs six
euros. Children travel on the ferry free of charge. Dogs may travel on the ferry on a lead. The ferry does not sail in
a storm. The ferry carries no cars. The island has one inn."""
CHANCES = st.lists(st.floats(0.01, 0.99), max_size=7)


def hit(text: str, kind: SourceKind) -> Hit:
    return Hit(Segment("d", 0, 0, len(text), text), 0.9, kind)


@given(CHANCES, st.integers(1, 7))
def test_the_best_set_is_the_best_of_all_sets(chances: list[float], most: int) -> None:
    def worth(chosen: tuple[int, ...]) -> float:
        return 2 * sum(chances[i] for i in chosen) / (len(chosen) + sum(chances))

    best = best_set(chances, most)
    assert len(set(best)) == len(best) <= most
    sets = [each for size in range(1, min(most, len(chances)) + 1) for each in combinations(range(len(chances)), size)]
    assert bool(best) == bool(sets)
    if sets:
        assert worth(tuple(best)) == pytest.approx(max(map(worth, sets)))


@pytest.mark.parametrize(("kind", "most"), [("page", MOST_PAGE_QUOTES), ("search", MOST_QUOTES)])
def test_a_page_is_quoted_at_greater_length_than_what_a_search_found(kind: SourceKind, most: int) -> None:
    source = hit(PAGE, kind)
    chosen = select_quotes(rank_by_part("What should I know about the ferry?", [source]), [source])
    assert 1 < len(chosen) <= most
    assert all(quote.text in PAGE and not quote.text.startswith("#") for quote in chosen)
    assert len({quote.text for quote in chosen}) == len(chosen)
    if kind == "page":
        assert len(chosen) > MOST_QUOTES


def test_what_answers_best_comes_first_on_a_page_too() -> None:
    source = hit(PAGE, "page")
    chosen = select_quotes(rank_by_part("How much does a ticket for the ferry cost?", [source]), [source])
    assert "six\neuros" in chosen[0].text


BEST = Segment("a", 0, 0, 22, "The ferry sails daily.", heading="Ferries")
OTHER_TEXT = "A boat sails too."


def quoted_beside(best: Segment, behind: float, **place: object) -> bool:
    """Tell whether a sentence is quoted whose score is so far behind the best one, in log odds."""
    other = replace(BEST, end=len(OTHER_TEXT), text=OTHER_TEXT, **place)
    reading = RankedSentences(tuple(candidate_sentences([best, other])), (0.0, -behind), 0.9)
    chosen = [quote.text for quote in select_quotes([reading], [Hit(best, 0.9, "search"), Hit(other, 0.9, "search")])]
    assert chosen[0] == best.text
    return chosen[1:] == [other.text]


@pytest.mark.parametrize(
    ("place", "behind", "is_quoted"),
    [
        ({"segment_index": 1}, 8.0, True),
        ({"segment_index": 1}, 9.0, False),
        ({"segment_index": 1, "heading": "Boats"}, 1.0, True),
        ({"segment_index": 1, "heading": "Boats"}, 1.3, False),
        ({"document_id": "b", "heading": "Boats"}, 3.0, True),
        ({"document_id": "b", "heading": "Boats"}, 4.0, False),
    ],
)
def test_how_far_behind_the_best_a_sentence_may_be_depends_on_where_it_stands(
    place: dict[str, object], behind: float, is_quoted: bool
) -> None:
    assert quoted_beside(BEST, behind, **place) == is_quoted


def test_a_heading_is_never_quoted() -> None:
    source = hit("# Opening hours\n\nWe are open all day.", "search")
    assert [quote.text for quote in select_quotes(rank_by_part("opening hours", [source]), [source])] == [
        "We are open all day."
    ]
