"""Sentences of a source, each read once, when it is first needed."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from text.sentences import sentences, trimmed
from tools.claims.exact_forms import ExactForm, exact_form, in_line
from tools.claims.near_copies import words_of

SentencePlace = tuple[int, int, int]  # segment, start, end

BULLET = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)]|#{1,6})\s+(?=\D)")
_LAST_MARK = re.compile(r"\s*\[(?:\^?\d{1,4}|\^\w{1,20}|ref:\d{1,4})\]\s*(?=[.。]?\s*\Z)")


@dataclass(frozen=True)
class SourceSentence:
    """A whole sentence of a segment, in offsets of its text, and what it holds."""

    start: int
    end: int
    text: str

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
    def words(self) -> tuple[str, ...]:
        """Its words and the signs that carry meaning, to find what nearly repeats it."""
        return words_of(self.unmarked)


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
    def forms(self) -> Mapping[str, list[int]]:
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


@lru_cache(maxsize=256)  # up to 130 KB each, once all of it was asked for
def parse_source(text: str, cuts: tuple[int, ...] = ()) -> SourceText:
    """Return a text in sentences; the last texts are kept with all that was read of them."""
    return SourceText(text, cuts)
