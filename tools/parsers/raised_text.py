"""Raised and lowered text in a line: a note's mark, a power and an index stay apart from what they stand behind.

On paper a small 3 above 1200 is no digit of that number. In a line of plain text it becomes ``1200 [3]`` where it marks
a note, ``10^6`` where it is a power and ``10_2`` where it is an index; the 2 of ``CO2`` and the st of ``1st`` stay as
people write them.
"""

import re

_NUMBER = re.compile(r"[-+−–]?\d+(?:[.,/]\d+)?")
_MARKS = re.compile(r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*")
_BRACKETS = "[]()"
_SIGNS = "+-−=*/^"
_LONGEST_UNIT = 3  # letters: km, mol, Pa; what is longer is a word
_ORDINAL_SIGNS = frozenset("aeo")  # 2e, 1o and 1a are how French, Spanish and Portuguese write "second" and "first"
_ELEMENT = re.compile(r"(?:[A-Z][a-z]?|\))$")
_LETTERS_AT_END = re.compile(r"[^\W\d_]+$")
_SLASHES = ("/", "⁄")


def raised(before: str, mark: str, *, after: str = "", is_note: bool = False) -> str:
    """Return how raised text is written behind ``before``, with the sign or space that keeps it apart.

    ``after`` is what follows, as far as it is known. ``is_note`` says that the file itself marks it as a note's.
    """
    said = mark.strip()
    bare = said.strip(_BRACKETS)
    if not said or not any(letter.isalnum() for letter in bare):
        return mark
    space = " " if said[-1].isalnum() and after[:1].isdigit() else ""
    if is_note:
        space = " " if after[:1].isalnum() else ""
        return f" [{bare}]{space}" if before and not before[-1:].isspace() else f"[{bare}]{space}"
    if after.startswith(_SLASHES) and _NUMBER.fullmatch(said):  # the upper half of a fraction: 2 1/2
        return f" {said}" if before[-1:].isdigit() else said
    if bare != said:
        return f" {said}"
    if _NUMBER.fullmatch(said) and _may_have_a_power(before):
        return f"^{said}{space}"
    if _MARKS.fullmatch(said):
        return f" [{said}]" if before.strip() else said
    if not _may_have_a_power(before):
        return mark
    if any(sign.isdigit() or sign in _SIGNS for sign in said):  # 10^(n+1)
        return f"^({said})"
    is_variable = len(said) == 1 and said.isalpha() and said not in _ORDINAL_SIGNS
    return f"^{said}" if is_variable else mark


def lowered(before: str, mark: str, *, after: str = "") -> str:
    """Return how lowered text is written behind ``before``: the 2 of CO2 as it is, that of a number to base 2 apart."""
    said = mark.strip()
    if not said or not before.strip() or before[-1:].isspace() or before.endswith(_SLASHES) or _ELEMENT.search(before):
        return mark
    space = " " if said[-1].isdigit() and after[:1].isdigit() else ""
    return f"_{said}{space}" if said[0].isalnum() else mark


def _may_have_a_power(before: str) -> bool:
    letters = _LETTERS_AT_END.search(before)
    if letters is None:
        return before[-1:].isdigit() or before.endswith(")")
    return len(letters[0]) <= _LONGEST_UNIT and letters[0].isascii()
