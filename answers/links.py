"""Removal of links and images that no cited source contains, even while text streams in arbitrary chunks.

A model that obeys an instruction planted in a document can exfiltrate what it knows in the address of an image
(Greshake et al. 2023; EchoLeak, CVE-2025-32711). So a target must occur in the text of a source that the section
cites, or be that source's address. Otherwise the visible text stays and the target is removed; an address that is its
own text becomes "…".

Text is read as a renderer of Markdown or HTML reads it: entities decoded, escapes undone, invisible characters dropped,
tags parsed as a browser parses them. It follows CommonMark 0.31, GFM's autolinks and the HTML tokenizer, and is
deliberately broader than any of them: code is not exempt and ill-formed links count, so that a lenient renderer makes
no difference.

What holds for an answer holds for a model's short texts beside it, such as titles, reasons and queries: they are shown,
stored and sent to search engines.
"""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote

from text.inline_spans import READS_AS_A_MARK
from text.language import word_set
from text.late_patterns import late_pattern
from text.normal_forms import fold_width
from text.scripts import INDEXED_BY_BIGRAMS, INVISIBLE

_UNSEEN_CLASS = f"{INVISIBLE}\x00-\x08\x0e-\x1f\x7f"
_UNSEEN = re.compile(f"[{_UNSEEN_CLASS}]")
_DECODED = re.compile(
    rf"(?P<entity>&(?:\#[xX]?[0-9a-fA-F]{{1,8}}|[A-Za-z][A-Za-z0-9]{{1,30}});?)"
    rf"|(?P<escape>\\(?=[!-/:-@\[-`{{-~]))|(?P<unseen>[{_UNSEEN_CLASS}]+)"
)


@dataclass(frozen=True, slots=True)
class _RenderedText:
    """A text as a renderer reads it; ``places`` maps each character, and the end, to its offset in ``raw``."""

    raw: str
    text: str
    places: tuple[int, ...] | None  # None where the two are the same

    def place(self, position: int) -> int:
        return position if self.places is None else self.places[position]

    def readings(self) -> "tuple[_RenderedText, ...]":
        """Return this reading and the raw one, since in a tag an entity for a quote or bracket closes nothing."""
        return (self,) if self.places is None else (self, _RenderedText(self.raw, self.raw, None))


def _render(raw: str) -> _RenderedText:
    text: list[str] = []
    places: list[int] = []
    done = 0
    for found in _DECODED.finditer(raw):
        read = html.unescape(found[0]) if found["entity"] else ""
        if read == found[0]:
            continue
        read = _UNSEEN.sub("", re.sub(r"\s", " ", read))  # an encoded line break breaks no line
        text += [raw[done : found.start()], read]
        places += [*range(done, found.start()), *[found.start()] * len(read)]
        done = found.end()
    if not done:
        return _RenderedText(raw, raw, None)
    return _RenderedText(raw, "".join([*text, raw[done:]]), (*places, *range(done, len(raw) + 1)))


Kind = Literal["image", "link", "autolink", "html", "reference"]


@dataclass(frozen=True, slots=True)
class _Construct:
    """A link: its span in the raw text, its targets, and the text that remains visible without it.

    ``whole`` means that the raw text alone identifies it, so that a source with the same text contains it.
    ``separated`` replaces an address where a source contains only its beginning; "" where that is all of it.
    """

    start: int
    end: int
    kind: Kind
    targets: tuple[str, ...]
    visible: str
    whole: bool = True
    separated: str = ""


def _construct(
    read: _RenderedText, start: int, end: int, kind: Kind, target: str, visible: str = "", whole: bool = True
) -> _Construct:
    return _Construct(read.place(start), read.place(end), kind, (target,), visible, whole)


def _constructs(raw: str, before: str = "") -> list[_Construct]:
    """Return the constructs of a text by position, outer ones before those inside them; ``before`` precedes it."""
    read = _render(raw)
    found = [*_definitions(read), *_bracketed(read), *_addresses(read, before)]
    for reading in read.readings():
        found += [*_tags(reading), *_pointed(reading)]
    return sorted(found, key=lambda each: (each.start, -each.end))


