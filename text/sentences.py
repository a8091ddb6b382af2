"""Sentence splitting by rule, in any language; the sentences partition the text exactly.

A sentence ends at a stop of its script, at a blank line, and at the ends of list items, headings and table rows, but
not at a line break inside a wrapped paragraph. Closing quotes, brackets and reference marks such as ``[3]`` after a
stop belong to the sentence, and so does the white space after them.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from text.dates import months
from text.language import word_set
from text.normal_forms import fold_case
from text.scripts import FULL_WIDTH, HAN_AND_KANA, HANGUL

# Followed by a name or a number, so never the end of a sentence.
_TITLES = word_set(
    "mr mrs ms mx dr prof rev hon st ste mt ft gen lt col capt cmdr sgt maj adm gov sen rep pres jr sr fr bro no nos "
    "vol vols fig figs eq sec ch pp p art cf vs v viz e.g i.e eg ie al approx ca c dept est ed eds trans bros messrs "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun ave blvd rd "
    "tp ths ts gs pgs tr nr bzw z.b d.h ggf u.a s.o vgl mme mlle sra srta dra ud uds núm pág"
)
# May end a sentence; they do where a word that commonly opens one follows.
_AMBIGUOUS = word_set("etc inc ltd co corp u.s u.k u.n e.u d.c a.m p.m b.c a.d ph.d m.d b.a m.a v.v")
_SHORTENED = _TITLES | _AMBIGUOUS
_OPENERS = word_set(
    "The A An It Its In On At By He She They We You I This That These Those There Here When While Where Who What Why "
    "How If As After Before Since Until Although Though Because But And Or So Yet However For From To With Without "
    "His Her Their Our My Your One Some Many Most Each Every Both All No Not During Under Over Also Then Thus "
    "Moreover Furthermore Meanwhile Finally Today Later Now"
)
_STOP = re.compile(r"[.!?…]+|[。！？｡।॥؟۔][。！？；｡!?]*|\n\s*")
_CLOSERS = re.compile(r"(?:[ \t]?''|[\"'”’»)\]}」』）】》〉*_`]|\[\^?\d{1,4}\])*")
_TOKENISED_CLOSERS = re.compile(r"(?:[ \t](?:''|[”’)\]](?=\s|$)))+")
_SPACE = re.compile(r"\s*")
_OPENING = re.compile(r"[\s\"'“‘«(\[{「『（【《*_`]*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_BLOCK_LINE = re.compile(r"(?:[-*+•‣▪·–—]|\(?(?:\d{1,3}|[a-zA-Z])[.)])[ \t]|#{1,6}[ \t]|\||>|```|~~~|[=-]{3,}")
_LINE_UNIT = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\||```|~~~|[=-]{3,}[ \t]*$)")
_ENUMERATOR = re.compile(r"[ \t]*(?:[-*+>#]+[ \t]+)?[*_]{0,3}\(?(?:\d{1,3}|[a-zA-Z])\Z")
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)[^\n]*", re.MULTILINE)
_NEEDS_NO_SPACE = re.compile(f"[{HAN_AND_KANA}{HANGUL}{FULL_WIDTH}]")
_CELLS = " | "  # between the cells of a table row, as our parsers write them
_HALF_CLOSED = re.compile(r"(?:\[\^?\d{0,4}|[ \t]?'|(?:[ \t](?:''?|[”’)\]]))+)\Z")
_LONGEST_MARKER = 8  # characters that decide whether a line is an item, a heading or a rule
_LONGEST_OPENER = 40  # characters after a stop within which its next word begins
_LONGEST_ABBREVIATION = 12
_TITLE_LINE = 60


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of a text's sentences in order; joined, they are the text.

    Offsets count code points, end exclusive. White space after a sentence belongs to it, so only the first sentence
    can begin with white space. An empty text has no sentence. Takes time linear in the text.
    """
    return _spans(text, _fences(text), is_open=False)


