"""Text as a renderer comes to read it: entities decoded, escapes undone, invisible characters gone."""

import html
import re
import unicodedata
from dataclasses import dataclass

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
class View:
    """What is read, and where each of its characters stands in the raw text (one more entry for the end)."""

    raw: str
    text: str
    places: tuple[int, ...] | None  # None where the two are the same

    def place(self, position: int) -> int:
        return position if self.places is None else self.places[position]

    def readings(self) -> "tuple[View, ...]":
        """Give this reading and the raw one: in a tag, an entity for a quote or a bracket closes nothing."""
        return (self,) if self.places is None else (self, View(self.raw, self.raw, None))

    def span(self, start: int, end: int) -> str:
        """Give the raw text behind a part of the view."""
        return self.raw[self.place(start) : self.place(end)]


def view(raw: str) -> View:
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
        return View(raw, raw, None)
    text.append(raw[done:])
    places += range(done, len(raw) + 1)
    return View(raw, "".join(text), tuple(places))


def ends_apart(character: str) -> bool:
    """Tell whether no link can begin with this character or run on through it: a letter beyond ASCII and its like."""
    return not (
        character < "\x80"
        or character.isspace()
        or UNSEEN.match(character)
        or unicodedata.normalize("NFKC", character)[:1] < "\x80"
    )
