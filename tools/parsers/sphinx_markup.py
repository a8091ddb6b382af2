"""reStructuredText as a tree of nodes, read by docutils with the directives and roles of Sphinx.

Nothing is registered with docutils, whose tables are global to the process: our states look up directives and roles
themselves, so that files can be read in several threads. An unknown directive or role is no error, no directive reads
a file or a URL, and sections are flat: a title is a node among its siblings, with its level.

docutils reads in time that is quadratic in the lines of a block, in the markup of a paragraph and in the area of some
tables. So a file is read in parts, long paragraphs are taken as they are, and tables have a budget.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from docutils import ApplicationError, DataError, frontend, nodes, statemachine, utils
from docutils.frontend import Values
from docutils.parsers.rst import Parser, states, tableparser

from tools.parsers.sphinx_directives import Lines, as_plain, read_directive, split_directive
from tools.parsers.sphinx_names import LABELS, STRUCK_OUT, explicit_title, shown

_PART = 500  # lines, after which a part ends before the next title
_MOST_LINES = 20_000  # of a part that docutils reads
_MOST_INLINE = 20_000  # characters of a paragraph whose markup is read
_LONGEST_WORD = 1_000
_DEEPEST = 30  # blocks within blocks
_STEPS = 50  # for each character of a grid table
_SHOWN_AS = {"math": nodes.math, "sub": nodes.subscript, "subscript": nodes.subscript, "sup": nodes.superscript,
             "superscript": nodes.superscript}  # fmt: skip
_FAILURES = (ApplicationError, DataError, ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError,
             TypeError, ValueError)  # fmt: skip


def _settings() -> Values:
    settings = frontend.get_default_settings(Parser)
    settings.report_level, settings.halt_level = 5, 6  # say nothing, never stop
    settings.file_insertion_enabled = settings.raw_enabled = False
    return settings


_SETTINGS = _settings()  # made once: threads that make them at the same time break each other's


def read_tree(text: str) -> tuple[nodes.document, int]:
    """Return the tree of a text, and the number of struck-out passages that it leaves out.

    What docutils cannot read becomes paragraphs of plain text.
    """
    document = utils.new_document("text", _SETTINGS.copy())
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
            document += as_plain(part)
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
        if bare in _SHOWN_AS:
            return [_SHOWN_AS[bare](rawsource, nodes.unescape(text, bare == "math"))], []
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


if TYPE_CHECKING:
    _Base = states.Body
else:  # which is put before each state of docutils, also before those that are not made from Body
    _Base = states.RSTState


class _State(_Base):
    """What each state of docutils does in another way."""

    inliner: _Inliner

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)
        self.nested_sm_kwargs = {"state_classes": _STATES, "initial_state": "Body"}

    def runtime_init(self) -> None:
        super().runtime_init()
        self.nested_sm_cache = self.inliner.machines

    def nested_parse(self, block: Any, input_offset: int, node: Any = None, *rest: Any, **options: Any) -> int:
        """Parse a block within a block, as plain text if it lies too deep."""
        if self.inliner.depth >= _DEEPEST:
            node += as_plain(block)
            return input_offset + len(block)
        self.inliner.depth += 1
        try:
            return super().nested_parse(block, input_offset, node, *rest, **options)
        finally:
            self.inliner.depth -= 1

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
        read: Any = super().option_marker  # docutils' stubs leave it untyped
        return read(match, context, next_state)

    def grid_table_top(self, match: Any, context: Any, next_state: Any) -> Any:
        read: Any = self.table_top  # docutils' stubs leave it untyped
        return read(match, context, next_state, self.isolate_grid_table, _GridTable)

    def simple_table_top(self, match: Any, context: Any, next_state: Any) -> Any:
        read: Any = self.table_top
        return read(match, context, next_state, self.isolate_simple_table, _SimpleTable)

    def directive(self, match: re.Match[str], **presets: Any) -> tuple[list[Any], bool]:
        machine: Any = self.state_machine
        block, _, offset, blank_finish = machine.get_first_known_indented(match.end(), strip_top=0)
        read = read_directive(self, split_directive(match[1], block, offset))
        return read, blank_finish or machine.is_next_line_blank()


def _with_directives(constructs: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return docutils' constructs of explicit markup with our directives; they hold functions, not their names."""
    ours = _State.directive
    return [(ours if method is states.Body.directive else method, pattern) for method, pattern in constructs]


_EXPLICIT = type(states.Body.explicit)(
    patterns=states.Body.explicit.patterns, constructs=_with_directives(states.Body.explicit.constructs)
)
# docutils finds states by the names of their classes.
_STATES = tuple(type(state.__name__, (_State, state), {"explicit": _EXPLICIT}) for state in states.state_classes)
