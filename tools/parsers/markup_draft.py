"""A draft of a markup that is read line by line: paragraphs, items and terms over several lines, code, and tables.

A reader says what a line begins and what the signs within a line mean; what hangs on what is found by ``Flow``.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tools.parsers.canonical_text import CanonicalText, Parsed, storable, unwrapped
from tools.parsers.linear_formulas import from_latex, set_apart
from tools.parsers.office_flow import Flow, Paragraph, Role, Table, TableCell, TableRow
from tools.parsers.plain import decode
from tools.parsers.raised_text import lowered, raised

_NEAR = 40  # characters around a sign that say how it is written


class Draft:
    """The text so far, to which a reader of one markup adds; ``shown`` is what each markup has of its own.

    ``noted`` is the number of the last footnote without a name; ``left_out`` counts what is not in the text, by name.
    """

    def __init__(self, noted: int = 0) -> None:
        self.flow = Flow(CanonicalText())
        self.title = ""
        self.noted = noted
        self.left_out = self.flow.text.left_out
        self._open: Paragraph | None = None
        self._lines: list[str] = []  # of it

    def shown(self, text: str, notes: list[str]) -> str:
        """Return the words of a text as a reader sees them, and add its footnotes to a list."""
        return text

    @property
    def is_open(self) -> bool:
        """Whether the next line may go on with the one before."""
        return self._open is not None

    def begin(self, role: Role, words: str, *, level: int = 0, marker: str = "") -> None:
        """Begin a paragraph or another block of text, which ``more`` goes on with until ``close``."""
        self.close()
        self._open, self._lines = Paragraph("", role, level, marker), [words]
        if role in ("title", "heading", "caption", "label"):
            self.close()

    def more(self, line: str) -> None:
        """Go on with what is open, or begin a paragraph."""
        if self._open is None:
            self.begin("paragraph", line)
        else:
            self._lines.append(line)

    def close(self) -> None:
        """Write what is open."""
        paragraph, self._open = self._open, None
        if paragraph is not None:
            notes: list[str] = []
            paragraph.text, paragraph.notes = self._words("\n".join(self._lines), notes), notes
            self.flow.paragraph(paragraph)

    def code(self, lines: Sequence[str]) -> None:
        """Write lines of code."""
        self.close()
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        if any(line.strip() for line in lines):
            self.flow.paragraph(Paragraph("\n".join(line[indent:] for line in lines), "code"))

    def read(self, lines: list[str], depth: int) -> None:
        """Read lines that stand within so many blocks."""
        raise NotImplementedError

    def block(self, kind: str, lines: list[str], depth: int) -> None:
        """Read a block: code, a quotation, a comment, or one that holds others."""
        if kind == "comment":
            self.left_out["comment"] += 1
        elif kind == "code":
            self.code(lines)
        elif kind == "quote":
            for words in re.split(r"\n\s*\n", "\n".join(lines)):
                self.begin("quote", words)
        else:
            self.close()
            self.read(lines, depth + 1)

    def table(self, rows: Sequence[Sequence[str]], *, headers: int, below: Sequence[str] = ()) -> None:
        """Write a table, of which the first rows are headers, and the footnotes below it."""
        self.close()
        written = []
        for at, row in enumerate(rows):
            notes: list[str] = []
            cells = [TableCell(" ".join(self._words(cell, notes).split())) for cell in row]
            written.append(TableRow(cells, header=at < headers, notes=notes))
        if written:
            written[-1].notes.extend(below)
            self.flow.table(Table(written))

    @contextmanager
    def labelled(self, label: str) -> Iterator[None]:
        """Let what is written within hang on a label, such as "Note"."""
        self.close()
        with self.flow.labelled(self._words(label, [])):
            yield
            self.close()

    def parsed(self) -> Parsed:
        """Return the text, with what is said of what was left out."""
        self.close()
        self.flow.end()
        return self.flow.text.parsed(title=self.title or self.flow.title)

    def formula(self, latex: str, before: str, after: str) -> str:
        """Return a formula as a line that keeps its value, apart from the words around it."""
        line = from_latex(latex)
        return latex if line is None else set_apart(before, self.flow.text.formula(line, "latex", latex), after)

    def script(self, found: re.Match[str], mark: str) -> str:
        """Return what is written above the line, or below it, as ``found["script"]`` says."""
        write = raised if found["script"] == "^" else lowered
        before, after = around(found)
        return write(before, mark, after=after)

    def note(self, words: str, notes: list[str]) -> str:
        """Return the mark of a footnote without a name of its own, which is added to those of its block."""
        self.noted += 1
        notes.append(f"[{self.noted}] {words}")
        return f" [{self.noted}]"

    def _words(self, text: str, notes: list[str]) -> str:
        return self.joined(self.shown(text, notes))

    def joined(self, text: str) -> str:
        """Return a text without its line breaks, but for those that readers see."""
        return "\n".join(unwrapped(part).strip() for part in text.split("\v")).strip()


def source(data: bytes) -> str:
    """Return the text of a file without the signs that mark formulas here. Raises UnreadableDocument."""
    return storable(decode(data)).translate({0x0E: None, 0x0F: None})


def until(lines: Sequence[str], first: int, end: str) -> list[str]:
    """Return the lines before one that is ``end`` in any case, or all where there is none."""
    last = next((at for at in range(first, len(lines)) if lines[at].strip().lower() == end), len(lines))
    return list(lines[first:last])


def around(found: re.Match[str]) -> tuple[str, str]:
    """Return the words before a sign in its text, and those behind it."""
    text = found.string
    return text[max(0, found.start() - _NEAR) : found.start()], text[found.end() : found.end() + _NEAR]
