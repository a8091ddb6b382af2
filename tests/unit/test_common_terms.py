"""Boxes of common terms: each names segments that hold its terms, the most promising first, within bounds."""

from hypothesis import given
from hypothesis import strategies as st

from text.terms import IMPACT_LEVELS, impact_keys
from tools.retrieval.common_terms import MOST_BOXES, MOST_COMBINED, MOST_ENTRIES, CommonTerm, budget_for, combine

SEGMENTS = 1_000_000
COUNTS = st.lists(st.integers(0, 100_000), min_size=IMPACT_LEVELS + 1, max_size=IMPACT_LEVELS + 1)
TERMS = st.lists(st.tuples(st.floats(0.1, 20), COUNTS), max_size=6)


@given(TERMS)
def test_boxes_are_few_read_little_of_the_index_and_ask_for_keys_of_their_terms(
    drawn: list[tuple[float, list[int]]],
) -> None:
    terms = [CommonTerm(number + 1, weight, tuple(counts)) for number, (weight, counts) in enumerate(drawn)]
    boxes = combine(terms, SEGMENTS, 2500)
    known = {
        key: held
        for each in terms
        for key, held in ((each.term, each.segments), *zip(impact_keys(each.term), each.levels[1:], strict=True))
    }
    entries = [min(sum(known[key] for key in constraint) for constraint in box) for box in boxes]
    assert sum(entries) <= max(MOST_ENTRIES, sum(entries[:1]))
    assert bool(boxes) == bool(terms)
    assert len(boxes) <= MOST_BOXES
    for box in boxes:
        assert 1 <= len(box) <= MOST_COMBINED
        assert all(constraint and known.keys() >= set(constraint) for constraint in box)


def test_the_first_box_is_of_the_highest_levels_of_all_terms() -> None:
    terms = [CommonTerm(number, 2.0, (100_000, *[10_000 >> level for level in range(8)])) for number in (1, 2)]
    first, *others = combine(terms, SEGMENTS, 2500)
    assert all(impact_keys(term)[-1] in constraint for term, constraint in zip((1, 2), first, strict=True))
    assert others


def test_a_small_library_gets_a_share_of_the_budget_in_proportion_to_its_size() -> None:
    sizes = {2_501: 1_000, 25_000: 1_000, 30_000: 1_200, 62_500: 2_500, 3_000_000: 2_500}
    assert {segments: budget_for(segments, 2_500) for segments in sizes} == sizes
