"""Check an answer by code: split sections into claims, find proofs in the cited text, decide verdicts with reasons."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from operator import is_

from graph.evidence import Origin, Proof, Segment
from graph.ports import CheckedClaim, CheckResult, Dispute, WrittenSection
from graph.usage import Meter
from text.sentences import sentences, trimmed
from text.shapes import is_question
from tools.claims.alignment import common_in_order, is_content
from tools.claims.cited_sources import Sources
from tools.claims.claim_verdicts import UNSAID, ClaimJudgement, judge_claim, judge_quoted
from tools.claims.lexical_support import Coverage, chosen_sentences, measure_coverage
from tools.claims.quoted_code import code_of, find_code
from tools.claims.sentence_parsing import ParsedSentence, parse_sentence
from tools.claims.source_conflicts import find_disputes
from tools.claims.source_sentences import terms_of
from tools.claims.splitting import claims_of
from tools.claims.verbatim import SentencePlace
from tools.rules.candidate_sentences import CandidateSentence

POOL = 64  # sentences from which the evidence of a claim is chosen
MATCH_THRESHOLD = 0.6  # share of a claim's content that must stand in the sentence, in order; it never falls
FEWEST_MATCHED = 3  # content tokens that must match: fewer may meet by chance


def refuse_unmatched(claim: str, judgement: ClaimJudgement, sources: Sources) -> ClaimJudgement:
    """Keep the verdict on a claim that its sentences match; any other is unsupported, without a proof."""
    if not judgement.places or judgement.verdict == "unsupported":
        return ClaimJudgement("unsupported", judgement.reasons or (UNSAID,))
    content = _content(parse_sentence(claim))
    quoted = [
        key
        for at, start, end in judgement.places
        for key in _content(parse_sentence((judgement.sources or sources).segments[at].text[start:end]))
    ]
    shared = common_in_order(content, quoted)
    if shared < min(FEWEST_MATCHED, max(1, len(content))) or shared < MATCH_THRESHOLD * len(content):
        return ClaimJudgement("unsupported", (UNSAID,))
    return judgement


def _content(reading: ParsedSentence) -> list[str]:
    return [token.key for token in reading.tokens if is_content(token)]


SMALL = 2_000  # characters of new text that are checked at once, since a thread would take longer
_LONGEST_ASKED = 600  # characters
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
    found: dict[tuple[str, str], CheckedClaim] = {}
    for start, end in claims_of(section.text, sources, section.start, is_open=section.open):
        claim = section.text[start:end]
        asked = _asked_before(section.text[max(0, start - _LONGEST_ASKED) : start])
        if (claim, asked) not in found:
            quoted = find_code(code_of(section.text, start, end), sources)
            judgement = judge_quoted(quoted, sources) if quoted else None
            found[claim, asked] = _check(claim, asked, section, sources, others, judgement)
        yield replace(found[claim, asked], start=start, end=end)


def _asked_before(text: str) -> str:
    """Return the question that a text ends in, which is answered by what follows; "" where it ends otherwise."""
    return text[slice(*trimmed(text, *sentences(text)[-1]))] if is_question(text) else ""


def _check(
    claim: str, asked: str, section: WrittenSection, sources: Sources, others: Sources, quoted: ClaimJudgement | None
) -> CheckedClaim:
    judgement = quoted or judge_claim(claim, sources, others, section.question, asked)
    if section.origin == "matched" and quoted is None:
        judgement = refuse_unmatched(claim, judgement, sources)
    places = judgement.places
    if judgement.verdict == "unverified" and judgement.sources is sources and judgement.near < 1.0:
        places = _places_of_evidence(judgement, measure_coverage(claim, sources.segments, _pool(claim, sources)))
    origin: Origin = section.origin if judgement.sources in (None, sources) else "matched"
    segments = (judgement.sources or sources).segments
    proofs = tuple(_proof(segments, place, origin) for place in places)
    disputes: tuple[Dispute, ...] = ()
    if judgement.verdict in ("supported", "unverified") and places:
        quotes = [segments[at].text[first:last] for at, first, last in judgement.places]
        rivals = (others,) if segments is sources.segments else (sources, others)
        proving = [segments[at] for at, _, _ in judgement.places]
        disputes = tuple(
            each for rival in rivals for each in find_disputes(claim, quotes, proving, rival, section.question)
        )
    support = judgement.near if judgement.verdict in ("supported", "unverified") else 0.0
    doubted = judgement.verdict == "unsupported"
    verdict = "unverified" if doubted else judgement.verdict
    return CheckedClaim(
        0, len(claim), claim, verdict, judgement.reasons, proofs, support, disputes, judgement.near_verbatim, doubted
    )


def _pool(claim: str, sources: Sources) -> Sequence[CandidateSentence]:
    """Return the sentences from which a claim's evidence is chosen: all of a short text, the closest of a long one."""
    if len(sources.candidates) <= POOL:
        return tuple(sources.candidates.values())
    closest = sources.closest(terms_of(parse_sentence(claim)), POOL)
    places = sorted((at, sentence.start) for _, at, sentence in closest)
    return [sources.candidates[place] for place in places if place in sources.candidates]


def _places_of_evidence(judgement: ClaimJudgement, found: Coverage) -> tuple[SentencePlace, ...]:
    """Add to the closest sentence those that hold what it lacks of the claim."""
    sentences = [found.sentences[index] for index, _ in chosen_sentences(found)]
    chosen = [(one.segment, one.start, one.end) for one in sentences]
    return tuple(dict.fromkeys((*judgement.places, *chosen)))


def _proof(segments: Sequence[Segment], place: SentencePlace, origin: Origin) -> Proof:
    at, start, end = place
    segment = segments[at]
    return Proof(segment_id=segment.segment_id, start=segment.start + start, end=segment.start + end, origin=origin)
