"""Parser of reStructuredText, docutils' and Sphinx's, into its visible text.

The tree becomes the elements of the page that it is built into, which the reader of HTML reads: terms of definitions,
signatures, options and fields, labels of admonitions, captions and header rows are blocks that what follows hangs on;
targets and titles are anchors.
"""

import re
from collections.abc import Sequence
from typing import Any

from docutils import nodes
from lxml import etree

from tools.parsers.canonical_text import CanonicalText, Parsed, storable, unwrapped
from tools.parsers.html import write_drafts
from tools.parsers.html_blocks import Reader
from tools.parsers.html_frames import Frame
from tools.parsers.html_visible import Visibility
from tools.parsers.link_targets import LinkTargets
from tools.parsers.plain import decode
from tools.parsers.sphinx_directives import Labelled
from tools.parsers.sphinx_markup import read_tree

_MOST_SUBSTITUTED = 200  # characters
_FILE_FIELDS = frozenset({"nocomments", "no-search", "nosearch", "orphan", "tocdepth"})
_ERROR = 3
_LANGUAGES = frozenset({"c", "cpp", "js", "py"})
_PYTHON = frozenset({"attribute", "class", "classmethod", "data", "decorator", "exception", "function", "method",
                     "property", "staticmethod"})  # fmt: skip
_TAGS = {
    "attribution": "p", "block_quote": "div", "bullet_list": "ul", "caption": "figcaption", "definition": "dd",
    "definition_list": "dl", "description": "dd", "enumerated_list": "ol", "field_body": "dd", "field_list": "dl",
    "field_name": "dt", "figure": "figure", "legend": "div", "list_item": "li", "option_list": "dl", "paragraph": "p",
    "row": "tr", "subscript": "sub", "superscript": "sup", "tbody": "tbody", "term": "dt", "thead": "thead",
}  # fmt: skip
_NUMBERS = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
_NO_XML = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def read(data: bytes) -> Parsed:
    """Parse reStructuredText; its title is the first one of the highest rank.

    Raises UnreadableDocument if it cannot be decoded.
    """
    tree, struck_out = read_tree(storable(decode(data)))
    page = etree.Element("main")
    _Page(tree).write(tree, page)
    text = CanonicalText()
    links = LinkTargets(text.left_out, (each.get("href") for each in page.iter("a")))
    formulas = frozenset(page.iterfind(".//span[@class='math']"))
    reader = _Reader(_AllSeen(page, in_main=True), text.formula, links, formulas)
    reader.read(page)
    write_drafts(text, reader.drafts)
    text.left_out["passage"] += struck_out
    return text.parsed()


class _AllSeen(Visibility):
    """The rules of a page that is made here: names in it mean nothing."""

    def is_frame(self, element: Any) -> bool:
        return False

    def is_hidden(self, element: Any) -> bool:
        return False


class _Reader(Reader):
    """A reader for which only a paragraph that ends with a colon leads to terms, and any one to code with a caption."""

    def _frame(self, tag: str) -> Frame:
        frame = super()._frame(tag)
        if tag == "fieldset":
            frame.hangs_on = self._above(frame)
        return frame

    def _above(self, frame: Frame, *, only_colon: bool = False) -> tuple[int, ...]:
        return super()._above(frame, only_colon=only_colon or frame.tag == "dl")


