"""The directives of docutils, Sphinx and their common extensions, read into nodes whatever their name.

None of them reads a file or a URL: what another file holds is no part of this one.
"""

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from docutils import nodes, statemachine
from docutils.parsers.rst import directives

from tools.parsers.sphinx_names import ADMONITIONS, CHANGES, meaning_of

Lines = statemachine.StringList


class Labelled(nodes.General, nodes.Element):
    """A body under lines that say what it is: ``kind`` is term, label, caption or quote, ``lines`` are its lines."""


class Program(nodes.comment):
    """The program that the options after it belong to, which is shown nowhere."""


def as_plain(lines: Iterable[str]) -> list[nodes.Node]:
    """Return lines as paragraphs without any markup."""
    paragraphs = re.split(r"\n(?:[ \t]*\n)+", "\n".join(lines))
    return [nodes.paragraph(words, "", nodes.Text(words)) for words in paragraphs if words.strip()]


class Directive(NamedTuple):
    name: str
    arguments: list[str]
    options: dict[str, str]
    content: Lines
    body: Lines  # arguments and content: of directives without arguments
    offset: int

    @property
    def argument(self) -> str:
        return " ".join(" ".join(self.arguments).split())


_OPTION = re.compile(r":([^:\s][^:]*):(?:\s+(.*)|\Z)")


def split_directive(name: str, block: Lines, offset: int) -> Directive:
    """Split the lines of a directive: arguments up to a blank line or an option, options, content."""
    lines = [line.strip() for line in block]
    at = 1 if lines and not lines[0] else 0
    first = at
    while at < len(lines) and lines[at] and not _OPTION.match(lines[at]):
        at += 1
    arguments, opened = lines[first:at], at
    options: dict[str, str] = {}
    key = ""
    while at < len(lines) and lines[at]:
        found = _OPTION.match(lines[at])
        if found:
            key = found[1].lower()
        options[key] = f"{options.get(key, '')} {(found[2] or '') if found else lines[at]}".strip()
        at += 1
    content = block[at:]
    body = block[first:opened] + Lines([""], "text") + content
    return Directive(name.lower(), arguments, options, content, body, offset + at)


def read_directive(state: Any, found: Directive) -> list[Any]:
    """Return the nodes of a directive; ``state`` is the state of docutils that has come upon it."""
    return _SPECIAL.get(found.name, _common)(state, found)


def _common(state: Any, found: Directive) -> list[Any]:
    name, argument = found.name.rpartition(":")[2], found.argument
    match meaning_of(found.name, argument, has_body=any(found.content)):
        case "nothing":
            return []
        case "code":
            return _code(state, found)
        case "admonition":
            return [_labelled(state, "label", [ADMONITIONS[name]], found.body, found)]
        case "change":
            return [_change(state, found)]
        case "quote":
            return [_labelled(state, "quote", [], found.body, found)]
        case "titled":
            return [_labelled(state, "label", [_words(state, argument)], found.content, found)]
        case "described":
            return [_labelled(state, "term", _signatures(found), found.content, found)]
        case "body":
            return _labelled(state, "quote", [], found.content, found, titles=True).children


def _labelled(
    state: Any, kind: str, lines: list[str], body: Lines, found: Directive, *, titles: bool = False
) -> Labelled:
    node = Labelled("", kind=kind, lines=lines, directive=found.name, anchor=found.options.get("name", ""))
    if "default" in found.options and kind == "term":
        node += _line(nodes.paragraph, state, f"Default: {found.options['default']}")
    state.nested_parse(body, found.offset, node, match_titles=titles)
    return node


def _change(state: Any, found: Directive) -> Labelled:
    """Read a note on a version: the version is the first word of its argument, or the first two."""
    name = found.name.rpartition(":")[2]
    count = 2 if name == "deprecated-removed" else 1
    words = found.argument.split(maxsplit=count)
    label = f"{CHANGES[name]} {', removed in '.join(words[:count])}"
    node = Labelled("", kind="label", lines=[label.strip()], directive=name, anchor="")
    if words[count:]:
        node += _line(nodes.paragraph, state, words[count])
    state.nested_parse(found.content, found.offset, node)
    return node


def _code(state: Any, found: Directive) -> list[Any]:
    """Read code; what stands on the directive's own line is a language, or for some the code itself."""
    name = found.name.rpartition(":")[2]
    own = [] if name in ("parsed-literal", "math", "productionlist", "doctest") else found.arguments[:1]
    lines = [*found.arguments[len(own) :], *found.content]
    title = own[0].partition(" ")[2] if name == "code-tab" and own else found.options.get("caption", "")
    code = "\n".join(lines)
    if name == "math":
        return [nodes.math_block(code, code)]
    if name == "parsed-literal":
        code = _words(state, code)
    anchor = found.options.get("name", "")
    return [nodes.literal_block(code, code, caption=_words(state, title), anchor=anchor)]


def _inline(state: Any, text: str) -> list[Any]:
    read: list[Any] = state.inline_text(text, 0)[0] if text else []
    return read


def _words(state: Any, text: str) -> str:
    return "".join(node.astext() for node in _inline(state, text))


