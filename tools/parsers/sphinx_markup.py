"""reStructuredText as a tree of nodes, read by docutils with the directives and roles of Sphinx.

Nothing is registered with docutils, whose tables are global to the process: our states look up directives and roles
themselves, so that files can be read in several threads. An unknown directive or role is no error, no directive reads
a file or a URL, and sections are flat: a title is a node among its siblings, with its level.

docutils reads in time that is quadratic in the lines of a block, in the markup of a paragraph and in the area of some
tables. So a file is read in parts, long paragraphs are taken as they are, and tables have a budget.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from docutils import ApplicationError, DataError, frontend, nodes, statemachine, utils
from docutils.parsers.rst import Parser, directives, states, tableparser

from tools.parsers.sphinx_names import (
    ADMONITIONS,
    CHANGES,
    LABELS,
    STRUCK_OUT,
    explicit_title,
    meaning_of,
    shown,
)

_PART = 500  # lines, after which a part ends before the next title
_MOST_LINES = 20_000  # of a part that docutils reads
_MOST_INLINE = 20_000  # characters of a paragraph whose markup is read
_LONGEST_WORD = 1_000
_DEEPEST = 30  # blocks within blocks
_STEPS = 50  # for each character of a grid table
_FAILURES = (ApplicationError, DataError, ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError,
             TypeError, ValueError)  # fmt: skip
Lines = statemachine.StringList


class Labelled(nodes.General, nodes.Element):
    """A body under lines that say what it is: ``kind`` is term, label, caption or quote, ``lines`` are its lines."""


def read_tree(text: str) -> tuple[nodes.document, int]:
    """Return the tree of a text, and the number of struck-out passages that it leaves out.

    What docutils cannot read becomes paragraphs of plain text.
    """
    settings = frontend.get_default_settings(Parser)
    settings.report_level, settings.halt_level = 5, 6  # say nothing, never stop
    settings.file_insertion_enabled = settings.raw_enabled = False
    document = utils.new_document("text", settings)
    inliner = _Inliner()
    for part in _parts(statemachine.string2lines(text, tab_width=8, convert_whitespace=True)):
        before = len(document)
        try:
            if len(part) > _MOST_LINES:
                raise ValueError("too many lines")
            machine = states.RSTStateMachine(state_classes=_STATES, initial_state="Body")
            machine.run(Lines(part, "text"), document, inliner=inliner)
        except _FAILURES:
            del document[before:]
            document += _as_plain(part)
    return document, inliner.struck_out


_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{3,}\Z")


def _parts(lines: list[str]) -> Iterator[list[str]]:
    """Yield the lines in parts that end, where they can, before a title, a directive or an unindented line."""
    start = 0
    while len(lines) - start > 2 * _PART:
        end = next((end for end in _cuts(lines, start + _PART)), len(lines))
        yield lines[start:end]
        start = end
    yield lines[start:]


def _cuts(lines: list[str], start: int) -> Iterator[int]:
    """Yield the best place for a cut among the next lines, then the first among all others."""
    last: dict[int, int] = {}
    for at in range(start, len(lines) - 1):
        if lines[at - 1] or not lines[at] or lines[at][0] == " ":
            continue
        titled = _ADORNMENT.match(lines[at + 1]) or (_ADORNMENT.match(lines[at]) and lines[at + 1].strip())
        rank = 0 if titled else 1 if lines[at].startswith(".. ") else 2
        last.setdefault(rank, at)
        if rank == 0 or (at > start + _PART and last):
            yield last[min(last)]
            return
    yield from (last[rank] for rank in sorted(last)[:1])


def _as_plain(lines: Sequence[str]) -> list[nodes.Node]:
    paragraphs = re.split(r"\n(?:[ \t]*\n)+", "\n".join(lines))
    return [nodes.paragraph(words, "", nodes.Text(words)) for words in paragraphs if words.strip()]


class _End:
    """An end-string that is not looked for again in a text where it was not found: that would be quadratic."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self.missing = False

    def search(self, text: str) -> re.Match[str] | None:
        found = None if self.missing else self._pattern.search(text)
        self.missing = found is None
        return found


