"""The inline spans of a Markdown paragraph that nothing may split: code, links, tags, and what looks like a mark.

Follows CommonMark 0.31 in what precedes what (escapes and code before tags, tags before links), in one linear pass.
Brackets count as a link where a destination or a second label follows, whether or not that label is defined.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Literal

from text.scripts import INVISIBLE

SpanKind = Literal["code", "link", "tag", "mark"]
LOOKS_LIKE_A_MARK = re.compile(r"\[(?:\^|ref:)?\d+\]", re.IGNORECASE)

# A mark as a person or a lenient client reads it: with other brackets, wide or raised digits, entities, escapes, spaces
# and characters that nobody sees, several in one, or raised by a tag. A number in braces behind a letter or a sign of
# formulas is none, and nor is a raised one behind a number or a short word, which is an exponent.
_OPENING = r"(?:\\?\[|[［【〔〖⟦❲⁽]|(?<![\w{}\\^_$])\{|&(?:\#0*91|\#x0*5b|lbrack|lsqb);?)"
_CLOSING = r"(?:\\?\]|[］】〕〗⟧❳⁾}]|&(?:\#0*93|\#x0*5d|rbrack|rsqb);?)"
_RAISED = r"(?:(?<!\d)(?<!\b\w)(?<!\b\w\w)<(?=sup\b)|<(?=cite\b))"
_TAG = r"(?:sup|cite)\b[^<>]{0,100}>\[?"
_UNSEEN_ENTITY = (
    r"&(?:nbsp|ensp|emsp|thinsp|zwnj|zwj|shy|\#0*(?:160|173|8\d{3}|12288|65279)|\#x0*(?:a[0d]|20\w\w|3000|feff));?"
)
_GAP = rf"(?:[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000{INVISIBLE}]|{_UNSEEN_ENTITY}){{0,8}}+"
_DIGIT = r"(?:[\d¹²³⁰⁴-⁹₀-₉①-⑳]|&\#0*(?:4[89]|5[0-7]);?|&\#x0*3\d;?)"
_NUMBER = rf"(?:\\?[\^＾]|ref[:：])?{_GAP}(?:{_DIGIT}{_GAP}){{1,6}}+"
_NUMBERS = rf"{_GAP}{_NUMBER}(?:[,;，；、–-]{_GAP}{_NUMBER}){{0,20}}+"
READS_AS_A_MARK = re.compile(
    rf"(?P<open>{_OPENING}|{_RAISED})(?P<tag>{_TAG})?{_NUMBERS}(?(tag)\]?</(?:sup|cite)>|{_CLOSING})", re.IGNORECASE
)
_LONGEST_MARK = 200
_INSIDE = (
    rf"(?:{_DIGIT}|{_UNSEEN_ENTITY}|[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000{INVISIBLE}\^＾:：\\ref,;，；、–-])"
    r"{0,60}+(?:&[#\w]{0,8}+)?"
)
_TAG_BEGUN = rf"<(?:[a-z]{{0,4}}|(?:sup|cite)\b[^<>]{{0,100}}|{_TAG}{_INSIDE}\]?(?:</?[a-z]{{0,4}})?)"
_MARK_BEGUN = re.compile(rf"(?:{_OPENING}{_INSIDE}|{_TAG_BEGUN}|&[#\w]{{0,8}}+|\\)\Z", re.IGNORECASE)


def begun_mark(text: str) -> int:
    """Return where what reads as a mark has begun at the end of a text, or the text's length."""
    begun = _MARK_BEGUN.search(text, max(0, len(text) - _LONGEST_MARK))
    return begun.start() if begun else len(text)


_ANY_SIGN = re.compile(r"[`\[<]")
_SIGN = re.compile(
    r"\\[!-/:-@\[-`{-~]|(?P<ticks>`+)|(?P<comment><!--)|(?P<tag></?[A-Za-z!?][^<>]*>?)|!?(?P<open>\[)|\]"
)
_DESTINATION = re.compile(
    r"\(\s*+(?:<[^<>\n]*>|[^\s()<]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"
    r"""(?:\s++(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*+\)"""
)
_LABEL = re.compile(r"\[[^\[\]]*+\]")
_TICKS = re.compile(r"`+")
_STOPS = re.compile(r"[.!?…。！？；｡।॥؟۔]")
_OPENED = re.compile(r"\A(?:`+|.?\[)")
_STOPPED_LABEL = re.compile(r"[.!?…。！？।][*_\"'”’」』)]*\s*\]")
_NEUTRAL = "\u00a4"  # neither a letter nor a stop