_MOST_UNCLOSED = 20  # tags parsed; any further unclosed tag counts as a link without parsing
_REMOVED = "…"  # replaces an address that is both text and target

_TAG_START = re.compile(r"<(?=/?[A-Za-z]|[!?][A-Za-z\[-])")
_WHOLE_TAG = re.compile(r"<(?:!--.*?-->|[/!?]?[A-Za-z\[](?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>)", re.DOTALL)
_TAG_NAME = re.compile(r"<[/!?]?(?=[A-Za-z])(?:[^\s/>]*:)?([^\s/>:]*)")  # without its namespace
_AUTOLINK = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>]*>")  # an address, which _pointed finds
_ATTRIBUTE = re.compile(r"([^\s/>=\"'][^\s/>=]*)(?:\s*=\s*(?:\"([^\"]*)\"?|'([^']*)'?|([^\s>]*)))?")
_STYLE_LOADS = re.compile(r"url|image|@import|src|expression|behavior|binding|\\|/\*", re.IGNORECASE)
_INERT_ATTRIBUTES = word_set(
    """
    class id align valign colspan rowspan span width height border title alt lang dir start type name value scope open
    cellpadding cellspacing checked disabled rel target reversed color size face loading decoding referrerpolicy headers
    abbr datetime nowrap hidden tabindex role
    """
)
_ACTIVE_TAGS = word_set(
    """
    script iframe object embed applet base meta link style form input button textarea select svg math audio video frame
    frameset portal template noscript xml xss foreignobject animate set use isindex keygen marquee param import layer
    ilayer bgsound plaintext xmp listing noembed noframes
    """
)
_LINKING_TAGS = _ACTIVE_TAGS | {"a", "img", "image", "source", "picture"}


def _tags(read: _RenderedText) -> Iterator[_Construct]:
    unclosed = 0
    open_targets: tuple[str, ...] = ()
    for start, end in _tag_spans(read.text):
        if end is not None:
            if targets := _targets_of_tag(read.text[start:end]):
                yield _Construct(read.place(start), read.place(end), "html", targets, "")
            continue
        unclosed += 1
        if not open_targets:
            rest = read.text[start:]
            read_on = unclosed <= _MOST_UNCLOSED
            open_targets = tuple(each[:500] for each in _targets_of_open_tag(rest)) if read_on else (rest[:80],)
        if open_targets:
            yield _Construct(read.place(start), read.place(start + 1), "html", open_targets, "< ", False)


def _tag_spans(text: str) -> Iterator[tuple[int, int | None]]:
    """Yield where each tag begins and ends; the end is None where the tag is never closed.

    Each unclosed tag is read to the end of the text, each within another to the end of that one. So of either no more
    than ``_MOST_UNCLOSED`` are read, and the rest count as unclosed: time is linear in the text.
    """
    last = text.rfind(">")
    unclosed = nested = past = 0
    for begun in _TAG_START.finditer(text):
        start = begun.start()
        nested = nested + 1 if start < past else 0
        if start >= last or max(unclosed, nested) > _MOST_UNCLOSED:
            yield start, None
            continue
        whole = _WHOLE_TAG.match(text, start)
        if whole is None:
            unclosed += 1
        else:
            past = max(past, whole.end())
        yield start, whole.end() if whole else None


def _targets_of_tag(tag: str) -> tuple[str, ...]:
    """Return the targets of a complete tag, none if it links to and runs nothing.

    Attributes count as targets unless known to be harmless. A tag that runs or embeds something, without a target, is
    its own target.
    """
    if tag.startswith("<!--") or _AUTOLINK.fullmatch(tag):
        return ()
    named = _TAG_NAME.match(tag)
    if named is None or tag.startswith(("<!", "<?")):
        return () if re.match(r"<!doctype\b", tag, re.IGNORECASE) else (" ".join(tag.split()),)
    targets = () if tag.startswith("</") else _attribute_targets(tag[named.end() :].removesuffix(">"))
    if named[1].lower() in _ACTIVE_TAGS and not targets:
        return (" ".join(tag.split()).lower(),)
    return targets


