"""Parser of reStructuredText, docutils' and Sphinx's, into its visible text.

Terms of definitions, signatures, options and fields, labels of admonitions, captions and header rows are blocks that
what follows hangs on; targets and titles are anchors. Markup is removed, code stays verbatim.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from docutils import nodes

from graph.evidence import BlockKind
from tools.parsers.canonical_text import CanonicalText, Parsed, passages_left_out, storable, unwrapped
from tools.parsers.plain import decode
from tools.parsers.sphinx_directives import Labelled, Program
from tools.parsers.sphinx_markup import read_tree

_MOST_SUBSTITUTED = 200  # characters
_FILE_FIELDS = frozenset({"nocomments", "no-search", "nosearch", "orphan", "tocdepth"})
_ERROR = 3
_COLONS = (":", "：")
_LANGUAGES = frozenset({"c", "cpp", "js", "py"})
_PYTHON = frozenset({"attribute", "class", "classmethod", "data", "decorator", "exception", "function", "method",
                     "property", "staticmethod"})  # fmt: skip


def read(data: bytes) -> Parsed:
    """Parse reStructuredText; its title is the first one of the highest rank.

    Raises UnreadableDocument if it cannot be decoded.
    """
    tree, struck_out = read_tree(storable(decode(data)))
    reader = _Reader(tree)
    reader.blocks(tree, _Around())
    return replace(reader.text.parsed(), left_out=passages_left_out(struck_out))


@dataclass(frozen=True, slots=True)
class _Around:
    """What is around a block: the indexes of the blocks that it hangs on, the depth in lists, whether it is quoted."""

    hangs_on: tuple[int, ...] = ()
    lists: int = 0
    quoted: bool = False

    def under(self, *indexes: int | None) -> "_Around":
        return replace(self, hangs_on=(*self.hangs_on, *(index for index in indexes if index is not None)))


class _Reader:
    """A reader of the tree; recursion is bounded by the depth that the tree is read to."""

    def __init__(self, tree: nodes.document) -> None:
        self.text = CanonicalText()
        self._anchor = ""
        self._program = ""  # of the options to come
        self._target = ""  # names the next block
        self._tight = False
        self._last_sign = ""  # of the block before
        self._substitutions = {
            name: words
            for name, node in tree.substitution_defs.items()
            if len(words := self._words(node, {})) <= _MOST_SUBSTITUTED
        }
        self._titles = _titles_of_labels(tree)

    def blocks(self, parent: Any, around: _Around) -> None:
        """Read the blocks of a parent; a list, table or code hangs on the paragraph directly before it."""
        lead: int | None = None
        siblings = parent.children
        for at, node in enumerate(siblings):
            if isinstance(node, Program):
                self._program = "" if node["name"] == "None" else node["name"]
            if isinstance(node, (nodes.comment, nodes.substitution_definition)):
                continue
            if isinstance(node, nodes.target):
                self._target = _target_of(node) or self._target
                continue
            if isinstance(node, Labelled) and _marks_title(siblings, at):
                self._target = self._target or self._anchor_of(node)
                continue
            read = getattr(self, f"_{type(node).__name__}", None)
            if read is not None:
                lead = read(node, around, lead)

    def _put(
        self, kind: BlockKind, words: str, around: _Around, *hangs_on: int | None, tight: bool = False
    ) -> int | None:
        if self._target:
            self._anchor, self._target = self._target, ""
        index = self.text.add(
            kind, words, tight=tight or self._tight, hangs_on=(*around.hangs_on, *hangs_on), anchor=self._anchor
        )
        if index is not None:
            self._tight, self._last_sign = False, words.rstrip()[-1:]
        return index

    def _title(self, node: Any, around: _Around, lead: int | None) -> None:
        words = unwrapped(self._words(node)).strip()
        self._anchor, self._target = self._target or nodes.make_id(words) or self._anchor, ""
        self._tight = False
        self.text.add_heading(node["level"], words, anchor=self._anchor)

    def _rubric(self, node: Any, around: _Around, lead: int | None) -> None:
        self._put("label", unwrapped(self._words(node)), around)

    def _paragraph(self, node: Any, around: _Around, lead: int | None) -> int | None:
        return self._put("quote" if around.quoted else "paragraph", unwrapped(self._words(node)), around)

    def _line_block(self, node: Any, around: _Around, lead: int | None) -> int | None:
        lines = (unwrapped(self._words(line)).strip() for line in node.findall(nodes.line))
        return self._put("paragraph", "\n".join(line for line in lines if line), around)

    def _attribution(self, node: Any, around: _Around, lead: int | None) -> None:
        self._put("quote", "— " + unwrapped(self._words(node)), around, tight=True)

    def _block_quote(self, node: Any, around: _Around, lead: int | None) -> int | None:
        # Most are an indent too many, not words of somebody else.
        quoted = any(isinstance(child, nodes.attribution) for child in node.children)
        self.blocks(node, replace(around.under(lead), quoted=True) if quoted else around)
        return None

    def _literal_block(self, node: Any, around: _Around, lead: int | None) -> int | None:
        above = self._anchor
        self._target = self._target or node.get("anchor", "")
        caption = self._put("caption", node.get("caption", ""), around, lead)
        self._put("code", node.astext(), around, lead, caption, tight=caption is not None)
        self._anchor = above if node.get("anchor") else self._anchor
        return lead  # further code may be introduced by the same sentence

    _doctest_block = _literal_block

    def _math_block(self, node: Any, around: _Around, lead: int | None) -> int | None:
        self._put("code", node.astext(), around, lead)
        return lead

    def _bullet_list(self, node: Any, around: _Around, lead: int | None) -> None:
        inside = replace(around.under(lead), lists=around.lists + 1)
        for number, item in enumerate(node.children, node.get("start", 1)):
            ordered = isinstance(node, nodes.enumerated_list)
            marker = f"{node['prefix']}{_ordinal(number, node)}{node['suffix']} " if ordered else "- "
            self._item(item, marker, inside, tight=around.lists > 0 or number != node.get("start", 1))

    _enumerated_list = _bullet_list

    def _item(self, item: Any, marker: str, around: _Around, *, tight: bool) -> None:
        shown = [child for child in item.children if not isinstance(child, (nodes.comment, nodes.target))]
        for target in item.children:
            if isinstance(target, nodes.target):
                self._target = _target_of(target) or self._target
        index = None
        if shown and isinstance(shown[0], nodes.paragraph):
            lead = "  " * (around.lists - 1) + marker
            words = unwrapped(self._words(shown[0])).strip()
            index = self._put("list_item", lead + words if words else "", around, tight=tight)
            shown = shown[1:]
        rest = nodes.Element()
        rest.children = shown
        self.blocks(rest, around.under(index))

    def _leads(self, lead: int | None) -> int | None:
        """Return a paragraph that leads to terms: one that ends with a colon."""
        return lead if lead is not None and self._last_sign in _COLONS else None

    def _definition_list(self, node: Any, around: _Around, lead: int | None) -> None:
        around = around.under(self._leads(lead))
        for item in self._items(node, nodes.definition_list_item, around):
            terms = [child for child in item.children if isinstance(child, (nodes.term, nodes.classifier))]
            words = " : ".join(unwrapped(self._words(term)).strip() for term in terms)
            self._described([words], item.children[-1], around)

    def _field_list(self, node: Any, around: _Around, lead: int | None) -> None:
        for field in self._items(node, nodes.field, around):
            name, body = field.children
            words = unwrapped(self._words(name)).strip()
            if words.lower() not in _FILE_FIELDS:
                self._described([words], body, around)

    def _option_list(self, node: Any, around: _Around, lead: int | None) -> None:
        around = around.under(self._leads(lead))
        for item in self._items(node, nodes.option_list_item, around):
            group, description = item.children
            words = ", ".join(option.rawsource for option in group.children)
            self._described([words], description, around)

    def _items(self, node: Any, kind: type[nodes.Element], around: _Around) -> Iterator[Any]:
        """Yield the items of a list; what docutils leaves among them where a list breaks off is read as blocks."""
        for item in node.children:
            if isinstance(item, kind) and len(item.children) > 1:
                yield item
            else:
                stray = nodes.Element()
                stray.children = item.children if isinstance(item, kind) else [item]
                self.blocks(stray, around)

    def _described(self, lines: Sequence[str], body: Any, around: _Around, kind: BlockKind = "term") -> None:
        """Read a body that hangs on the lines before it."""
        self._tight = False
        heads = [self._put(kind, line, around, tight=at > 0) for at, line in enumerate(lines)]
        self._tight = any(head is not None for head in heads)
        self.blocks(body, around.under(*heads))
        self._tight = False

    def _Labelled(self, node: Any, around: _Around, lead: int | None) -> None:
        if node["kind"] == "quote":
            self.blocks(node, replace(around, quoted=True))
        else:
            above = self._anchor
            self._target = self._target or (self._anchor_of(node) if node["kind"] == "term" else node["anchor"])
            self._described(node["lines"], node, around, node["kind"])
            if node.children or _is_listed(node):  # else it is told of by what comes after it
                self._anchor = above

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

    def _figure(self, node: Any, around: _Around, lead: int | None) -> None:
        heads = [
            self._put("caption", unwrapped(self._words(child)), around)
            for child in node.children
            if isinstance(child, (nodes.image, nodes.caption))
        ]
        legend = nodes.Element()
        legend.children = [child for child in node.children if not isinstance(child, (nodes.image, nodes.caption))]
        self.blocks(legend, around.under(*heads))

    def _image(self, node: Any, around: _Around, lead: int | None) -> None:
        self._put("caption", unwrapped(node.get("alt", "")), around)

    def _table(self, node: Any, around: _Around, lead: int | None) -> None:
        """Read a table: a row hangs on the caption, or else the paragraph before, and on the rows of the header."""
        caption = None
        for title in node.children:
            if isinstance(title, nodes.title):
                caption = self._put("caption", unwrapped(self._words(title)), around)
        around = around.under(caption if caption is not None else lead)
        heads: list[int | None] = []
        tight = caption is not None
        for head in (True, False):
            for group in node.findall(nodes.thead if head else nodes.tbody):
                for words in self._rows(group):
                    index = self._put("table_row", words, around, *([] if head else heads), tight=tight)
                    tight = tight or index is not None
                    heads += [index] if head else []

    def _rows(self, group: Any) -> Iterator[str]:
        """Yield the rows of a part of a table; a cell over several rows stands in the first one."""
        spans: dict[int, int] = {}
        for row in group.children:
            cells: list[str] = []
            for entry in row.children:
                while spans.get(len(cells), 0) > 0:
                    spans[len(cells)] -= 1
                    cells.append("")
                spans[len(cells)] = entry.get("morerows", 0)
                cells.append(" ".join(self._words(entry).split()))
            if any(cells):
                yield " | ".join(cells)

    def _footnote(self, node: Any, around: _Around, lead: int | None) -> None:
        shown = [child for child in node.children if not isinstance(child, nodes.label)]
        labels = [child.astext() for child in node.children if isinstance(child, nodes.label)]
        label = labels[0] if labels else "*" if node.get("auto") == "*" else "#" + "".join(node["names"][:1])
        words = unwrapped(self._words(shown[0])).strip() if shown else ""
        index = self._put("footnote", f"[{label}] {words}" if words else "", around)
        rest = nodes.Element()
        rest.children = shown[1:]
        self.blocks(rest, around.under(index))

    _citation = _footnote

    def _system_message(self, node: Any, around: _Around, lead: int | None) -> int | None:
        """Read what an error has kept out of the tree, such as a table whose borders are not aligned."""
        if node["level"] < _ERROR:
            return lead
        for child in node.children:
            if isinstance(child, nodes.literal_block):
                lines = child.astext().splitlines()
                if len(lines) > 3:
                    self._put("code", child.astext(), around, lead)
                else:
                    shown = (line.strip() for line in lines if any(letter.isalnum() for letter in line))
                    return self._put("paragraph", "\n".join(shown), around)
        return None

    def _words(self, node: Any, substitutions: dict[str, str] | None = None) -> str:
        """Return the words of a paragraph, or of all blocks of a cell."""
        known = self._substitutions if substitutions is None else substitutions
        words: list[str] = []
        stack = [node]
        while stack:
            part = stack.pop()
            shown = self._shown(part, known)
            if shown is not None:
                words.append(shown)
                continue
            if isinstance(part, Labelled):
                words.append(" ".join(part["lines"]))
            if words and not isinstance(part, (nodes.Inline, nodes.TextElement)):
                words.append(" ")
            stack += [*reversed(part.children)]
            if words and isinstance(part, nodes.paragraph):
                words.append(" ")
        return "".join(words)

    def _shown(self, part: Any, substitutions: dict[str, str]) -> str | None:
        """Return what is shown of a node in its words, or None if that is what its children show."""
        match part:
            case nodes.Text():
                return str(part.astext())
            case nodes.substitution_reference():
                return substitutions.get(part.astext(), f"|{part.astext()}|")
            case nodes.footnote_reference():
                return str(part.rawsource.removesuffix("_"))
            case nodes.citation_reference():
                return f"[{part.astext()}]"
            case nodes.image():
                return str(part.get("alt", ""))
            case nodes.inline() if "label" in part:
                return self._titles.get(nodes.fully_normalize_name(part["label"]), str(part["label"]))
            case nodes.comment() | nodes.system_message():
                return ""
        return "" if isinstance(part, nodes.target) and "refuri" in part else None


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


def _target_of(node: Any) -> str:
    return "" if "refuri" in node or not node["names"] else nodes.make_id(node["names"][0])


_OPTION_NAME = re.compile(r"(?:/|--|-|\+)?[^\s=,\[]+")


def _anchor_of_option(signature: str, program: str) -> str:
    """Return the id of an option by its first name: ``cmdoption-v`` of "-v, --verbose", of a program with its name."""
    found = _OPTION_NAME.match(signature.strip())
    name = found[0] if found else signature
    argument = "" if name.startswith(("-", "/", "+")) else "arg"
    words = " ".join(each for each in ("cmdoption", program, argument, name) if each)
    return re.sub(r"[^A-Za-z0-9._]+", "-", words).strip("-")


def _titles_of_labels(tree: nodes.document) -> dict[str, str]:
    """Return the titles that labels of this file stand before."""
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


def _ordinal(number: int, node: Any) -> str:
    match node["enumtype"]:
        case "loweralpha" | "upperalpha" if number <= 26:
            letter = chr(ord("a") + number - 1)
            return letter.upper() if node["enumtype"] == "upperalpha" else letter
        case "lowerroman" | "upperroman":
            roman = _roman(number)
            return roman if node["enumtype"] == "lowerroman" else roman.upper()
    return str(number)


_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


def _roman(number: int) -> str:
    letters = ""
    for value, sign in _ROMAN:
        letters += sign * (number // value)
        number %= value
    return letters
