"""An export as a Word file: real headings and tables, and a footnote for each quote.

python-docx knows no footnotes, so their part is written here. A footnote is referred to once, as Word wants it; where a
quote bears another claim too, its number stands there as text.
"""

import io
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from docx import Document
from docx.document import Document as DocxDocument
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_COLOR_INDEX
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.ns import nsmap, qn
from docx.shared import Cm, Pt
from docx.text.paragraph import Paragraph
from docx.text.run import Run
from lxml import etree
from markdown_it.tree import SyntaxTreeNode

from answers.marks import grade_of
from tools.exports.exported import (
    Exchange,
    ExportedAnswer,
    ExportedSection,
    Mark,
    Note,
    RunAccount,
    Transcript,
    shown_of,
)
from tools.exports.markdown_tree import Highlighted, MarkedTree, fit, is_safe, safe_target, words_only
from tools.exports.wording import Words

_FOOTNOTES_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
_REFERENCE = "Footnote Reference"
_TEXT = "Footnote Text"
_MONOSPACE = "Courier New"
_FIRST_OWN = 1  # Word's separators have the ids -1 and 0
_DEEPEST_LIST = 3
_LONGEST_HEADING = 250  # of a question, which stands whole below


def word_file(transcript: Transcript, words: Words) -> bytes:
    """Return a transcript as a docx file."""
    return _WordFile(transcript, words).written()


class _Footnotes:
    """The part of a document with its footnotes, numbered in the order in which they are referred to."""

    def __init__(self, document: DocxDocument) -> None:
        self._root = etree.Element(qn("w:footnotes"), nsmap={"w": nsmap["w"], "r": nsmap["r"]})
        for number, kind in ((-1, "separator"), (0, "continuationSeparator")):
            note = self._note(number)
            note.set(qn("w:type"), kind)
            run = etree.SubElement(etree.SubElement(note, qn("w:p")), qn("w:r"))
            etree.SubElement(run, qn(f"w:{kind}"))
        package = document.part.package
        assert package is not None
        self.part = Part(PackURI("/word/footnotes.xml"), _FOOTNOTES_TYPE, b"", package)
        document.part.relate_to(self.part, RELATIONSHIP_TYPE.FOOTNOTES)
        self._numbers: dict[int, int] = {}

    def number_of(self, note: Note) -> tuple[int, bool]:
        """Return the number of a quote's footnote, and whether it is a new one."""
        known = self._numbers.get(note.number)
        if known is not None:
            return known, False
        number = self._numbers[note.number] = len(self._numbers) + _FIRST_OWN
        return number, True

    def add(self, number: int) -> Any:
        """Add a footnote, and return its paragraph, which begins with its sign."""
        paragraph = OxmlElement("w:p")
        self._note(number).append(paragraph)
        return paragraph

    def close(self) -> None:
        self.part._blob = etree.tostring(self._root, xml_declaration=True, encoding="UTF-8", standalone=True)

    def _note(self, number: int) -> etree._Element:
        note = etree.SubElement(self._root, qn("w:footnote"))
        note.set(qn("w:id"), str(number))
        return note


