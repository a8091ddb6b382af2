"""MDX as Markdown: imports, exports, tags of components and expressions removed, what is between them kept.

An expression that is only a name, such as ``{version}``, stays as it is written where a sentence would have a hole.

Tags of HTML are kept, without attributes that are expressions, for the reader of Markdown to judge. Code is never
touched. Braces and tags that are not closed are words.
"""

import re
from collections.abc import Iterator

_FENCE = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})")
_MODULE = re.compile(r"(?:import|export)(?:[ \t{*\"']|$)")
_IMPORT_AT_THE_TOP = re.compile(r"\s*import\s(?:[^\n;]*?\sfrom\s*)?['\"][^'\"\n]+['\"];?[ \t]*$", re.MULTILINE)
_SIGN = re.compile(r"`+|\\[\\`{}<>]|\{|<(?=[A-Za-z/>])")
_IN_TAG = re.compile(r"[\"'{<>]")
_NAME = re.compile(r"</?\s*([\w.:-]*)")
_STRING = re.compile(r"\s*([\"'`])([^\"'`$]*)\1\s*\Z")
_NUMBER = re.compile(r"\s*()(-?\d+(?:\.\d+)?)\s*\Z")
# A value that is known only as the page is built; "true" and "null" show nothing, and children stand elsewhere.
_VARIABLE = re.compile(
    r"\s*(?!(?:true|false|null|undefined|(?:props\.)?children)\s*\Z)[A-Za-z_$][\w$]*+(?:\.[\w$]++)*+\s*\Z"
)
_MARKUP = re.compile(r"<[^<>\n]*>|\{[^{}\n]*\}")
_ANCHOR = re.compile(r"\s*#[\w.:-]+\s*\Z")


def is_mdx(text: str) -> bool:
    """Return whether Markdown begins with an import of a module, and so is MDX whatever its name says."""
    return _IMPORT_AT_THE_TOP.match(text) is not None


def as_markdown(text: str) -> tuple[str, int]:
    """Return MDX as Markdown, and how many comments were left out."""
    comments = 0
    parts: list[str] = []
    for lines, is_code in _stretches(text.splitlines(keepends=True)):
        stretch = "".join(lines)
        if not is_code:
            reader = _Prose(_without_modules(lines))
            stretch = reader.read()
            comments += reader.comments
        parts.append(stretch)
    return "".join(parts), comments


def _stretches(lines: list[str]) -> Iterator[tuple[list[str], bool]]:
    held: list[str] = []
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if not fence and found:
            yield held, False
            held, fence = [line], found[1]
        elif fence and found and found[1].startswith(fence) and not line[found.end() :].strip():
            yield [*held, line], True
            held, fence = [], ""
        else:
            held.append(line)
    yield held, bool(fence)


def _without_modules(lines: list[str]) -> str:
    """Drop imports and exports up to the blank line after them, over blank lines within their brackets."""
    kept: list[str] = []
    within, opened, blank = False, 0, True
    closable = True
    for at, line in enumerate(lines):
        if not within and blank and _MODULE.match(line):
            within, opened = True, 0
            if closable:
                closable = _closes(lines, at)
        blank = not line.strip()
        if within:
            opened += _opened(line)
            within = not blank or (opened > 0 and closable)
        if not within:
            kept.append(line)
    return "".join(kept)


def _opened(line: str) -> int:
    return sum(map(line.count, "{[(")) - sum(map(line.count, "}])"))


def _closes(lines: list[str], at: int) -> bool:
    opened = 0
    for line in lines[at:]:
        opened += _opened(line)
        if opened <= 0:
            return True
    return False


class _Prose:
    def __init__(self, text: str) -> None:
        self.comments = 0
        self._text = text
        self._closing = _pairs(text)
        self._blank = -1
        self._line_end = 0
        self._worded = False
        self._unclosed: set[int] = set()

    def read(self) -> str:
        parts: list[str] = []
        at = 0
        while found := _SIGN.search(self._text, at):
            parts.append(self._text[at : found.start()])
            sign = found[0][0]
            if sign == "`":
                at = self._code_end(found)
                parts.append(self._text[found.start() : at])
            elif sign == "{" and found.start() in self._closing:
                at = self._closing[found.start()] + 1
                parts.append(self._expression(self._text[found.end() : at - 1], found.start()))
            elif sign == "<" and (end := self._tag_end(found.start())):
                at = end
                parts.append(self._tag(self._text[found.start() : end]))
            else:
                at = found.end()
                parts.append(found[0])
        return "".join([*parts, self._text[at:]])

    def _code_end(self, found: re.Match[str]) -> int:
        """Return the end of a code span, or of its backticks if its paragraph does not close it."""
        if self._blank < found.end():
            self._blank = self._text.find("\n\n", found.end())
            self._blank = self._blank if self._blank >= 0 else len(self._text)
            self._unclosed = set()
        length = len(found[0])
        if length in self._unclosed:
            return found.end()
        for other in re.finditer("`+", self._text[found.end() : self._blank]):
            if len(other[0]) == length:
                return found.end() + other.end()
        self._unclosed.add(length)
        return found.end()

    def _expression(self, code: str, start: int) -> str:
        if _ANCHOR.match(code):  # Docusaurus: the id of a heading
            return "{" + code + "}"
        words = _STRING.match(code) or _NUMBER.match(code)
        if words:
            return words[2]
        self.comments += code.strip().startswith("/*")
        return "{" + code.strip() + "}" if _VARIABLE.match(code) and self._has_words_beside(start) else ""

    def _has_words_beside(self, start: int) -> bool:
        """Whether the line of an expression has words of its own, which would have a hole without it."""
        if start >= self._line_end:
            begin = self._text.rfind("\n", self._line_end, start) + 1 or self._line_end
            end = self._text.find("\n", start)
            self._line_end = end if end >= 0 else len(self._text)
            line = _MARKUP.sub("", self._text[begin : self._line_end])
            self._worded = any(map(str.isalnum, line))
        return self._worded

    def _tag_end(self, start: int) -> int | None:
        at = start + 1
        while found := _IN_TAG.search(self._text, at):
            sign = found[0]
            if sign == ">":
                return found.end()
            if sign == "<":
                return None
            end = self._closing.get(found.start(), -1) if sign == "{" else self._text.find(sign, found.end())
            if end < 0:
                return None
            at = end + 1
        return None

    def _tag(self, tag: str) -> str:
        name = _NAME.match(tag)
        if name is None or not name[1] or name[1][0].isupper() or "." in name[1]:
            return ""
        hidden = re.search(r"display['\"]?\s*:\s*['\"]none|(?<![\w-])hidden=\{true\}", tag)
        plain = re.sub(r"(?<![\w:-])[\w:-]++=?\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}", "", tag)
        return plain.replace(name[0], f"{name[0]} hidden", 1) if hidden else plain


def _pairs(text: str) -> dict[int, int]:
    """Return where each brace is closed, braces in inline code and escaped ones aside."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for found in re.finditer(r"\\[{}]|`[^`\n]*+`|[{}]", text):
        if found[0] == "{":
            opened.append(found.start())
        elif found[0] == "}" and opened:
            pairs[opened.pop()] = found.start()
    return pairs