def prose_sentences(text: str, *, is_open: bool = False) -> list[tuple[int, int]]:
    """Return the spans of the sentences of one paragraph, which holds no block of code.

    With ``is_open`` the text goes on: only the sentences are returned that no continuation can change.
    """
    return _spans(text, [], is_open=is_open)


def _spans(text: str, fences: Sequence[tuple[int, int]], *, is_open: bool) -> list[tuple[int, int]]:
    starts = [fence[0] for fence in fences]
    cuts = [0]
    line_start = 0
    for stop in _STOP.finditer(text):
        if is_open and not _is_decided(text, line_start, stop):
            break
        cut = _cut(text, line_start, stop)
        if stop[0][0] == "\n":
            line_start = stop.end()
        if not cuts[-1] < cut < len(text):
            continue
        within = bisect_right(starts, cut) - 1
        in_code = within >= 0 and starts[within] < cut < fences[within][1]
        if not (in_code and stop[0].count("\n") < 2) and not text[cuts[-1] : cut].isspace():
            cuts.append(cut)
    if text and not is_open:
        cuts.append(len(text))
    return list(pairwise(cuts))


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Shrink a span to exclude white space at both ends; a blank span becomes empty at its start."""
    piece = text[start:end]
    kept = piece.strip()
    if len(kept) == len(piece):
        return start, end
    if not kept:
        return start, start
    first = start + len(piece) - len(piece.lstrip())
    return first, first + len(kept)


def _fences(text: str) -> list[tuple[int, int]]:
    """Return the spans of fenced code blocks; a fence that is never closed opens none."""
    blocks: list[tuple[int, int]] = []
    if "```" not in text and "~~~" not in text:
        return blocks
    opened: int | None = None
    for fence in _FENCE.finditer(text):
        bare = not fence[0].strip(" \t\r`~")
        if opened is not None and bare:
            blocks.append((opened, fence.end()))
            opened = None
        else:
            opened = fence.start()
    return blocks


def _cut(text: str, line_start: int, stop: re.Match[str]) -> int:
    """Return where the next sentence begins if this stop ends a sentence, else 0."""
    return (_line_cut if stop[0][0] == "\n" else _stop_cut)(text, line_start, stop)


def _is_decided(text: str, line_start: int, stop: re.Match[str]) -> bool:
    """Whether the decision on a stop holds however the text goes on."""
    if stop.end() == len(text):
        return False
    if stop[0][0] == "\n":
        return _line_is_decided(text, line_start, stop)
    closed = _CLOSERS.match(text, stop.end()).end()  # type: ignore[union-attr]
    if _HALF_CLOSED.match(text, closed):
        return False
    after = _SPACE.match(text, _closed(text, stop.end())).end()  # type: ignore[union-attr]
    if _OPENING.match(text, after).end() == len(text):  # type: ignore[union-attr]
        return False
    token = _token_before(text, line_start, stop.start())
    if stop[0] != "." or not (_is_ambiguous(token) or _may_be_day(token)):
        return True
    opener = _WORD.search(text, after, after + _LONGEST_OPENER)
    return len(text) > after + _LONGEST_OPENER or (opener is not None and opener.end() + 1 < len(text))


def _line_is_decided(text: str, line_start: int, stop: re.Match[str]) -> bool:
    after, length = stop.end(), stop.start() - line_start
    if text.find("\n", after) >= 0:
        return True
    may_be_title = length < _TITLE_LINE and text[after].isupper()
    return len(text) - after > max(_LONGEST_MARKER, 2 * length * may_be_title)


def _line_cut(text: str, line_start: int, stop: re.Match[str]) -> int:
    """Return where the next sentence begins if this line end ends a sentence, else 0."""
    after = stop.end()
    if stop[0].count("\n") > 1 or "\f" in stop[0] or _BLOCK_LINE.match(text, after):
        return after
    if _LINE_UNIT.match(text[line_start : min(stop.start(), line_start + 80)]):
        return after
    if text.find(_CELLS, line_start, stop.start()) >= 0:
        return after
    length = stop.start() - line_start
    if length >= _TITLE_LINE or not text[after : after + 1].isupper():
        return 0
    # A short line before a longer one that opens with a capital is a title or a verse.
    next_end = text.find("\n", after)
    next_length = (len(text) if next_end < 0 else next_end) - after
    return after if length * 2 < next_length else 0


def _stop_cut(text: str, line_start: int, stop: re.Match[str]) -> int:
    """Return where the next sentence begins if this stop ends a sentence, else 0."""
    closed, sign = stop.end(), stop[0]
    if text[closed : closed + 1] == " " and text[closed + 1 : closed + 2].isalnum():
        after = opened = closed + 1  # as behind most stops, where the patterns would find the same
    else:
        closed = _closed(text, closed)
        after = _SPACE.match(text, closed).end()  # type: ignore[union-attr]
        opened = _OPENING.match(text, after).end()  # type: ignore[union-attr]
    if sign[0] not in ".!?…" or after >= len(text):
        return after
    ahead = text[opened : opened + 1]
    if after == closed:
        # Without a space, a sentence can begin only in a script that uses none, and only after a strong stop.
        return after if _NEEDS_NO_SPACE.match(ahead) and sign[-1] in "!?" else 0
    if ahead.islower():
        return 0
    if sign == "." and not _period_ends(text, line_start, stop.start(), after):
        return 0
    return after


def _closed(text: str, at: int) -> int:
    """Return the offset after a stop's closing quotes, brackets and reference marks."""
    end = _CLOSERS.match(text, at).end()  # type: ignore[union-attr]
    spaced = _TOKENISED_CLOSERS.match(text, end)
    return spaced.end() if spaced else end


