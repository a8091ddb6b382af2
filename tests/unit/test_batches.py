"""Items in batches of about one size."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tools.storage.batches import in_batches

SIZES = st.lists(st.integers(0, 12))


@given(SIZES, st.integers(1, 20), st.none() | st.integers(1, 5))
def test_batches_hold_all_items_in_order_and_no_more_than_fits(sizes: list[int], most: int, items: int | None) -> None:
    batches = list(in_batches(sizes, lambda size: size, most, most_items=items))

    assert [size for batch in batches for size in batch] == sizes
    assert all(len(batch) == 1 or sum(batch) <= most for batch in batches)
    assert items is None or all(len(batch) <= items for batch in batches)


@given(SIZES, st.integers(1, 20))
def test_a_batch_ends_only_where_the_next_item_does_not_fit(sizes: list[int], most: int) -> None:
    batches = list(in_batches(sizes, lambda size: size, most))

    assert all(batch for batch in batches)
    assert all(sum(batch) + following[0] > most for batch, following in pairwise(batches))
