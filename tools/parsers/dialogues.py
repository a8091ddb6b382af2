"""Dialogues in plain text, by their form alone: questions with their answers, and chats as programs export them.

Each turn is a block with who speaks, in the words of the file, and hangs on the question that it stands below.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from text.shapes import is_question, label_of
from tools.parsers.canonical_text import FILE_LINE, Block, paragraphs

_FEWEST = 3  # messages, or turns of two labels
_MOST_REPLIES = 3  # that hang on a question
_TIME = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:[\s\u202f]?[AaPp]\.?[\s\u202f]?[Mm]\.?)?"
_STAMP = rf"(?:\d{{1,4}}[./-]\d{{1,2}}[./-]?(?:\d{{1,4}}\.?)?,?[ T])?{_TIME}"
_STAMPED = rf"(?:\[{_STAMP}\]|\({_STAMP}\)|{_STAMP})"
_NAME = r"[^\W\d_][^<>:\n\[\]]{0,60}?"
_MARKS = r"[\u200e\u200f\u202a-\u202e\ufeff]*"
# "[12.03.24, 10:15] Ana: ...", "12/03/24, 10:15 - Ana: ...", "10:15 <ana> ...", "10:15 -!- ana ...": with words behind
_INLINE = re.compile(
    rf"{_MARKS}{_STAMPED}[ ]?(?:[-–—] )?{_MARKS}(?:[*<][ @+%&~]?(?P<nick>[^<>\s]+)>?|(?P<name>{_NAME}):|-!-)[ \t]"
)
# "Ana  10:15 AM", "[12.03. 10:15] Ana", "Ana, [12.03.24 10:15]", "Ana — 12/03/2024 10:15": a line above the words
_ABOVE = re.compile(
    rf"{_MARKS}(?:(?P<name>{_NAME}),?[ \t]+(?:[-–—] )?{_STAMPED}|\[{_STAMP}\][ ](?P<after>{_NAME}))[ \t]*"
)
_SYSTEM = re.compile(rf"{_MARKS}{_STAMPED}[ ]?(?:[-–—] )?\S")  # a message of the program
_SAMPLE = 40  # lines among which a chat has its first messages

Turn = tuple[int, str]  # where it begins, and who speaks


def dialogue(text: str) -> tuple[Block, ...]:
    """Return the turns of a text that is a chat, or questions and answers, as blocks; nothing for any other."""
    lines = (line for line in FILE_LINE.finditer(text) if line[0].strip())
    head = list(islice(lines, _SAMPLE))
    form = next(
        (form for form in (_INLINE, _ABOVE) if sum(_speaker(form, line[0]) is not None for line in head) > 1), None
    )
    if "\f" in text:
        return ()
    turns = _messages(form, [*head, *lines]) if form else _labelled(head, lines)
    before = paragraphs(text, 0, turns[0][0], None) if turns else []
    return (*before, *_blocks(text, turns, whole=form is not None, count=len(before)))


def _messages(form: re.Pattern[str], lines: list[re.Match[str]]) -> list[Turn]:
    """Return the messages of a chat that have a form, and those of the program between them."""
    turns: list[Turn] = []
    said, heading = 0, False
    for line in lines:
        speaker = _speaker(form, line[0])
        if heading and speaker is not None and form is _ABOVE:  # a timetable, whose lines have nothing below them
            return []
        heading = speaker is not None
        said += heading
        if heading or (form is _INLINE and _SYSTEM.match(line[0])):
            turns.append((line.start(), speaker or ""))
    return turns if said >= _FEWEST else []


def _speaker(form: re.Pattern[str], line: str) -> str | None:
    found = form.match(line) if form is _INLINE else form.fullmatch(line.rstrip())
    return None if found is None else next((name for name in found.groups() if name), "")


def _labelled(head: list[re.Match[str]], more: Iterator[re.Match[str]]) -> list[Turn]:
    """Return the turns of two labels that alternate, such as "Q:" and "A:", of which the first asks."""
    turns = [(line, label) for line in head if (label := label_of(line[0]))]
    names = list(dict.fromkeys(label for _, label in turns))[:2]
    if len(names) < 2 or not (is_question(turns[0][0][0].strip()) or len(names[0]) == len(names[1]) == 1):
        return []
    turns += [(line, label) for line in more if (label := label_of(line[0]))]
    turns = [(line, label) for line, label in turns if label in names]
    alternate = all(label == names[at % 2] for at, (_, label) in enumerate(turns))
    return [(line.start(), label) for line, label in turns] if alternate else []


def _blocks(text: str, turns: list[Turn], *, whole: bool, count: int) -> Iterator[Block]:
    """Yield the blocks of turns: each paragraph, or with ``whole`` the turn; ``count`` blocks stand before them."""
    asked: tuple[int, ...] = ()
    asker, replies = "", 0
    ends = [*(start for start, _ in turns), len(text)][1:]
    for (start, speaker), end in zip(turns, ends, strict=False):
        parts = paragraphs(text, start, end, None)
        words = text[parts[0].start : parts[-1].end]
        is_reply = speaker not in ("", asker) and replies < _MOST_REPLIES
        for part in [replace(parts[0], end=parts[-1].end)] if whole else parts:
            yield replace(part, hangs_on=asked if is_reply else ())
            count += 1
        replies += 1
        if is_question(words) if whole else speaker == turns[0][1]:
            asked, asker, replies = (count - 1,), speaker, 0
        elif speaker == asker:
            asked = ()
