"""Sentences of a source, each read once, when it is first needed."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from text.language import FUNCTION_LETTERS, FUNCTION_WORDS
from text.normal_forms import ascii_words, fold, unify_signs
from text.sentences import sentences, trimmed
from tools.claims.alignment import is_content
from tools.claims.claim_tokens import UNSPACED
from tools.claims.exact_forms import ExactForm, exact_form
from tools.claims.lexicon import denials_in, stem
from tools.claims.quantities import parts_of
from tools.claims.sentence_parsing import ParsedSentence, parse_sentence

BULLET = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)]|#{1,6})\s+(?=\D)")
_LAST_MARK = re.compile(r"\s*\[(?:\^?\d{1,4}|\^\w{1,20}|ref:\d{1,4})\]\s*(?=[.。]?\s*\Z)")
_FLAT_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Content:
    """What a sentence says without the words that hold it together: in order, and as a set."""

    keys: tuple[str, ...]
    distinct: frozenset[str]


@dataclass(frozen=True)
class SourceSentence:
    """A whole sentence of a segment, in offsets of its text, and what it holds."""

    start: int
    end: int
    text: str

    @cached_property
    def reading(self) -> ParsedSentence:
        """The sentence parsed for comparison."""
        return parse_sentence(self.text)

    @cached_property
    def terms(self) -> frozenset[str]:
        """What it is looked up by."""
        return terms_of(self.reading)

    @cached_property
    def content(self) -> Content:
        """Its content in order, and as a set."""
        return content_of(self.reading)

    @cached_property
    def forms(self) -> tuple[ExactForm, ...]:
        """Its exact form, and that behind its bullet."""
        bullet = BULLET.match(self.text)
        return tuple(dict.fromkeys(exact_form(self.text[begin:]) for begin in (0, bullet.end() if bullet else 0)))

    @cached_property
    def unmarked(self) -> ExactForm:
        """Its exact form without bullet and reference mark."""
        if "[" not in self.text:
            return self.forms[-1]
        bullet = BULLET.match(self.text)
        return exact_form(without_last_mark(self.text[bullet.end() :] if bullet else self.text))

    @cached_property
    def flat(self) -> str:
        """Its words in lower case, each between two spaces."""
        return flat_words(fold(self.text))

    @cached_property
    def denials(self) -> frozenset[str]:
        """The lists of denials of which it has a phrase."""
        return denials_in(self.flat)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words in lower case, and its letters in a script without spaces: a cheap look at what it is about."""
        return rough_words(self.text)


def flat_words(text: str) -> str:
    """Return the words of a text in lower case, each between two spaces."""
    lower = text.casefold()
    return f" {' '.join(ascii_words(lower) if lower.isascii() else _FLAT_WORD.findall(lower))} "


def without_last_mark(text: str) -> str:
    """Return a sentence without the reference mark at its end, such as ``[3]``."""
    return _LAST_MARK.sub("", text) if "[" in text else text


