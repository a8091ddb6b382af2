"""An export as one HTML page that needs nothing else: the answer, its quotes with what stands around them, and proof.

It is built of elements, so that no text in it can become one. It has no script, asks for nothing, and its own policy
forbids both. It prints as it stands.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Any

from lxml import etree
from lxml.builder import ElementMaker
from markdown_it.tree import SyntaxTreeNode

from answers.highlighting import in_quote
from answers.marks import grade_of
from graph.evidence import Disagreement, Source
from tools.exports.exported import (
    DocumentVersion,
    Exchange,
    ExportedAnswer,
    ExportedSection,
    Mark,
    Note,
    Span,
    Transcript,
)
from tools.exports.markdown_tree import Highlighted, MarkedTree, fit, is_safe, safe_target, words_only
from tools.exports.wording import Words

STYLE = files("tools.exports").joinpath("report.css").read_text("utf-8")
POLICY = (
    f"default-src 'none'; style-src 'sha256-{b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'"
)
_SAME = {"paragraph": "p", "blockquote": "blockquote", "hr": "hr"}
_SAME |= {each: each for each in ("table", "thead", "tbody", "tr")}
_SAME |= {"bullet_list": "ul", "list_item": "li"}
_DEEPEST = 6
_AWAY = "noopener noreferrer nofollow"
_MAKER = ElementMaker()

Element = Any  # of lxml, which has no types
Content = Element | str | None


def html_report(transcript: Transcript, words: Words, *, note: str = "") -> bytes:
    """Return a transcript as an HTML page in UTF-8; ``note`` stands above it."""
    title = fit(transcript.title)
    alone = (  # what a server says in headers, a file says itself
        h("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY}),
        h("meta", {"name": "referrer", "content": "no-referrer"}),
    )
    top = h(
        "header",
        {},
        h("h1", {"dir": "auto"}, title),
        h("p", {}, words.made(transcript)),
        None if transcript.is_whole else h("p", {}, words("answer_only")),
        h("p", {"class": "notice"}, note) if note else None,
        h("p", {"class": "notice"}, words("something_left_out")) if transcript.withheld else None,
    )
    body = h(
        "main",
        {},
        top,
        _section(ExportedSection(transcript.text), words) if transcript.text else None,
        *(_exchange(each, words) for each in transcript.exchanges),
        _documents(transcript.documents, words) if transcript.documents else None,
    )
    return whole_page(words, title, body, *alone)


def whole_page(words: Words, title: str, body: Element, *about: Element) -> bytes:
    """Return a page as a file; ``about`` are further elements of its head."""
    head = h(
        "head",
        {},
        h("meta", {"charset": "utf-8"}),
        *about,
        h("meta", {"name": "robots", "content": "noindex, nofollow"}),
        h("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        h("title", {}, title),
        h("style", {}, STYLE),
    )
    page = h("html", {"lang": words.language}, head, h("body", {}, body))
    markup: bytes = etree.tostring(page, method="html", encoding="utf-8")
    return b"<!doctype html>\n" + markup + b"\n"


def h(tag: str, attributes: dict[str, str], *children: Content) -> Element:
    """Make an element of attributes and children, of which texts stay texts."""
    held = (fit(child) if isinstance(child, str) else child for child in children if child is not None)
    return _MAKER(tag, {name: fit(value) for name, value in attributes.items()}, *held)


def _exchange(exchange: Exchange, words: Words) -> Element:
    answer = exchange.answer
    return h(
        "article",
        {},
        h("h2", {"class": "question", "dir": "auto"}, exchange.question),
        h("p", {"class": "small"}, words("asked", date=words.day(exchange.asked_at))) if exchange.asked_at else None,
        h("p", {"class": "small"}, words("selected")) if exchange.selected_text else None,
        _exact(exchange.selected_text) if exchange.selected_text else None,
        *(_answer(answer, words) if answer is not None else [h("p", {"class": "notice"}, words("no_answer"))]),
    )


def _exact(*quote: Content) -> Element:
    return h("blockquote", {"class": "exact", "dir": "auto"}, *quote)


def _answer(answer: ExportedAnswer, words: Words) -> Iterator[Element]:
    if said := words.state(answer):
        yield h("p", {"class": "notice"}, said)
    yield from _sections(answer, words)
    if answer.nearest:
        yield h("h3", {}, words("nearest"))
        yield h("ul", {}, *(_source(each, words) for each in answer.nearest))
    if answer.disagreements:
        yield h("h3", {}, words("disagreements"))
        yield from (_disagreement(each, words) for each in answer.disagreements)
    if answer.claims:
        yield h("h3", {}, words("claims"))
        yield _claims(answer, words)
        yield from _quotes(answer.notes_of(None), words)
    if answer.account is not None:
        yield h("h3", {}, words("account"))
        yield h("ul", {}, *(h("li", {}, each) for each in words.paid(answer.account)))
        if answer.account.spent:
            yield _steps(answer, words)


def _sections(answer: ExportedAnswer, words: Words) -> Iterator[Element]:
    for section, turns_ungrounded in answer.told():
        if turns_ungrounded:
            yield h("p", {"class": "notice"}, words("ungrounded"))
        if section.withheld:
            yield h("p", {"class": "withheld"}, words("left_out"))
        else:
            if section.passage is not None:
                yield h("p", {"class": "source", "dir": "auto"}, words.quoted_from(section.passage))
            yield _section(section, words)
            yield from _quotes(answer.notes_of(section), words, shown=section.passage)


def _quotes(notes: list[Note], words: Words, *, shown: Note | None = None) -> Iterator[Element]:
    """Yield the list of notes, if any; of one that is ``shown`` as the text above without its words."""
    if notes:
        yield h("ol", {"class": "quotes"}, *(_note(note, words, is_shown=note == shown) for note in notes))


def _disagreement(told: Disagreement, words: Words) -> Element:
    sides: list[Element] = []
    for each in told.get("positions", []):
        sides.append(h("p", {"class": "source", "dir": "auto"}, words.side(each)))
        sides.append(_exact(each["quote"]))
    return h("div", {}, *sides) if sides else h("p", {"dir": "auto"}, told["reason"])


def _section(section: ExportedSection, words: Words) -> Element:
    tree = MarkedTree(section)
    blocks = [element for node in tree.root.children for element in _block(node, tree, words)]
    behind = [each for mark in tree.behind for each in _mark(mark, words)]
    return h("div", {"class": "answer", "dir": "auto"}, *blocks, h("p", {}, *behind) if behind else None)


def _block(node: SyntaxTreeNode, tree: MarkedTree, words: Words) -> Iterator[Element]:
    inside = [element for child in node.children if child.type != "inline" for element in _block(child, tree, words)]
    text = [each for child in node.children if child.type == "inline" for each in _inline(child, tree, words)]
    if node.type == "heading":
        level = min(int(node.tag[1:]) + 2, _DEEPEST)  # below the question
        yield h(f"h{level}", {"dir": "auto"}, *text)
    elif node.type == "fence":
        yield h("pre", {"dir": "ltr"}, h("code", {}, *_text(node.content, tree, words)))
    elif node.type == "ordered_list":
        start = str(node.attrs.get("start", 1))
        yield h("ol", {"start": start}, *inside)
    elif node.type in ("th", "td"):
        yield h(node.type, {"dir": "auto"}, *text)
    elif node.type in _SAME:
        is_tight = node.type == "paragraph" and node.hidden
        yield h("span" if is_tight else _SAME[node.type], {"dir": "auto"}, *text, *inside)


def _inline(node: SyntaxTreeNode, tree: MarkedTree, words: Words) -> Iterator[Content]:
    for child in node.children:
        match child.type:
            case "text":
                yield from _text(child.content, tree, words)
            case "softbreak":
                yield "\n"
            case "hardbreak":
                yield h("br", {})
            case "code_inline":
                yield h("code", {}, *_text(child.content, tree, words))
            case "image":
                yield from _inline(child, tree, words)
            case "link":
                target = safe_target(child)
                inside = _inline(child, tree, words)
                yield h("a", {"href": target, "rel": _AWAY}, *inside) if target else h("span", {}, *inside)
            case "em" | "strong" | "s":
                yield h(child.type, {}, *_inline(child, tree, words))


def _text(content: str, tree: MarkedTree, words: Words) -> Iterator[Content]:
    for piece in tree.pieces(content):
        if isinstance(piece, Highlighted):
            yield h("mark", {}, piece)
        elif isinstance(piece, str):
            yield piece
        else:
            yield from _mark(piece, words)


def _mark(mark: Mark, words: Words) -> Iterator[Element]:
    for number in mark.notes:
        yield h("sup", {}, h("a", {"href": f"#quote-{number}"}, f"[{number}]"))
    if mark.is_told:
        yield h("sup", {"class": mark.grade}, f" {words(mark.grade)}")


def _claims(answer: ExportedAnswer, words: Words) -> Element:
    rows = []
    for each in answer.claims:
        claim = each.claim
        links: list[Content] = []
        for number in each.notes:
            links += [", " if links else "", h("a", {"href": f"#quote-{number}"}, str(number))]
        failed = claim["verdict"] != "supported"
        reasons = [h("p", {"class": "small", "dir": "auto"}, reason) for reason in claim["reasons"]] if failed else []
        rows.append(
            h(
                "tr",
                {},
                h("td", {"dir": "auto"}, words_only(claim["text"])),
                h("td", {"class": grade_of(claim)}, words(grade_of(claim)), *reasons),
                h("td", {"dir": "auto"}, words.giver(claim)),
                h("td", {}, *links),
            )
        )
    return _table([words(name) for name in ("claim", "verdict", "given_by", "quote_numbers")], rows)


def _note(note: Note, words: Words, *, is_shown: bool) -> Element:
    attributes = {"id": f"quote-{note.number}", "value": str(note.number)}
    if note.withheld:
        return h("li", attributes, h("p", {"class": "withheld"}, words("withheld")))
    rows = [[h("td", {"dir": "auto"}, cell) for cell in row] for row in note.rows[1:]]
    hangs_on = [each for each in note.context if not rows or each["role"] != "header"]
    context = [h("p", {"class": "context", "dir": "auto"}, each["text"]) for each in hangs_on]
    around = note.around
    quoted = (
        _table(note.rows[0], [h("tr", {}, *row) for row in rows])
        if rows
        else _exact(
            h("span", {"class": "around"}, f"…{around.before}") if around.before.strip() else None,
            *_highlighted(note.quote, note.highlight or (0, len(note.quote))),
            h("span", {"class": "around"}, f"{around.after}…") if around.after.strip() else None,
        )
    )
    open_it = h("a", {"href": note.address, "rel": _AWAY}, words("open_document")) if is_safe(note.address) else None
    return h(
        "li",
        attributes,
        h("p", {"class": "source", "dir": "auto"}, words.where(note) or note.document_id),
        *([] if is_shown else [*context, quoted]),
        h("p", {"class": "small"}, " ".join(words.of_note(note)), " ", open_it),
    )


def _highlighted(text: str, span: Span) -> Iterator[Content]:
    start, end = span
    yield from (text[:start], h("mark", {}, text[start:end]), text[end:])


def _source(source: Source, words: Words) -> Element:
    where = h("strong", {}, words.source(source))
    if "passage" not in source:
        return h("li", {"dir": "auto"}, where, h("br", {}), source["excerpt"])
    passage = source["passage"]
    context = [h("p", {"class": "context", "dir": "auto"}, each["text"]) for each in passage["context"]]
    shown = _highlighted(passage["quote"], in_quote(passage) or (0, 0))
    return h("li", {"dir": "auto"}, where, *context, _exact(*shown))


def _steps(answer: ExportedAnswer, words: Words) -> Element:
    assert answer.account is not None
    told = answer.account.steps
    rows = [_row(step, each["calls"], each["tokens"], each["ms"], cell="td") for step, each in told]
    steps = [each for _, each in told]
    calls, tokens = sum(each["calls"] for each in steps), sum(each["tokens"] for each in steps)
    rows.append(_row(words("total"), calls, tokens, sum(each["ms"] for each in steps), cell="th"))
    return _table([words(name) for name in ("step", "calls", "tokens", "milliseconds")], rows)


def _row(name: str, *counts: float, cell: str) -> Element:
    return h("tr", {}, h(cell, {}, name), *(h(cell, {"class": "number"}, f"{count:,.0f}") for count in counts))


def _documents(documents: Iterable[DocumentVersion], words: Words) -> Element:
    rows = [
        h(
            "tr",
            {},
            h("td", {"dir": "auto"}, each.title, h("p", {"class": "small"}, each.document_id)),
            h("td", {}, words("unknown") if each.version is None else str(each.version)),
            h("td", {}, str(each.current)),
            h("td", {}, words.day(each.changed_at)),
            h("td", {"class": "fingerprint"}, each.sha256),
        )
        for each in documents
    ]
    head = [words(name) for name in ("document", "version", "current", "changed_at", "fingerprint")]
    return h("section", {}, h("h2", {}, words("documents")), _table(head, rows))


def _table(head: list[str], rows: list[Element]) -> Element:
    cells = [h("th", {"scope": "col"}, each) for each in head]
    return h("table", {}, h("thead", {}, h("tr", {}, *cells)), h("tbody", {}, *rows))