def _line(kind: Callable[..., Any], state: Any, text: str) -> Any:
    return kind(text, "", *_inline(state, text))


def _signatures(found: Directive) -> list[str]:
    """Return the signatures of a described object, one a line, with its type and value as Sphinx shows them."""
    lines: list[str] = []
    for line in found.arguments:
        if lines and lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1].rstrip() + " " + line
        else:
            lines.append(line)
    typed = f": {found.options['type']}" if "type" in found.options else ""
    valued = f" = {found.options['value']}" if "value" in found.options else ""
    return [line.replace("\\", "") + typed + valued for line in lines]


def _image(state: Any, found: Directive) -> list[Any]:
    return [nodes.image("", alt=found.options["alt"])] if found.options.get("alt") else []


def _figure(state: Any, found: Directive) -> list[Any]:
    """Read a figure: its first paragraph is its caption."""
    figure = nodes.figure("", *_image(state, found))
    state.nested_parse(found.content, found.offset, figure)
    for child in figure.children:
        if isinstance(child, nodes.paragraph):
            figure.replace(child, nodes.caption(child.rawsource, "", *child.children))
            break
    return [figure]


def _unicode(state: Any, found: Directive) -> list[Any]:
    codes = found.argument.partition(" .. ")[0].split()
    return [nodes.Text("".join(directives.unicode_code(code) for code in codes))]


def _role(state: Any, found: Directive) -> list[Any]:
    """Remember a role that is made from ``raw``: it holds HTML or LaTeX."""
    made = re.match(r"([\w.+-]+)\s*\(\s*raw\s*\)", found.argument)
    if made:
        state.inliner.hidden_roles.add(made[1].lower())
    return []


def _glossary(state: Any, found: Directive) -> list[Any]:
    """Read a glossary, where several terms may share a definition."""
    read: list[Any] = []
    terms: list[str] = []
    at, lines = 0, found.content
    while at < len(lines):
        end = at + 1
        if lines[at].startswith(" "):
            while end < len(lines) and (not lines[end] or lines[end].startswith(" ")):
                end += 1
            block = lines[at:end]
            block.trim_left(min(len(line) - len(line.lstrip()) for line in block if line.strip()))
            read.append(_labelled(state, "term", terms, block, found))
            terms = []
        elif lines[at] and not lines[at].startswith(".. "):
            terms.append(_words(state, lines[at].partition(" : ")[0]))
        at = end
    return read


def _captioned(state: Any, found: Directive) -> list[Any]:
    around = nodes.Element()
    state.nested_parse(found.content, found.offset, around)
    for table in around.findall(nodes.table):
        if found.argument:
            table.insert(0, _line(nodes.title, state, found.argument))
        break
    return around.children


def _list_table(state: Any, found: Directive) -> list[Any]:
    around = nodes.Element()
    state.nested_parse(found.content, found.offset, around)
    rows = []
    for item in next(iter(around.findall(nodes.bullet_list)), nodes.bullet_list()):
        cells = [child for child in item.children if isinstance(child, nodes.bullet_list)]
        rows.append([cell.children for cells_of in cells for cell in cells_of])
    return _table(state, found, rows, _number(found, "header-rows"))


_DELIMITERS = {"tab": "\t", "space": " "}


def _csv_table(state: Any, found: Directive) -> list[Any]:
    """Read a table whose rows are in the file; those of another file or of a URL are never read."""
    delimiter = _DELIMITERS.get(found.options.get("delim", ","), found.options.get("delim", ","))[:1] or ","
    header = [found.options["header"]] if "header" in found.options else []
    try:
        read = list(csv.reader([*header, *found.content], delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return as_plain(found.content)
    rows = [[[_line(nodes.paragraph, state, cell)] for cell in row] for row in read if row]
    return _table(state, found, rows, len(header) + _number(found, "header-rows"))


def _number(found: Directive, option: str) -> int:
    value = found.options.get(option, "")
    return int(value) if value.isdecimal() and len(value) < 3 else 0


def _table(state: Any, found: Directive, rows: Sequence[Sequence[Any]], headers: int) -> list[Any]:
    made = [nodes.row("", *(nodes.entry("", *cell) for cell in row)) for row in rows]
    if not made:
        return []
    group = nodes.tgroup("", nodes.thead("", *made[:headers]), nodes.tbody("", *made[headers:]))
    title = [_line(nodes.title, state, found.argument)] if found.argument else []
    return [nodes.table("", *title, group)]


_SPECIAL: dict[str, Callable[[Any, Directive], list[Any]]] = {
    "centered": lambda state, found: [_line(nodes.paragraph, state, found.argument)],
    "csv-table": _csv_table,
    "figure": _figure,
    "glossary": _glossary,
    "image": _image,
    "list-table": _list_table,
    "program": lambda state, found: [Program("", name=found.argument)],
    "replace": lambda state, found: _inline(state, "\n".join(found.body).strip()),
    "role": _role,
    "rubric": lambda state, found: [_line(nodes.rubric, state, found.argument)],
    "table": _captioned,
    "unicode": _unicode,
}
