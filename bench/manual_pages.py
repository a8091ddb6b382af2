"""Pages of synthetic manuals in Markdown, HTML and PDF: prose, settings, steps, a table, code and a note."""

from collections.abc import Iterator
from html import escape
from itertools import islice

from bench.corpus import Corpus
from tests.unit.pdf_files import pdf
from text.sentences import sentences

SECTIONS = 6  # of a page
PDF_LINES = 40
PDF_LINE = 80  # characters


class Sentences:
    """An endless supply of the sentences of a corpus."""

    def __init__(self, seed: int) -> None:
        self._left = self._all(Corpus(seed))

    def take(self, count: int) -> list[str]:
        """Return the next sentences."""
        return list(islice(self._left, count))

    @staticmethod
    def _all(corpus: Corpus) -> Iterator[str]:
        while True:
            for document in corpus.documents(100):
                for body in document.bodies():
                    yield from (body[start:end].strip() for start, end in sentences(body))


def _title(said: str) -> str:
    return " ".join(said.rstrip(".").split()[:4])


def _setting(said: str) -> str:
    return "_".join(said.rstrip(".").lower().split()[:2])


def _cells(said: str) -> list[str]:
    words = said.rstrip(".").split()
    return [_setting(said), " ".join(words[2:5]) or "-", str(len(said) * 8)]


def markdown_page(from_: Sentences) -> str:
    """Return the next page in Markdown."""
    parts = [f"# {_title(*from_.take(1))}", " ".join(from_.take(3))]
    for _ in range(SECTIONS):
        title, *prose = from_.take(5)
        parts += [f"## {_title(title)}", " ".join(prose[:2]), " ".join(prose[2:]), "The settings are:"]
        parts.append("\n".join(f"- `{_setting(each)}`: {each}" for each in from_.take(3)))
        parts.append("\n".join(f"{number}. {each}" for number, each in enumerate(from_.take(3), 1)))
        rows = [["setting", "meaning", "default"], ["---"] * 3, *map(_cells, from_.take(4))]
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
        [example, note] = from_.take(2)
        parts += [f"```\n{_setting(example)} = {len(example)}\nserve --{_setting(note)}\n```", f"> **Note:** {note}"]
    return "\n\n".join(parts) + "\n"


def html_page(from_: Sentences) -> str:
    """Return the next page in HTML, in a frame of navigation."""
    title, *opening = from_.take(4)
    parts = [f"<h1>{escape(_title(title))}</h1>", _paragraph(" ".join(opening))]
    for number in range(SECTIONS):
        heading, *prose = from_.take(5)
        parts += [f'<section class="sect1" id="part-{number}"><h2>{escape(_title(heading))}</h2>']
        parts += [_paragraph(" ".join(prose[:2])), _paragraph(" ".join(prose[2:])), '<dl class="variablelist">']
        for each in from_.take(3):
            name = escape(_setting(each))
            parts.append(f'<dt id="{name}-{number}"><code class="varname">{name}</code></dt>')
            parts.append(f"<dd>{_paragraph(each)}</dd>")
        parts.append("</dl><p>The steps are:</p><ol>")
        parts += [*(f"<li>{escape(each)}</li>" for each in from_.take(3)), "</ol>"]
        parts.append("<table><thead><tr><th>setting</th><th>meaning</th><th>default</th></tr></thead><tbody>")
        for each in from_.take(4):
            parts.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _cells(each))}</tr>")
        [example, note] = from_.take(2)
        parts.append(f'</tbody></table><pre class="programlisting">{escape(_setting(example))} = {len(example)}</pre>')
        parts.append(f'<div class="note"><h3 class="title">Note</h3>{_paragraph(note)}</div></section>')
    links = '<div class="navheader"><a href="a.html">Prev</a> <a href="index.html">Up</a></div>'
    head = f"<head><title>{escape(_title(title))}</title></head>"
    return f"<!DOCTYPE html><html>{head}<body>{links}<main>{''.join(parts)}</main>{links}</body></html>"


def _paragraph(said: str) -> str:
    return f"<p>{escape(said)}</p>"


def pdf_of(from_: Sentences, pages: int) -> bytes:
    """Return a PDF whose pages are full of prose under a heading."""
    return pdf([_pdf_page(from_) for _ in range(pages)], title="Bench")


def _pdf_page(from_: Sentences) -> list[str]:
    words = [word for said in from_.take(PDF_LINES) for word in said.split()]
    lines = [_title(" ".join(words[:4])), ""]
    line = ""
    for word in words:
        if len(line) + len(word) >= PDF_LINE:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return lines[:PDF_LINES]
