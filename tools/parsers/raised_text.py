"""Raised and lowered text in a line: a note's mark, a power and an index stay apart from what they stand behind.

On paper a small 3 above 1200 is no digit of that number. In a line of plain text it becomes ``1200 [3]`` where it marks
a note, ``10^6`` where it is a power and ``10_2`` where it is an index; the 2 of ``CO2`` and the st of ``1st`` stay as
people write them.
"""

import re
from collections.abc import Container

from tools.parsers.canonical_text import without_marks

_NUMBER = re.compile(r"[-+−–]?\d+(?:[.,/]\d+)?")
_MARKS = re.compile(r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*")
_BRACKETS = "[]()"
_LONGEST_UNIT = 3  # letters: km, mol, Pa; what is longer is a word
_ORDINAL_SIGNS = frozenset("aeo")  # 2e, 1o and 1a are how French, Spanish and Portuguese write "second" and "first"
_ELEMENT = re.compile(r"(?:[A-Z][a-z]?|\))$")
_LETTERS_AT_END = re.compile(r"[^\W\d_]+$")
# Years, prices and counts: a small figure behind one marks a note, unless it has a sign.
_COUNTED = re.compile(r"(?<![\d.,])(?!10+$|1024$)(?:\d{4,}|\d{1,3}(?:[.,\u202f]\d{3})+)(?:[.,]\d{1,2})?$")
_LONGEST_BEFORE = 40  # characters that a mark is judged by
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
    is_note_of_count = said.isdigit() and _COUNTED.search(before) is not None
    if _NUMBER.fullmatch(said) and _may_have_a_power(before) and not is_note_of_count:
        return f"^{said}{space}"
    if _MARKS.fullmatch(said):
        return f" [{said}]" if before.strip() else said
    if any(letter.isdigit() or not letter.isalnum() for letter in said) and _may_have_a_power(before):
        return f"^({said})"
    is_variable = len(said) == 1 and said.isalpha() and said not in _ORDINAL_SIGNS
    if before[-1:].isalpha() and after[:1].isalpha():  # a letter within a word, such as the A of LaTeX's sign
        return mark
    return f"^{said}" if is_variable and (before[-1:].isdigit() or _may_have_a_power(before)) else mark


def lowered(before: str, mark: str, *, after: str = "") -> str:
    """Return how lowered text is written behind ``before``: the 2 of CO2 as it is, that of a number to base 2 apart."""
    said = mark.strip()
    if not said or not before.strip() or before[-1:].isspace() or before.endswith(_SLASHES) or _ELEMENT.search(before):
        return mark
    space = " " if said[-1].isdigit() and after[:1].isdigit() else ""
    return f"_{said}{space}" if said[0].isalnum() else mark


RAISED, NOTE, LOWERED = 1, 2, -1


class ShiftedText:
    """A line that is written run by run, raised and lowered ones among them: programs cut one mark into several."""

    def __init__(self, *, notes: Container[str] = ()) -> None:
        """Begin; ``notes`` are raised marks that the document itself explains as those of notes."""
        self._runs: list[tuple[int, list[str]]] = []
        self._notes = notes
        self._is_apart = False

    def say(self, words: str, shift: int = 0) -> None:
        """Go on with words that are RAISED, a NOTE's mark, LOWERED or, by default, neither."""
        if not words:
            return
        if self._is_apart:
            self._is_apart = False
            sides = without_marks(self._runs[-1][1][-1])[-1:] + without_marks(words)[:1]
            words = f" {words}" if sides.isalnum() and any(map(str.isdigit, sides)) else words
        if self._runs and self._runs[-1][0] == shift:
            self._runs[-1][1].append(words)
        else:
            self._runs.append((shift, [words]))

    def say_formula(self, line: str) -> None:
        """Go on with a formula, which is no one number with the figures on its two sides: 2 and 3/4."""
        self.part()
        self.say(line)
        self.part()

    def part(self) -> None:
        """Note that a mark stands here that is told elsewhere: figures on its two sides are no one number."""
        self._is_apart = bool(self._runs)

    @property
    def text(self) -> str:
        """The whole line."""
        if len(self._runs) == 1 and not self._runs[0][0]:
            return "".join(self._runs[0][1])
        line: list[str] = []
        before = ""
        runs = [(shift, "".join(words)) for shift, words in self._runs]
        for at, (shift, words) in enumerate(runs):
            after = runs[at + 1][1] if at + 1 < len(runs) else ""
            mark, bare = words.rstrip(), words.strip(" ()[]")
            if shift > 0:
                said = raised(before, mark, after=after, is_note=shift == NOTE or bare in self._notes)
            else:
                said = lowered(before, mark, after=after) if shift else mark
            line += (said, words[len(mark) :])
            before = without_marks(before + said + words[len(mark) :])[-_LONGEST_BEFORE:]
        return "".join(line)


def _may_have_a_power(before: str) -> bool:
    letters = _LETTERS_AT_END.search(before)
    if letters is None:
        return before[-1:].isdigit() or before.endswith(")")
    return len(letters[0]) <= _LONGEST_UNIT and letters[0].isascii()