def _period_ends(text: str, line_start: int, stop: int, after: int) -> bool:
    """Whether a period ends a sentence, rather than an abbreviation, an initial or a list number."""
    before = text[max(line_start, stop - _LONGEST_ABBREVIATION) : stop]
    if stop - line_start <= _LONGEST_ABBREVIATION and _ENUMERATOR.match(before):
        return False
    token = _last_token(before)
    word = token.casefold()
    if len(token) > 1 and word.isalpha() and word not in _SHORTENED:
        return True  # as before most stops
    if _may_be_day(token):  # "am 6. Mai"
        month = _WORD.match(text, after)
        return month is None or fold_case(month[0]) not in months()
    if word in _TITLES and not (word in {"no", "v", "sun", "mar", "sat", "dec", "art", "p", "c"} and token.islower()):
        return False
    if _is_ambiguous(token):
        opener = _WORD.search(text, after, after + _LONGEST_OPENER)
        return opener is None or opener[0] in _OPENERS
    return True


def _token_before(text: str, line_start: int, stop: int) -> str:
    """Return the end of the word before a stop, without opening marks."""
    return _last_token(text[max(line_start, stop - _LONGEST_ABBREVIATION) : stop])


def _last_token(before: str) -> str:
    pieces = before.split()
    return pieces[-1].lstrip("\"'“‘«([{*_`") if pieces and not before[-1:].isspace() else ""


def _is_ambiguous(token: str) -> bool:
    """Whether a period after this token ends a sentence only where a word follows that commonly opens one."""
    return token.casefold() in _AMBIGUOUS or (len(token) == 1 and token.isalpha() and token.isupper()) or _dotted(token)


def _may_be_day(token: str) -> bool:
    return len(token) <= 2 and token.isdecimal()


def _dotted(token: str) -> bool:
    """Whether a token is single letters separated by dots, as in ``U.S`` before its last dot."""
    letters = token.split(".")
    return len(letters) > 1 and all(len(letter) == 1 and letter.isalpha() for letter in letters)
