"""Check an answer by code: split sections into claims, find copies and evidence in the cited text, and say why."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from operator import is_

from graph.evidence import Origin, Proof, Segment
from graph.ports import CheckedClaim, CheckResult, WrittenSection
from graph.usage import Meter
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

    async def check(self, sections: Sequence[WrittenSection], *, meter: Meter) -> CheckResult:
        """Check each claim of each section against the segments it cites; much text is checked in a thread."""
        work = [(each, self._sources(each.segments), self._sources(each.others)) for each in sections]
        unread = {text.text for _, *pair in work for sources in pair for text in sources.texts if not text.is_read}
        size = sum(map(len, unread)) + sum(len(section.text) - section.start for section in sections)
        if size <= SMALL:
            return CheckResult(_checked_all(work))
        return CheckResult(await asyncio.get_running_loop().run_in_executor(_WORKERS, _checked_all, work))

    def _sources(self, segments: Sequence[Segment]) -> Sources:
        """Return the segments indexed; sections of one run, and sentences of one section, cite the same ones."""
        kept = tuple(segments)
        for each in reversed(tuple(self._recent)):
            if len(each.segments) == len(kept) and all(map(is_, each.segments, kept)):
                return each
        sources = Sources(kept)
        self._recent.append(sources)
        return sources


Work = tuple[WrittenSection, Sources, Sources]


def _checked_all(work: Sequence[Work]) -> tuple[tuple[CheckedClaim, ...], ...]:
    return tuple(tuple(_checked(*each)) for each in work)


def check_section(section: WrittenSection) -> tuple[CheckedClaim, ...]:
    """Split a section into claims and decide on each, in order."""
    return tuple(_checked(section, Sources(section.segments), Sources(section.others)))


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
