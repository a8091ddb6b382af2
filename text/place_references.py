"""Places that a question names by how they begin: "clause 14", "Điều 5", "第三条", "Annex B", "a-file.pdf".

Nothing here knows the words for a clause or a chapter. A place is what a library has: a heading or a paragraph that
begins with the same word and number as the question has, or with its number alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from text.dates import dates_of
from text.language import language, stop_words
from text.normal_forms import compose, fold_width
from text.page_references import without_page_references
from text.scripts import CJK, HAN

MOST_WORDS = 3  # before the number
_WORD = rf"[^\W\d_{CJK}]+"
_SPACED = re.compile(
    rf"(?<![^\W\d_])(?P<words>(?:{_WORD}\s){{0,{MOST_WORDS - 1}}}{_WORD}\.?|§{{1,2}})\s?"
    r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,4}|[IVXLC]{1,7}|[A-Z](?!['’.]\w))(?!\w|[.,]\d)"
)
_HAN_DIGITS = "零一二三四五六七八九"
_HAN_NUMBER = f"[{_HAN_DIGITS}十百]{{1,5}}"
_UNSPACED = re.compile(
    rf"(?P<ordinal>第)\s?(?P<number>\d{{1,3}}|{_HAN_NUMBER})\s?(?P<unit>[{HAN}])"
    rf"|(?P<words>[{HAN}]{{2}})(?P<last>\d{{1,3}}|{_HAN_NUMBER})(?![{HAN}\d]{{0,2}}[年月日])"
)
_NAMED = re.compile(rf"(?<!\w)(?P<word>{_WORD})\s[\"“«„']?(?P<name>(?![\da-zà-ÿ])[^\W_{CJK}]\w*)")
_FILE = re.compile(r"[^\s\"“”«»「」《》?？,，]+\.[A-Za-z][A-Za-z0-9]{0,4}(?!\w)|\w+(?:[-_]\w+)+")
AFTER = r"(?!\w|\.\d)"
ANY_NUMBER = rf"\d+(?:\.\d+)*{AFTER}"
_ANY_SPACED = r"\d+(?:\.\d+)*|[IVXLC]+|[A-Z]"
_ANY_UNSPACED = rf"\d+|{_HAN_NUMBER}"
# Behind the number of a paragraph, which prose that only begins with a number does not have.
_APART = rf"(?=\s*(?:[.:)\]–—-]|$)|(?<=[{HAN}\d])\s*(?=[{HAN}]))"


@dataclass(frozen=True, slots=True)
class PlaceReference:
    """A word or words before a number, as the question has them, and the spellings of the number.

    ``names`` are patterns of how the place may begin: with the number as the question writes it before its other
    spellings, and with more words before fewer. ``series`` are those of the same words with any number.
    """

    said: str
    numbers: tuple[str, ...]
    names: tuple[str, ...]
    series: tuple[str, ...]

    @property
    def numbered(self) -> str:
        """The pattern of a place that begins with the number alone; of a letter none does."""
        return "|".join(each for each in self.numbers if each[0].isdigit()) or "(?!)"

    def spellings(self) -> Iterator[str]:
        """Yield how a text may write it, for an index of words."""
        words, _, last = self.said.rpartition(" ")
        for number in self.numbers:
            yield f"{words.split()[-1]} {number}" if words else last.replace(self.numbers[0], number)


def place_references(question: str) -> list[PlaceReference]:
    """Return what in a question may be the beginning of a place, in order; pages and dates are none."""
    text = _without_dates(without_page_references(fold_width(compose(question))))
    framing = stop_words(language(text))
    found = []
    for match in _SPACED.finditer(text):
        words = match["words"].rstrip(".").split()
        if words[-1].casefold() in framing:
            continue
        numbers = _spellings(match["number"])
        before = [r"\s+".join(map(re.escape, words[at:])) + r"\.?\s*" for at in range(len(words))]
        found.append(_reference(match[0], numbers, [(each, AFTER) for each in before], _ANY_SPACED))
    for match in _UNSPACED.finditer(text):
        numbers = _spellings(match["number"] or match["last"])
        around = (match["words"], rf"(?![{_HAN_DIGITS}十\d])")
        if match["ordinal"]:
            around = r"第\s?", rf"\s?{match['unit']}"
        found.append(_reference("".join(match[0].split()), numbers, [around], _ANY_UNSPACED))
    return found


def _reference(
    said: str, numbers: tuple[str, ...], around: Sequence[tuple[str, str]], any_number: str
) -> PlaceReference:
    either = (re.escape(numbers[0]), "|".join(map(re.escape, numbers)))
    return PlaceReference(
        said,
        numbers,
        tuple(f"{before}(?:{number}){behind}" for number in either for before, behind in around),
        tuple(f"{before}(?:{any_number}){behind}" for _ in either for before, behind in around),
    )


def sheet_names(question: str) -> list[str]:
    """Return the capitalised names that stand behind a word, as those of sheets do in "sheet Prices"."""
    framing = stop_words(language(question))
    named = (each for each in _NAMED.finditer(compose(question)) if each["word"].casefold() not in framing)
    return [each["name"] for each in named if each["name"][0].isupper()]


def file_names(question: str) -> list[str]:
    """Return what may be the name of a file or a slug, case-folded: it has a suffix, or words joined by signs."""
    return [found[0].casefold() for found in _FILE.finditer(compose(question))]


def begins(pattern: str, text: str, *, is_heading: bool) -> bool:
    """Whether a block begins with a place's pattern; a paragraph parts it from what follows."""
    own = pattern if is_heading else f"(?:{pattern}){_APART}"
    return re.match(rf"\W{{0,3}}(?:{own})", fold_width(text[:120]), re.IGNORECASE) is not None


def _without_dates(text: str) -> str:
    for _, start, end in sorted(dates_of(text), key=lambda date: -date[1]):
        text = f"{text[:start]} {text[end:]}"
    return text


def _spellings(number: str) -> tuple[str, ...]:
    """Return a number as it is written, in digits, in Roman and in Chinese numerals."""
    value = _value(number)
    if value is None or not 0 < value < 100:
        return (number,)
    tens, units = divmod(value, 10)
    han = ("" if tens == 0 else "十" if tens == 1 else f"{_HAN_DIGITS[tens]}十") + (_HAN_DIGITS[units] if units else "")
    return tuple(dict.fromkeys((number, str(value), _roman(value), han)))


def _value(number: str) -> int | None:
    if number.isdecimal():
        return int(number)
    if set(number) <= set("IVXLC"):
        return next((value for value in range(1, 100) if _roman(value) == number), None)
    if number[0] in _HAN_DIGITS or number[0] == "十":
        tens, ten, units = number.partition("十")
        if not ten:
            return int("".join(str(_HAN_DIGITS.find(digit)) for digit in number)) if "百" not in number else None
        return 10 * (_HAN_DIGITS.find(tens) if tens else 1) + (_HAN_DIGITS.find(units) if units else 0)
    return None


def _roman(value: int) -> str:
    letters = ""
    for worth, letter in ((50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        letters += letter * (value // worth)
        value %= worth
    return letters
