"""What a run that stops after some events has answered, as its message should list it."""

from collections.abc import Iterable

from answers.marks import decided, with_marks
from answers.standing import view_run
from graph.events import AnyEvent
from graph.evidence import Section, SectionClaim, section_of


def standing_sections(events: Iterable[AnyEvent]) -> list[Section]:
    """Return the sections as they stand where a run ends after the events."""
    views = [view for _, view in sorted(view_run(events).sections.items()) if view.standing_text]
    claims = [
        SectionClaim(**decided(claim), section_index=position)
        for position, view in enumerate(views)
        for claim in view.claims
        if claim["end"] <= len(view.standing_text)
    ]
    sections = [section_of(view.standing_text, view.cited_ids, grounded=view.grounded) for view in views]
    return with_marks(sections, claims)
