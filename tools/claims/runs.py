"""The runs of tokens in which two sentences differ, and what they look like."""

from collections import Counter
from dataclasses import dataclass

from tools.claims import cues
from tools.claims.chinese_names import letter_of_name
from tools.claims.function_words import FUNCTION_LETTERS, FUNCTION_WORDS, VIETNAMESE_FUNCTION_WORDS
from tools.claims.names import one_name
from tools.claims.readings import Reading, is_vietnamese
from tools.claims.tokens import Token

WORD = 2  # content tokens, at most, of a word in a script with spaces
LETTERS = 4  # and letters in one without


@dataclass(frozen=True, slots=True)
class Run:
    """A run of tokens that has no equal opposite, without what may be left out anyway."""

    reading: Reading
    places: tuple[int, ...]

    @property
    def tokens(self) -> list[Token]:
        return [self.reading.tokens[place] for place in self.places]

    @property
    def keys(self) -> list[str]:
        return [self.reading.keys[place] for place in self.places]

    @property
    def content(self) -> list[int]:
        return [place for place in self.places if is_content(self.reading.tokens[place])]

    @property
    def said(self) -> str:
        return self.reading.said(self.places[0], self.places[-1] + 1) if self.places else ""


def is_content(token: Token) -> bool:
    """Tell a token that says something from one that holds a sentence together."""
    if token.kind == "letter":
        return token.key not in FUNCTION_LETTERS
    return token.key not in FUNCTION_WORDS or (
        token.capital and token.start > 0 and token.key in VIETNAMESE_FUNCTION_WORDS
    )


def span_of(run: Run) -> tuple[int, int]:
    """Give where a run begins and ends in its sentence."""
    return (run.places[0], run.places[-1] + 1) if run.places else (0, 0)


def movable(run: Run) -> list[str]:
    """Give what of a run can be found again elsewhere: words, and in scripts without spaces the run as a whole."""
    if is_lettered(run):
        joined = letters_of(run)
        return [joined] if len(joined) > 1 and run.content else []
    return [run.reading.keys[place] for place in run.content]


def without(run: Run, moved: Counter[str]) -> Run:
    """Take out of a run what was only put elsewhere."""
    if is_lettered(run):
        joined = letters_of(run)
        if moved[joined] > 0:
            moved[joined] -= 1
            return Run(run.reading, ())
        return run
    kept = []
    for place in run.places:
        key = run.reading.keys[place]
        if moved[key] > 0:
            moved[key] -= 1
        else:
            kept.append(place)
    return Run(run.reading, tuple(kept))


def is_lettered(run: Run) -> bool:
    """Tell a run of a script without spaces."""
    return bool(run.places) and all(token.kind == "letter" for token in run.tokens)


def may_name(run: Run) -> bool:
    """Tell whether a run of letters, or of names in Latin ones, may be a name."""
    return bool(run.places) and all(token.kind == "letter" or token.capital for token in run.tokens)


def letters_of(run: Run) -> str:
    """Give the tokens of a run as one string."""
    return "".join(token.key for token in run.tokens)


def is_one_word(run: Run) -> bool:
    """Tell whether a run is as long as one word is, and says something."""
    if not run.content or any(token.kind not in ("word", "letter") for token in run.tokens):
        return False
    if len(run.places) == 1 and (is_lettered(run) or is_vietnamese(run.reading.folded)):
        return _named_letter(run)  # else one letter or syllable is a part of a word, and of most synonyms
    return len(run.places) <= (LETTERS if is_lettered(run) else WORD)


def _named_letter(run: Run) -> bool:
    """Tell a single letter that belongs to a name by the look of it."""
    place, tokens = run.places[0], run.reading.tokens
    after = tokens[place + 1].key if place + 1 < len(tokens) else ""
    return is_lettered(run) and letter_of_name(tokens[place].key, after)


def word_akin(a: Run, b: Run) -> bool:
    """Tell whether a word of one run is near to one of another; a syllable of Vietnamese is no word."""
    return any(one.isascii() and cues.akin((one,), (other,), (0, 1, 0, 1)) for one in a.keys for other in b.keys)


def look_alike(a: Run, b: Run) -> bool:
    """Tell whether two runs share a letter of a script without spaces, or the beginning of a word of another.

    A name and its initials are alike, too.
    """
    if one_name(a.keys, b.keys):
        return True
    if is_lettered(a) and is_lettered(b):
        return not set(letters_of(a)).isdisjoint(letters_of(b))
    theirs = {cues.stem(key)[:3] for key in a.keys}
    return any(cues.stem(key)[:3] in theirs for key in b.keys)


def is_name(run: Run) -> bool:
    """Tell whether a run is one name, at most with a word for what it names; a clause or a list is none."""
    others = [token for token in run.tokens if is_content(token) and not token.capital]
    return not any(token.key.isascii() for token in others) and len(others) <= 1


def is_list(run: Run) -> bool:
    """Tell a run that lists several things."""
    return any(mark in run.said for mark in (", ", ";", "、"))