@dataclass(frozen=True)
class SourceText:
    """A segment's text in sentences, in order; blank ones are left out.

    ``cuts`` are the offsets at which a block of it begins, such as the definition behind its term: no sentence goes on
    there, however the lines read.
    """

    text: str
    cuts: tuple[int, ...] = ()

    @property
    def is_read(self) -> bool:
        """Whether it was split already."""
        return "sentences" in vars(self)

    @cached_property
    def sentences(self) -> tuple[SourceSentence, ...]:
        """The sentences, unread."""
        edges = [0, *(cut for cut in self.cuts if 0 < cut < len(self.text)), len(self.text)]
        spans = (
            trimmed(self.text, first + start, first + end)
            for first, last in pairwise(edges)
            for start, end in sentences(self.text[first:last])
        )
        return tuple(SourceSentence(start, end, self.text[start:end]) for start, end in spans if start < end)

    @cached_property
    def terms(self) -> frozenset[str]:
        """What any of its sentences is looked up by."""
        return frozenset(term for sentence in self.sentences for term in sentence.terms)

    @cached_property
    def capitals(self) -> frozenset[str]:
        """The names that stand within its sentences."""
        readings = [sentence.reading for sentence in self.sentences]
        return frozenset(each.keys[at] for each in readings for at, name in enumerate(each.names) if name == 2)

    @cached_property
    def quantities(self) -> frozenset[str]:
        """Every number of its sentences."""
        return frozenset(each for sentence in self.sentences for each in quantities_of(sentence.reading))

    @cached_property
    def forms(self) -> Mapping[int, Sequence[int]]:
        """Its sentences by the digest of each of their exact forms."""
        found: dict[int, list[int]] = defaultdict(list)
        for at, sentence in enumerate(self.sentences):
            for form in dict.fromkeys((*sentence.forms, sentence.unmarked)):
                found[digest(form)].append(at)
        return found

    @cached_property
    def wholes(self) -> frozenset[int]:
        """The digests of the exact forms of its sentences."""
        return frozenset(digest(sentence.forms[0]) for sentence in self.sentences)

    @cached_property
    def beginnings(self) -> frozenset[int]:
        """The digests of every beginning of the exact forms of its sentences."""
        return frozenset(each for sentence in self.sentences for each in digests(sentence.forms[0]))

    @cached_property
    def quoting(self) -> Sequence[bool]:
        """Whether each sentence begins within a quotation that was opened before it in its paragraph."""
        found: list[bool] = []
        past, open_ = 0, False
        for sentence in self.sentences:
            between = unify_signs(self.text[past : sentence.start])
            paragraph = between.rfind("\n\n")
            open_ = (open_ if paragraph < 0 else False) ^ (between[paragraph + 1 :].count('"') % 2 == 1)
            found.append(open_)
            past = sentence.start
        return found


@lru_cache(maxsize=256)  # up to 130 KB each, once all of it was asked for
def parse_source(text: str, cuts: tuple[int, ...] = ()) -> SourceText:
    """Return a text in sentences; the last texts are kept with all that was read of them."""
    return SourceText(text, cuts)


def digests(form: ExactForm) -> list[int]:
    """Return the digest of every beginning of a form, the shortest first."""
    found: list[int] = []
    last = 0
    for key in form:
        last = hash((last, key))
        found.append(last)
    return found


def digest(form: ExactForm) -> int:
    """Return the digest of a whole form."""
    return digests(form)[-1] if form else 0


def content_of(reading: ParsedSentence) -> Content:
    """Return the content of a sentence."""
    keys = tuple(token.key for token in reading.tokens if is_content(token))
    return Content(keys, frozenset(keys))


def terms_of(reading: ParsedSentence) -> frozenset[str]:
    """Return what a sentence is looked up by: stems of its content, and pairs of letters in scripts without spaces."""
    found: set[str] = set()
    past = ""
    for token in reading.tokens:
        if token.kind == "letter":
            if past:
                found.add(past + token.key)
            elif is_content(token):
                found.add(token.key)
            past = token.key
            continue
        past = ""
        if is_content(token):
            found.add(stem(token.key))
    return frozenset(found)


def quantities_of(reading: ParsedSentence) -> frozenset[str]:
    """Return every number of a sentence, and of every date its parts, under the keys of ``lookup_keys``."""
    found = {"#1" for key in reading.keys if key in ("one", "một", "一")}
    for key in reading.keys:
        if key.startswith("@") and len(key) > 1:
            year, month, day = parts_of(key)
            found |= {f"#{part}" for part in (year, day) if part is not None}
            found |= {f"@{part}" for part in (month,) if part is not None}
        elif key.startswith("#") and len(key) > 1:
            found |= lookup_keys(key)
    return frozenset(found)


def lookup_keys(key: str) -> frozenset[str]:
    """Return the keys under which a number or date is looked for: of a date its year, else its day, else its month."""
    if key.startswith("@"):
        year, month, day = parts_of(key)
        return frozenset((f"#{year}" if year is not None else f"@{month}" if day is None else f"#{day}",))
    return frozenset((key, key.rstrip("s")))


_WORDS = re.compile(r"[^\W\d_]+")
_LETTERS = re.compile(f"[{UNSPACED}]")


def rough_words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case without common ones; of a script without spaces the letters."""
    lower = text.casefold()
    words = frozenset(word for word in _WORDS.findall(lower) if len(word) > 1) - FUNCTION_WORDS
    if lower.isascii():
        return words
    letters = frozenset(_LETTERS.findall(lower)) - FUNCTION_LETTERS
    return frozenset(word for word in words if not _LETTERS.match(word)) | letters if letters else words
