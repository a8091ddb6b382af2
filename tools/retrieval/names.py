"""The names in a text that may be titles of documents.

Which of them are titles the database tells. A title counts as named only where it stands as it is written, so that
ordinary words name nothing: "Security" in the middle of a sentence does, "security" or the first word of a sentence
does not. What a title has in brackets at its end, as in "Mercury (planet)", is left out, as it is in running text.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from tools.terms import UNSPACED

MOST_WORDS = 7
SHORT = 3  # words; a longer name ends in a word with a capital or a figure
MOST_NAMES = 400  # of one text, so that no text makes the look-up slow
BEGINNING = 3  # characters of a script without spaces, the shortest title there that counts without quotation marks

_EDGES = ".,;:!?\"'()[]{}<>«»“”‘’*_`–—-"
_QUOTED = re.compile(r"[《〈「『【“\"]([^《》〈〉「」『』【】“”\"\n]{2,100})[》〉」』】”\"]")
_QUALIFIER = re.compile(r"\s*\([^()]*\)$")
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]{{{BEGINNING},}}")
_STARTS_UNSPACED = re.compile(f"[{UNSPACED}]")
_LONGEST_ABBREVIATION = 3  # "J.", "v.", "St.": their full stop ends no sentence


@dataclass(frozen=True, slots=True)
class Names:
    """The possible names in a text.

    ``exact`` are names as they stand. ``beginnings`` are the first characters of what may be a name in a script without
    spaces, where ``text`` has to tell how far it goes. ``any_case`` is for a question without a single capital.
    """

    text: str
    exact: tuple[str, ...]
    beginnings: tuple[str, ...]
    any_case: bool = False

    def hold(self, title: str) -> bool:
        """Tell whether a title stands among the names, in its own letters."""
        name = bare_title(title)
        if self.any_case:
            return name.lower() in self.exact
        return name in self.exact or (
            len(name) >= BEGINNING and _STARTS_UNSPACED.match(name) is not None and name in self.text
        )


def bare_title(title: str) -> str:
    """Give a title without what it has in brackets at its end, as ``documents.title_key`` does."""
    return _QUALIFIER.sub("", unicodedata.normalize("NFKC", title)).strip()


def find_names(text: str) -> Names:
    """Find what may be names in a passage, at most ``MOST_NAMES`` of each kind, in reading order."""
    text = unicodedata.normalize("NFKC", text.replace("\0", " "))
    found = dict.fromkeys(match[1].strip() for match in _QUOTED.finditer(text))
    for line in text.splitlines():
        if len(found) >= MOST_NAMES:
            break
        found.update(dict.fromkeys(_in_line(line)))
    return Names(text, tuple(found)[:MOST_NAMES], _beginnings(text))


def find_asked_names(question: str) -> Names:
    """Find what may be names in a question; typed without capitals it names by two words or more, in any case."""
    if not question.islower():
        return find_names(question)
    names = dict.fromkeys(name for name in _in_line(question.replace("\0", " "), any_case=True) if " " in name)
    return Names(question, tuple(names)[:MOST_NAMES], (), any_case=True)


def _beginnings(text: str) -> tuple[str, ...]:
    runs = (match[0] for match in _UNSPACED_RUN.finditer(text))
    found = dict.fromkeys(run[at : at + BEGINNING] for run in runs for at in range(len(run) - BEGINNING + 1))
    return tuple(found)[:MOST_NAMES]


def _in_line(line: str, *, any_case: bool = False) -> Iterator[str]:
    words = line.split()
    stands = [any_case or _stands_out(word) for word in words]
    closes = [_closes(word) for word in words]
    for place, word in enumerate(words):
        first = word.lstrip(_EDGES)
        if not first or not stands[place]:
            continue
        opens = place == 0 or closes[place - 1]
        by_position = opens and not any_case and first[1:] == first[1:].lower()
        if by_position and not any(stands[place + 1 : place + 2]):
            continue
        for last in range(place, min(place + MOST_WORDS, len(words))):
            if stands[last] or last < place + SHORT:
                for name in _readings(" ".join([first, *words[place + 1 : last + 1]])):
                    if " " in name or (_is_telling(name) and not by_position):
                        yield name
            if closes[last]:
                break


def _stands_out(word: str) -> bool:
    """Tell whether a word has a capital or a figure, or is of a script without capitals."""
    return word != word.lower() or word == word.upper()


def _readings(name: str) -> Iterator[str]:
    """Give a name as it stands, without the punctuation at its end, and without a possessive."""
    plain = name.rstrip(_EDGES)
    if name[-1] in ".!?":
        yield name
    if plain:
        yield plain
        if plain[-2:] in ("'s", "’s"):
            yield plain[:-2]


def _is_telling(word: str) -> bool:
    """Tell whether a single word may be a name: it has a capital, and is more than an initial."""
    return len(word) > 1 and word != word.lower()


def _closes(word: str) -> bool:
    last = word.rstrip("\"'”’)]»")
    return last[-1:] in ("!", "?", ";", ":") or (last[-1:] == "." and len(last) > _LONGEST_ABBREVIATION)
