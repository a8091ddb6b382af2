"""Counterfactual probe: whether a claim changes when the text it cites is removed or altered to contradict it.

After the idea of counterfactual faithfulness: what an answer is based on must make a difference to it. Only the model's
words as first written are judged; what Citewell's check let through is reported separately.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from typing_extensions import TypedDict

from evals.cases import Case
from graph.evidence import Segment, Verdict
from graph.ports import WrittenSection
from research.mutations.claim_making import LANGUAGES
from research.mutations.swaps import Edit, Language, Name, chance, edits
from research.probe.intervention import Asker, Intervention, RepliedClaim, Reply
from text.language import language
from text.sentences import sentences, trimmed
from tools.claims.code_checker import check_section


def is_stated(claim: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts states a claim."""
    return any(_bare(claim) == _bare(text) or _verdicts(claim, text) == {"supported"} for text in texts)


def refutes(text: str, claim: str) -> bool:
    """Whether a text, as the only source, contradicts a claim or does not support it."""
    return bool(_verdicts(claim, text) & {"contradicted", "unsupported"})


def _verdicts(claim: str, text: str) -> set[Verdict]:
    segment = Segment(document_id="text", segment_index=0, start=0, end=len(text), text=text)
    return {checked.verdict for checked in check_section(WrittenSection(claim, (segment,)))}


def _bare(text: str) -> str:
    return re.sub(r"\W+", "", unicodedata.normalize("NFKC", text)).casefold()


_BY_CODE = {each.code: each for each in LANGUAGES}
_FACTS = ("number", "date", "unit", "scale")
_LOGIC = ("negation", "polarity", "quantifier")


def altered_fact(sentence: str, claim: str, elsewhere: Sequence[str]) -> str | None:
    """Return the sentence with one fact changed such that it no longer supports the claim.

    None where no rule achieves that, or where the sentence alone does not support the claim. Names are replaced by
    others of their sort from the texts ``elsewhere``. The same arguments always return the same sentence.
    """
    known = _BY_CODE.get(language(sentence))
    if known is None or refutes(sentence, claim):
        return None
    for edit in _changes(sentence, elsewhere, known):
        altered = edit.applied(sentence)
        if refutes(altered, claim):
            return altered
    return None


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, without white space around them."""
    return [body for span in sentences(text) if (body := text[slice(*trimmed(text, *span))])]


def _changes(sentence: str, elsewhere: Sequence[str], known: Language) -> Iterator[Edit]:
    yield from _by_rule(sentence, known, _FACTS)
    yield from _renamed(sentence, elsewhere, known)
    yield from _by_rule(sentence, known, _LOGIC)


def _by_rule(sentence: str, known: Language, kinds: Iterable[str]) -> Iterator[Edit]:
    for kind in kinds:
        yield from edits(sentence, known.mutations.get(kind, ()), chance(sentence, kind))


def _renamed(sentence: str, elsewhere: Sequence[str], known: Language) -> Iterator[Edit]:
    names = known.names(sentence, sentence)
    others: dict[str, Name] = {}
    if names:
        for text in elsewhere:
            for other in sentences_of(text):
                others.update({name.text: name for name in known.names(other, text)})
    for name in names:
        for other_name in others.values():
            if other_name.sort == name.sort and other_name.text not in sentence:
                yield Edit(name.start, name.end, other_name.text)


Change = Literal["removed", "altered"]
Effect = Literal["unchanged", "changed", "moved", "gone", "abstained"]
MOST_MOVES = 4
_STRENGTH: dict[Verdict, int] = {"supported": 2, "unverified": 1}


class Finding(TypedDict):
    """The effect of changing the text of one citation. ``segment_id`` is what the model cited for ``claim``.

    ``quote`` is its text that proves the claim, "" where none does; ``told`` is the altered sentence, "" where the text
    was removed. ``effect``: ``gone``, the claim is not made again; ``changed``, the answer states the altered text
    instead; ``moved``, the claim is made again and proven as well by other segments, but not once those are removed
    too; ``abstained``, nothing is written at all; ``unchanged``, the claim remains: the citation was decoration. For an
    unchanged claim, ``verdict`` is that of the check, and ``shown`` is whether the finished answer still makes it.
    """

    case_id: str
    change: Change
    claim: str
    segment_id: str
    quote: str
    told: str
    effect: Effect
    verdict: Verdict | None
    shown: bool


@dataclass(frozen=True, slots=True)
class Citation:
    """A segment that the model cited, with the claims it is cited for: one that it proves, or all of its section."""

    segment_id: str
    claims: tuple[RepliedClaim, ...]

    @property
    def quotes(self) -> tuple[str, ...]:
        """The segment's texts that prove the claim; none where it proves nothing of its section."""
        if len(self.claims) != 1 or not _proves(self.segment_id, self.claims[0]):
            return ()
        return tuple(quote.text for quote in self.claims[0].quotes if quote.segment_id == self.segment_id)


