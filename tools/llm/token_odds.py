"""The probability of a word in a reply, from the log-probabilities of its tokens, however they are cut."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_ALTERNATIVES = 20
_LETTERS = re.compile(r'[\s":{]*([A-Za-z]+)')


@dataclass(frozen=True, slots=True)
class TokenOdds:
    """A token of a reply as bytes, since a token may end within a character, and its probability in [0, 1].

    ``alternatives`` are the likeliest tokens at its place with their probabilities, itself among them.
    """

    data: bytes
    probability: float
    alternatives: tuple[tuple[str, float], ...] = ()


def read_odds(logprobs: object) -> tuple[TokenOdds, ...]:
    """Return the tokens of the field ``logprobs`` of a chat completion; none where a part of it can't be read."""
    rows = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(rows, list):
        return ()
    try:
        return tuple(_token(row) for row in rows)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        return ()


def _token(row: dict[str, object]) -> TokenOdds:
    text, probability = _alternative(row)
    found: dict[str, float] = {text: probability}
    others = row.get("top_logprobs")
    for other in others[:MOST_ALTERNATIVES] if isinstance(others, list) else ():
        found.setdefault(*_alternative(other))
    raw = row.get("bytes")
    # Without its bytes, a part of a character is only known as U+FFFD.
    data = bytes(raw) if isinstance(raw, list) else text.encode("utf-8", "replace")
    return TokenOdds(data, probability, tuple(found.items()))


def _alternative(row: dict[str, object]) -> tuple[str, float]:
    text, logprob = row["token"], row["logprob"]
    if not isinstance(text, str) or not isinstance(logprob, int | float) or math.isnan(logprob):
        raise TypeError("not a token")
    return text, math.exp(min(0.0, logprob))


def joined_bytes(tokens: Sequence[TokenOdds]) -> str:
    """Return the text of tokens with one character for each byte, so that offsets in it are offsets in bytes."""
    return b"".join(token.data for token in tokens).decode("latin-1")


def word_probability(tokens: Sequence[TokenOdds], begin: int, first: int, words: Sequence[str]) -> float | None:
    """Return the probability of ``words[0]`` among ``words`` at a place of a reply, in [0, 1].

    The words must differ in their first letter, so that any beginning of a word is known for it. ``begin`` is the
    offset in bytes at which the word's quotation mark or space may begin, and ``first`` that of its first letter: the
    tokens from one to the other are followed as they were chosen, and what could have stood in their place counts for
    the word that it begins. None where no alternative begins one of the words.
    """
    weights = dict.fromkeys(words, 0.0)
    path = 1.0
    for token in _between(tokens, begin, first):
        for text, probability in token.alternatives:
            if (word := _begun(text, words)) is not None:
                weights[word] += path * probability
        path *= token.probability
    total = sum(weights.values())
    return weights[words[0]] / total if total > 0 else None


def _between(tokens: Sequence[TokenOdds], begin: int, first: int) -> Iterator[TokenOdds]:
    end = 0
    for token in tokens:
        start, end = end, end + len(token.data)
        if start > first:
            return
        if end > begin:
            yield token


def _begun(text: str, words: Sequence[str]) -> str | None:
    found = _LETTERS.match(text)
    if found is None:
        return None
    letters = found[1].lower()
    return next((word for word in words if word.startswith(letters) or letters.startswith(word)), None)
