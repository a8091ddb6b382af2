"""The terms and phrases of a question: what stands out in it, where a noun phrase ends, and its content words."""

import re
from dataclasses import dataclass
from functools import cache

from text.language import CJK_STOP, language, stop_words
from text.late_patterns import LatePattern
from text.scripts import HAN, LATIN_CAPITAL
from text.words import is_bigrammed, written_runs
from tools.rules.follow_up_patterns import any_language

_WORD = rf"[^\W{HAN}]"
_CAPITALISED = rf"[{LATIN_CAPITAL}](?:(?![{HAN}])[\w'’+-])*(?:\.\d+)*"
# The kinds of terms that stand out, in the order in which they are tried at each place.
_TERM = LatePattern(
    r"(?P<quoted>[“《「『][^”》」』]{1,60}[”》」』]|\"[^\"]{1,60}\"|`[^`]{1,60}`)"
    r"|(?P<key>\b(?:(?:Ctrl|Shift|Alt|Cmd|Control|Command)\s?[+-]\s?\w+(?:\s?\+\s?\w+)*|F\d{1,2}\b|Page(?:Up|Down)\b))"
    rf"|(?P<option>(?<![\w-])--?[A-Za-z](?:{_WORD}|-(?=\w))*|%[A-Za-z]\b)"
    rf"|(?P<code>=?{_WORD}*[A-Za-z]{_WORD}*\(\)|=?(?:(?<!{_WORD})[.~]?/)?[A-Za-z_]{_WORD}*(?:(?:[./:_]|::|->){_WORD}+)+(?:\(\))?"
    rf"|(?<!{_WORD})(?:[a-z]+[A-Z]|[A-Z][a-z]+[A-Z][a-z]+[A-Z]){_WORD}*)"
    r"|(?P<number>(?<![A-Za-z_\d.])(?:-(?=\d))?\d+(?:[.,]\d+)*\s?%?(?![A-Za-z_\d]))"
    r"|(?P<name>"
    + rf"(?<!{_WORD})(?!I\b){_CAPITALISED}(?:\s+(?:of\s+|the\s+)?[{LATIN_CAPITAL}0-9](?:(?![{HAN}])[\w'’.+-])*)*)"
)
_YEAR = re.compile(r"(?:1\d{3}|20\d\d)$")
TOKEN = LatePattern(rf"[{HAN}]+|(?:(?![{HAN}])[^\s,;:?!()，。；：？！（）「」“”])+")
BOUNDARY = LatePattern(
    rf"\b(?:{any_language('preposition')}|the|an?|its|their|my|your|and|or|but|that|which|who|what|how|when|where|why|if|while"
    r"|is|are|was|were|do|does|did|can|could|should|must|may|has|have|will|và|hay|thì|là|có)\b|[,;:?!()]",
    re.IGNORECASE,
)
_PUNCTUATION = frozenset(",;:?!()，。；：？！")
GENERAL = frozenset({"default", "certain", "new", "existing", "same"})
_SMALL_LATIN = LatePattern(rf"(?<!{_WORD})[a-z]{{2,}}(?!{_WORD})")
_VIETNAMESE_SYLLABLE = LatePattern(
    "(?:ngh?|nh|ch|gh?|kh|ph|qu|th|tr|[bcdhklmnprstvx])?[aeiouy]{1,3}(?:ch|nh|ng|[cmnpt])?"
)
FEW = 3
_MOST_OF_AN_OBJECT = 6


@dataclass(frozen=True, slots=True)
class Term:
    """A term that stands out, with its kind and its place in the text."""

    kind: str
    text: str
    start: int
    end: int


def marked(text: str) -> list[Term]:
    """Return the terms that stand out: quoted ones, keys, options, code, years, numbers and names.

    An ordinary first word has a capital too, and is no name; in Chinese, any Latin word is one,
    and in Vietnamese one that can't be a syllable.
    """
    han = re.search(f"[{HAN}]", text) is not None
    found: list[Term] = []
    for each in _TERM.finditer(text):
        kind, term = str(each.lastgroup), each[0].rstrip(".,'’ ")
        if kind == "name" and each.start() == 0 and " " not in term and not han and not _stands_out(term):
            continue
        if kind == "number" and _YEAR.match(term):
            kind = "year"
        if term:
            found.append(Term(kind, term, each.start(), each.start() + len(term)))
    if han or language(text) == "vi":
        taken = {at for each in found for at in range(each.start, each.end)}
        for word in _SMALL_LATIN.finditer(text):
            if word.start() not in taken and (han or not _VIETNAMESE_SYLLABLE.fullmatch(word[0])):
                found.append(Term("name", word[0], *word.span()))
    return sorted(found, key=lambda each: each.start)


def _stands_out(word: str) -> bool:
    return any(letter.isupper() or letter.isdigit() for letter in word[1:])


def end_of_phrase(text: str, start: int, *, longest: int = _MOST_OF_AN_OBJECT, through: str = "of|của") -> int:
    """Return where a noun phrase ends: at what can't be within it, or after a few words.

    ``through`` are the prepositions that it may hold, each with an article after it.
    """
    held = re.compile(rf"(?:{through})\b(?:\s+(?:the|an?)\b)?", re.IGNORECASE)
    stop = within = start
    for words, each in enumerate(TOKEN.finditer(text, start)):
        if words >= longest:
            return stop
        if each.start() < within:
            continue  # of what was held
        holds = held.match(text, each.start()) if words else None
        within = holds.end() if holds else within
        if words and holds is None and BOUNDARY.match(text, each.start()):
            return stop
        if holds is None:
            stop = each.end()
        if text[each.end() : each.end() + 1] in _PUNCTUATION:
            return stop
    return stop


@cache
def noun_phrase(articles: str) -> re.Pattern[str]:
    """Return the pattern of an article, one of an alternation, that a word follows."""
    return re.compile(rf"(?<!\w)(?:{articles})\s+(?=\w)", re.IGNORECASE)


def without_preposition(phrase: str) -> str:
    """Return a phrase without the preposition that opens it."""
    return re.sub(rf"^(?:{any_language('preposition')})(?:\s+|(?<=[{HAN}]))", "", phrase, flags=re.IGNORECASE).strip()


def without_article(phrase: str) -> str:
    """Return a phrase without the article that opens it."""
    return re.sub(rf"^(?:{any_language('article')})(?:\s+|(?<=[{HAN}]))", "", phrase, flags=re.IGNORECASE).strip()


def content_words(text: str) -> list[str]:
    """Return the content words of a text, in order; question words are removed from CJK runs."""
    framing = stop_words(language(text))
    words: list[str] = []
    for word in written_runs(text):
        if is_bigrammed(word):
            words += [piece for piece in CJK_STOP.split(word) if piece]
        elif word.casefold() not in framing:
            words.append(word)
    return words


def topic_words(text: str) -> list[str]:
    """Return the content words of a text as ``content_words`` does, names of code such as "work_mem" whole."""
    framing = stop_words(language(text))
    words: list[str] = []
    for token in TOKEN.findall(text):
        if is_bigrammed(token):
            words += [piece for piece in CJK_STOP.split(token) if piece]
        elif (word := token.strip(".'\"`’")) and word.casefold() not in framing and any(map(str.isalnum, word)):
            words.append(word)
    return words
