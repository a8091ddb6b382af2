"""Marks that count the sources of a list, for clients that have the list and nothing else."""

from collections.abc import Sequence

from api.dialects.markers import Mark
from graph.evidence import Source


def by_place(mark: Mark, sources: Sequence[Source]) -> Mark:
    """Give a mark that names a source by its 1-based place in the list, and writes nothing of one that is not there.

    The place is the source's index unless the list has lost one, as where its document was deleted meanwhile.
    """
    places = {source["index"]: place for place, source in enumerate(sources, start=1)}
    return lambda index: mark(places[index]) if index in places else ""
