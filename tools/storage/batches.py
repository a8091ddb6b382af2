"""Divide what is read or written into batches of about one size."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def in_batches(
    items: Iterable[T], size: Callable[[T], int], most: int, *, most_items: int | None = None
) -> Iterator[list[T]]:
    """Yield the items in order, in batches of at most ``most`` in size; a larger item is a batch by itself."""
    batch: list[T] = []
    filled = 0
    for item in items:
        if batch and (filled + size(item) > most or len(batch) == most_items):
            yield batch
            batch, filled = [], 0
        batch.append(item)
        filled += size(item)
    if batch:
        yield batch
