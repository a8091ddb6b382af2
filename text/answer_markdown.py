"""An answer's Markdown as units with exact offsets: what may claim something, and where a citation mark may stand.

Headings, questions, code, lead-ins before a list, table or block of code, labels, bare links and closing offers claim
nothing. A lead-in that states a fact, by a number, a name or code in it, does: "Flask 3.1, of May 2019, changed this:".
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from text.inline_spans import InlineReading, InlineSpan, mask, read_inline
from text.late_patterns import late_pattern
from text.markdown_blocks import Block, Edge, Kind, Lines, Span, behind_markers, blocks_of, restart
from text.offers import is_offer
from text.scripts import UNSPACED
from text.sentences import prose_sentences, trimmed
from text.shapes import is_question


@dataclass(frozen=True, slots=True)
class Unit:
    """A leaf of the tree, from its first sign to its last; offsets are into the whole text.

    ``claims`` are the pieces that can claim something, in order: sentences of prose, or a row as a whole. ``context``
    is what they hang on, outermost first: lead-ins, parent items, the header row. ``spans`` must not be split. With
    ``is_open``, further claims may follow in this unit; ``unclosed`` is where a span begins that may end later.
    """

    kind: Kind
    start: int
    end: int
    claims: tuple[Span, ...] = ()
    context: tuple[Span, ...] = ()
    spans: tuple[InlineSpan, ...] = ()
    is_open: bool = False
    unclosed: int | None = None

    @property
    def takes_marks(self) -> bool:
        """Whether a mark may stand in it."""
        return self.kind not in ("code", "rule")


def units(text: str, start: int = 0, *, is_open: bool = False) -> list[Unit]:
    """Return the units of an answer's section in order, disjoint, in linear time; never raises.

    With ``start``, units before that offset may be left out. With ``is_open`` the text goes on, and ``claims`` holds
    only what no continuation can change.
    """
    return list(_read(text, restart(text, start), is_open=is_open))


@lru_cache(maxsize=32)
def whole_units(text: str) -> tuple[Unit, ...]:
    """Return the units of a finished text, kept for the next reader of the same text."""
    return tuple(_read(text, 0, is_open=False))


def context_of(text: str, start: int) -> tuple[Span, ...]:
    """Return what a claim that begins at an offset hangs on: lead-ins, parent items, and the header of its table."""
    found = whole_units(text)
    at = bisect_right(found, start, key=lambda unit: unit.start) - 1
    return found[at].context if at >= 0 and start < found[at].end else ()


def _read(text: str, first: int, *, is_open: bool) -> Iterator[Unit]:
    tree = _Tree(text, Lines(text, first, is_open=is_open), is_open)
    waits = False  # for more text, behind which no claim is sure
    for block in blocks_of(tree.lines):
        if isinstance(block, Block):
            unit = tree.unit(block)
            if unit is not None:
                yield replace(unit, claims=(), is_open=True) if waits else unit
                waits = waits or unit.is_open
        else:
            tree.cross(block)


_WORD_SIGN = re.compile(r"[^\W_]")
_CLOSING = r"[\s*_~\"'“”’»)\]}」』）】》〉]*"
_ENDS_WITH_STOP = re.compile(rf"[.!?…。！？｡।॥؟۔]{_CLOSING}\Z")
_ENDS_WITH_COLON = re.compile(r"[:：][\s*_~\"”’)）」』]*\Z")
_BOLD_LINE = re.compile(r"(?P<sign>\*\*|__)(?:\d{1,3}[.):]\s*)?(?P<label>[^*_\n]+)(?P=sign)\Z")
_BEGINS_BLOCK = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+\S|#{1,6}[ \t]+\S)")
_DELIMITERS = re.compile(r"[ \t>|:-]*\Z")
_LABELS = re.compile(r"(?:\[[ xX]\][ \t]+|\[![A-Za-z]+\][+-]?[ \t]*(?=\n|\Z)|:::[^\n]*(?=\n|\Z)|[•‣▪·][ \t]+)\s*")
_DEFINITION = re.compile(r"\[[^\[\]]+\]:\s*(?:<[^<>\n]*>|\S*[/.#]\S*)(?:\s+[\"'(].*)?\Z", re.DOTALL)
_BARE_ADDRESS = re.compile(r"(?:https?://|www\.)\S*", re.IGNORECASE)
_SUMMARY = re.compile(r"<summary>[^<]*</summary>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_HARD_BREAK = re.compile(r"(?:  |\\)\Z")
_HEADING_MARK = re.compile(r"#{1,6}[ \t]+")
_WORD = late_pattern(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:[.'’-][^\W_{UNSPACED}]+)*")
_LONGEST_LABEL = 3  # words before a colon that are a label, such as "Step 1:"
_FACT = late_pattern(r"\d|`")


def states_fact(sentence: str) -> bool:
    """Whether a sentence states a fact by its form: it has a number, code, or a capitalised word behind its first."""
    if _FACT.search(sentence):
        return True
    return any(word[0].isupper() for word in _WORD.findall(sentence)[1:])


class _Prose:
    """The content of a paragraph, of which each line has lost the prefixes of its containers, mapped to the text."""

    def __init__(self, block: Block, lines: Lines) -> None:
        contents = _contents(block, lines)
        self.places: list[int] = []
        self.begins: list[int] = []
        self.breaks: list[int] = []  # line ends that the writer asked for
        kept: list[str] = []
        length = 0
        for at in range(block.first, block.last):
            source = lines.lines[at].rstrip()
            within = at - block.first
            core = contents[within] if within < len(contents) else ""
            core = core if source.endswith(core) else source.lstrip()
            if within and _HARD_BREAK.search(lines.lines[at - 1]):
                self.breaks.append(length - 1)
            self.begins.append(length)
            self.places.append(lines.base + lines.starts[at] + len(source) - len(core))
            kept.append(core)
            length += len(core) + 1
        self.content = "\n".join(kept)

    def place(self, offset: int) -> int:
        line = bisect_right(self.begins, offset) - 1
        return self.places[line] + offset - self.begins[line]

    def span(self, start: int, end: int) -> Span:
        return self.place(start), self.place(end - 1) + 1


def _contents(block: Block, lines: Lines) -> list[str]:
    """Return what each line holds; the parser has left out lines of unusual white space at the ends."""
    contents = [line.strip() for line in block.content.strip("\n").split("\n")]
    missing = block.last - block.first - len(contents)
    first = lines.lines[block.first : block.first + missing]
    blank = next((at for at, line in enumerate(first) if line[behind_markers(line) :].strip()), missing)
    return [""] * blank + contents


@dataclass(slots=True)
class _Tree:
    """Makes units of blocks in order, and tracks what lists and tables hang on."""

    text: str
    lines: Lines
    is_open: bool
    contexts: list[tuple[Span, ...]] = field(default_factory=lambda: [()])
    lead: tuple[Span, ...] = ()  # the lead-in or item that the next list or table hangs on
    table: tuple[Span, ...] = ()

    def cross(self, edge: Edge) -> None:
        """Enter or leave a list or a quote, or enter a table."""
        inside = (*self.contexts[-1], *self.lead)
        self.lead = ()
        if edge == "table":
            self.table = inside
        elif edge == "open":
            self.contexts.append(inside)
        else:
            self.contexts.pop()

    def unit(self, block: Block) -> Unit | None:
        if block.kind in ("row", "header"):
            return self._row(block)
        self.lead = ()
        if block.kind == "prose":
            return self._prose(block)
        if block.kind == "heading":
            return self._heading(block)
        base, starts = self.lines.base, self.lines.starts
        start, end = trimmed(self.text, base + starts[block.first], min(base + starts[block.last], len(self.text)))
        return Unit(block.kind, start, end) if start < end else None

    def _heading(self, block: Block) -> Unit | None:
        line = self.lines.lines[block.first]
        mark = _HEADING_MARK.search(line)
        at = line.find(block.content, mark.end()) if mark and block.content else -1
        if at < 0:
            return None
        at += self.lines.base + self.lines.starts[block.first]
        return Unit("heading", at, at + len(block.content), spans=_shifted(read_inline(block.content).spans, at))

    def _prose(self, block: Block) -> Unit | None:
        prose = _Prose(block, self.lines)
        if not prose.content.strip():
            return None
        inline = read_inline(prose.content)
        pieces = _Pieces(self.text, prose, inline, block, is_open=self.is_open, limit=self._limit(block, prose))
        found = tuple(pieces.claims())
        start, end = prose.span(0, len(prose.content))
        if pieces.lead_in is not None:
            self.lead = (pieces.lead_in,)
        elif block.nested:
            self.lead = ((start, end),)
        spans = tuple(InlineSpan(span.kind, *prose.span(span.start, span.end)) for span in inline.spans)
        kind: Kind = "heading" if block.setext and not found else "prose"
        unclosed = None if inline.unclosed is None else prose.place(inline.unclosed)
        return Unit(kind, start, end, found, self.contexts[-1], spans, pieces.is_open, unclosed)

    def _limit(self, block: Block, prose: _Prose) -> int | None:
        """Return the offset in a paragraph from which a line may become a table's header; None where it is closed.

        It is closed where no further line can become part of it, or make it the heading of an underline.
        """
        after, complete, lines = block.last, self.lines.complete, self.lines.lines
        if after < complete and (block.setext or after + 1 != complete or "|" not in lines[after]):
            return None
        if after == complete and not block.setext and _begins_block(lines[after], block):
            return None
        if block.first >= complete and prose.content.startswith("<"):
            return 0  # a tag may yet take the whole line
        maybe = [complete] if after > complete else []
        if after >= complete and _DELIMITERS.match(lines[complete]):
            maybe.append(complete - 1)
        begins = [prose.begins[at - block.first] for at in maybe if at >= block.first]
        pipes = [pipe for begin in begins if (pipe := prose.content.find("|", begin)) >= 0]
        return min(pipes, default=len(prose.content))

    def _row(self, block: Block) -> Unit | None:
        line = self.lines.lines[block.first]
        begin = self.lines.base + self.lines.starts[block.first]
        filled = [cell for cell in _cells(line, block.columns) if cell[0] < cell[1]]
        if not filled:
            return None
        start, end = begin + filled[0][0], begin + filled[-1][1]
        spans = tuple(
            span for cell in filled for span in _shifted(read_inline(line[slice(*cell)]).spans, begin + cell[0])
        )
        if block.kind == "header":
            context, self.table = self.table, (*self.table, (start, end))
            return Unit("header", start, end, context=context, spans=spans)
        settled = block.first < self.lines.complete and _WORD_SIGN.search(self.text[start:end])
        context = self.table if block.columns else self.contexts[-1]
        return Unit("row", start, end, ((start, end),) if settled else (), context, spans, not settled)


def _begins_block(line: str, block: Block) -> bool:
    """Whether the beginning of a line behind a paragraph already tells that it is no part of it."""
    return _BEGINS_BLOCK.match(line) is not None or (not block.nested and line.startswith(">"))


def _shifted(spans: Sequence[InlineSpan], by: int) -> tuple[InlineSpan, ...]:
    return tuple(InlineSpan(span.kind, span.start + by, span.end + by) for span in spans)


def _cells(line: str, columns: int) -> list[Span]:
    """Return the spans of a row's cells without white space; those beyond the table's columns are not shown."""
    if not columns:
        return [trimmed(line, behind_markers(line), len(line))]
    start, end = trimmed(line, len(line) - len(line.lstrip(" \t>")), len(line))
    edges = [at.start() for at in _PIPE.finditer(line, start, end)]
    if not edges or edges[0] > start:
        edges.insert(0, start - 1)
    if edges[-1] < end - 1 or len(edges) == 1:
        edges.append(end)
    return [trimmed(line, one + 1, other) for one, other in pairwise(edges)][:columns]


_PIPE = re.compile(r"(?<!\\)\|")


class _Pieces:
    """The pieces of a paragraph: its sentences and lines, of which some claim something.

    ``limit`` is the offset behind which lines may still change, None in a closed paragraph.
    """

    def __init__(
        self, text: str, prose: _Prose, inline: InlineReading, block: Block, *, is_open: bool, limit: int | None
    ) -> None:
        self.is_open = limit is not None
        self.lead_in: Span | None = None
        self._text = text
        self._text_is_open = is_open
        self._prose = prose
        self._inline = inline
        self._block = block
        self._masked = mask(prose.content, inline.spans)
        unclosed = len(self._masked) if inline.unclosed is None else inline.unclosed
        self._limit = len(self._masked) if limit is None else min(limit, unclosed)

    def claims(self) -> Iterator[Span]:
        """Yield the spans of the pieces that claim something, as far as they are sure to."""
        for start, end in list(self._spans()):
            if self.is_open and end >= self._limit:
                self.is_open = True
                return
            begin, stop = self._without_labels(start, end)
            if begin >= stop:
                continue
            claims = self._claims(begin, stop, end)
            if claims is None:
                self.is_open = True
                return
            if claims:
                yield self._prose.span(begin, stop)

    def _spans(self) -> Iterator[Span]:
        """Yield the spans of sentences; a line end that the writer asked for ends one too."""
        edges = [0, *(at + 1 for at in self._prose.breaks if self._masked[at] == "\n"), len(self._masked)]
        for one, other in pairwise(edges):
            goes_on = self.is_open and other == len(self._masked)
            for start, end in prose_sentences(self._masked[one:other], is_open=goes_on):
                yield one + start, one + end

    def _without_labels(self, start: int, end: int) -> Span:
        """Return a piece without white space, a final backslash, and the labels around it."""
        content = self._prose.content
        start, end = trimmed(content, start, end)
        while start < end and (label := _LABELS.match(content, start, end)):
            start = label.end()
        if content.endswith("\n:::", start, end):
            end -= len("\n:::")
        if content.endswith("\\", start, end) and not content.endswith("\\\\", start, end):
            end -= 1
        return trimmed(content, start, max(start, end))

    def _claims(self, start: int, stop: int, end: int) -> bool | None:
        """Whether a piece claims something; None where that can't be said yet."""
        said, masked = self._prose.content[start:stop], self._masked[start:stop]
        if not self._has_words(start, stop) or is_offer(said) or is_question(said) or _DEFINITION.match(said):
            return False
        is_last = end == len(self._masked)
        if self._block.setext and is_last and not _ENDS_WITH_STOP.search(masked):
            return False
        if not is_last and "\n" not in self._masked[stop:end]:
            return True
        if _ENDS_WITH_COLON.search(masked):
            self.lead_in = self._prose.span(start, stop)
            return not _BOLD_LINE.match(said) and len(_WORD.findall(said)) > _LONGEST_LABEL and states_fact(said)
        return not self._is_bold_label(said, start) or self._is_end(stop)

    def _is_bold_label(self, said: str, start: int) -> bool:
        """Whether a whole line is bold, and no sentence, figure or item: a heading by another name."""
        bold = _BOLD_LINE.match(said)
        if bold is None or self._block.nested or (start and self._prose.content[start - 1] != "\n"):
            return False
        return not re.search(r"\d", bold["label"]) and not _ENDS_WITH_STOP.search(bold["label"])

    def _is_end(self, stop: int) -> bool | None:
        """Whether nothing follows in the text; None where something still may."""
        if self._text[self._prose.place(stop - 1) + 1 :].strip():
            return False
        return None if self._text_is_open else True

    def _has_words(self, start: int, stop: int) -> bool:
        """Whether words are left of a piece without its links, tags and addresses."""
        rest: list[str] = []
        done = start
        spans = self._inline.spans
        for span in spans[bisect_left(spans, start, key=lambda span: span.start) :]:
            if span.end > stop:
                break
            if span.kind != "code" and self._masked[span.end - 1] != ".":  # a link's label may be a sentence
                rest.append(self._prose.content[done : span.start])
                done = span.end
        rest.append(self._prose.content[done:stop])
        said = self._prose.content[start:stop]
        if said.startswith("<"):
            rest = [_TAG.sub("", _SUMMARY.sub("", said))]
        return _WORD_SIGN.search(_BARE_ADDRESS.sub("", " ".join(rest))) is not None
