"""Compare our reading of a file with those of independent readers: by numbers, by words, and by order.

Every count is in favour of who is judged: lost is what all readers have and ours has not, made up is what ours has and
no reader. A word that a line's end divides may be whole or two, in every reading.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

NUMBER = re.compile(r"\d+")
_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # each letter is compared as a word
_LETTERS = rf"[{_SPACELESS}]|[^\W\d_{_SPACELESS}]{{2,}}"
WORD = re.compile(_LETTERS)
TOKEN = re.compile(rf"\d+|{_LETTERS}")
_DIVIDED = re.compile(r"([^\W\d_]+)[-\u2010\u00ad][ \t]*\n\s*([^\W\d_]+)")
_RAISED = re.compile(r"(\d+)(\s?[\^_/]\s?)[({\[]?(-?)\^?(\d+)")
_UNSEEN = re.compile("[\u200b-\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
_ADDRESS = re.compile(r"\bhttps?://\S+|\bwww\.\S+|\bmailto:\S+")  # of a link, which other readers do not tell
# Ligatures of TeX fonts that tell no letters, so that readers give the glyph's own number or nothing.
_GLYPHS = {
    **dict(zip("\x1b\x1c\x1d\x1e\x1f", ("ff", "fi", "fl", "ffi", "ffl"), strict=True)),
    **dict(zip("\x0b\x0e\x0f", ("ff", "ffi", "ffl"), strict=True)),
}
_ACCENT = re.compile("[\u00a8\u00af\u00b4\u00b8\u02b0-\u02ff]")
_MARKED_AGAIN = re.compile(r"(?<=\^\d)\^(?=\d)|(?<=_\d)_(?=\d)")  # digits that are raised one by one are one number
_FORMULA = 4  # letters: what is as short, and stands so but for spaces in a reading, is signs of a formula set closer
_EXAMPLES = 40


@dataclass(slots=True)
class Compared:
    """The counts of a file, and tokens that differ, by kind, each with its page from 1."""

    numbers: int = 0
    numbers_lost: int = 0
    numbers_made_up: int = 0
    flattened: int = 0
    furniture: int = 0
    words: int = 0
    words_lost: int = 0
    words_made_up: int = 0
    numbers_told: int = 0
    words_told: int = 0
    ordered: int = 0
    in_order: int = 0
    examples: dict[str, list[str]] = field(default_factory=dict)

    def note(self, kind: str, token: str, page: int, count: int = 1) -> None:
        """Keep an example of a kind."""
        found = self.examples.setdefault(kind, [])
        if len(found) < _EXAMPLES:
            found.append(f"{token} (p{page}{f', {count} times' if count > 1 else ''})")


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of a reading: how often a token is there for certain, and how often it may be."""

    sure: Counter[str]
    possible: Counter[str]


def compare(ours: Sequence[str], others: dict[str, list[str]], furniture: Sequence[str] = ()) -> Compared:
    """Compare our pages with those of each reader; ``furniture`` is what may be left out, page by page."""
    found = Compared()
    count = max([len(ours), *(len(pages) for pages in others.values())])
    pages = _padded([plain(page) for page in ours], count)
    theirs = {name: _padded([plain(page) for page in read], count) for name, read in others.items()}
    aside = _padded([plain(page) for page in furniture], count)
    _numbers(found, pages, theirs, aside)
    _words(found, pages, theirs, aside)
    found.flattened = _flattened(found, pages, theirs)
    best = max((_order(pages, read) for read in theirs.values()), key=lambda order: order[1] / max(order[0], 1))
    found.ordered, found.in_order = best
    return found


def plain(text: str) -> str:
    """Return text as all readings are compared: raised figures after ^, lowered ones after _, parts of signs apart."""
    return _MARKED_AGAIN.sub("", unicodedata.normalize("NFC", text.translate(_SIGNS)))


def _sign(sign: str) -> str:
    if sign in _GLYPHS:
        return _GLYPHS[sign]
    if sign < "\x80" or sign == "\u00ad":
        return sign
    if sign == "\u2212":
        return "-"
    if _UNSEEN.match(sign):
        return ""
    if _ACCENT.match(sign):
        return " "  # a hat or a tilde that stands alone belongs to no word
    parts = unicodedata.decomposition(sign)
    if not parts.startswith("<"):
        return sign
    whole = unicodedata.normalize("NFKC", sign)
    mark = {"<super>": "^", "<sub>": "_", "<fraction>": " ", "<circle>": " "}.get(parts.split()[0], "")
    return mark + whole.replace("\u2044", "/").replace("\u2212", "-") + (" " if mark == " " else "")


