"""Parser of Jupyter notebooks: Markdown cells as Markdown, code cells as code with the text that they gave.

Images and widgets are left out, and said to be. A cell's attachments are images, and so are they.
"""

import re
from collections.abc import Iterator
from typing import Any

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import CHECK_SUFFIX, Parsed
from tools.parsers.json_rows import load_json
from tools.parsers.markdown import MarkdownReader
from tools.parsers.plain import decode
from tools.parsers.value_rows import Members, Scalar

_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_LONGEST_OUTPUT = 100_000  # characters: a run may print without end
_MOST_CELLS = 100_000
_IMAGES = "image of the notebook"


def read(data: bytes) -> Parsed:
    """Parse a notebook of format 3 or 4. Raises UnreadableDocument if it is broken or no notebook."""
    notebook = load_json(decode(data))
    cells = _cells(notebook)
    if cells is None:
        raise UnreadableDocument("The file is no Jupyter notebook: it has no cells.", suggestion=CHECK_SUFFIX)
    if len(cells) > _MOST_CELLS:
        raise UnreadableDocument(f"The notebook has more than {_MOST_CELLS:,} cells.", suggestion="Split it.")
    reader = _Reader()
    for cell in cells:
        reader.read(cell)
    return reader.parsed(notebook)


def _cells(notebook: Any) -> list[Any] | None:
    if not isinstance(notebook, Members):
        return None
    cells = notebook.get("cells")
    sheets = notebook.get("worksheets")  # of format 3
    if not isinstance(cells, list) and isinstance(sheets, list):
        inside = [sheet.get("cells") for sheet in sheets if isinstance(sheet, Members)]
        cells = [cell for part in inside if isinstance(part, list) for cell in part]
    return cells if isinstance(cells, list) and not isinstance(cells, Members) else None


class _Reader:
    def __init__(self) -> None:
        self._markdown = MarkdownReader()
        self._left_out = self._markdown.text.left_out

    def read(self, cell: Any) -> None:
        """Write a cell; one of an unknown type is left out."""
        if not isinstance(cell, Members):
            return
        kind, source = cell.get("cell_type"), _text(cell.get("source") or cell.get("input"))
        if kind == "code":
            code = self._markdown.add_code(source.strip("\n"))
            for words in self._outputs(cell.get("outputs")):
                self._markdown.text.add("code", words, hangs_on=[code])
        elif kind == "markdown":
            attached = cell.get("attachments")
            self._left_out[_IMAGES] += len(attached) if isinstance(attached, Members) else 0
            self._markdown.read_markdown(source)
        elif kind == "heading":  # of format 3
            level = cell.get("level")
            known = isinstance(level, Scalar) and re.fullmatch("[1-6]", level.text)
            self._markdown.read_markdown(f"{'#' * int(level.text) if known else '#'} {' '.join(source.split())}")
        elif kind == "raw":
            self._markdown.text.add("paragraph", source)

    def parsed(self, notebook: Members) -> Parsed:
        """Return what was written, with the title of the notebook's metadata if it has one."""
        metadata = notebook.get("metadata")
        title = metadata.get("title") if isinstance(metadata, Members) else None
        return self._markdown.text.parsed(title=title.strip() if isinstance(title, str) else None)

    def _outputs(self, outputs: Any) -> Iterator[str]:
        """Yield the text of outputs; streams that follow each other are one."""
        stream: list[str] = []
        for output in outputs if isinstance(outputs, list) else ():
            if not isinstance(output, Members):
                continue
            if output.get("output_type") == "stream":
                stream.append(_text(output.get("text")))
                continue
            yield self._cut("".join(stream))
            stream = []
            yield self._cut(self._one(output))
        yield self._cut("".join(stream))

    def _one(self, output: Members) -> str:
        if output.get("output_type") in ("error", "pyerr"):
            return ": ".join(filter(None, (_text(output.get("ename")), _text(output.get("evalue")))))
        found = output.get("data")
        shown = found if isinstance(found, Members) else output
        names = {name for name, _ in shown}
        pictures = sorted(name for name in names if name.startswith("image/") or name in ("png", "jpeg", "svg"))
        self._left_out[_IMAGES] += bool(pictures)
        if pictures:
            return ""  # its text is only the name of an object, such as "<Figure size 640x480>"
        text = next(
            (words for name in ("text/plain", "text/markdown", "text") if (words := _text(shown.get(name)))), ""
        )
        self._left_out["output without text of the notebook"] += not text and bool(names - {"output_type", "metadata"})
        return text

    def _cut(self, words: str) -> str:
        words = _ANSI.sub("", words).strip("\n")
        if len(words) > _LONGEST_OUTPUT:
            self._left_out["part of a long output of the notebook"] += 1
            words = words[:_LONGEST_OUTPUT]
        return words


def _text(value: Any) -> str:
    """Return a text that may be stored as its lines."""
    lines = value if isinstance(value, list) and not isinstance(value, Members) else [value]
    return "".join(line for line in lines if isinstance(line, str))
