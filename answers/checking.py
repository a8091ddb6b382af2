"""State of an answer while its claims are checked: sections, verdicts, and the events emitted for each."""

from collections.abc import Callable, Sequence

from answers.citations import build_claim
from answers.support import failed_sections, has_failed, raises_support, without_section
from graph.events import AnyEvent, SectionChecked, SectionRevised
from graph.evidence import Claim, Failure, Origin, Section, Segment, Verdict
from graph.ports import CheckedClaim, ClaimChecker, WrittenSection
from graph.state import ClaimRow, DisputeRow, ProofRow, RevisionRow, State
from graph.usage import Meter


class CheckedAnswer:
    """Sections and claims of a run, changed only by what a check has proven better."""

    def __init__(self, state: State, segments: Sequence[Segment], tell: Callable[[AnyEvent], None]) -> None:
        self._tell = tell
        self._index = {row["segment_id"]: row["index"] for row in state.sources}
        self.segments = {segment.segment_id: segment for segment in segments}
        self.sections = [Section(text=s["text"], source_ids=list(s["source_ids"])) for s in state.sections]
        self.claims = list(state.claims)
        self.disputes = list(state.disputes)

    async def check_sections(self, checker: ClaimChecker, meter: Meter) -> None:
        """Check every section; where none cites anything usable, by text matching against all sources.

        Where a model's part was left out, the first section's event says so.
        """
        origin: Origin = "cited" if any(section["source_ids"] for section in self.sections) else "matched"
        checked = await checker.check([self._written(section, origin) for section in self.sections], meter=meter)
        for index, claims in enumerate(checked.sections):
            if origin == "matched":
                matched = (proof.segment_id for each in claims for proof in each.proofs)
                self.sections[index]["source_ids"] = list(dict.fromkeys(matched))
            self._note(index, claims)
            fallback = checked.fallback if index == 0 else None
            self._tell(SectionChecked(section_index=index, claims=self.shown(index), fallback=fallback))

    async def take_revisions(
        self, revisions: Sequence[RevisionRow], checker: ClaimChecker, meter: Meter
    ) -> Failure | None:
        """Check the sections that were written again and take those that raise support; the others stay as they are.

        A section that was given up is withdrawn with those that failed, once no repair is left. Gives why a model's
        part of the check was left out, which no event of a section that stays as it is could say.
        """
        written = {
            row["section_index"]: Section(text=row["text"], source_ids=row["source_ids"])
            for row in revisions
            if row["text"]
        }
        checked = await checker.check([self._written(each, "cited") for each in written.values()], meter=meter)
        for (index, section), claims in zip(written.items(), checked.sections, strict=True):
            if raises_support(self.claims, index, self._rows(index, claims)):
                self._revise(index, section, claims)
        return checked.fallback

    def withdraw_failed(self) -> None:
        """Take back the sections of which nothing held."""
        for index in failed_sections(self.claims):
            if all(map(has_failed, self.of(index))):
                self._revise(index, Section(text="", source_ids=[]), ())

    def add(self, section: Section, proofs: Sequence[ProofRow], verdict: Verdict, reason: str) -> int:
        """Add a section that is one claim, and give its index."""
        index = len(self.sections)
        self.sections.append(section)
        self.claims.append(
            ClaimRow(
                section_index=index,
                start=0,
                end=len(section["text"]),
                verdict=verdict,
                reasons=[reason],
                proofs=list(proofs),
            )
        )
        return index

    def of(self, section_index: int) -> list[ClaimRow]:
        """List the claims of a section."""
        return [row for row in self.claims if row["section_index"] == section_index]

    def shown(self, section_index: int) -> list[Claim]:
        """Show the claims of a section with their citations."""
        return [build_claim(row, self.sections[section_index], self.segments) for row in self.of(section_index)]

    def _revise(self, index: int, section: Section, claims: Sequence[CheckedClaim]) -> None:
        self.sections[index] = section
        self._note(index, claims)
        self._tell(
            SectionRevised(
                section_index=index,
                text=section["text"],
                source_ids=section["source_ids"],
                claims=self.shown(index),
            )
        )

    def _written(self, section: Section, origin: Origin) -> WrittenSection:
        if origin == "matched":
            return WrittenSection(section["text"], tuple(self.segments.values()), origin=origin)
        cited = set(section["source_ids"])
        return WrittenSection(
            section["text"],
            tuple(self.segments[each] for each in section["source_ids"] if each in self.segments),
            tuple(segment for each, segment in self.segments.items() if each not in cited),
        )

    def _note(self, index: int, claims: Sequence[CheckedClaim]) -> None:
        """Put the claims of a section in the place of its old ones, in the order of sections."""
        rest = without_section(self.claims, index)
        self.claims = sorted([*rest, *self._rows(index, claims)], key=lambda row: (row["section_index"], row["start"]))
        self.disputes = [row for row in self.disputes if row["section_index"] != index]
        for each in claims:
            if each.proofs:
                own = self._proof(each.proofs[0].segment_id, each.proofs[0].start, each.proofs[0].end)
                self.disputes += [
                    DisputeRow(
                        section_index=index,
                        own=own,
                        other=self._proof(dispute.segment_id, dispute.start, dispute.end),
                        reason=dispute.reason,
                    )
                    for dispute in each.disputes
                ]

    def _rows(self, index: int, claims: Sequence[CheckedClaim]) -> list[ClaimRow]:
        return [
            ClaimRow(
                section_index=index,
                start=each.start,
                end=each.end,
                verdict=each.verdict,
                reasons=list(each.reasons),
                proofs=[self._proof(p.segment_id, p.start, p.end, p.origin) for p in each.proofs],
            )
            for each in claims
        ]

    def _proof(self, segment_id: str, start: int, end: int, origin: Origin = "cited") -> ProofRow:
        return ProofRow(
            source_index=self._index[segment_id], segment_id=segment_id, start=start, end=end, origin=origin
        )
