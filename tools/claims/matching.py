"""Propose proof for claims that cite nothing usable: source sentences that share their words in order."""

from tools.claims.alignment import common_in_order
from tools.claims.readings import Reading, read
from tools.claims.runs import is_content
from tools.claims.sources import Sources
from tools.claims.verdicts import UNSAID, Judgement

THRESHOLD = 0.6  # share of a claim's content that must stand in the sentence, in order; it never falls
FEWEST = 3  # content tokens that must match: fewer may meet by chance


def matched(claim: str, judgement: Judgement, sources: Sources) -> Judgement:
    """Keep the verdict on a claim only where its sentences match it; else it has no proof and is unsupported."""
    if not judgement.places or judgement.verdict == "unsupported":
        return Judgement("unsupported", judgement.reasons or (UNSAID,))
    content = _content(read(claim))
    quoted = [
        key for at, start, end in judgement.places for key in _content(read(sources.segments[at].text[start:end]))
    ]
    shared = common_in_order(content, quoted)
    if shared < min(FEWEST, max(1, len(content))) or shared < THRESHOLD * len(content):
        return Judgement("unsupported", (UNSAID,))
    return judgement


def _content(reading: Reading) -> list[str]:
    return [token.key for token in reading.tokens if is_content(token)]
