"""Change a fact of a source sentence: a number, a date, a name, or else its polarity.

Texts are compared by the claim checker that needs no model.

It knows notation and light wording apart from another number, name, date or polarity, in three languages. A claim
worded anew in full is not recognised, so a model that never words things twice alike seems to take back what it
said: the share of claims that are made again when nothing was changed shows how much that is.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from graph.evidence import Segment, Verdict
from graph.ports import WrittenSection
from research.mutations.claim_making import LANGUAGES
from research.mutations.swaps import Edit, Language, Name, chance, edits
from text.language import language
from text.sentences import sentences, trimmed
from tools.claims.code_checker import check_section


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


_BY_CODE = {each.code: each for each in LANGUAGES}
_FACTS = ("number", "date", "unit", "scale")
_WAYS = ("negation", "polarity", "quantifier")


def altered_fact(sentence: str, claim: str, elsewhere: Sequence[str]) -> str | None:
    """Give the sentence with one fact changed such that it no longer bears the claim.

    None where no rule does that, or where the sentence by itself does not bear the claim. Names are changed for others
    of their sort that stand in the texts ``elsewhere``. The same arguments always give the same sentence.
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
    """Split a text into its sentences, without the white space around them."""
    return [body for span in sentences(text) if (body := text[slice(*trimmed(text, *span))])]


def _changes(sentence: str, elsewhere: Sequence[str], known: Language) -> Iterator[Edit]:
    yield from _by_rule(sentence, known, _FACTS)
    yield from _renamed(sentence, elsewhere, known)
    yield from _by_rule(sentence, known, _WAYS)


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