class _Inliner(states.Inliner):
    """A reader of inline markup, and what the states of one document share."""

    def __init__(self) -> None:
        super().__init__()
        self.machines: list[Any] = []
        self.list_machines: list[_ListMachine] = []
        self.title_styles: list[Any] = []
        self.hidden_roles: set[str] = set()
        self.struck_out = 0
        self.depth = 0
        self._ends: list[_End] = []

    def init_customizations(self, settings: Any) -> None:
        if self._ends:
            return
        plain = states.Inliner()  # it builds its patterns from the names of its own class
        plain.init_customizations(settings)
        self.patterns = plain.patterns
        for name in ("emphasis", "strong", "interpreted_or_phrase_ref", "literal", "target", "substitution_ref"):
            self._ends.append(_End(getattr(self.patterns, name)))
            setattr(self.patterns, name, self._ends[-1])

    def parse(self, text: str, lineno: int, memo: Any, parent: Any) -> tuple[list[Any], list[Any]]:
        if len(text) > _MOST_INLINE or any(len(word) > _LONGEST_WORD for word in text.split()):
            return [nodes.Text(text)], []
        for end in self._ends:
            end.missing = False
        return super().parse(text, lineno, memo, parent)

    def implicit_inline(self, text: str, lineno: int) -> list[Any]:
        return [nodes.Text(text)] if text else []

    def problematic(self, text: str, rawsource: str, message: Any) -> Any:
        return nodes.Text(text)

    def interpreted(self, rawsource: str, text: str, role: str | None, lineno: int) -> tuple[list[Any], list[Any]]:
        name, words = role or "", nodes.unescape(text)
        bare = name.lower().rpartition(":")[2]
        if bare in STRUCK_OUT:
            self.struck_out += 1
            return [], []
        if bare in self.hidden_roles:
            return [], []
        if bare in LABELS and explicit_title(words) is None:
            return [nodes.inline(rawsource, words, label=words)], []
        return [nodes.Text(shown(name, words))], []


class _GridTable(tableparser.GridTableParser):
    """A parser of grid tables whose search for the corners of cells has an end."""

    def setup(self, block: Any) -> None:
        super().setup(block)
        self._left = _STEPS * len(block) * len(block[0])

    def scan_down(self, top: int, left: int, right: int) -> Any:
        self._spend(self.bottom - top)
        return super().scan_down(top, left, right)

    def scan_left(self, top: int, left: int, bottom: int, right: int) -> Any:
        self._spend(right - left + bottom - top)
        return super().scan_left(top, left, bottom, right)

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise tableparser.TableMarkupError("The table is too intricate.", offset=0)


class _SimpleTable(tableparser.SimpleTableParser):
    """A parser of simple tables that have no more cells than characters."""

    def setup(self, block: Any) -> None:
        if len(block) * len(block[0].split()) > 2 * sum(len(line) + 1 for line in block):
            raise tableparser.TableMarkupError("The table has too many cells.", offset=0)
        super().setup(block)


class _Directive(NamedTuple):
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


def _directive(name: str, block: Lines, offset: int) -> _Directive:
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
    return _Directive(name.lower(), arguments, options, content, body, offset + at)


class _ListMachine(states.NestedStateMachine):
    """A machine that is kept when it is done with."""

    idle: list["_ListMachine"]

    def unlink(self) -> None:
        self.idle.append(self)


