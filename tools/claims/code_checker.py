"""Check an answer by code: split sections into claims, find copies and evidence in the cited text, and say why."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from operator import is_

from graph.evidence import Origin, Proof, Segment
from graph.ports import CheckedClaim, WrittenSection
from tools.claims.cited_sources import Sources
from tools.claims.claim_verdicts import Finding, find
from tools.claims.quoted_code import code_of, find_code
from tools.claims.source_conflicts import find_disputes
from tools.claims.source_sentences import SentencePlace
from tools.claims.splitting import claims_of

SMALL = 2_000  # characters of new text that are checked at once, since a thread would take longer
_KEPT = 16  # sets of sources that are kept indexed
_WORKERS = ThreadPoolExecutor(max_workers=2, thread_name_prefix="check")


class CodeChecker:
    """ClaimChecker by code alone; it never asks a model."""

    def __init__(self) -> None:
        self._recent: deque[Sources] = deque(maxlen=_KEPT)

    def read_ahead(self, segments: Sequence[Segment]) -> None:
        """Read the sentences of segments in a thread, those that are not read yet; return at once."""
        sources = self._sources(segments)
        if not all(text.is_read for text in sources.texts):
            _WORKERS.submit(sources.has_sentence, "")  # a look for any sentence reads them all

    async def check(self, section: WrittenSection) -> tuple[CheckedClaim, ...]:
        """Check each claim of a section against the segments it cites; much text is checked in a thread."""
        sources, others = self._sources(section.segments), self._sources(section.others)
        unread = {text.text for each in (sources, others) for text in each.texts if not text.is_read}
        if sum(map(len, unread)) + len(section.text) - section.start <= SMALL:
            return check_section(section, sources, others)
        return await asyncio.get_running_loop().run_in_executor(_WORKERS, check_section, section, sources, others)

    def _sources(self, segments: Sequence[Segment]) -> Sources:
        """Return the segments indexed; sections of one run, and sentences of one section, cite the same ones."""
        kept = tuple(segments)
        for each in reversed(tuple(self._recent)):
            if len(each.segments) == len(kept) and all(map(is_, each.segments, kept)):
                return each
        sources = Sources(kept)
        self._recent.append(sources)
        return sources


def check_section(section: WrittenSection, sources: Sources, others: Sources) -> tuple[CheckedClaim, ...]:
    """Split a section into claims and decide on each, in order."""
    return tuple(_checked(section, sources, others))


def _checked(section: WrittenSection, sources: Sources, others: Sources) -> Iterator[CheckedClaim]:
    found: dict[str, CheckedClaim] = {}
    for start, lead, end in claims_of(section.text, sources, section.start, is_open=section.open):
        claim = section.text[start:end]
        if claim not in found:
            code = find_code(code_of(section.text, start, end), sources)
            finding = (
                Finding("supported", (), code)
                if code
                else find(claim, lead - start, sources, others, section.question, uncited=section.origin == "matched")
            )
            found[claim] = _claim(claim, finding, section, sources, others)
        yield replace(found[claim], start=start, end=end)


def _claim(claim: str, found: Finding, section: WrittenSection, sources: Sources, others: Sources) -> CheckedClaim:
    own = [_proof(sources, place, section.origin) for place in found.places]
    elsewhere = [_proof(others, place, "matched") for place in found.elsewhere]
    return CheckedClaim(
        start=0,
        end=len(claim),
        text=claim,
        verdict=found.verdict,
        reasons=found.reasons,
        proofs=(*own, *elsewhere),
        disputes=() if found.doubted else find_disputes(claim, found, sources, others),
        doubted=found.doubted,
    )


def _proof(sources: Sources, place: SentencePlace, origin: Origin) -> Proof:
    at, start, end = place
    segment = sources.segments[at]
    return Proof(segment_id=segment.segment_id, start=segment.start + start, end=segment.start + end, origin=origin)
