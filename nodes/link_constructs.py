"""Find what a renderer of Markdown or HTML would turn into a link or fetch: images, links, references, tags, addresses.

Read after CommonMark 0.31, GFM's autolinks and the HTML tokenizer, and on purpose more widely than any of them: code
is not spared, ill-formed links count, entities and escapes are undone first. What a lenient renderer makes of a text
must not matter.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nodes.link_tags import tags_begun, targets_of_begun, targets_of_tag
from nodes.link_view import View, view

Kind = Literal["image", "link", "autolink", "html", "reference"]
MOST_UNCLOSED = 20  # tags read one by one; where more are left open, all are taken apart
GONE = "…"  # stands where an address stood that was text and target at once

_CLOSING = re.compile(r"\](?=[(\[])")
_DESTINATION = re.compile(
    r"\(\s*(?P<target><[^<>\n]*>|(?:[^\s()<]|\((?:[^\s()]|\([^\s()]*+\))*+\))*+)"
    r"(?:\s+(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?\s*\)"
)
_LOOSE = re.compile(r"\((?P<target>[^()\n]{0,2000})\)|\((?P<open>\S*)")
_LABEL = re.compile(r"\[(?P<label>[^\[\]]{0,999})\]")
_LINE = r"(?:^|(?<=\r))[ \t>*+\-]*(?:\d{1,9}[.)][ \t]+)?"
_BREAK = r"[ \t]*(?:\r\n?|\n)?[ \t]*"
_DEFINITION = re.compile(
    _LINE + r"\[(?P<label>[^\[\]]{1,999})\]:" + _BREAK + r"(?P<target><[^<>\n\r]*>|[^\x00-\x20]+)"
    r"(?P<title>" + _BREAK + r"(?<=\s)(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?[^\S\n]*(?:$|(?<=\r))",
    re.MULTILINE,
)
DEFINITION_BEGUN = re.compile(_LINE + r"\[[^\[\]]{1,999}\]:", re.MULTILINE)
_PLAIN_WORD = re.compile(r"[^\W_][\w-]*[,;]?")
_MARK = re.compile(r"\s*[\^\W\d_]*\s*")
_POINTED = re.compile(r"<(?P<target>[A-Za-z][A-Za-z0-9+.\-]{0,31}:[^\x00-\x20<>]*|[!-;=?A-Z\[-~]+@[^\s<>@\"']+)>")
_ADDRESS = re.compile(
    r"""(?P<target>
      (?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,31}://[^\s<]+
    | (?:https?|ftp)://[^\s<]+
    | (?<![A-Za-z0-9.\-])www\.[^\s<]+
    | (?<![A-Za-z0-9])(?:mailto|xmpp|tel|sms|javascript|vbscript|livescript|file|blob|magnet|view-source):[^\s<]+
    | (?<![A-Za-z0-9])data:(?:[a-z]+/[a-z0-9+.\-]+[;,]|[;,])[^\s<]*
    | (?<![:/A-Za-z0-9_])//[A-Za-z0-9\-_~%]+(?:\.[A-Za-z0-9\-_~%]+)+[^\s<]*
    | (?<![A-Za-z0-9@/._\-])(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,24}
      (?::\d{1,5})?[/?\#][^\s<]+
    | (?<![A-Za-z0-9.!\#$%&'*+/=?^_`{|}~\-])[A-Za-z0-9.!\#$%&'*+/=?^_`{|}~\-]++
      @(?:[A-Za-z0-9](?:[A-Za-z0-9\-_]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9\-]{0,22}[A-Za-z0-9](?:\?[^\s<]*)?
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_TRAILING = "?!.,:;*_~'\"`()[]{}|\\>"
_NOT_OF_URLS = re.compile(r"[^!#$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]")


@dataclass(frozen=True, slots=True)
class Construct:
    """A link as found: its place in the raw text, where it leads, and the text that stands without it.

    ``whole`` says that the raw text alone identifies it, so that a source holding the same text holds it. ``apart``
    is what to put in its place where only its beginning is held by a source, "" where that is the whole of it.
    """

    start: int
    end: int
    kind: Kind
    targets: tuple[str, ...]
    visible: str
    whole: bool = True
    apart: str = ""

    @property
    def target(self) -> str:
        return self.targets[0] if self.targets else ""


def constructs(raw: str) -> list[Construct]:
    """Find the constructs of a text by place, the outer before what it holds."""
    read = view(raw)
    found = [*_definitions(read), *_bracketed(read), *_addresses(read)]
    for reading in read.readings():
        found += [*_tags(reading), *_pointed(reading)]
    return sorted(found, key=lambda each: (each.start, -each.end))


def _made(
    read: View, start: int, end: int, kind: Kind, targets: tuple[str, ...], visible: str, whole: bool = True
) -> Construct:
    return Construct(read.place(start), read.place(end), kind, targets, visible, whole)


def bracket_pairs(text: str) -> dict[int, int]:
    """Match each closing bracket with the one that opens it."""
    opened: list[int] = []
    pairs: dict[int, int] = {}
    for found in re.finditer(r"[\[\]]", text):
        if found[0] == "[":
            opened.append(found.start())
        elif opened:
            pairs[found.start()] = opened.pop()
    return pairs


def _bracketed(read: View) -> Iterator[Construct]:
    text = read.text
    pairs = bracket_pairs(text)
    defined = {_key(found["label"]): found["target"] for found in _DEFINITION.finditer(text)}
    for closing in _CLOSING.finditer(text):
        opening = pairs.get(closing.start())
        if opening is None:
            # Its bracket opens where an escape or code hides the pairing: without its target it is text.
            if text[closing.end()] == "(":
                end, target = _target(text, closing.end())
                yield _made(read, closing.start(), end, "link", (target,), "")
            continue
        start = opening - 1 if text[opening - 1 : opening] == "!" else opening
        kind: Kind = "image" if start < opening else "link"
        shown = read.span(opening + 1, closing.start()).strip()
        if text[closing.end()] == "(":
            end, target = _target(text, closing.end())
            yield _made(read, start, end, kind, (target,), shown)
        elif label := _LABEL.match(text, closing.end()):
            to = _key(label["label"]) or _key(text[opening + 1 : closing.start()])
            referring: Kind = "image" if kind == "image" else "reference"
            plain = _MARK.fullmatch(shown) or re.search(r"[A-Za-z0-9_\])]$", text[:start][-1:])
            if kind == "link" and plain:
                continue  # "[1][2]" and "m[i][j]": no definition that could make them links goes out unless held
            if to in defined:
                yield _made(read, start, label.end(), referring, (defined[to].strip("<>"),), shown, False)
            else:
                yield _made(read, start, label.end(), referring, (f"[{to}]",), shown)


def _target(text: str, place: int) -> tuple[int, str]:
    """Read a link's parenthesis, well-formed or not: where it ends, and the target."""
    found = _DESTINATION.match(text, place) or _LOOSE.match(text, place)
    assert found is not None
    groups = found.groupdict()
    target = groups["target"] if groups["target"] is not None else groups["open"]
    return found.end(), target.strip("<> \t\n")


def _key(label: str) -> str:
    return " ".join(label.split()).casefold()


def _definitions(read: View) -> Iterator[Construct]:
    for found in _DEFINITION.finditer(read.text):
        start = read.text.index("[", found.start())
        visible = ""
        if _PLAIN_WORD.fullmatch(found["target"]) and not found["title"]:
            # "[Note]: closed" is a definition to a renderer and a remark to its writer: it stays, as a remark.
            visible = f"{found['label']}: {found['target']}"
        yield _made(read, start, found.end(), "reference", (found["target"].strip("<>"),), visible)


def _tags(read: View) -> Iterator[Construct]:
    unclosed = 0
    open_targets: tuple[str, ...] = ()
    for start, end in tags_begun(read.text):
        if end is not None:
            if targets := targets_of_tag(read.text[start:end]):
                yield _made(read, start, end, "html", targets, "")
            continue
        unclosed += 1
        if not open_targets:
            rest = read.text[start:]
            read_on = unclosed <= MOST_UNCLOSED
            open_targets = tuple(each[:500] for each in targets_of_begun(rest)) if read_on else (rest[:80],)
        if open_targets:
            yield _made(read, start, start + 1, "html", open_targets, "< ", False)


def _pointed(read: View) -> Iterator[Construct]:
    for found in _POINTED.finditer(read.text):
        yield _made(read, found.start(), found.end(), "autolink", (found["target"],), GONE)


def _addresses(read: View) -> Iterator[Construct]:
    for found in _ADDRESS.finditer(read.text):
        run = found["target"].rstrip(_TRAILING)
        while run.count("(") > run.count(")") and found["target"].startswith(run + ")"):
            run += ")"
        end = found.start() + len(run)
        other = _NOT_OF_URLS.search(run)
        short = run[: other.start()].rstrip(_TRAILING) if other else run
        start, stop = read.place(found.start()), read.place(found.start() + len(short))
        if stop <= start:
            continue
        after = read.place(found.end())
        runs_on = short != run or read.text[end : end + 1] >= "\x80" or read.raw[after : after + 1] in ("&", "\\")
        apart = f"{read.raw[start:stop]} " if runs_on else ""
        yield Construct(start, stop, "autolink", (short,), GONE, False, apart)
