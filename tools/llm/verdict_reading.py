"""Read the verdicts of a judge's reply, also of one that is cut off, and their probabilities from its tokens."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from graph.ports import Judgement
from graph.reasons import Reason
from tools.llm.token_odds import TokenOdds, joined_bytes, word_probability

# They differ in their first letters, so that the first token of a verdict shows which one it begins.
VERDICTS = ("supported", "unsupported", "contradicted")
LEFT_OUT = Reason("left_out")
UNREADABLE = Reason("verdict_unreadable")
TWICE = Reason("judged_twice")
_DECODER = json.JSONDecoder(strict=False)
_NUMBER = re.compile(r"\s*\[?\s*([1-9]\d{0,2})\s*\]?\s*")
_SPACE = re.compile(r"[ \t\r\n]*")
_OPENING = re.compile(r'"\s*')
_MOST_OBJECTS = 20
_ANCHOR = 8  # characters of the reply by which its beginning is found among the tokens


@dataclass(frozen=True, slots=True)
class WrittenVerdict:
    """A verdict as written: the word, "" for anything but a word, and the offset of its value in the text."""

    word: str
    at: int


def written_verdicts(text: str) -> dict[int, list[WrittenVerdict]]:
    """Return the verdicts of the first object in a text that has numbered members, by number, as often as written.

    A text that ends too early gives the verdicts of its complete members.
    """
    braces = (found.start() for found in re.finditer(r"\{", text))
    for at in islice(braces, _MOST_OBJECTS):
        rows: dict[int, list[WrittenVerdict]] = {}
        for key, value_at, value in _members(text, at):
            if number := _NUMBER.fullmatch(key):
                rows.setdefault(int(number[1]), []).append(_verdict(text, value_at, value))
        if rows:
            return rows
    return {}


def _verdict(text: str, at: int, value: object) -> WrittenVerdict:
    if isinstance(value, str):
        return WrittenVerdict(_word(value), at)
    if isinstance(value, dict):
        verdicts = [(place, word) for key, place, word in _members(text, at) if key.strip().lower() == "verdict"]
        if len(verdicts) == 1 and isinstance(verdicts[0][1], str):
            return WrittenVerdict(_word(verdicts[0][1]), verdicts[0][0])
    return WrittenVerdict("", at)


def _word(value: str) -> str:
    return value.strip(" \t\r\n.*_").lower()


def _members(text: str, at: int) -> Iterator[tuple[str, int, Any]]:
    """Yield key, offset and value of an object's members in order, up to the first that can't be read."""
    at = _skip(text, at + 1)
    while text.startswith('"', at):
        try:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if not text.startswith(":", at):
                return
            place = _skip(text, at + 1)
            value, at = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield key, place, value
        at = _skip(text, at)
        if not text.startswith(",", at):
            return
        at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def read_judgements(text: str, tokens: Sequence[TokenOdds], count: int, *, missing: str = LEFT_OUT) -> list[Judgement]:
    """Return the judgement of each claim from 1 to ``count`` in a reply, without a verdict where it has none.

    A claim that is judged twice has none. The probability is that of "supported" among the verdicts, None where the
    tokens don't show it. ``missing`` is the reason of claims that the reply leaves out.
    """
    written = written_verdicts(text)
    odds = _probabilities(text, tokens, written)
    return [_judgement(written.get(n, ()), odds.get(n), missing) for n in range(1, count + 1)]


def _judgement(written: Sequence[WrittenVerdict], probability: float | None, missing: str) -> Judgement:
    if not written:
        return Judgement(None, reason=missing)
    if len(written) > 1:
        return Judgement(None, reason=TWICE)
    match written[0].word:
        case "supported" | "unsupported" | "contradicted" as verdict:
            return Judgement(verdict, probability)
        case _:
            return Judgement(None, reason=UNREADABLE)


def _probabilities(
    text: str, tokens: Sequence[TokenOdds], written: Mapping[int, Sequence[WrittenVerdict]]
) -> dict[int, float | None]:
    """Return P(supported) by number, where the tokens spell the same verdicts as the reply.

    The tokens may begin with the model's thinking, and some endpoints spell characters that a token cuts as U+FFFD;
    so only the beginning of the reply is looked for, and the verdicts are read again from the tokens.
    """
    begun = text.find("{")
    if not tokens or begun < 0:
        return {}
    spelled = joined_bytes(tokens)
    start = spelled.rfind(text[begun : begun + _ANCHOR].encode().decode("latin-1"))
    found: dict[int, float | None] = {}
    for number, verdicts in written_verdicts(spelled[start:]).items() if start >= 0 else ():
        if [each.word for each in verdicts] == [each.word for each in written.get(number, ())]:
            begin = start + verdicts[0].at
            opening = _OPENING.match(spelled, begin)
            found[number] = word_probability(tokens, begin, opening.end() if opening else begin, VERDICTS)
    return found
