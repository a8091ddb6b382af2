"""Grade candidates by their search score, without a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.evidence import Hit
from graph.ports import Grading, SourceRoom
from graph.reasons import Reason
from graph.usage import Meter

# Of the room for sources, this share goes to what a search found; the rest is left for what a repair finds.
SEARCH_SHARE = 0.75
NO_ROOM = Reason("no_room")


@dataclass(frozen=True, slots=True)
class ScoreGrader:
    """A RelevanceGrader by the calibrated search score, for a writer that reads all it is given.

    The search has dropped what scores too low; what is left is kept, best first, as far as the writer's room goes.
    """

    room: SourceRoom

    async def grade(self, question: str, candidates: Sequence[Hit], *, meter: Meter) -> Grading:
        """Keep selected pages, and the best other candidates that fit beside them; at least one candidate is kept.

        What several wordings found takes turns for the room, so that none fills it with hits of higher scores.
        """
        ranked = ranked_once(candidates)
        kept = [hit for hit in ranked if hit.kind == "page"]
        room = self.room.tokens(question)
        left = min(room * SEARCH_SHARE, room - sum(self.room.measure(hit.segment) for hit in kept))
        dropped: dict[str, str] = {}
        for hit in sorted(ranked[len(kept) :], key=lambda each: each.turn):
            left -= self.room.measure(hit.segment)
            if kept and left < 0:
                dropped[hit.segment_id] = NO_ROOM
            else:
                kept.append(hit)
        in_order = ((hit.segment_id, hit.score) for hit in ranked if hit.segment_id not in dropped)
        return Grading(tuple(in_order), tuple(dropped.items()))


def ranked_once(candidates: Sequence[Hit]) -> list[Hit]:
    """Return each segment once with its best score: selected pages in their order, then the others, best first."""
    ranked = sorted(candidates, key=lambda hit: (hit.kind != "page", 0.0 if hit.kind == "page" else -hit.score))
    first: dict[str, Hit] = {}
    for hit in ranked:
        first.setdefault(hit.segment_id, hit)
    return list(first.values())
