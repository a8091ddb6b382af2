"""Change a fact of a source sentence: a number, a date, a name, or else whether it holds at all."""

from collections.abc import Iterable, Iterator, Sequence

from evals.mutations.chance import chance
from evals.mutations.language import Language, Name
from evals.mutations.languages import LANGUAGES
from evals.mutations.swaps import Edit, edits
from evals.probe.sameness import refutes
from tools.languages import language
from tools.sentences import sentences, trimmed

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