class _Page:
    """A writer of the tree as elements; recursion is bounded by the depth that the tree is read to."""

    def __init__(self, tree: nodes.document) -> None:
        self._program = ""  # of the options to come
        self._target = ""  # names the next block
        self._titles = _titles_of_labels(tree)
        self._substitutions: dict[str, str] = {}
        self._addresses = {name: node["refuri"] for node in tree.findall(nodes.target) if "refuri" in node
                           for name in node["names"]}  # fmt: skip
        said = {name: self._said(node) for name, node in tree.substitution_defs.items()}
        self._substitutions = {name: words for name, words in said.items() if len(words) <= _MOST_SUBSTITUTED}

    def write(self, parent: Any, into: Any) -> None:
        for at, node in enumerate(parent.children):
            if isinstance(node, Labelled) and _marks_title(parent.children, at):
                self._target = self._target or self._anchor_of(node)
            else:
                self._write_node(node, into)

    def _write_node(self, node: Any, into: Any) -> None:
        name = type(node).__name__
        words = self._shown(node)
        if words is not None:
            self._say(into, words)
        elif (writes := getattr(self, f"_write_{name}", None)) is not None:
            writes(node, into)
        else:
            self.write(node, self._add(into, _TAGS[name]) if name in _TAGS else into)

    def _said(self, node: Any) -> str:
        around = etree.Element("p")
        self.write(node, around)
        return "".join(around.itertext())

    def _add(self, into: Any, tag: str, words: str = "", **attributes: str) -> Any:
        made = etree.SubElement(into, tag, attributes)
        if self._target and tag not in ("a", "sub", "sup"):
            made.set("id", self._target)
            self._target = ""
        self._say(made, words)
        return made

    def _say(self, into: Any, words: str) -> None:
        words = _NO_XML.sub("", words)
        if len(into):
            into[-1].tail = (into[-1].tail or "") + words
        else:
            into.text = (into.text or "") + words

    def _shown(self, node: Any) -> str | None:
        """Return what is shown of a node in a line, or None if that is what its children show."""
        match node:
            case nodes.Text():
                return str(node.astext())
            case nodes.substitution_reference():
                return self._substitutions.get(node.astext(), f"|{node.astext()}|")
            case nodes.footnote_reference():
                return str(node.rawsource.removesuffix("_"))
            case nodes.citation_reference():
                return f"[{node.astext()}]"
            case nodes.image() if isinstance(node.parent, nodes.TextElement):
                return str(node.get("alt", ""))
            case nodes.inline() if "label" in node:
                return self._titles.get(nodes.fully_normalize_name(node["label"]), str(node["label"]))
        return None

    def _write_comment(self, node: Any, into: Any) -> None:
        """Write nothing."""

    _write_substitution_definition = _write_label = _write_comment

    def _write_Program(self, node: Any, into: Any) -> None:
        self._program = "" if node["name"] == "None" else node["name"]

    def _write_target(self, node: Any, into: Any) -> None:
        if "refuri" not in node:
            self._target = nodes.make_id(node["names"][0]) if node["names"] else self._target
            self.write(node, into)

    def _write_title(self, node: Any, into: Any) -> None:
        if "level" not in node:
            self.write(node, self._add(into, "caption"))
            return
        words = unwrapped(self._said(node)).strip()
        self._target = self._target or nodes.make_id(words)
        self._add(into, f"h{min(node['level'], 6)}", words)

    def _write_rubric(self, node: Any, into: Any) -> None:
        self._boxed([self._said(node)], into)

    def _boxed(self, titles: Sequence[str], into: Any) -> Any:
        box = etree.SubElement(into, "div", {"class": "admonition"})
        for words in titles:
            self._add(box, "p", words, **{"class": "admonition-title"})
        return box

    def _write_line_block(self, node: Any, into: Any) -> None:
        made = self._add(into, "p")
        for line in node.findall(nodes.line):
            self.write(line, made)
            etree.SubElement(made, "br")

    def _write_block_quote(self, node: Any, into: Any) -> None:
        # Most are an indent too many, not words of somebody else.
        quoted = any(isinstance(child, nodes.attribution) for child in node.children)
        self.write(node, etree.SubElement(into, "blockquote") if quoted else into)

    def _write_attribution(self, node: Any, into: Any) -> None:
        self._add(into, "p", "— " + self._said(node))

    def _write_literal_block(self, node: Any, into: Any) -> None:
        if node.get("caption"):
            into = etree.SubElement(into, "fieldset")
            self._add(into, "legend", node["caption"])
        self._target = self._target or node.get("anchor", "")
        self._add(into, "pre", node.astext())

    _write_doctest_block = _write_literal_block

    def _write_math(self, node: Any, into: Any) -> None:
        self._say(etree.SubElement(into, "span", {"class": "math"}), node.astext())

    def _write_math_block(self, node: Any, into: Any) -> None:
        self._write_math(node, self._add(into, "p"))

    def _write_reference(self, node: Any, into: Any) -> None:
        address = node.get("refuri") or self._addresses.get(node.get("refname"))
        self.write(node, self._add(into, "a", href=address) if address else into)

    def _write_enumerated_list(self, node: Any, into: Any) -> None:
        made = self._add(into, "ol", start=str(node.get("start", 1)), type=_NUMBERS.get(node["enumtype"], "1"))
        self.write(node, made)

    def _write_classifier(self, node: Any, into: Any) -> None:
        self._say(into[-1], " : " + self._said(node))

    def _write_field(self, node: Any, into: Any) -> None:
        if node.children[0].astext().lower() not in _FILE_FIELDS:
            self.write(node, into)

    def _write_option_group(self, node: Any, into: Any) -> None:
        self._add(into, "dt", ", ".join(option.rawsource for option in node.children))

    def _write_image(self, node: Any, into: Any) -> None:
        if node.get("alt"):
            self._add(etree.SubElement(into, "figure"), "figcaption", node["alt"])

    def _write_table(self, node: Any, into: Any) -> None:
        made = self._add(into, "table")
        self.write(node, made)
        if made.find("caption") is None:
            etree.SubElement(made, "caption")  # without one it might be there for its looks

    def _write_entry(self, node: Any, into: Any) -> None:
        cell = etree.SubElement(into, "th" if isinstance(node.parent.parent, nodes.thead) else "td")
        for name, more in (("rowspan", "morerows"), ("colspan", "morecols")):
            if node.get(more):
                cell.set(name, str(node[more] + 1))
        self.write(node, cell)

    def _write_footnote(self, node: Any, into: Any) -> None:
        labels = [child.astext() for child in node.children if isinstance(child, nodes.label)]
        label = labels[0] if labels else "*" if node.get("auto") == "*" else "#" + "".join(node["names"][:1])
        note = etree.SubElement(into, "div", {"class": "footnote"})
        words = self._add(note, "p", f"[{label}] ")
        for child in node.children:
            if isinstance(child, nodes.paragraph):
                self.write(child, words)
                etree.SubElement(words, "br")
            else:
                self._write_node(child, note)

    _write_citation = _write_footnote

    def _write_system_message(self, node: Any, into: Any) -> None:
        """Write what an error has kept out of the tree, such as a table whose borders are not aligned."""
        for child in node.children if node["level"] >= _ERROR else ():
            if isinstance(child, nodes.literal_block):
                lines = child.astext().splitlines()
                shown = [line.strip() for line in lines if any(letter.isalnum() for letter in line)]
                self._add(into, "pre", child.astext()) if len(lines) > 3 else self._add(into, "p", "\n".join(shown))

    def _write_Labelled(self, node: Any, into: Any) -> None:
        if node["kind"] == "quote":
            self.write(node, etree.SubElement(into, "blockquote"))
        elif node["kind"] == "label":
            self._target = self._target or node["anchor"]
            self.write(node, self._boxed(node["lines"], into))
        else:
            self._target = self._target or self._anchor_of(node)
            listing = etree.SubElement(into, "dl")
            for line in node["lines"]:
                self._add(listing, "dt", line)
            self.write(node, etree.SubElement(listing, "dd"))
            if node["lines"] and not node.children and not _is_listed(node):  # it is told of by what comes after it
                self._target = self._anchor_of(node)
                self._add(into, "p")

    def _anchor_of(self, node: Labelled) -> str:
        """Return the id that Sphinx gives to a described object, or nearly so."""
        domain, _, kind = node["directive"].rpartition(":")
        first = node["lines"][0] if node["lines"] else ""
        name = first.partition("(")[0].split(" ")[-1]
        if node["anchor"] or kind in ("glossary",):
            return node["anchor"] or nodes.make_id(f"term-{name}")
        if domain == "py" or kind in _PYTHON or kind.startswith("auto"):
            return str(name)
        if kind in ("option", "cmdoption"):
            return _anchor_of_option(first, self._program)
        return nodes.make_id(f"{kind}-{name}")


