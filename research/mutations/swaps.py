"""Swap tables of a language: patterns to find in a sentence, and their replacements.

Swaps are drawn by a hash of the text, so that a set comes out the same wherever and whenever it is made.
"""

import hashlib
import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random


def chance(*key: str) -> Random:
    """Return a random number generator that is seeded by the key alone."""
    digest = hashlib.sha256("\x1f".join(key).encode()).digest()
    return Random(int.from_bytes(digest[:8], "big"))


Into = Callable[[re.Match[str], Random], str | None]


@dataclass(frozen=True, slots=True)
class Swap:
    """A pattern and its replacement; ``into`` returns None where a match should be left alone."""

    pattern: re.Pattern[str]
    into: Into


@dataclass(frozen=True, slots=True)
class Edit:
    """A span of a sentence and its new text."""

    start: int
    end: int
    text: str

    def applied(self, sentence: str) -> str:
        """Return the sentence with the span replaced."""
        return sentence[: self.start] + self.text + sentence[self.end :]


def edits(sentence: str, swaps: tuple[Swap, ...], random: Random) -> list[Edit]:
    """Return every edit that a table allows, in random order."""
    found = [edit for swap in swaps for edit in _matches(sentence, swap, random)]
    random.shuffle(found)
    return found


def _matches(sentence: str, swap: Swap, random: Random) -> Iterator[Edit]:
    for match in swap.pattern.finditer(sentence):
        text = swap.into(match, random)
        if text is not None and text != match[0]:
            yield Edit(match.start(), match.end(), text)


def words(text: str) -> list[str]:
    """Split a string into its words."""
    return text.split()


def gone(match: re.Match[str], random: Random) -> str:
    """Replace the match with nothing."""
    return ""


def not_after(listed: str, *, spaced: bool = True) -> str:
    """Return look-behinds that forbid each of the words before a match."""
    return "".join(f"(?<!{word}{' ' if spaced else ''})" for word in words(listed))


def table(rows: str, *, spaced: bool = True) -> tuple[Swap, ...]:
    """Parse rows ``pattern > text | text``, or ``a <> b`` for both directions; a text may refer to groups as ``\\1``.

    ``spaced`` is for scripts with spaces between words: a pattern then matches whole words, in either case, and the
    replacement of a capitalised match is capitalised.
    """
    swaps: list[Swap] = []
    for row in filter(None, map(str.strip, rows.splitlines())):
        if " <> " in row:
            left, right = row.split(" <> ")
            swaps += [_row(left, [right], spaced), _row(right, [left], spaced)]
        else:
            left, right = row.split(" > ")
            swaps.append(_row(left, [text.strip() for text in right.split("|")], spaced))
    return tuple(swaps)


def _row(pattern: str, texts: list[str], spaced: bool) -> Swap:
    if not spaced:
        return Swap(re.compile(pattern.strip()), lambda match, random: match.expand(random.choice(texts)))

    def into(match: re.Match[str], random: Random) -> str:
        text = match.expand(random.choice(texts))
        return text[:1].upper() + text[1:] if match[0][:1].isupper() else text

    return Swap(re.compile(rf"(?<![\w-])(?:{pattern.strip()})(?![\w-])", re.IGNORECASE), into)


def among(listed: str, *, before: str = "", after: str = "", spaced: bool = True) -> Swap:
    """Return a swap of any listed word for another, where the look-arounds ``before`` and ``after`` match."""
    every = listed.split(" / ") if " / " in listed else words(listed)
    longest_first = "|".join(re.escape(word) for word in sorted(every, key=len, reverse=True))
    edge, end = (r"(?<![\w-])", r"(?!\w)") if spaced else ("", "")

    def into(match: re.Match[str], random: Random) -> str | None:
        others = [word for word in every if word.casefold() != match[0].casefold()]
        return random.choice(others)

    return Swap(re.compile(f"{edge}{before}(?:{longest_first}){end}{after}"), into)


