"""Verdicts of an answer: its sections during a check, how far its claims are supported, and which sections failed."""

from collections.abc import Callable, Iterable, Sequence

from answers.citations import build_claim
from graph.events import AnyEvent, SectionChecked, SectionRevised
from graph.evidence import Claim, Failure, Origin, Proof, Section, Segment, Verdict
from graph.ports import CheckedClaim, ClaimChecker, WrittenSection
from graph.state import ClaimRow, DisputeRow, RevisionRow, State
from graph.usage import Meter
from text.normal_forms import flatten
from text.words import question_terms, terms_of

# The source contains an unverified claim's words and does not conflict with it: half proven.
WEIGHTS: dict[Verdict, float] = {"supported": 1.0, "unverified": 0.5, "contradicted": 0.0, "unsupported": 0.0}
FAILED: frozenset[Verdict] = frozenset({"contradicted", "unsupported"})


def support_score(claims: Sequence[ClaimRow]) -> float:
    """Return the mean weight of the verdicts, in [0, 1]; 0 without claims."""
    return sum(WEIGHTS[row["verdict"]] for row in claims) / len(claims) if claims else 0.0


def count_verdicts(claims: Iterable[ClaimRow]) -> dict[Verdict, int]:
    """Count the claims of each verdict, with an entry for all four verdicts."""
    counted: dict[Verdict, int] = dict.fromkeys(WEIGHTS, 0)
    for row in claims:
        counted[row["verdict"]] += 1
    return counted


def has_failed(row: ClaimRow) -> bool:
    """Whether a claim needs repair; an unverified one does not, and keeps its verdict."""
    return row["verdict"] in FAILED


def failed_sections(claims: Iterable[ClaimRow]) -> list[int]:
    """Return the indices of the sections with a failed claim, in order."""
    return sorted({row["section_index"] for row in claims if has_failed(row)})


def without_section(claims: Sequence[ClaimRow], section_index: int) -> list[ClaimRow]:
    """Return the claims of all sections but one."""
    return [row for row in claims if row["section_index"] != section_index]


def raises_support(claims: Sequence[ClaimRow], section_index: int, revised: Sequence[ClaimRow]) -> bool:
    """Whether a revised section should replace the old one.

    It should if fewer of its claims fail, no fewer are supported, its own support rises and the whole answer's support
    does not fall.
    """
    old = [row for row in claims if row["section_index"] == section_index]
    before, after = count_verdicts(old), count_verdicts(revised)
    rest = without_section(claims, section_index)
    return (
        sum(map(has_failed, revised)) < sum(map(has_failed, old))
        and after["supported"] >= before["supported"]
        and support_score(revised) > support_score(old)
        and support_score([*rest, *revised]) >= support_score(claims)
    )


def question_coverage(question: str, texts: Sequence[str]) -> float:
    """Return the share of a question's content words that the texts together contain, in [0, 1].

    Words are compared by stems, scripts without spaces by pairs of characters; 1 where the question has no content
    word.
    """
    wanted = set(question_terms(question).terms)
    found = {term for text in texts for term in terms_of(flatten(text))}
    return len(wanted & found) / len(wanted) if wanted else 1.0


class CheckedAnswer:
    """The sections and claims of a run; a revision replaces a section only if its check raises support."""

    def __init__(self, state: State, segments: Sequence[Segment], emit: Callable[[AnyEvent], None]) -> None:
        self._emit = emit
        self.indices = {row["segment_id"]: row["index"] for row in state.sources}
        self.segments = {segment.segment_id: segment for segment in segments}
        self.sections = [Section(text=s["text"], source_ids=list(s["source_ids"])) for s in state.sections]
        self.claims = list(state.claims)
        self.disputes = list(state.disputes)

    async def check_sections(self, checker: ClaimChecker, meter: Meter) -> None:
        """Check every section; if none cites a usable source, match its text against all sources.

        If a model's part was skipped, the first section's event reports it.
        """
        origin: Origin = "cited" if any(section["source_ids"] for section in self.sections) else "matched"
        checked = await checker.check([self._to_check(section, origin) for section in self.sections], meter=meter)
        for index, claims in enumerate(checked.sections):
            if origin == "matched":
                matched = (proof["segment_id"] for each in claims for proof in each.proofs)
                self.sections[index]["source_ids"] = list(dict.fromkeys(matched))
            self._replace_claims(index, claims)
            fallback = checked.fallback if index == 0 else None
            self._emit(SectionChecked(section_index=index, claims=self.cited_claims(index), fallback=fallback))

    async def apply_revisions(
        self, revisions: Sequence[RevisionRow], checker: ClaimChecker, meter: Meter
    ) -> Failure | None:
        """Check the revised sections and accept those that raise support; the others stay unchanged.

        Sections whose revision is empty are withdrawn with the failed ones, once no repair is left. Returns why a
        model's part of the check was skipped, since an unchanged section has no event to report it.
        """
        written = {
            row["section_index"]: Section(text=row["text"], source_ids=row["source_ids"])
            for row in revisions
            if row["text"]
        }
        checked = await checker.check([self._to_check(each, "cited") for each in written.values()], meter=meter)
        for (index, section), claims in zip(written.items(), checked.sections, strict=True):
            if raises_support(self.claims, index, self._rows(index, claims)):
                self._revise(index, section, claims)
        return checked.fallback

    def withdraw_failed(self) -> None:
        """Withdraw the sections whose claims all failed."""
        for index in failed_sections(self.claims):
            if all(map(has_failed, self.claims_of(index))):
                self._revise(index, Section(text="", source_ids=[]), ())

    def add(self, section: Section, proofs: Sequence[Proof], verdict: Verdict, reason: str) -> int:
        """Add a section that is a single claim, and return its index."""
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

    def claims_of(self, section_index: int) -> list[ClaimRow]:
        """Return the claims of a section."""
        return [row for row in self.claims if row["section_index"] == section_index]

    def cited_claims(self, section_index: int) -> list[Claim]:
        """Return the claims of a section with their citations, as clients see them."""
        return [
            build_claim(row, self.sections[section_index], self.segments, self.indices)
            for row in self.claims_of(section_index)
        ]

    def _revise(self, index: int, section: Section, claims: Sequence[CheckedClaim]) -> None:
        self.sections[index] = section
        self._replace_claims(index, claims)
        self._emit(
            SectionRevised(
                section_index=index,
                text=section["text"],
                source_ids=section["source_ids"],
                claims=self.cited_claims(index),
            )
        )

    def _to_check(self, section: Section, origin: Origin) -> WrittenSection:
        if origin == "matched":
            return WrittenSection(section["text"], tuple(self.segments.values()), origin=origin)
        cited = set(section["source_ids"])
        return WrittenSection(
            section["text"],
            tuple(self.segments[each] for each in section["source_ids"] if each in self.segments),
            tuple(segment for each, segment in self.segments.items() if each not in cited),
        )

    def _replace_claims(self, index: int, claims: Sequence[CheckedClaim]) -> None:
        """Replace the claims and disputes of a section; claims stay ordered by section and start."""
        rest = without_section(self.claims, index)
        self.claims = sorted([*rest, *self._rows(index, claims)], key=lambda row: (row["section_index"], row["start"]))
        self.disputes = [row for row in self.disputes if row["section_index"] != index]
        for each in claims:
            if each.proofs:
                own = Proof(**{**each.proofs[0], "origin": "cited"})
                self.disputes += [
                    DisputeRow(section_index=index, own=own, other=dispute.other, reason=dispute.reason)
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
                proofs=list(each.proofs),
            )
            for each in claims
        ]