def _marks_title(siblings: Sequence[Any], at: int) -> bool:
    """Return whether a node is the marker of the section that begins after it, as ``setting:: name`` may be."""
    for node in siblings[at:]:
        if isinstance(node, nodes.title):
            return True
        marker = isinstance(node, Labelled) and node["kind"] == "term" and not node.children
        if (marker and _is_listed(node)) or not (marker or isinstance(node, (nodes.comment, nodes.target))):
            return False
    return False


def _is_listed(node: Labelled) -> bool:
    """Return whether a described object is one of a program, whose description may be elsewhere."""
    domain, _, kind = node["directive"].rpartition(":")
    return domain in _LANGUAGES or kind in _PYTHON or kind.startswith("auto")


_OPTION_NAME = re.compile(r"(?:/|--|-|\+)?[^\s=,\[]+")


def _anchor_of_option(signature: str, program: str) -> str:
    """Return the id of an option by its first name: ``cmdoption-v`` of "-v, --verbose", of a program with its name."""
    found = _OPTION_NAME.match(signature.strip())
    name = found[0] if found else signature
    argument = "" if name.startswith(("-", "/", "+")) else "arg"
    words = " ".join(each for each in ("cmdoption", program, argument, name) if each)
    return re.sub(r"[^A-Za-z0-9._]+", "-", words).strip("-")


def _titles_of_labels(tree: nodes.document) -> dict[str, str]:
    titles: dict[str, str] = {}
    waiting: list[str] = []
    for node in tree.children:
        if isinstance(node, nodes.target):
            waiting += node["names"]
        elif isinstance(node, nodes.title):
            titles.update(dict.fromkeys(waiting, node.astext()))
            waiting = []
        elif not isinstance(node, (nodes.comment, Labelled)):
            waiting = []
    return titles