def _targets_of_open_tag(text: str) -> tuple[str, ...]:
    """Return the targets of an unclosed tag, which text after the answer might close."""
    named = _TAG_NAME.match(text)
    if named is None:
        return (text[:80],) if text.startswith("<!--") else ()
    if not re.match(r"[\s/]", text[named.end() :]) and named.end() < len(text):
        return ()
    return _attribute_targets(text[named.end() :]) or ((named[0],) if named[1].lower() in _LINKING_TAGS else ())


def _attribute_targets(attributes: str) -> tuple[str, ...]:
    targets: list[str] = []
    for found in _ATTRIBUTE.finditer(attributes):
        name = found[1].lower()
        value = next((group for group in found.groups()[1:] if group is not None), "").strip()
        if not value or name in _INERT_ATTRIBUTES or (name == "style" and not _STYLE_LOADS.search(value)):
            continue
        if name.endswith("srcset"):
            targets += [part.split()[0] for part in value.split(",") if part.strip()]
        else:
            targets.append(value)
    return tuple(dict.fromkeys(targets))


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
_DEFINITION_BEGUN = re.compile(_LINE + r"\[[^\[\]]{1,999}\]:", re.MULTILINE)
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
    | (?<![A-Za-z0-9@/._\-])(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?\.)+
      (?:[A-Za-z]{2,24}|xn--[A-Za-z0-9\-]{1,59})(?::\d{1,5})?[/?\#][^\s<]+
    | (?<![A-Za-z0-9.!\#$%&'*+/=?^_`{|}~\-])[A-Za-z0-9.!\#$%&'*+/=?^_`{|}~\-]++
      @(?:[A-Za-z0-9](?:[A-Za-z0-9\-_]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9\-]{0,22}[A-Za-z0-9](?:\?[^\s<]*)?
    )""",
    re.VERBOSE | re.IGNORECASE,
)
# A bare address whose host has letters outside of ASCII. It is read from behind the last of them, which may have gone
# out already: text without spaces is all such letters.
_INTERNATIONAL = re.compile(
    r"""(?<=[^\x00-\x7f\s])(?P<target>
      \.(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?\.)*
      (?:[A-Za-z]{2,24}|xn--[A-Za-z0-9\-]{1,59})(?::\d{1,5})?[/?\#][^\s<]+
    | (?P<path>(?::\d{1,5})?[/?\#][!-;=?-~][^\s<]*)
    )""",
    re.VERBOSE,
)
# Any other is a word of a sentence, as in "A.单价/kg".
_IDEOGRAPHIC_DOMAINS = (
    "中国", "中國", "香港", "台灣", "台湾", "澳門", "澳门", "新加坡", "公司", "网络", "網絡", "在线", "中文网",
    "网址", "网站", "商城", "商店", "商标", "公益", "政务", "移动", "手机", "集团", "世界", "餐厅", "健康",
    "企业", "娱乐", "广东", "佛山", "慈善", "时尚", "游戏", "招聘", "购物", "信息", "机构", "组织机构", "みんな",
    "コム", "ストア", "クラウド", "닷컴", "닷넷", "한국",
)  # fmt: skip
_DOMAIN = late_pattern(rf"[\w\-]\.(?:{'|'.join(_IDEOGRAPHIC_DOMAINS)}|[^\x00-\x7f\s.{INDEXED_BY_BIGRAMS}]{{2,24}})\Z")
_CONTEXT = 40  # characters before a text, which may be the host of an address that begins it
_TRAILING = "?!.,:;*_~'\"`()[]{}|\\>"
_NOT_OF_URLS = re.compile(r"[^!#$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]")


def _bracketed(read: _RenderedText) -> Iterator[_Construct]:
    text = read.text
    pairs = _bracket_pairs(text)
    defined = {_key(found["label"]): found["target"].strip("<>") for found in _DEFINITION.finditer(text)}
    for closing in _CLOSING.finditer(text):
        opening = pairs.get(closing.start())
        inline = text[closing.end()] == "("
        if opening is None:
            # An escape or code hides the opening bracket; without its target, the rest is plain text.
            if inline:
                end, target = _target(text, closing.end())
                yield _construct(read, closing.start(), end, "link", target)
            continue
        is_image = text[opening - 1 : opening] == "!"
        start = opening - 1 if is_image else opening
        shown = read.raw[read.place(opening + 1) : read.place(closing.start())].strip()
        if inline:
            end, target = _target(text, closing.end())
            yield _construct(read, start, end, "image" if is_image else "link", target, shown)
        elif label := _LABEL.match(text, closing.end()):
            if not is_image and (_MARK.fullmatch(shown) or re.search(r"[A-Za-z0-9_\])]$", text[:start][-1:])):
                continue  # "[1][2]" and "m[i][j]": definitions that would make them links are checked separately
            label_key = _key(label["label"]) or _key(text[opening + 1 : closing.start()])
            kind: Kind = "image" if is_image else "reference"
            target = defined.get(label_key, f"[{label_key}]")
            yield _construct(read, start, label.end(), kind, target, shown, label_key not in defined)


def _bracket_pairs(text: str) -> dict[int, int]:
    """Return the offset of the opening bracket for each closing one."""
    opened: list[int] = []
    pairs: dict[int, int] = {}
    for found in re.finditer(r"[\[\]]", text):
        if found[0] == "[":
            opened.append(found.start())
        elif opened:
            pairs[found.start()] = opened.pop()
    return pairs


def _target(text: str, place: int) -> tuple[int, str]:
    """Read a link's parenthesis, well-formed or not; return its end and the target."""
    found = _DESTINATION.match(text, place) or _LOOSE.match(text, place)
    assert found is not None
    target = found["target"]
    return found.end(), (found["open"] if target is None else target).strip("<> \t\n")


def _key(label: str) -> str:
    return " ".join(label.split()).casefold()


def _definitions(read: _RenderedText) -> Iterator[_Construct]:
    for found in _DEFINITION.finditer(read.text):
        start = read.text.index("[", found.start())
        # A renderer reads "[Note]: closed" as a definition, but its author means a remark: keep it as text.
        is_remark = _PLAIN_WORD.fullmatch(found["target"]) and not found["title"]
        visible = f"{found['label']}: {found['target']}" if is_remark else ""
        yield _construct(read, start, found.end(), "reference", found["target"].strip("<>"), visible)


def _pointed(read: _RenderedText) -> Iterator[_Construct]:
    for found in _POINTED.finditer(read.text):
        yield _construct(read, found.start(), found.end(), "autolink", found["target"], _REMOVED)


def _addresses(read: _RenderedText, before: str) -> Iterator[_Construct]:
    for found in _ADDRESS.finditer(read.text):
        yield from _address(read, found["target"], found.start())
    context = _render(before[-_CONTEXT:]).text
    whole = context + read.text
    for found in _INTERNATIONAL.finditer(whole, max(0, len(context) - 1)):
        start = found.start()
        if start < len(context) or (found["path"] and not _DOMAIN.search(whole[max(0, start - _CONTEXT) : start])):
            continue
        yield from _address(read, found["target"], start - len(context))


def _address(read: _RenderedText, target: str, at: int) -> Iterator[_Construct]:
    run = target.rstrip(_TRAILING)
    while run.count("(") > run.count(")") and target.startswith(run + ")"):
        run += ")"
    end = at + len(run)
    other = _NOT_OF_URLS.search(run)
    short = run[: other.start()].rstrip(_TRAILING) if other else run
    start, stop = read.place(at), read.place(at + len(short))
    if stop <= start:
        return
    after = read.place(at + len(target))
    continues = short != run or read.text[end : end + 1] >= "\x80" or read.raw[after : after + 1] in ("&", "\\")
    separated = f"{read.raw[start:stop]} " if continues else ""
    yield _Construct(start, stop, "autolink", (short,), _REMOVED, False, separated)


_PASSES = 12
_MOST_REMOVED = 200  # beyond this, no honest answer is left
_TARGET_CHARACTERS = 200
_ANY_SIGN = re.compile(r"[\[\]<>&\\/:@]|www(?=\.)", re.IGNORECASE)
_LEAD = re.compile(r"(?:mailto:)?(?:(?:https?:)?//)?", re.IGNORECASE)
_RESERVED = re.compile(r"%(?:2[1346789abcf]|3[abdf]|40|5[bd]|25|20|[01][0-9a-f]|7f|[89a-f][0-9a-f])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RemovedLink:
    """A link removed from an answer; ``target`` is cut to 200 characters."""

    kind: Kind
    target: str


@dataclass(slots=True)
class SourceLinks:
    """The links that sources contain in their texts, and the sources' own addresses."""

    texts: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    _targets: set[str] | None = field(default=None, init=False)

    def contain(self, raw: str, construct: _Construct) -> bool:
        """Whether the sources contain a construct: its exact text, or all of its targets."""
        if construct.whole and any(raw in text for text in self.texts):
            return True
        if self._targets is None:
            found = [target for text in self.texts for each in _constructs(text) for target in each.targets]
            self._targets = {normal_target(target) for target in (*found, *self.addresses)} - {""}
        return all(normal_target(target) in self._targets for target in construct.targets)


def normal_target(target: str) -> str:
    """Normalise a target, so that targets of one place compare equal.

    Schemes http and https, ``//`` and no scheme are the same; host and scheme are lower-case; unreserved characters are
    decoded; a trailing slash is dropped.
    """
    read = _UNSEEN.sub("", re.sub(r"[\t\n\r]", "", _render(target.strip()).text)).replace("\\", "/")
    read = re.sub(
        r"%[0-9a-fA-F]{2}", lambda code: code[0].upper() if _RESERVED.match(code[0]) else unquote(code[0]), read
    )
    read = _LEAD.sub("", read, count=1)
    return re.sub(r"\A[^/?#]*", lambda host: host[0].lower(), read).rstrip("/")


def links_of_sources(texts: Iterable[str], addresses: Iterable[str | None] = ()) -> SourceLinks:
    """Return the links of sources, from their texts and their addresses."""
    return SourceLinks(tuple(texts), tuple(address for address in addresses if address))


def without_foreign_links(text: str, held: SourceLinks) -> tuple[str, list[RemovedLink]]:
    """Remove links that the sources do not contain; return the remaining text and the removed links.

    A text that a source contains word for word stays unchanged. If the passes don't converge, every character that
    could form a link is removed.
    """
    if any(text in each for each in held.texts):
        return text, []
    inert, _ = settled(text)
    head, tail = text[:inert], text[inert:]
    removed: list[RemovedLink] = []
    for _ in range(_PASSES):
        cleaned, removed_now = _remove_once(tail, held, head)
        removed += removed_now
        unchanged, tail = cleaned == tail, cleaned
        if unchanged or len(removed) > _MOST_REMOVED:
            break
    if not removed:
        return head + tail, []
    if not unchanged:
        tail = _ANY_SIGN.sub(" ", _UNSEEN.sub("", tail))
    return (head + tail).rstrip() if head else tail.strip(), removed


def _remove_once(text: str, held: SourceLinks, before: str) -> tuple[str, list[RemovedLink]]:
    """Remove foreign constructs in one pass; the remaining text may form new ones."""
    parts: list[str] = []
    removed: list[RemovedLink] = []
    done = 0
    inside: list[str] = []  # targets of the kept constructs around this position
    inside_end = 0
    for each in _constructs(text, before):
        if each.start < done:
            continue
        if held.contain(text[each.start : each.end], each):
            within = each.start < inside_end
            if not each.separated or within:  # inside a tag or link, that construct decides where an address ends
                inside += [normal_target(target) for target in each.targets]
                inside_end = max(inside_end, each.end)
                continue
            left = each.separated
        elif each.kind == "autolink" and any(target.startswith(normal_target(each.targets[0])) for target in inside):
            continue
        else:
            left = each.visible
            removed.append(RemovedLink(each.kind, each.targets[0][:_TARGET_CHARACTERS]))
        parts += [text[done : each.start], left]
        done = each.end
        if not left and text[: each.start][-1:] in ("", " ", "\t", "\n"):
            done += len(text[done:]) - len(text[done:].lstrip(" \t"))
    return "".join(parts) + text[done:], removed


_Waits = Literal["construct", "closing", "word"]  # a link's sources; the end of a bracket or tag; that of a word
_NO_LINK_WITHOUT = re.compile(rf"[\[\]<>&\\/:@?#{_UNSEEN_CLASS}]|www", re.IGNORECASE)
_CLOSES = re.compile(r"[\]>;\\]")  # a closing character, or the end of an entity for one


def settled(text: str, before: str = "") -> tuple[int, _Waits]:
    """Return the length of text that can't be part of a link whatever follows, and what the rest waits for.

    The cut is before white space or after a non-ASCII letter: no link continues through the one or begins with the
    other. No bracket, tag or definition before it is open.
    """
    if not _NO_LINK_WITHOUT.search(text):  # true of most text; the rest takes forty times as long
        return _last_cut(text, len(text)), "word"
    begun = [each.start for each in _constructs(text, before)[:1]]
    read = _render(text)
    begun += [read.place(found.start()) for found in _DEFINITION_BEGUN.finditer(read.text)][:1]
    spans = list(_spans(read))
    cut = min([*begun, *(start for start, end in spans if end is None), len(text)])
    waits: _Waits = "construct" if begun else "closing" if cut < len(text) else "word"
    while True:
        cut = _last_cut(text, cut)
        around = [start for start, end in spans if end is not None and start < cut < end]
        if not around:
            return cut, waits
        cut = min(around)


def _spans(read: _RenderedText) -> Iterator[tuple[int, int | None]]:
    """Yield where brackets and tags begin and end in the raw text; the end is None where they are still open."""
    pairs = _bracket_pairs(read.text)
    closed = set(pairs.values())
    yield from ((read.place(start), read.place(end + 1)) for end, start in pairs.items())
    yield from ((read.place(at.start()), None) for at in re.finditer(r"\[", read.text) if at.start() not in closed)
    for reading in read.readings():
        for start, end in _tag_spans(reading.text):
            yield reading.place(start), None if end is None else reading.place(end)


def _last_cut(text: str, cut: int) -> int:
    """Return the last offset up to ``cut`` that no link spans: after a non-ASCII letter, or between word and space."""
    if 0 < cut == len(text) and text.isascii():  # most text, of which there is no need to look at each character
        word = 0 if text[-1].isspace() else len(text.rsplit(maxsplit=1)[-1])
        return len(text[: cut - word].rstrip())
    while cut and not (_ends_links(text[cut - 1]) or (text[cut : cut + 1].isspace() and not text[cut - 1].isspace())):
        cut -= 1
    return cut


def _ends_links(character: str) -> bool:
    """Whether no link can begin with or continue through this character: a non-ASCII letter or similar."""
    return not (
        character < "\x80" or character.isspace() or _UNSEEN.match(character) or fold_width(character)[:1] < "\x80"
    )


class LinkFilter:
    """A streaming filter that releases a section's text up to a possible link; the rest waits for the sources.

    Neither the final output nor the reported links depend on how the text was chunked.
    """

    def __init__(self) -> None:
        self._text = ""
        self._sent = 0
        self._waits: _Waits = "word"

    def feed(self, delta: str) -> str:
        """Return the text that can go out now."""
        self._text += delta
        if self._waits == "construct" or (self._waits == "closing" and not _CLOSES.search(delta)):
            return ""
        before = self._text[max(0, self._sent - _CONTEXT) : self._sent]
        cut, self._waits = settled(self._text[self._sent :], before)
        out = self._text[self._sent : self._sent + cut]
        self._sent += cut
        return out

    @property
    def word(self) -> str:
        """The space and the word that wait, "" if they may be part of more than an address."""
        return self._text[self._sent :] if self._waits == "word" else ""

    @property
    def waiting(self) -> int:
        """How many characters wait."""
        return len(self._text) - self._sent

    def close(self, held: SourceLinks) -> tuple[str, str, list[RemovedLink]]:
        """Return the remaining text, the whole text that goes out, and the removed links."""
        text, removed = without_foreign_links(self._text, held)
        return text[self._sent :], text, removed


# An invisible character that separates characters which clients would otherwise parse together.
JOINER = "\u2060"


def without_links(text: str, known: Iterable[str] = ()) -> str:
    """Remove the links and images from a text that no known text contains; their words stay."""
    return without_foreign_links(text, links_of_sources(known))[0]


def without_marks(text: str) -> str:
    """Keep what reads as a citation mark from being one."""
    return READS_AS_A_MARK.sub(lambda found: f"{found['open']}{JOINER}{found[0][len(found['open']) :]}", text)
