"""The ids that a section cites: looked up among those offered, never guessed, the others counted."""

from collections.abc import Iterable, Mapping


def offers(segment_ids: Iterable[str]) -> dict[str, str]:
    """List the ways in which a model may write the ids offered to it, each with its id."""
    return {written: i for i in segment_ids for written in (i, f"SEG={i}", f"[SEG={i}]")}


class CitedIds:
    """Collects the ids that one section cites, none twice."""

    def __init__(self, offered: Mapping[str, str]) -> None:
        self.unknown = 0
        self._offered = offered
        self._ids: dict[str, None] = {}

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._ids)

    def cite(self, written: object) -> None:
        """Take what the model wrote in the place of an id."""
        segment_id = self._offered.get(written.strip()) if isinstance(written, str) else None
        if segment_id is None:
            self.unknown += 1
        else:
            self._ids.setdefault(segment_id)
