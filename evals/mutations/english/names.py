"""Names in English, and what may be put in their place."""

import re

from evals.mutations.capitals import capital_names
from evals.mutations.english.wrong import DAYS, MONTHS
from evals.mutations.language import Name
from evals.mutations.swaps import words

_DEMONYM = re.compile(r"[A-Z][a-z]+(?:ish|ese|ians?|eans?|icans?)|French|Dutch|German|Greek|Swiss|Czech|Danish|Indian")
NO_NAMES = frozenset(
    words(
        f"{MONTHS} {DAYS} The A An In On At By For From With As It Its He She They His Her Their This That These Those "
        "When While If But And Or So Since After Before During Under Over Both Other Many Most Some All One Two Three "
        "I However Although Because Not No Also Such See There Here According Another Each Every Only Then Thus"
    )
)
_PLACE = re.compile(r"\b(?:in|at|near|across|throughout|outside|through)(?: the)? $")


def _sort(text: str, before: str, paragraph: str) -> str:
    if _DEMONYM.fullmatch(text):
        return "people" if text.endswith("s") and not text.endswith("ss") else "demonym"
    if text.isupper():
        return "acronym"
    place = _PLACE.search(before) is not None
    return ("place" if place else "name") + ("s" if text.endswith("s") and " " not in text else "")


def english_names(sentence: str, paragraph: str) -> list[Name]:
    """Find runs of capitalised words; one that opens the sentence only where it stands elsewhere in the paragraph."""
    return capital_names(sentence, paragraph, left_out=NO_NAMES, sort=_sort, connectors="of|de|von|van|der|du")