def citations_of(reply: Reply) -> Iterator[Citation]:
    """Yield the citations claim by claim; a segment that proves no claim of its section is cited for all of them."""
    for place, ids in enumerate(reply.cited):
        claims = tuple(claim for claim in reply.claims if claim.section == place)
        for segment_id in ids if claims else ():
            proven = [claim for claim in claims if _proves(segment_id, claim)]
            yield from [Citation(segment_id, (claim,)) for claim in proven] or [Citation(segment_id, claims)]


def _proves(segment_id: str, claim: RepliedClaim) -> bool:
    return claim.verdict in _STRENGTH and any(quote.segment_id == segment_id for quote in claim.quotes)


class CounterfactualProbe:
    """A probe of the citations of one reply to a case, which asks only once under each change."""

    def __init__(self, asker: Asker, case: Case, reply: Reply, segments: dict[str, Segment]) -> None:
        self._asker = asker
        self._case = case
        self._reply = reply
        self._segments = segments
        self._replies: dict[tuple[frozenset[str], tuple[tuple[str, str], ...]], Reply] = {}

    async def findings(self) -> list[Finding]:
        """Return the effects of removing, then altering, each cited text; changes that fail the run are left out."""
        found: list[Finding | None] = []
        for citation in citations_of(self._reply):
            found.append(await self._removed(citation))
            found.append(await self._altered(citation))
        return [finding for finding in found if finding is not None]

    async def _removed(self, citation: Citation) -> Finding | None:
        return await self._changed("removed", citation, Intervention(withheld=frozenset({citation.segment_id})), "")

    async def _altered(self, citation: Citation) -> Finding | None:
        segment = self._segments.get(citation.segment_id)
        if segment is None:
            return None
        elsewhere = [other.text for other in self._segments.values() if other is not segment]
        for sentence in (each for quote in citation.quotes for each in sentences_of(quote)):
            altered = altered_fact(sentence, citation.claims[0].text, elsewhere)
            if altered is not None and sentence in segment.text:
                texts = {segment.segment_id: segment.text.replace(sentence, altered)}
                return await self._changed("altered", citation, Intervention(altered=texts), altered)
        return None

    async def _changed(
        self, change: Change, citation: Citation, intervention: Intervention, altered: str
    ) -> Finding | None:
        """Ask again; if a claim has moved to other segments, remove those too, to see whether it depends on them."""
        moves = 0
        while True:
            reply = await self._ask(intervention)
            if reply.failure:
                return None
            effect = _effect(citation, reply, altered)
            if effect != "moved" or moves == MOST_MOVES:
                break
            intervention = replace(intervention, withheld=intervention.withheld | _backing(citation, reply))
            moves += 1
        # A claim that remains after repeated removal of everything that proves it depends on none of it.
        unchanged = effect in ("unchanged", "moved")
        claim = citation.claims[0]
        return Finding(
            case_id=self._case.case_id,
            change=change,
            claim=claim.text,
            segment_id=citation.segment_id,
            quote=" ".join(citation.quotes),
            told=altered,
            effect="unchanged" if unchanged else "moved" if moves else effect,
            verdict=_again(claim, reply)[0].verdict if unchanged else None,
            shown=unchanged and is_stated(claim.text, [shown.text for shown in reply.shown]),
        )

    async def _ask(self, intervention: Intervention) -> Reply:
        key = (intervention.withheld, tuple(intervention.altered.items()))
        if key not in self._replies:
            self._replies[key] = await self._asker.ask(self._case, intervention)
        return self._replies[key]


def _again(claim: RepliedClaim, reply: Reply) -> list[RepliedClaim]:
    return [each for each in reply.claims if is_stated(claim.text, [each.text])]


def _effect(citation: Citation, reply: Reply, altered: str) -> Effect:
    if not reply.claims:
        return "abstained"
    if not all(_again(claim, reply) for claim in citation.claims):
        return "changed" if altered and is_stated(altered, [each.text for each in reply.claims]) else "gone"
    return "moved" if _backing(citation, reply) else "unchanged"


def _backing(citation: Citation, reply: Reply) -> frozenset[str]:
    """Return the segments that prove the repeated claim as well as the cited one did, if that proved it."""
    if not citation.quotes:
        return frozenset()
    claim = citation.claims[0]
    return frozenset(
        quote.segment_id
        for repeated in _again(claim, reply)
        if _STRENGTH.get(repeated.verdict, 0) >= _STRENGTH[claim.verdict]
        for quote in repeated.quotes
    )