@dataclass(frozen=True, slots=True)
class InlineSpan:
    """A span that nothing may split. Offsets are into the text that was read."""

    kind: SpanKind
    start: int
    end: int


@dataclass(slots=True)
class InlineReading:
    """The spans of a paragraph, ordered and disjoint, and where something begins that is not closed yet, or None."""

    spans: list[InlineSpan] = field(default_factory=list)
    unclosed: int | None = None

    def leave_open(self, at: int) -> None:
        self.unclosed = at if self.unclosed is None else min(at, self.unclosed)


def read_inline(text: str) -> InlineReading:
    """Return the inline spans of a paragraph, in time linear in its length."""
    if not _ANY_SIGN.search(text):
        return InlineReading()
    reader = _InlineReader(text)
    reader.read()
    return reader.reading


def mask(text: str, spans: list[InlineSpan]) -> str:
    """Return a text of the same length in which no sentence ends within a span, and no line.

    A link whose label ends with a stop counts as ending with it. What looks like a mark may close a sentence.
    """
    parts: list[str] = []
    done = 0
    for span in spans:
        inside = text[span.start : span.end]
        neutral = _STOPS.sub(_NEUTRAL, inside).replace("\n", " ")
        if span.kind != "mark":  # its first sign would close the sentence before it
            neutral = _OPENED.sub(lambda signs: _NEUTRAL * len(signs[0]), neutral, count=1)
        if span.kind == "link" and _STOPPED_LABEL.search(inside):
            neutral = neutral[:-1] + "."
        parts += [text[done : span.start], neutral]
        done = span.end
    return "".join(parts) + text[done:]


class _InlineReader:
    def __init__(self, text: str) -> None:
        self.reading = InlineReading()
        self._text = text
        self._opened: list[int] = []
        self._ticks: dict[int, list[int]] = {}
        for run in _TICKS.finditer(text):
            self._ticks.setdefault(len(run[0]), []).append(run.start())
        self._last_comment_end = text.rfind("-->")

    def read(self) -> None:
        at = 0
        while sign := _SIGN.search(self._text, at):
            at = self._read_sign(sign)
        for opened in self._opened[:1]:
            self.reading.leave_open(opened)

    def _read_sign(self, sign: re.Match[str]) -> int:
        """Read a sign, and return where to go on."""
        if sign["ticks"]:
            return self._read_code(sign.start(), len(sign[0]))
        if sign["comment"]:
            return self._read_comment(sign.start())
        if sign["tag"]:
            return self._read_tag(sign)
        if sign["open"]:
            self._opened.append(sign.start())
        elif sign[0] == "]" and self._opened:
            return self._close(self._opened.pop(), sign.end())
        return sign.end()

    def _read_code(self, start: int, length: int) -> int:
        runs = self._ticks.get(length, [])
        later = bisect_left(runs, start + length)
        if later == len(runs):
            self.reading.leave_open(start)
            return start + length
        end = runs[later] + length
        if end == len(self._text):  # one more backtick would make another run of it
            self.reading.leave_open(start)
        return self._add("code", start, end)

    def _read_comment(self, start: int) -> int:
        if self._last_comment_end < start:
            self.reading.leave_open(start)
            return start + 4
        return self._add("tag", start, self._text.index("-->", start) + 3)

    def _read_tag(self, sign: re.Match[str]) -> int:
        if sign[0].endswith(">"):
            return self._add("tag", sign.start(), sign.end())
        if sign.end() == len(self._text):
            self.reading.leave_open(sign.start())
        return sign.start() + 1

    def _close(self, start: int, end: int) -> int:
        """Read what a pair of brackets is by what follows it."""
        following = self._text[end : end + 1]
        if following in ("(", "["):
            found = (_DESTINATION if following == "(" else _LABEL).match(self._text, end)
            if found:
                return self._add("link", start, found.end())
            self.reading.leave_open(start)
        elif not following:
            self.reading.leave_open(start)
        if LOOKS_LIKE_A_MARK.fullmatch(self._text, start, end):
            return self._add("mark", start, end)
        return end

    def _add(self, kind: SpanKind, start: int, end: int) -> int:
        while self.reading.spans and self.reading.spans[-1].start >= start:
            self.reading.spans.pop()
        while self._opened and self._opened[-1] >= start:
            self._opened.pop()
        self.reading.spans.append(InlineSpan(kind, start, end))
        return end
