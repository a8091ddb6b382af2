"""Let no link or image out of an answer that no source which it cites holds, however the text is cut while it streams.

A model that obeys an instruction planted in a document can carry what it knows out of the house in the address of an
image (Greshake et al. 2023; EchoLeak, CVE-2025-32711). So a target must stand in the text of a source that the
section cites, or be that source's own address. Otherwise the visible text stays and the target goes; an address that
is its own text becomes "…".
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote

from nodes.link_constructs import DEFINITION_BEGUN, Construct, Kind, bracket_pairs, constructs
from nodes.link_tags import tags_begun
from nodes.link_view import CONTROL, INVISIBLE, UNSEEN, View, ends_apart, view

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
class Removed:
    """A link that was taken out of an answer; ``target`` is cut to 200 characters."""

    kind: Kind
    target: str


@dataclass(slots=True)
class HeldLinks:
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
    read = UNSEEN.sub("", re.sub(r"[\t\n\r]", "", view(target.strip()).text)).replace("\\", "/")
    read = re.sub(
        r"%[0-9a-fA-F]{2}", lambda code: code[0].upper() if _RESERVED.match(code[0]) else unquote(code[0]), read
    )
    read = re.sub(r"^mailto:", "", read, flags=re.IGNORECASE)
    read = _WEB.sub("", read, count=1) if _WEB.match(read) else read
    host = re.match(r"[^/?#]*", read)
    assert host is not None
    return (host[0].lower() + read[host.end() :]).rstrip("/")


def held_links(texts: Iterable[str], addresses: Iterable[str | None] = ()) -> HeldLinks:
    """Collect what sources hold: their texts, and the addresses they come from."""
    return HeldLinks(tuple(texts), tuple(address for address in addresses if address))


def without_foreign_links(text: str, held: HeldLinks) -> tuple[str, list[Removed]]:
    """Take out what the sources do not hold; give the text that stands, and what went.

    A text that stands word for word in a source stays as it is. What no pass settles loses every sign of a link.
    """
    if held.quote(text):
        return text, []
    inert, _ = settled(text)
    head, tail = text[:inert], text[inert:]
    removed: list[Removed] = []
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


def _once(text: str, held: HeldLinks) -> tuple[str, list[Removed]]:
    """Take out foreign constructs once; what is left may form others."""
    parts: list[str] = []
    removed: list[Removed] = []
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
            removed.append(Removed(each.kind, each.target[:TARGET_CHARACTERS]))
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
    read = view(text)
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


def _spans(read: View) -> Iterator[tuple[int, int | None]]:
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

    def close(self, held: HeldLinks) -> tuple[str, str, list[Removed]]:
        """Give what is left to go out, the whole text that went out, and what was removed."""
        text, removed = without_foreign_links(self._text, held)
        return text[self._sent :], text, removed
