"""Sections that quote sources which contradict each other on a claim of the answer, the newest first."""

from collections.abc import Callable
from dataclasses import dataclass

import prompts
from answers.checking import CheckedAnswer
from answers.citations import build_citation
from answers.document_dates import document_date
from answers.drafting import emit_removed, filter_links
from answers.standing import disagreement_of
from graph.events import AnyEvent, SectionChecked, SectionFinished, SectionStarted, SourcesDisagree, TextDelta
from graph.evidence import Disagreement, Position, Proof, Section
from graph.reasons import Reason
from graph.rows import DisputeRow

MOST_DISAGREEMENTS = 2
MOST_POSITIONS = 3  # of one disagreement
BOTH_QUOTED = Reason("both_quoted")


@dataclass(frozen=True, slots=True)
class _Side:
    """One source of a disagreement, with the proof of its quote."""

    proof: Proof
    position: Position
    stored: str  # when its document was last stored

    @property
    def text(self) -> str:
        """What it says, to tell sources that say the same in the same words from others."""
        return _flat(self.position["quote"])

    @property
    def stored_at(self) -> tuple[str, str, str]:
        return self.stored, self.position["title"], self.position["segment_id"]


async def add_disagreements(
    answer: CheckedAnswer, language: str, emit: Callable[[AnyEvent], None]
) -> list[Disagreement]:
    """Add a section for what sources contradict each other in, two at most, each said once.

    Disputes that share a passage, or a copy of it, are one disagreement, whichever source the answer cites. What the
    answer has quoted of its passages is taken out of its other sections.
    """
    grouped = _grouped(answer)[:MOST_DISAGREEMENTS]
    quotes = [side.position["quote"] for _, sides in grouped for side in sides]
    for index in range(len(answer.sections)):
        if disputed := answer.disputed_claims(index):
            await answer.move_claims(index, [row for row in disputed if answer.is_quoted(row, quotes)])
    added: list[Disagreement] = []
    for row, sides in grouped:
        ids = list(dict.fromkeys(side.position["segment_id"] for side in sides))
        values = [side.position["value"] for side in sides]
        event = SourcesDisagree(
            segment_ids=ids,
            reason=row["reason"],
            code="another_value" if all(values) else "denied",
            parts=values if all(values) else [],
            positions=[side.position for side in sides],
        )
        emit(event)
        added.append(disagreement_of(event))
        # A title can be a link that neither passage contains.
        text, removed = filter_links(_sentence(sides, language), ids, answer.around)
        proofs = [side.proof for side in sides]
        index = answer.add(Section(text=text, source_ids=ids), proofs, "supported", BOTH_QUOTED)
        emit(SectionStarted(section_index=index))
        emit(TextDelta(section_index=index, delta=text))
        emit_removed(removed, index, emit)
        emit(SectionFinished(section_index=index, text=text, source_ids=ids))
        emit(SectionChecked(section_index=index, claims=answer.cited_claims(index)))
    return added


def _grouped(answer: CheckedAnswer) -> list[tuple[DisputeRow, list[_Side]]]:
    """Return each disagreement with its first dispute and its sides by their texts, the newest first."""
    groups: list[tuple[DisputeRow, dict[str, _Side]]] = []
    for row in answer.disputes:
        own_value, other_value = row.get("values") or ["", ""]
        own, other = _side(answer, row["own"], own_value), _side(answer, row["other"], other_value)
        if own is None or other is None or own.text == other.text:
            continue
        pair = {own.text: own, other.text: other}
        known = next((sides for _, sides in groups if not sides.keys().isdisjoint(pair)), None)
        if known is None:
            groups.append((row, pair))
        else:
            for text, side in pair.items():
                if text in known or len(known) < MOST_POSITIONS:
                    known[text] = max(known.get(text, side), side, key=lambda each: each.stored_at)
    return [(row, _newest_first(list(sides.values()))) for row, sides in groups]


def _newest_first(sides: list[_Side]) -> list[_Side]:
    """Order sides by the dates of their documents where all have one, else by when they were stored."""
    if all(side.position["dated_by"] == "document" for side in sides):
        return sorted(sides, key=lambda side: (side.position["date"], *side.stored_at), reverse=True)
    return sorted(sides, key=lambda side: side.stored_at, reverse=True)


def _side(answer: CheckedAnswer, proof: Proof, value: str) -> _Side | None:
    segment = answer.around.get(proof["segment_id"])
    found = build_citation(proof, segment, source_index=0, section_index=0, verdict="supported")
    if found is None or segment is None:
        return None
    day, dated_by = document_date(segment)
    position = Position(
        segment_id=segment.segment_id,
        document_id=segment.document_id,
        title=segment.title,
        start=proof["start"],
        end=proof["end"],
        quote=found["quote"],
        value=value.strip('"“”'),
        date=day,
        dated_by=dated_by,
    )
    return _Side(proof, position, segment.updated_at)


def _sentence(sides: list[_Side], language: str) -> str:
    """Return what is said of a disagreement; dates that are all one tell nothing."""
    wording = prompts.lines(language)
    days = {side.position["date"] for side in sides}
    known = all(side.position["dated_by"] == "document" for side in sides) and len(days) > 1
    dated = len(days) > 1
    quoted: list[str] = []
    for side in sides:
        template = wording.quoted
        if dated and side.position["date"]:
            template = wording.quoted_dated if side.position["dated_by"] == "document" else wording.quoted_stored
        quote, title = _flat(side.position["quote"]), side.position["title"]
        quoted.append(template.format(quote=quote, title=title, date=side.position["date"]))
    between = "、" if language in prompts.UNSPACED else ", "
    template = wording.disagree_dated if known else wording.disagree
    return template.format(one=quoted[0], other=between.join(quoted[1:]))


def _flat(text: str) -> str:
    return " ".join(text.split())