def other_digits(match: re.Match[str], random: Random) -> str | None:
    """Change one non-zero digit of a number to another, so that its rounding and its length stay."""
    text = match[0]
    places = [at for at, character in enumerate(text) if character in "123456789"]
    if not places or text in {"0", "1"}:
        return None
    at = random.choice(places)
    lowest = 2 if len(text) == 1 else 1  # "1 goals" is no sentence
    return text[:at] + random.choice([d for d in "123456789" if d != text[at] and int(d) >= lowest]) + text[at + 1 :]


def other_year(match: re.Match[str], random: Random) -> str:
    """Shift a year by 2 to 90 years, but not past 2019."""
    year = int(match[0])
    moved = random.choice([year - random.randint(2, 90), min(year + random.randint(2, 60), 2019)])
    return str(moved if moved not in (year, year - 1) else year - 7)


def within(lowest: int, highest: int) -> Into:
    """Return a replacement of a whole number by another within a range."""

    def into(match: re.Match[str], random: Random) -> str:
        return str(random.choice([n for n in range(lowest, highest + 1) if str(n) != match[0].lstrip("0")]))

    return into


def swap(pattern: str, into: Into) -> Swap:
    """Return a swap of a pattern."""
    return Swap(re.compile(pattern), into)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a sentence and its sort; only a name of the same sort replaces it."""

    start: int
    end: int
    text: str
    sort: str


@dataclass(frozen=True, slots=True)
class Language:
    """The swap tables and rules of one language.

    ``mutations`` make a sentence false and ``paraphrases`` leave it true, each by kind. ``frames`` are put before a
    sentence. ``names`` finds names in a sentence, given its paragraph. ``joined`` matches the text between two
    names of equal rank, which can't be swapped to make a false claim; ``equal`` matches a symmetric relation and
    ``directed`` one with a direction. ``tidy`` fixes spacing first; ``shortest`` is the fewest words (characters in
    a script without spaces) of a sentence that is used.
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


UPPER = "".join(chr(code) for code in range(0x41, 0x1EFF) if chr(code).isupper() and not 0x370 <= code < 0x1E00)
_WORD = rf"[{UPPER}][^\W\d_]*(?:[-–’'][{UPPER}][^\W\d_]+)*"
_OPENS = re.compile(r"(?:^|[.!?:;]\s+|[\"“”'‘(\[–—-])\s*$")

Sort = Callable[[str, str, str], str | None]


@lru_cache
def _runs(connectors: str) -> re.Pattern[str]:
    joint = rf" (?:(?:{connectors}) (?:the )?)?" if connectors else " "
    return re.compile(rf"(?<![\w.+’'-]){_WORD}(?:{joint}{_WORD})*(?![\w+-]|\.\w)")


def capital_names(
    sentence: str, paragraph: str, *, left_out: Container[str], sort: Sort, connectors: str = ""
) -> list[Name]:
    """Return the runs of capitalised words that are names, in order.

    A run that opens a sentence or a quotation counts only if it also occurs inside a sentence of the paragraph.
    ``sort`` is called with the name, the text before it in the sentence, and the paragraph; it returns None where that
    is no name.
    """
    found: list[Name] = []
    for run in _runs(connectors).finditer(sentence):
        start, text = run.start(), run[0]
        while text.split(" ", 1)[0] in left_out:
            first, _, text = text.partition(" ")
            start += len(first) + 1
            if not text:
                break
        if len(text) < 3 or any(word in left_out for word in text.split()):
            continue
        if text[-2:-1] == " ":  # an initial: the name continues after its dot
            continue
        if _OPENS.search(sentence[:start]) and not re.search(rf"[^\W\d_,] {re.escape(text)}\b", paragraph):
            continue
        if (kept := sort(text, sentence[:start], paragraph)) is not None:
            found.append(Name(start, start + len(text), text, kept))
    return found
