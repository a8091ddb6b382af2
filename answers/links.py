"""Remove links and images that no cited source holds, even while the text streams in arbitrary chunks.

A model that obeys an instruction planted in a document can exfiltrate what it knows in the address of an image
(Greshake et al. 2023; EchoLeak, CVE-2025-32711). So a target must occur in the text of a source that the section
cites, or be that source's own address. Otherwise the visible text stays and the target goes; an address that is its
own text becomes "…". Text is read as a renderer of Markdown or HTML reads it: entities decoded, escapes undone,
invisible characters dropped, tags parsed as a browser parses them.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
CONTROL = "\x00-\x08\x0e-\x1f\x7f"
UNSEEN = re.compile(f"[{INVISIBLE}{CONTROL}]")
_DECODED = re.compile(
    rf"(?P<entity>&(?:\#[xX]?[0-9a-fA-F]{{1,8}}|[A-Za-z][A-Za-z0-9]{{1,30}});?)"
    rf"|(?P<escape>\\(?=[!-/:-@\[-`{{-~]))|(?P<unseen>[{INVISIBLE}{CONTROL}]+)"
)


@dataclass(frozen=True, slots=True)
class RenderedText:
    """What is read, and where each of its characters stands in the raw text (one more entry for the end)."""

    raw: str
    text: str
    places: tuple[int, ...] | None  # None where the two are the same

    def place(self, position: int) -> int:
        return position if self.places is None else self.places[position]

    def readings(self) -> "tuple[RenderedText, ...]":
        """Give this reading and the raw one: in a tag, an entity for a quote or a bracket closes nothing."""
        return (self,) if self.places is None else (self, RenderedText(self.raw, self.raw, None))

    def span(self, start: int, end: int) -> str:
        """Give the raw text behind a part of the view."""
        return self.raw[self.place(start) : self.place(end)]


def render(raw: str) -> RenderedText:
    """Read a text as a renderer does."""
    text: list[str] = []
    places: list[int] = []
    done = 0
    for found in _DECODED.finditer(raw):
        read = html.unescape(found[0]) if found["entity"] else ""
        if read == found[0]:
            continue
        read = UNSEEN.sub("", re.sub(r"\s", " ", read))  # a line break in disguise breaks no line
        text += [raw[done : found.start()], read]
        places += [*range(done, found.start()), *[found.start()] * len(read)]
        done = found.end()
    if not done:
        return RenderedText(raw, raw, None)
    text.append(raw[done:])
    places += range(done, len(raw) + 1)
    return RenderedText(raw, "".join(text), tuple(places))


def ends_apart(character: str) -> bool:
    """Tell whether no link can begin with this character or run on through it: a letter beyond ASCII and its like."""
    return not (
        character < "\x80"
        or character.isspace()
        or UNSEEN.match(character)
        or unicodedata.normalize("NFKC", character)[:1] < "\x80"
    )


_TAG_START = re.compile(r"<(?=/?[A-Za-z]|[!?][A-Za-z\[-])")
_WHOLE_TAG = re.compile(r"<(?:!--.*?-->|[/!?]?[A-Za-z\[](?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>)", re.DOTALL)
_TAG_NAME = re.compile(r"<[/!?]?([A-Za-z][^\s/>]*)")
_AUTOLINK = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>]*>")  # an address in angle brackets, found as one
_ATTRIBUTE = re.compile(r"([^\s/>=\"'][^\s/>=]*)(?:\s*=\s*(?:\"([^\"]*)\"?|'([^']*)'?|([^\s>]*)))?")
_STYLE_LEADS = re.compile(r"url|image|@import|src|expression|behavior|binding|\\|/\*", re.IGNORECASE)
_INERT = """class id align valign colspan rowspan span width height border title alt lang dir start type name value
    scope open cellpadding cellspacing checked disabled rel target reversed color size face loading decoding
    referrerpolicy headers abbr datetime nowrap hidden tabindex role"""
_ACTIVE = """script iframe object embed applet base meta link style form input button textarea select svg math audio
    video frame frameset portal template noscript xml xss foreignobject animate set use isindex keygen marquee param
    import layer ilayer bgsound plaintext xmp listing noembed noframes"""
INERT_ATTRIBUTES = frozenset(_INERT.split())
ACTIVE_TAGS = frozenset(_ACTIVE.split())
LEADING_TAGS = ACTIVE_TAGS | {"a", "img", "image", "source", "picture"}


def tags_begun(text: str) -> Iterator[tuple[int, int | None]]:
    """Give where each tag begins and ends, None where nothing closes it."""
    last = text.rfind(">")
    for begun in _TAG_START.finditer(text):
        whole = _WHOLE_TAG.match(text, begun.start()) if begun.start() < last else None
        yield begun.start(), whole.end() if whole else None


def targets_of_tag(tag: str) -> tuple[str, ...]:
    """Give where a whole tag leads; nothing where it leads nowhere and runs nothing."""
    if tag.startswith("<!--"):
        return ()
    if _AUTOLINK.fullmatch(tag):
        return ()
    named = _TAG_NAME.match(tag)
    if named is None or tag.startswith(("<!", "<?")):
        return () if re.match(r"<!doctype\b", tag, re.IGNORECASE) else (" ".join(tag.split()),)
    name = named[1].lower().rpartition(":")[2]
    targets = () if tag.startswith("</") else _leading(tag[named.end() :].removesuffix(">"))
    if name in ACTIVE_TAGS and not targets:
        return (" ".join(tag.split()).lower(),)
    return targets


def targets_of_begun(text: str) -> tuple[str, ...]:
    """Give where a tag would lead that nothing closes: what follows the answer might close it."""
    named = _TAG_NAME.match(text)
    if named is None:
        return (text[:80],) if text.startswith("<!--") else ()
    if not re.match(r"[\s/]", text[named.end() :]) and named.end() < len(text):
        return ()
    name = named[1].lower().rpartition(":")[2]
    targets = _leading(text[named.end() :])
    return targets or ((named[0],) if name in LEADING_TAGS else ())


def _leading(attributes: str) -> tuple[str, ...]:
    targets: list[str] = []
    for found in _ATTRIBUTE.finditer(attributes):
        name = found[1].lower()
        value = next((group for group in found.groups()[1:] if group is not None), "").strip()
        if not value or name in INERT_ATTRIBUTES or (name == "style" and not _STYLE_LEADS.search(value)):
            continue
        if name.endswith("srcset"):
            targets += [part.split()[0] for part in value.split(",") if part.strip()]
        else:
            targets.append(value)
    return tuple(dict.fromkeys(targets))


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
    read = render(raw)
    found = [*_definitions(read), *_bracketed(read), *_addresses(read)]
    for reading in read.readings():
        found += [*_tags(reading), *_pointed(reading)]
    return sorted(found, key=lambda each: (each.start, -each.end))


def _made(
    read: RenderedText, start: int, end: int, kind: Kind, targets: tuple[str, ...], visible: str, whole: bool = True
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


def _bracketed(read: RenderedText) -> Iterator[Construct]:
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


def _definitions(read: RenderedText) -> Iterator[Construct]:
    for found in _DEFINITION.finditer(read.text):
        start = read.text.index("[", found.start())
        visible = ""
        if _PLAIN_WORD.fullmatch(found["target"]) and not found["title"]:
            # "[Note]: closed" is a definition to a renderer and a remark to its writer: it stays, as a remark.
            visible = f"{found['label']}: {found['target']}"
        yield _made(read, start, found.end(), "reference", (found["target"].strip("<>"),), visible)


def _tags(read: RenderedText) -> Iterator[Construct]:
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


def _pointed(read: RenderedText) -> Iterator[Construct]:
    for found in _POINTED.finditer(read.text):
        yield _made(read, found.start(), found.end(), "autolink", (found["target"],), GONE)


def _addresses(read: RenderedText) -> Iterator[Construct]:
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


Waits = Literal["construct", "closing", "word"]  # a link's sources; a bracket's or tag's end; the end of a word
PASSES = 12
MOST_REMOVED = 200  # where more would go, no honest answer stands
TARGET_CHARACTERS = 200
_ANY_SIGN = re.compile(r"[\[\]<>&\\/:@]|www(?=\.)", re.IGNORECASE)
_NO_LINK_WITHOUT = re.compile(rf"[\[\]<>&\\/:@?#{INVISIBLE}{CONTROL}]|www", re.IGNORECASE)
_CLOSES = re.compile(r"[\]>;\\]")  # a closing sign, or the end of an entity that stands for one
_WEB = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_RESERVED = re.compile(r"%(?:2[1346789abcf]|3[abdf]|40|5[bd]|25|20|[01][0-9a-f]|7f|[89a-f][0-9a-f])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RemovedLink:
    """A link that was taken out of an answer; ``target`` is cut to 200 characters."""

    kind: Kind
    target: str


@dataclass(slots=True)
class SourceLinks:
    """The links that some sources hold: in their texts, and as their own addresses."""

    texts: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    _targets: set[str] | None = field(default=None, init=False)

    def hold(self, raw: str, construct: Construct) -> bool:
        """Tell whether the sources hold a construct: the very text of it, or every target of it."""
        if construct.whole and any(raw in text for text in self.texts):
            return True
        if self._targets is None:
            found = [target for text in self.texts for each in constructs(text) for target in each.targets]
            self._targets = {normal_target(target) for target in (*found, *self.addresses)} - {""}
        return all(normal_target(target) in self._targets for target in construct.targets)

    def quote(self, text: str) -> bool:
        """Tell whether a text stands word for word in one of them."""
        return any(text in each for each in self.texts)


def normal_target(target: str) -> str:
    """Bring a target to the form in which two that lead to one place are equal.

    Schemes http and https, ``//`` and no scheme are one; host and scheme are lower-case; unreserved characters stand
    decoded; a slash at the end is dropped.
    """
    read = UNSEEN.sub("", re.sub(r"[\t\n\r]", "", render(target.strip()).text)).replace("\\", "/")
    read = re.sub(
        r"%[0-9a-fA-F]{2}", lambda code: code[0].upper() if _RESERVED.match(code[0]) else unquote(code[0]), read
    )
    read = re.sub(r"^mailto:", "", read, flags=re.IGNORECASE)
    read = _WEB.sub("", read, count=1) if _WEB.match(read) else read
    host = re.match(r"[^/?#]*", read)
    assert host is not None
    return (host[0].lower() + read[host.end() :]).rstrip("/")


def links_of_sources(texts: Iterable[str], addresses: Iterable[str | None] = ()) -> SourceLinks:
    """Collect what sources hold: their texts, and the addresses they come from."""
    return SourceLinks(tuple(texts), tuple(address for address in addresses if address))


def without_foreign_links(text: str, held: SourceLinks) -> tuple[str, list[RemovedLink]]:
    """Take out what the sources do not hold; give the text that stands, and what went.

    A text that stands word for word in a source stays as it is. What no pass settles loses every sign of a link.
    """
    if held.quote(text):
        return text, []
    inert, _ = settled(text)
    head, tail = text[:inert], text[inert:]
    removed: list[RemovedLink] = []
    for _ in range(PASSES):
        cleaned, went = _once(tail, held)
        removed += went
        unchanged = cleaned == tail
        tail = cleaned
        if unchanged or len(removed) > MOST_REMOVED:
            break
    if removed and not unchanged:
        tail = _ANY_SIGN.sub(" ", UNSEEN.sub("", tail))
    if not removed:
        return head + tail, []
    return (head + tail).rstrip() if head else tail.strip(), removed


def _once(text: str, held: SourceLinks) -> tuple[str, list[RemovedLink]]:
    """Take out foreign constructs once; what is left may form others."""
    parts: list[str] = []
    removed: list[RemovedLink] = []
    done = 0
    inside: list[str] = []  # targets of held constructs around the place
    inside_end = 0
    for each in constructs(text):
        raw = text[each.start : each.end]
        if each.start < done:
            continue
        if held.hold(raw, each):
            within = each.start < inside_end
            if not each.apart or within:  # what ends an address inside a tag or link is their own business
                inside += [normal_target(target) for target in each.targets]
                inside_end = max(inside_end, each.end)
                continue
            stands = each.apart
        elif each.kind == "autolink" and any(target.startswith(normal_target(each.target)) for target in inside):
            continue
        else:
            stands = each.visible
            removed.append(RemovedLink(each.kind, each.target[:TARGET_CHARACTERS]))
        parts += [text[done : each.start], stands]
        done = each.end
        if not stands and text[: each.start][-1:] in ("", " ", "\t", "\n"):
            done += len(text[done:]) - len(text[done:].lstrip(" \t"))
    return "".join(parts) + text[done:], removed


def settled(text: str) -> tuple[int, Waits]:
    """Give how much of a text can become part of no link whatever follows, and what the rest waits for.

    The cut lies before white space or after a letter beyond ASCII: no link runs on through the one and begins with
    the other. Nothing before it is open: no bracket, no tag, no definition.
    """
    if not _NO_LINK_WITHOUT.search(text):  # most text; the rest takes forty times as long
        return _parted(text, len(text)), "word"
    begun = [each.start for each in constructs(text)[:1]]
    read = render(text)
    begun += [read.place(found.start()) for found in DEFINITION_BEGUN.finditer(read.text)][:1]
    spans = list(_spans(read))
    cut = min([*begun, *(start for start, end in spans if end is None), len(text)])
    waits: Waits = "construct" if begun else "closing" if cut < len(text) else "word"
    while True:
        cut = _parted(text, cut)
        around = [start for start, end in spans if end is not None and start < cut < end]
        if not around:
            return cut, waits
        cut = min(around)


def _parted(text: str, cut: int) -> int:
    """Give the last place up to ``cut`` that no link runs through."""
    while cut and not _parts(text, cut):
        cut -= 1
    return cut


def _spans(read: RenderedText) -> Iterator[tuple[int, int | None]]:
    """Give where brackets and tags begin and end in the raw text; None where they have not ended."""
    pairs = bracket_pairs(read.text)
    closed = set(pairs.values())
    yield from ((read.place(start), read.place(end + 1)) for end, start in pairs.items())
    yield from ((read.place(at.start()), None) for at in re.finditer(r"\[", read.text) if at.start() not in closed)
    for reading in read.readings():
        for start, end in tags_begun(reading.text):
            yield reading.place(start), None if end is None else reading.place(end)


def _parts(text: str, cut: int) -> bool:
    """Tell whether no link runs through a place: it is after a letter beyond ASCII, or between a word and a space."""
    return ends_apart(text[cut - 1]) or (text[cut : cut + 1].isspace() and not text[cut - 1].isspace())


class LinkFilter:
    """Pass a section's text on while it streams, up to what could become a link; the rest waits for its sources.

    Neither what goes out in the end nor what is reported depends on how the text was cut.
    """

    def __init__(self) -> None:
        self._text = ""
        self._sent = 0
        self._waits: Waits = "word"

    def feed(self, delta: str) -> str:
        """Give what can go out now."""
        self._text += delta
        if self._waits == "construct" or (self._waits == "closing" and not _CLOSES.search(delta)):
            return ""
        cut, self._waits = settled(self._text[self._sent :])
        out = self._text[self._sent : self._sent + cut]
        self._sent += cut
        return out

    def close(self, held: SourceLinks) -> tuple[str, str, list[RemovedLink]]:
        """Give what is left to go out, the whole text that went out, and what was removed."""
        text, removed = without_foreign_links(self._text, held)
        return text[self._sent :], text, removed