class _Signs(dict[int, str]):
    """What each character is compared as, found on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = _sign(chr(code))
        return self[code]


_SIGNS = _Signs()


def _padded(pages: Sequence[str], count: int) -> list[str]:
    return [*pages, *[""] * (count - len(pages))]


def _numbers(found: Compared, ours: list[str], others: dict[str, list[str]], aside: list[str]) -> None:
    read = [[_Page(counts := Counter(NUMBER.findall(page)), counts) for page in pages] for pages in others.values()]
    held = [Counter(NUMBER.findall(page)) for page in ours]
    spare = [Counter(NUMBER.findall(page)) for page in aside]
    found.numbers = sum(sum(page.sure.values()) for page in read[0])
    found.numbers_lost, found.furniture = _lost(found, "number lost", held, read, spare)
    told = [Counter(NUMBER.findall(_ADDRESS.sub(" ", page))) for page in ours]
    found.numbers_made_up = _made_up(found, "number made up", told, read)


def _words(found: Compared, ours: list[str], others: dict[str, list[str]], aside: list[str]) -> None:
    read = [[_divided(page) for page in pages] for pages in others.values()]
    held = [_divided(page) for page in ours]
    spare = [_divided(page).possible for page in aside]
    found.words = sum(sum(page.sure.values()) for page in read[0])
    found.words_lost, _ = _lost(found, "word lost", [page.possible for page in held], read, spare)
    for pages, texts in zip(read, others.values(), strict=True):
        for page, text, here in zip(pages, texts, held, strict=True):
            closed = "".join(text.casefold().split())
            page.possible.update(word for word in here.sure if len(word) <= _FORMULA and word in closed)
            page.possible.update(_composed(here.sure, closed))
    told = [_divided(_ADDRESS.sub(" ", page)).sure for page in ours]
    found.words_made_up = _made_up(found, "word made up", told, read)


def _composed(words: Iterable[str], closed: str) -> Iterator[str]:
    """Yield words whose accents a reading has beside their letters."""
    bare = _unaccented(closed)
    yield from (word for word in words if (plain_ := _unaccented(word)) != word and plain_ in bare)


def _unaccented(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))


def _divided(page: str) -> _Page:
    text = page.casefold()
    sure = Counter(WORD.findall(text.replace("\u00ad", "")))
    possible = Counter(sure)
    for first, second in _DIVIDED.findall(text):
        possible[first + second] += 1
    for first, second in _DIVIDED.findall(text):
        possible.update((first, second))
        for part in (first, second):  # which others may have as one word
            sure[part] -= sure[part] > 0
    return _Page(sure, possible)


def _lost(
    found: Compared, kind: str, ours: list[Counter[str]], others: list[list[_Page]], spare: list[Counter[str]]
) -> tuple[int, int]:
    lost = excused = 0
    for at, held in enumerate(ours):
        for token in min((pages[at].sure for pages in others), key=len):
            missing = min(pages[at].sure[token] for pages in others) - held[token]
            if missing > 0:  # a page's sentence may be told at the page before or after
                missing -= sum(
                    max(0, ours[near][token] - max(pages[near].sure[token] for pages in others))
                    for near in _near(at, len(ours))
                )
            if missing > 0:
                of_page = min(missing, spare[at][token])
                excused += of_page
                if missing > of_page:
                    lost += missing - of_page
                    found.note(kind, token, at + 1, missing - of_page)
    return lost, excused


def _made_up(found: Compared, kind: str, ours: list[Counter[str]], others: list[list[_Page]]) -> int:
    """Count what no reader has on the page or beside it; a merged cell's value may be there more often."""
    made = 0
    for at, held in enumerate(ours):
        for token, count in held.items():
            if not any(pages[near].possible[token] for near in (at, *_near(at, len(ours))) for pages in others):
                made += count
                found.note(kind, token, at + 1, count)
    return made


def _near(at: int, count: int) -> list[int]:
    return [near for near in (at - 1, at + 1) if 0 <= near < count]


def _flattened(found: Compared, ours: list[str], others: dict[str, list[str]]) -> int:
    """Count what readers see as two figures, one raised or lowered, or as a fraction, and ours as one number.

    Of the readers that tell the two apart, one that has the joined number as often says that ours is right.
    """
    flat = 0
    for at, page in enumerate(ours):
        apart: dict[tuple[str, str], list[list[str]]] = {}
        for pages in others.values():
            for first, mark, sign, second in set(_RAISED.findall(pages[at])):
                joined = first + ("-" if sign else "") + second
                apart.setdefault((joined, f"{first}{mark.strip()}{sign}{second}"), []).append(pages)
        for (joined, shown), readers in apart.items():
            alone = re.compile(rf"(?<![\w.,-]){joined}(?!\w)")
            told = max(sum(len(alone.findall(pages[by])) for by in (at, *_near(at, len(ours)))) for pages in readers)
            if (count := len(alone.findall(page)) - told) > 0:
                flat += count
                found.note("flattened", f"{shown} as {joined}", at + 1, count)
    return flat


def _order(ours: list[str], others: list[str]) -> tuple[int, int]:
    """Return how many pairs of neighbouring tokens both have once on a page, and how many are in one order."""
    count = kept = 0
    for page, other in zip(ours, others, strict=True):
        here, there = _once(page), _once(other)
        ranks = [there[pair] for pair in here if pair in there]
        rising: list[int] = []
        for rank in ranks:
            at = bisect_left(rising, rank)
            rising[at : at + 1] = [rank]
        count, kept = count + len(ranks), kept + len(rising)
    return count, kept


def _once(page: str) -> dict[tuple[str, str], int]:
    tokens = TOKEN.findall(page.casefold())
    pairs = list(pairwise(tokens))
    counts = Counter(pairs)
    return {pair: at for at, pair in enumerate(pairs) if counts[pair] == 1}
