"""Places that a question names by how they begin: "clause 14", "Điều 5", "第三条", "Annex B", "sheet Prices".

Nothing here knows the words for a clause or a chapter. A place is what a library has: a heading or a paragraph that
begins with the same word and number as the question has, or with its number alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from text.dates import dates_of, is_meant, without_dates
from text.han_numerals import han_number
from text.language import CJK_STOP, language, stop_words
from text.normal_forms import compose, flatten, fold_width, without_accents
from text.page_references import (
    HAN_NUMBER,
    asks_for_all,
    naming_words,
    page_labels,
    page_references,
    without_page_references,
)
from text.scripts import CJK, HAN
from text.words import terms_of, without_framing

_WORD = rf"[^\W\d_{CJK}]+"
_SPACED = re.compile(
    rf"(?<![^\W\d_])(?P<words>(?:(?:{_WORD}\s){{0,2}}{_WORD}\.?\s|§{{1,2}}\s?))"
    r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,4}|[IVXLC]{1,7}|[A-Z](?!['’.]\w))(?!\w|[.,]\d)"
)
_UNSPACED = re.compile(
    rf"第\s?(?P<number>{HAN_NUMBER})\s?(?P<unit>[{HAN}])|(?P<words>[{HAN}]{{2}})(?!一)(?P<last>{HAN_NUMBER})"
)
_NAMED = re.compile(rf"(?<!\w)(?P<word>{_WORD})\s[\"“«„']?(?P<name>(?![a-zà-ÿ])[^\W\d_{CJK}]\w*)")
_FILE = re.compile(r"[^\s\"“”«»「」《》?？,，]+\.[A-Za-z][A-Za-z0-9]{0,4}(?!\w)|(?=\S*(?:\d|_|-\w+-))\w+(?:[-_]\w+)+")
_AFTER = r"(?!\w|\.\d)"
ANY_NUMBER = rf"\d+(?:\.\d+)*{_AFTER}"
# Behind the number of a paragraph, which prose that only begins with a number does not have.
_APART = rf"(?=\s*(?:[.:)\]–—-]|$)|(?<=[{HAN}\d])\s*(?=[{HAN}]))"
LONGEST = 1_000  # characters of a question that are read
MOST_NAMES = 6  # of each kind
FEW = 3  # words beside a place, of which some may be the name of its document
_ROMAN = ((50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


@dataclass(frozen=True, slots=True)
class PlaceReference:
    """What a question has before a number, and the spellings of that, its own first.

    ``beginnings`` are pairs of patterns: how the place may begin, and how others of its series do. Those with the
    question's own spelling come first, and of these those with the most words.
    """

    words: str
    numbers: tuple[str, ...]
    beginnings: tuple[tuple[str, str], ...]

    @property
    def shortest(self) -> str:
        """The pattern of the last word and the number."""
        return self.beginnings[-1][0]

    @property
    def numbered(self) -> str:
        """The pattern of a place that begins with the number alone; of a letter none does."""
        return f"(?:{'|'.join(re.escape(each) for each in self.numbers if each[0].isdecimal()) or '(?!)'}){_AFTER}"

    @property
    def spellings(self) -> list[str]:
        """How a text may write it, for an index of words."""
        return [self.words.replace("#", each) if "#" in self.words else f"{self.words} {each}" for each in self.numbers]


def place_references(question: str) -> list[PlaceReference]:
    """Return what in a question may be the beginning of a place, in order; pages and dates are none."""
    text = without_dates(without_page_references(fold_width(compose(question))))
    framing = stop_words(language(text))
    found = []
    for match in _SPACED.finditer(text):
        words = match["words"].rstrip(". ").split()
        is_pronoun = match["number"] == "I" and words[-1].islower()
        if words[-1].casefold() not in framing and not is_pronoun:
            before = [r"\s+".join(map(re.escape, words[at:])) + r"\.?\s*" for at in range(len(words))]
            around = [(each, _AFTER) for each in before]
            found.append(_reference(words[-1], match["number"], around, r"\d+(?:\.\d+)*|[IVXLC]+|[A-Z]"))
    for match in _UNSPACED.finditer(text):
        if CJK_STOP.search(match["words"] or ""):
            continue
        unit = match["unit"]
        around = [(r"第\s?", rf"\s?{unit}")] if unit else [(match["words"], rf"(?!{HAN_NUMBER})")]
        words = f"第#{unit}" if unit else f"{match['words']}#"
        found.append(_reference(words, match["number"] or match["last"], around, HAN_NUMBER))
    return found


def _reference(words: str, number: str, around: list[tuple[str, str]], any_number: str) -> PlaceReference:
    numbers = tuple(dict.fromkeys((number, *_spellings(number, spaced="#" not in words))))
    either = (re.escape(number), "|".join(map(re.escape, numbers)))
    beginnings = [
        (f"{before}(?:{own}){behind}", f"{before}(?:{any_number}){behind}")
        for own in either
        for before, behind in around
    ]
    return PlaceReference(words, numbers, tuple(beginnings))


def _spellings(number: str, *, spaced: bool) -> Iterator[str]:
    """Yield a number below a hundred in digits and in Roman numerals, in a script without spaces in Chinese ones."""
    if number.isdecimal() or not number.isascii():
        value = han_number(number)
    else:
        value = next((each for each in range(1, 100) if _roman(each) == number), 0)
    if 0 < value < 100:
        yield str(value)
        yield _roman(value) if spaced else _chinese(value)


def _chinese(value: int) -> str:
    tens, units = divmod(value, 10)
    digits = " 一二三四五六七八九"
    return (digits[tens] * (tens > 1) + "十" * (tens > 0) + digits[units]).strip()


def _roman(value: int) -> str:
    letters = ""
    for worth, letter in _ROMAN:
        letters += letter * (value // worth)
        value %= worth
    return letters


def sheet_names(question: str) -> list[str]:
    """Return the capitalised names that stand behind a word, as those of sheets do in "sheet Prices"."""
    framing = stop_words(language(question))
    named = (each for each in _NAMED.finditer(compose(question)) if each["word"].casefold() not in framing)
    return [each["name"] for each in named if each["name"][0].isupper()]


def file_names(question: str) -> list[str]:
    """Return what may be the name of a file or a slug, case-folded: it has a suffix, or joins words or a number."""
    return [found[0].casefold() for found in _FILE.finditer(compose(question))]


def begins(pattern: str, text: str, *, is_heading: bool) -> bool:
    """Whether a block begins with a place's pattern; a paragraph parts it from what follows."""
    own = pattern if is_heading else f"(?:{pattern}){_APART}"
    return re.match(rf"\W{{0,3}}(?:{own})", fold_width(text), re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True)