class _State(states.RSTState):
    """What each state of docutils does in another way."""

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)
        self.nested_sm_kwargs = {"state_classes": _STATES, "initial_state": "Body"}

    def runtime_init(self) -> None:
        super().runtime_init()
        self.nested_sm_cache = self.inliner.machines

    def nested_parse(self, block: Any, input_offset: int, node: Any = None, *rest: Any, **options: Any) -> int:
        """Parse a block within a block, as plain text if it lies too deep."""
        if self.inliner.depth >= _DEEPEST:
            node += _as_plain(block)
            return input_offset + len(block)
        self.inliner.depth += 1
        try:
            return super().nested_parse(block, input_offset, node, *rest, **options)
        finally:
            self.inliner.depth -= 1

    def nested_list_parse(self, *block: Any, **options: Any) -> Any:
        """Parse the rest of a list or of directives, with a machine that has done so before: to make one is slow."""
        return super().nested_list_parse(*block, **options, state_machine_class=self._list_machine)

    def _list_machine(self, *, initial_state: str, parent_state_machine: Any, **options: Any) -> "_ListMachine":
        if not self.inliner.list_machines:
            machine = _ListMachine(initial_state=initial_state, parent_state_machine=parent_state_machine, **options)
            machine.idle = self.inliner.list_machines
            return machine
        machine = self.inliner.list_machines.pop()
        machine.initial_state, machine.parent_state_machine = initial_state, parent_state_machine
        return machine

    def section(self, title: str, source: str, style: Any, lineno: int, messages: Any) -> None:
        """Add a title, without a section around what follows."""
        styles = self.inliner.title_styles
        if style not in styles:
            styles.append(style)
        words, _ = self.inline_text(title, lineno)
        self.parent += nodes.title(title, "", *words, level=styles.index(style) + 1)

    def option_marker(self, match: re.Match[str], context: Any, next_state: Any) -> Any:
        """Take a very long line of options for text: to split it takes quadratic time."""
        if len(match[0]) > _LONGEST_WORD:
            raise statemachine.TransitionCorrection("text")
        return super().option_marker(match, context, next_state)  # type: ignore[misc]

    def grid_table_top(self, match: Any, context: Any, next_state: Any) -> Any:
        return self.table_top(match, context, next_state, self.isolate_grid_table, _GridTable)

    def simple_table_top(self, match: Any, context: Any, next_state: Any) -> Any:
        return self.table_top(match, context, next_state, self.isolate_simple_table, _SimpleTable)

    def directive(self, match: re.Match[str], **presets: Any) -> tuple[list[Any], bool]:
        """Read a directive, whatever its name."""
        block, _, offset, blank_finish = self.state_machine.get_first_known_indented(match.end(), strip_top=0)
        found = _directive(match[1], block, offset)
        special = _SPECIAL.get(found.name)
        read = special(self, found) if special else self._common(found)
        return read, blank_finish or self.state_machine.is_next_line_blank()

    def _common(self, found: _Directive) -> list[Any]:
        name, argument = found.name.rpartition(":")[2], found.argument
        match meaning_of(found.name, argument, has_body=any(found.content)):
            case "nothing":
                return []
            case "code":
                return self._code(found)
            case "admonition":
                return [self._labelled("label", [ADMONITIONS[name]], found.body, found)]
            case "change":
                return [self._change(found)]
            case "quote":
                return [self._labelled("quote", [], found.body, found)]
            case "titled":
                return [self._labelled("label", [self._words(argument)], found.content, found)]
            case "described":
                return [self._labelled("term", _signatures(found), found.content, found)]
            case "body":
                return self._labelled("quote", [], found.content, found, titles=True).children

    def _labelled(
        self, kind: str, lines: list[str], body: Lines, found: _Directive, *, titles: bool = False
    ) -> Labelled:
        node = Labelled("", kind=kind, lines=lines, directive=found.name, anchor=found.options.get("name", ""))
        if "default" in found.options and kind == "term":
            node += nodes.paragraph("", "", *self.inline_text(f"Default: {found.options['default']}", 0)[0])
        self.nested_parse(body, found.offset, node, match_titles=titles)
        return node

    def _change(self, found: _Directive) -> Labelled:
        """Read a note on a version: the version is the first word of its argument, or the first two."""
        name = found.name.rpartition(":")[2]
        count = 2 if name == "deprecated-removed" else 1
        words = found.argument.split(maxsplit=count)
        label = f"{CHANGES[name]} {', removed in '.join(words[:count])}"
        node = Labelled("", kind="label", lines=[label.strip()], directive=name, anchor="")
        if words[count:]:
            node += nodes.paragraph("", "", *self.inline_text(words[count], 0)[0])
        self.nested_parse(found.content, found.offset, node)
        return node

    def _code(self, found: _Directive) -> list[Any]:
        """Read code; what stands on the directive's own line is a language, or for some the code itself."""
        name = found.name.rpartition(":")[2]
        own = [] if name in ("parsed-literal", "math", "productionlist", "doctest") else found.arguments[:1]
        lines = [*found.arguments[len(own) :], *found.content]
        title = own[0].partition(" ")[2] if name == "code-tab" and own else found.options.get("caption", "")
        code = "\n".join(lines)
        if name == "parsed-literal":
            code = "".join(node.astext() for node in self.inline_text(code, 0)[0])
        anchor = found.options.get("name", "")
        return [nodes.literal_block(code, code, caption=self._words(title), anchor=anchor)]

    def _words(self, text: str) -> str:
        return "".join(node.astext() for node in self.inline_text(text, 0)[0]) if text else ""


def _signatures(found: _Directive) -> list[str]:
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


def _image(state: Any, found: _Directive) -> list[Any]:
    return [nodes.image("", alt=found.options["alt"])] if found.options.get("alt") else []


def _figure(state: Any, found: _Directive) -> list[Any]:
    """Read a figure: its first paragraph is its caption."""
    figure = nodes.figure("", *_image(state, found))
    state.nested_parse(found.content, found.offset, figure)
    for child in figure.children:
        if isinstance(child, nodes.paragraph):
            figure.replace(child, nodes.caption(child.rawsource, "", *child.children))
            break
    return [figure]


