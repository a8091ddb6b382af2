"""Sentences of a source, each read once, when it is first needed."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from string import ascii_lowercase

from text.language import FUNCTION_LETTERS, FUNCTION_WORDS
from text.normal_forms import ascii_words, fold, letter_runs, unify_signs
from text.numbers import spell
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
        whole, bullet = exact_form(self.text), BULLET.match(self.text)
        behind = whole if bullet is None else exact_form(self.text[bullet.end() :])
        return (whole,) if behind == whole else (whole, behind)

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
    def forms(self) -> Mapping[str, Sequence[int]]:
        """Its sentences by each of their exact forms in one line, the shortest lines first."""
        found: dict[str, list[int]] = defaultdict(list)
        for at, sentence in enumerate(self.sentences):
            for form in dict.fromkeys((*sentence.forms, sentence.unmarked)):
                found[in_line(form)].append(at)
        return dict(sorted(found.items(), key=lambda of_form: len(of_form[0])))

    @cached_property
    def lines(self) -> str:
        """The exact forms of its sentences, each in a line, with a line break around each."""
        return "".join(("\n", *(f"{in_line(sentence.forms[0])}\n" for sentence in self.sentences)))

    def has_form(self, form: ExactForm, *, whole: bool) -> bool:
        """Whether a sentence has a form, or begins with it; none begins with an empty one."""
        line = in_line(form)
        return f"\n{line}\n" in self.lines if whole else bool(form) and f"\n{line}" in self.lines

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


def in_line(form: ExactForm) -> str:
    """Return a form as one line, with a space behind each token, so that a form's beginnings are the line's.

    No token has white space in it. Lines are found and compared many times as fast as tuples or digests of them.
    """
    return "".join([f"{key} " for key in form])


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
    return frozenset(found).union(f"#{spell(value)}" for token in reading.tokens for value in token.also)


def lookup_keys(key: str) -> frozenset[str]:
    """Return the keys under which a number or date is looked for: of a date its year, else its day, else its month."""
    if key.startswith("@"):
        year, month, day = parts_of(key)
        return frozenset((f"#{year}" if year is not None else f"@{month}" if day is None else f"#{day}",))
    return frozenset((key, key.rstrip("s")))


_COMMON = FUNCTION_WORDS.union(ascii_lowercase)
_LETTERS = re.compile(f"[{UNSPACED}]")


def rough_words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case without common ones; of a script without spaces the letters."""
    lower = text.casefold()
    if lower.isascii():
        return frozenset(letter_runs(lower)) - _COMMON
    words = frozenset(word for word in letter_runs(lower) if len(word) > 1) - FUNCTION_WORDS
    letters = frozenset(_LETTERS.findall(lower)) - FUNCTION_LETTERS
    return frozenset(word for word in words if not _LETTERS.match(word)) | letters if letters else words
