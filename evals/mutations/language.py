"""What the maker of claims must know of a language."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evals.mutations.swaps import Swap


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a sentence and its sort: only another of its sort ever takes its place."""

    start: int
    end: int
    text: str
    sort: str


@dataclass(frozen=True, slots=True)
class Language:
    """Tables of one language.

    ``mutations`` make a sentence false and ``paraphrases`` leave it true, each by kind. ``frames`` are put before a
    sentence. ``names`` finds names in a sentence, given its paragraph. ``joined`` matches what may stand between two
    names of equal rank, which cannot be swapped to make a false claim; a relation that holds both ways is told by
    ``equal`` and one with a direction by ``directed``. ``tidy`` mends spacing before anything is
    done, ``shortest`` is the fewest words (characters where a script has no spaces) of a sentence that is used.
    """

    code: str
    mutations: Mapping[str, tuple[Swap, ...]]
    paraphrases: Mapping[str, tuple[Swap, ...]]
    frames: tuple[str, ...]
    names: Callable[[str, str], list[Name]]
    joined: re.Pattern[str]
    directed: re.Pattern[str]
    equal: re.Pattern[str]
    shortest: int
    tidy: Callable[[str], str]
    lowers_after_frame: Callable[[str], bool]
    spaced: bool = True
