"""Whether two texts say the same: what one claims is held against the other by the checker that needs no model.

It knows notation and light wording apart from another number, name, date or polarity, in three languages. A claim
worded anew in full is not recognised, so a model that never words things twice alike seems to take back what it said:
the share of claims that are made again when nothing was changed tells how much that is.
"""

import re
import unicodedata
from collections.abc import Iterable

from graph.evidence import Segment, Verdict
from graph.ports import WrittenSection
from tools.claims.checker import check_section


def is_said(claim: str, texts: Iterable[str]) -> bool:
    """Tell whether one of the texts says what a claim says."""
    return any(_bare(claim) == _bare(text) or _verdicts(claim, text) == {"supported"} for text in texts)


def refutes(text: str, claim: str) -> bool:
    """Tell whether a text, all there is, conflicts with a claim or leaves it without support."""
    return bool(_verdicts(claim, text) & {"contradicted", "unsupported"})


def _verdicts(claim: str, text: str) -> set[Verdict]:
    segment = Segment(document_id="said", segment_index=0, start=0, end=len(text), text=text)
    return {checked.verdict for checked in check_section(WrittenSection(claim, (segment,)))}


def _bare(text: str) -> str:
    return re.sub(r"\W+", "", unicodedata.normalize("NFKC", text)).casefold()