class _WordFile:
    def __init__(self, transcript: Transcript, words: Words) -> None:
        self._transcript = transcript
        self._words = words
        self.document = Document()
        self._add_styles()
        self._footnotes = _Footnotes(self.document)

    def written(self) -> bytes:
        transcript, words, document = self._transcript, self._words, self.document
        about = document.core_properties
        about.title, about.author, about.comments = fit(transcript.title)[:255], "Citewell", ""
        about.created = about.modified = transcript.exported_at.replace(tzinfo=None)
        self._heading(transcript.title, 0)
        self._say(words.made(transcript))
        if not transcript.is_whole:
            self._say(words("answer_only"))
        if transcript.withheld:
            self._say(words("something_left_out"), bold=True)
        if transcript.text:
            self._section(ExportedSection(transcript.text), {})
        for exchange in transcript.exchanges:
            self._exchange(exchange)
        if transcript.documents:
            self._heading(words("documents"), 1)
            self._table(
                [words(name) for name in ("document", "version", "current", "changed_at", "fingerprint")],
                [
                    [
                        each.title,
                        words("unknown") if each.version is None else str(each.version),
                        str(each.current),
                        words.day(each.changed_at),
                        each.sha256[:16],
                    ]
                    for each in transcript.documents
                ],
            )
        self._footnotes.close()
        file = io.BytesIO()
        document.save(file)
        return file.getvalue()

    def _add_styles(self) -> None:
        styles = self.document.styles
        text: Any = styles.add_style(_TEXT, WD_STYLE_TYPE.PARAGRAPH)
        text.base_style = styles["Normal"]
        text.font.size = Pt(9)
        text.paragraph_format.space_after = Pt(2)
        reference: Any = styles.add_style(_REFERENCE, WD_STYLE_TYPE.CHARACTER)
        reference.font.superscript = True

    def _heading(self, text: str, level: int) -> None:
        _write(self.document.add_heading("", level), text)

    def _say(self, text: str, *, bold: bool = False) -> None:
        run = self.document.add_paragraph().add_run(fit(text))
        run.italic, run.bold = not bold, bold

    def _exchange(self, exchange: Exchange) -> None:
        words, question = self._words, exchange.question
        short = len(question) <= _LONGEST_HEADING and "\n" not in question
        self._heading(question if short else f"{' '.join(question.split())[:_LONGEST_HEADING]}…", 1)
        if not short:
            self._quoted(question)
        if exchange.asked_at is not None:
            self._say(words("asked", date=words.day(exchange.asked_at)))
        if exchange.selected_text:
            self._say(words("selected"))
            self._quoted(exchange.selected_text)
        answer = exchange.answer
        if answer is None:
            self._say(words("no_answer"))
            return
        if said := words.state(answer):
            self._say(said, bold=True)
        self._answer(answer)

    def _quoted(self, text: str) -> None:
        _write(self.document.add_paragraph(style="Quote"), text)

    def _answer(self, answer: ExportedAnswer) -> None:
        words = self._words
        notes = {note.number: note for note in answer.notes}
        self._sections(answer, notes)
        self._bullets(words("nearest"), [f"{words.source(each)}: {shown_of(each)}" for each in answer.nearest])
        self._bullets(words("disagreements"), [line for each in answer.disagreements for line in words.sides(each)])
        if answer.claims:
            self._heading(words("claims"), 2)
            self._claims(answer, notes)
        if answer.account is not None:
            self._heading(words("account"), 2)
            for line in words.paid(answer.account):
                self.document.add_paragraph(fit(line))
            self._steps(answer.account)

    def _sections(self, answer: ExportedAnswer, notes: dict[int, Note]) -> None:
        for section, turns_ungrounded in answer.told():
            if turns_ungrounded:
                self._say(self._words("ungrounded"))
            if section.withheld:
                self._say(self._words("left_out"))
                continue
            if section.passage is not None:
                self._say(self._words.quoted_from(section.passage))
            self._section(section, notes)

    def _section(self, section: ExportedSection, notes: dict[int, Note]) -> None:
        tree = MarkedTree(section)
        _Blocks(self, tree, notes).write(tree.root.children)
        if tree.behind:
            paragraph = self.document.add_paragraph()
            for mark in tree.behind:
                self.mark(paragraph, mark, notes)

    def _bullets(self, title: str, lines: Sequence[str]) -> None:
        if lines:
            self._heading(title, 2)
        for line in lines:
            _write(self.document.add_paragraph(style="List Bullet"), line)

    def _steps(self, account: RunAccount) -> None:
        rows = [[step, f"{each['calls']}", f"{each['tokens']}", f"{each['ms']:.0f}"] for step, each in account.steps]
        if rows:
            self._table([self._words(name) for name in ("step", "calls", "tokens", "milliseconds")], rows)

    def _claims(self, answer: ExportedAnswer, notes: dict[int, Note]) -> None:
        words = self._words
        rows = [
            [words_only(each.claim["text"]), words(grade_of(each.claim)), words.giver(each.claim), ""]
            for each in answer.claims
        ]
        table = self._table([words(name) for name in ("claim", "verdict", "given_by", "quote_numbers")], rows)
        for row, each in zip(table.rows[1:], answer.claims, strict=True):
            self.refer(row.cells[3].paragraphs[0], each.notes, notes)

    def _table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
        table = self.document.add_table(rows=1, cols=len(head), style="Table Grid")
        for cell, text in zip(table.rows[0].cells, head, strict=True):
            cell.paragraphs[0].add_run(fit(text)).bold = True
        _repeat(table.rows[0])
        for row in rows:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                _write(cell.paragraphs[0], text)
        self.document.add_paragraph()
        return table

    def mark(self, paragraph: Paragraph, mark: Mark, notes: dict[int, Note]) -> None:
        """Write what stands behind a claim."""
        self.refer(paragraph, mark.notes, notes)
        if mark.is_told:
            paragraph.add_run(f" ({self._words(mark.grade)})").italic = True

    def refer(self, paragraph: Paragraph, numbers: Iterable[int], notes: dict[int, Note]) -> None:
        """Refer to footnotes, and write those that are new."""
        for place, number in enumerate(numbers):
            if place:
                paragraph.add_run(", ", style=_REFERENCE)
            footnote, is_new = self._footnotes.number_of(notes[number])
            run = paragraph.add_run("" if is_new else str(footnote), style=_REFERENCE)
            if is_new:
                sign = OxmlElement("w:footnoteReference")
                sign.set(qn("w:id"), str(footnote))
                run._r.append(sign)
                self._write_footnote(footnote, notes[number])

    def _write_footnote(self, number: int, note: Note) -> None:
        words = self._words
        paragraph = Paragraph(self._footnotes.add(number), self.document._body)
        paragraph.style = _TEXT
        paragraph.add_run(style=_REFERENCE)._r.append(OxmlElement("w:footnoteRef"))
        if note.withheld:
            paragraph.add_run(f" {words('withheld')}")
            return
        context = "".join(f"{' '.join(each['text'].split())} … " for each in note.context)
        if context:
            paragraph.add_run(fit(f" {context}")).italic = True
        start, end = note.highlight or (0, 0)
        paragraph.add_run(fit(f" “{note.quote[:start]}"))
        paragraph.add_run(fit(note.quote[start:end])).bold = True
        paragraph.add_run(fit(f"{note.quote[end:]}” "))
        where = fit(words.where(note) or note.document_id)
        if is_safe(note.address):
            run = _run_of(paragraph, _link(paragraph, self._footnotes.part, note.address))
            run.text, run.underline = where, True
        else:
            paragraph.add_run(where)
        paragraph.add_run(fit(f". {' '.join(words.of_note(note))}"))


