"""Rules of Markdown for what CommonMark does not know: formulas, the signs of Obsidian, HTML tables with blank lines.

No rule looks twice through the same text: what a formula or comment may hold ends at the sign that begins another.
"""

import re
from html import escape

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_LONGEST = 4000  # characters of a formula
_DISPLAYED = re.compile(r"\$\$([^$]{1,4000}?)\$\$")
_DOLLARS = re.compile(r"\$(?![\s$])((?:[^$\\]|\\.){1,4000})(?<![\s\\])\$(?![\w$])")
_BRACKETS = re.compile(r"\\([(\[])((?:[^\\]|\\[^()\[\]]){1,4000}?)\\[)\]]")
_LATEX = re.compile(r"[\\^_{}=+<>]")
_COMMENT = re.compile(r"%%(?!\s*%)[^%]*(?:%[^%]+)*%%(?!\w)")
_LINK = re.compile(r"(!?)\[\[(?!\s)([^\[\]|\n]{1,400})(?:\|([^\[\]\n]{0,400}))?\]\](?![(\[])")
_SIZE = re.compile(r"\d+(?:x\d+)?")
_MARKED = re.compile(r"==(?![\s=])([^=\n]|=(?!=)){1,2000}?(?<!\s)==(?!=)")
_TABLE_TAG = re.compile(r"<(/?)table\b", re.IGNORECASE)
_INDENTED_TAG = re.compile(r"^[ \t]+(?=<)", re.MULTILINE)
_MOST_TABLES = 500  # in one another


def use_signs(parser: MarkdownIt) -> None:
    """Let a parser know the signs. Its further tokens are ``formula``, ``comment`` and ``embedded``."""
    for sign in "%=$":
        parser.inline.add_terminator_char(sign)
    parser.inline.ruler.before("escape", "signs", _signs_in_line)
    parser.add_render_rule(
        "formula", lambda _, tokens, at, *__: f'<span class="math">{escape(tokens[at].content)}</span>'
    )
    parser.add_render_rule("embedded", lambda _, tokens, at, *__: escape(tokens[at].content))
    parser.add_render_rule("comment", lambda *_: "")
    before: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.before("fence", "signs", _signs, before)


def _signs_in_line(state: StateInline, silent: bool) -> bool:
    """Read what begins with a sign: one rule, since each is asked at every sign."""
    rule = _RULES_IN_LINE.get(state.src[state.pos])
    return rule is not None and rule(state, silent)


def _formula(state: StateInline, silent: bool) -> bool:
    sign = state.src[state.pos]
    if sign == "$":
        found = _DISPLAYED.match(state.src, state.pos) or _DOLLARS.match(state.src, state.pos)
        before = state.src[state.pos - 1 : state.pos] if state.pos else ""
        if found is None or not _is_latex(found[1]) or (before.isascii() and before.isalpha()):  # US$, or $5 and 6$
            return False
        if before.isdigit() and "\\" not in found[1]:
            return False
    elif (found := _BRACKETS.match(state.src, state.pos)) is None or not _LATEX.search(found[2]):
        return False
    if not silent:
        state.push("formula", "", 0).content = found[0]
    state.pos = found.end()
    return True


def _is_latex(written: str) -> bool:
    """Whether the text between two dollar signs is a formula rather than the words between two sums of money."""
    return bool(_LATEX.search(written)) or not any(letter.isspace() for letter in written)


def _comment(state: StateInline, silent: bool) -> bool:
    found = _COMMENT.match(state.src, state.pos)
    if found is None or (state.pos and not state.src[state.pos - 1].isspace()):
        return False
    if not silent:
        state.push("comment", "", 0)
    state.pos = found.end()
    return True


def _marked(state: StateInline, silent: bool) -> bool:
    found = _MARKED.match(state.src, state.pos)
    if found is None or _is_sum(state.src, found.start(), found.end()):
        return False
    end, state.posMax = state.posMax, found.end() - 2
    state.pos += 2
    if not silent:
        state.md.inline.tokenize(state)
    state.pos, state.posMax = found.end(), end
    return True


def _is_sum(text: str, start: int, end: int) -> bool:
    """Whether the two signs stand between names, as in ``a==b or c==d``."""
    beside = text[start - 1 : start] if start else "", text[end : end + 1]
    return any(letter.isascii() and (letter.isalnum() or letter in "_)('\"") for letter in "".join(beside))


def _wiki_link(state: StateInline, silent: bool) -> bool:
    found = _LINK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        named = (found[3] or "").strip()
        if found[1]:
            state.push("embedded", "", 0).content = "" if _SIZE.fullmatch(named) else named
        else:
            place, _, part = found[2].strip().partition("#")
            state.push("text", "", 0).content = named or " > ".join(filter(None, (place, *part.split("#"))))
    state.pos = found.end()
    return True


_RULES_IN_LINE = {
    "$": _formula, "\\": _formula, "%": _comment, "=": _marked, "[": _wiki_link, "!": _wiki_link
}  # fmt: skip


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _signs(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    at = state.bMarks[start] + state.tShift[start]
    rule = _RULES.get(state.src[at : at + 1])
    return rule is not None and not state.is_code_block(start) and rule(state, start, end, silent)


def _block(state: StateBlock, kind: str, start: int, end: int, content: str) -> bool:
    token = state.push(kind, "", 0)
    token.content, token.map = content, [start, end]
    state.line = end
    return True


def _displayed(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a formula between two ``$$``, the first at the start of a line, the second at the end of one."""
    if not _line(state, start).startswith("$$"):
        return False
    length, line = 0, start
    while line < end and length < _LONGEST:
        said = _line(state, line).rstrip()
        if said.endswith("$$") and (line > start or len(said) > 3):
            content = state.getLines(start, line + 1, state.blkIndent, False).strip()
            if "$$" in content[2:-2]:
                return False
            return silent or _block(state, "formula", start, line + 1, content)
        if line > start and "$$" in said:
            return False
        length += len(said) + 1
        line += 1
    return False


def _comment_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a comment of Obsidian over several lines, from a line that begins with ``%%`` to one that ends with it."""
    first = _line(state, start)
    if not first.startswith("%%") or "%%" in first[2:]:
        return False
    for line in range(start + 1, end):
        if "%%" in _line(state, line):
            return _line(state, line).rstrip().endswith("%%") and (
                silent or _block(state, "comment", start, line + 1, "")
            )
    return False


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a table of HTML to its end, over blank lines; between them, as in MDX, its cells may hold Markdown."""
    begin = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(("<table", "<TABLE"), begin) or "in_table" in state.env:
        return False
    opened, close = 0, -1
    for at, tag in enumerate(_TABLE_TAG.finditer(state.src, begin, state.eMarks[end - 1])):
        opened += -1 if tag[1] else 1
        if opened == 0 or at > _MOST_TABLES:
            close = tag.end() if opened == 0 else -1
            break
    if close < 0:
        return False
    line = next(line for line in range(start, end) if state.eMarks[line] >= close)
    if silent:
        return True
    content = state.getLines(start, line + 1, state.blkIndent, False)
    env = {**state.env, "in_table": True}
    if "html_block" not in state.md.get_active_rules()["block"]:  # which MDX does without
        content = state.md.renderInline(content, env)
    elif any(state.isEmpty(at) for at in range(start, line)):
        content = state.md.render(_INDENTED_TAG.sub("", content), env)
    return _block(state, "html_block", start, line + 1, content)


_RULES = {"$": _displayed, "%": _comment_block, "<": _table}