class PlaceQuestion:
    """What of a question may name a place. ``rest`` is the question without its page numbers."""

    pages: tuple[range, ...]
    labels: frozenset[str]
    dates: list[str]
    files: list[str]
    sheets: list[str]
    references: list[PlaceReference]
    rest: str

    @classmethod
    def of(cls, question: str) -> "PlaceQuestion":
        """Read the beginning of a question, and no more of its names than somebody would look for at once."""
        asked = question[:LONGEST]
        return cls(
            page_references(asked),
            page_labels(asked),
            [date for date, start, end in dates_of(asked) if is_meant(date, asked[start:end], asked)][:MOST_NAMES],
            file_names(asked)[:MOST_NAMES],
            sheet_names(asked)[:MOST_NAMES],
            place_references(asked)[:MOST_NAMES],
            without_page_references(asked),
        )

    @property
    def names_any(self) -> bool:
        """Whether anything of it may name a place."""
        return any((self.pages, self.labels, self.dates, self.files, self.sheets, self.references))

    def nearest(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return those documents whose names have most of the question's words; all where none has one."""
        words = plain_words(without_framing(self.rest))
        shared = {each: len(words & plain_words(name)) for each, name in names.items()}
        return {each: name for each, name in names.items() if shared[each] == max(shared.values())}

    def says_little_beside(self, said: str) -> bool:
        """Whether a question may ask for a place, which has the pattern ``said``, and for little else."""
        return len(naming_words(re.sub(said, " ", self.rest, flags=re.IGNORECASE))) <= FEW

    def asks_for_all(self, said: str, names: str) -> bool:
        """Whether nothing else is asked beside a place, which has the pattern ``said``, in documents with these names.

        "Decision no. 11" is such a name with all of its words, as far as its number is in it.
        """
        known = plain_words(names)
        rest = re.sub(said, " ", self.rest, flags=re.IGNORECASE)
        for each in self.references:
            if not known.isdisjoint(each.numbers):
                rest = re.sub(each.shortest, " ", rest, flags=re.IGNORECASE)
        return asks_for_all(rest, known)


def plain_words(text: str) -> frozenset[str]:
    """Return the words of a text as names of files write them, without accents."""
    return frozenset(terms_of(without_accents(flatten(text))))