class _Blocks:
    """Writes the tree of a section as paragraphs, lists and tables."""

    def __init__(self, file: _WordFile, tree: MarkedTree, notes: dict[int, Note]) -> None:
        self._file = file
        self._document = file.document
        self._tree = tree
        self._notes = notes

    def write(self, nodes: Iterable[SyntaxTreeNode], *, style: str | None = None, depth: int = 0) -> None:
        for node in nodes:
            self._block(node, style, depth)

    def _block(self, node: SyntaxTreeNode, style: str | None, depth: int) -> None:
        match node.type:
            case "heading":
                self._text(self._document.add_heading("", min(int(node.tag[1:]) + 1, 6)), node)
            case "paragraph":
                self._text(self._document.add_paragraph(style=style), node)
            case "fence":
                self._pieces(self._document.add_paragraph(), node.content.rstrip("\n"), {"code"}, None)
            case "blockquote":
                self.write(node.children, style="Quote", depth=depth)
            case "bullet_list" | "ordered_list":
                self._list(node, min(depth + 1, _DEEPEST_LIST))
            case "table":
                self._table(node)
            case _:
                self.write(node.children, style=style, depth=depth)

    def _list(self, node: SyntaxTreeNode, depth: int) -> None:
        first = int(node.attrs.get("start", 1))
        for place, item in enumerate(node.children):
            for at, child in enumerate(item.children):
                if child.type != "paragraph" or at:
                    self._block(child, None, depth)
                elif node.type == "bullet_list":
                    bullet = f"List Bullet {depth}" if depth > 1 else "List Bullet"
                    self._text(self._document.add_paragraph(style=bullet), child)
                else:  # numbers of their own: those of Word go on from list to list
                    paragraph = self._document.add_paragraph()
                    paragraph.paragraph_format.left_indent = Cm(0.75 * depth)
                    paragraph.add_run(f"{first + place}. ")
                    self._text(paragraph, child)

    def _table(self, node: SyntaxTreeNode) -> None:
        rows = [row for part in node.children for row in part.children]
        columns = max(len(row.children) for row in rows)
        table = self._document.add_table(len(rows), columns, style="Table Grid")
        _repeat(table.rows[0])
        for row, written in zip(rows, table.rows, strict=True):
            for cell, place in zip(row.children, written.cells, strict=False):
                self._text(place.paragraphs[0], cell, bold=cell.type == "th")
        self._document.add_paragraph()

    def _text(self, paragraph: Paragraph, node: SyntaxTreeNode, *, bold: bool = False) -> None:
        for child in node.children:
            self._inline(paragraph, child.children, {"bold"} if bold else set())
        _turn(paragraph, paragraph.text)

    def _inline(self, paragraph: Paragraph, nodes: Sequence[SyntaxTreeNode], looks: set[str], link: Any = None) -> None:
        for node in nodes:
            match node.type:
                case "text":
                    self._pieces(paragraph, node.content, looks, link)
                case "softbreak":
                    self._run(paragraph, " ", looks, link)
                case "hardbreak":
                    paragraph.add_run().add_break()
                case "code_inline":
                    self._pieces(paragraph, node.content, {*looks, "code"}, link)
                case "strong" | "em" | "s":
                    look = {"strong": "bold", "em": "italic", "s": "struck"}[node.type]
                    self._inline(paragraph, node.children, {*looks, look}, link)
                case "image":
                    self._inline(paragraph, node.children, looks, link)
                case "link":
                    target = safe_target(node)
                    inside = _link(paragraph, self._document.part, target) if target else None
                    self._inline(paragraph, node.children, looks, inside)

    def _pieces(self, paragraph: Paragraph, content: str, looks: set[str], link: Any) -> None:
        for piece in self._tree.pieces(content):
            if isinstance(piece, Mark):
                self._file.mark(paragraph, piece, self._notes)
            else:
                self._run(paragraph, piece, {*looks, "marked"} if isinstance(piece, Highlighted) else looks, link)

    def _run(self, paragraph: Paragraph, text: str, looks: set[str], link: Any) -> None:
        run = paragraph.add_run() if link is None else _run_of(paragraph, link)
        run.text = fit(text)
        run.bold, run.italic = "bold" in looks or None, "italic" in looks or None
        run.font.strike = "struck" in looks or None
        run.underline = link is not None or None
        if "code" in looks:
            run.font.name = _MONOSPACE
        if "marked" in looks:
            run.font.highlight_color = WD_COLOR_INDEX.YELLOW


def _write(paragraph: Paragraph, text: str) -> None:
    paragraph.add_run(fit(text))
    _turn(paragraph, text)


def _link(paragraph: Paragraph, part: Part, target: str) -> Any:
    """Add a link to a paragraph, and return the element that its runs go to."""
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), part.relate_to(fit(target), RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    paragraph._p.append(link)
    return link


def _run_of(paragraph: Paragraph, link: Any) -> Run:
    run = OxmlElement("w:r")
    link.append(run)
    return Run(run, paragraph)


def _repeat(row: Any) -> None:
    """Have the first row of a table stand on every page that the table reaches."""
    row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))


def _turn(paragraph: Paragraph, text: str) -> None:
    """Set a paragraph from right to left if its text is."""
    directions = (direction for sign in text if (direction := unicodedata.bidirectional(sign)) in ("L", "R", "AL"))
    if next(directions, "L") == "L":
        return
    paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))
    for run in paragraph.runs:
        run.font.rtl = True