def _rubric(state: Any, found: _Directive) -> list[Any]:
    return [nodes.rubric(found.argument, "", *state.inline_text(found.argument, 0)[0])]


def _centered(state: Any, found: _Directive) -> list[Any]:
    return [nodes.paragraph(found.argument, "", *state.inline_text(found.argument, 0)[0])]


def _replace(state: Any, found: _Directive) -> list[Any]:
    words: list[Any] = state.inline_text("\n".join(found.body).strip(), 0)[0]
    return words


def _unicode(state: Any, found: _Directive) -> list[Any]:
    codes = found.argument.partition(" .. ")[0].split()
    return [nodes.Text("".join(directives.unicode_code(code) for code in codes))]


def _role(state: Any, found: _Directive) -> list[Any]:
    """Remember a role that is made from ``raw``: it holds HTML or LaTeX."""
    made = re.match(r"([\w.+-]+)\s*\(\s*raw\s*\)", found.argument)
    if made:
        state.inliner.hidden_roles.add(made[1].lower())
    return []


def _glossary(state: Any, found: _Directive) -> list[Any]:
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
            read.append(state._labelled("term", terms, block, found))
            terms = []
        elif lines[at] and not lines[at].startswith(".. "):
            terms.append(state._words(lines[at].partition(" : ")[0]))
        at = end
    return read


def _captioned(state: Any, found: _Directive) -> list[Any]:
    """Read a table in any markup, with its caption."""
    around = nodes.Element()
    state.nested_parse(found.content, found.offset, around)
    for table in around.findall(nodes.table):
        if found.argument:
            table.insert(0, nodes.title(found.argument, "", *state.inline_text(found.argument, 0)[0]))
        break
    return around.children


def _list_table(state: Any, found: _Directive) -> list[Any]:
    around = nodes.Element()
    state.nested_parse(found.content, found.offset, around)
    rows = []
    for item in next(iter(around.findall(nodes.bullet_list)), nodes.bullet_list()):
        cells = [child for child in item.children if isinstance(child, nodes.bullet_list)]
        rows.append([cell.children for cells_of in cells for cell in cells_of])
    return _table(state, found, rows, _number(found, "header-rows"))


_DELIMITERS = {"tab": "\t", "space": " "}


def _csv_table(state: Any, found: _Directive) -> list[Any]:
    """Read a table whose rows are in the file; those of another file or of a URL are never read."""
    delimiter = _DELIMITERS.get(found.options.get("delim", ","), found.options.get("delim", ","))[:1] or ","
    header = [found.options["header"]] if "header" in found.options else []
    try:
        read = list(csv.reader([*header, *found.content], delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return _as_plain(found.content)
    rows = [[[nodes.paragraph(cell, "", *state.inline_text(cell, 0)[0])] for cell in row] for row in read if row]
    return _table(state, found, rows, len(header) + _number(found, "header-rows"))


def _number(found: _Directive, option: str) -> int:
    value = found.options.get(option, "")
    return int(value) if value.isdecimal() and len(value) < 3 else 0


def _table(state: Any, found: _Directive, rows: Sequence[Sequence[Any]], headers: int) -> list[Any]:
    made = [nodes.row("", *(nodes.entry("", *cell) for cell in row)) for row in rows]
    if not made:
        return []
    group = nodes.tgroup("", nodes.thead("", *made[:headers]), nodes.tbody("", *made[headers:]))
    title = [nodes.title(found.argument, "", *state.inline_text(found.argument, 0)[0])] if found.argument else []
    return [nodes.table("", *title, group)]


_SPECIAL: dict[str, Callable[[Any, _Directive], list[Any]]] = {
    "centered": _centered,
    "csv-table": _csv_table,
    "figure": _figure,
    "glossary": _glossary,
    "image": _image,
    "list-table": _list_table,
    "replace": _replace,
    "role": _role,
    "rubric": _rubric,
    "table": _captioned,
    "unicode": _unicode,
}


def _with_directives(constructs: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return docutils' constructs of explicit markup with our directives; they hold functions, not their names."""
    ours = _State.directive
    return [(ours if method is states.Body.directive else method, pattern) for method, pattern in constructs]


_EXPLICIT = states.Struct(
    patterns=states.Body.explicit.patterns, constructs=_with_directives(states.Body.explicit.constructs)
)
# docutils finds states by the names of their classes.
_STATES = tuple(type(state.__name__, (_State, state), {"explicit": _EXPLICIT}) for state in states.state_classes)
