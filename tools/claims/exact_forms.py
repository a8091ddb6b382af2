"""The exact form of a sentence: the same for two notations of it, and for nothing else.

Notation is the kind of quotes and dashes, white space, full width, emphasis, the capital of the first word and the last
stop. A sign, a comma, a unit's case, a separator within a number or a character that can't be seen is none.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from text.late_patterns import late_pattern
from text.normal_forms import unify_signs
from text.scripts import UNSPACED, VOWEL_SIGNS

ExactForm = tuple[str, ...]

_WIDE: Mapping[int, int] = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_EMPHASIS = re.compile(r"`|(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)")
_SIGN = re.compile(r"(?<![^\s(])-(?=\d)")  # "fell -5" is not "fell - 5"
_LETTER = f"(?:[^\\W\\d_{UNSPACED}]|[{VOWEL_SIGNS}])"
_PIECE = late_pattern(rf"\d+(?:[.,]\d+)*|{_LETTER}+(?:'{_LETTER}+)*|[{UNSPACED}]|\S")
_ASCII = re.compile(r"\d+(?:[.,]\d+)*|[A-Za-z]+(?:'[A-Za-z]+)*|\S")  # the same for ASCII, several times as fast
_STOPS = (".", "。")


@lru_cache(maxsize=2048)  # some 1.2 KB each
def exact_form(text: str) -> ExactForm:
    """Return the tokens of a sentence, the same for two notations of it and for nothing else."""
    if not text.isascii():
        text = unify_signs(text).translate(_WIDE)
    if "`" in text or "**" in text:
        text = _EMPHASIS.sub("", text)
    text = text.strip()
    if "-" in text:
        text = _SIGN.sub("\u2212", text)
    keys = (_ASCII if text.isascii() else _PIECE).findall(text)
    if keys and (len(keys[0]) == 1 or keys[0][1:].islower()):
        keys[0] = keys[0].casefold()
    return tuple(keys[:-1] if len(keys) > 1 and keys[-1] in _STOPS else keys)


def in_line(form: ExactForm) -> str:
    """Return a form as one line, with a space behind each token, so that a form's beginnings are the line's.

    No token has white space in it. Lines are found and compared many times as fast as tuples or digests of them.
    """
    return "".join([f"{key} " for key in form])
