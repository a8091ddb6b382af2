"""Numbers as lists, notes and columns show them: in letters, Roman or Chinese digits."""

from collections.abc import Callable

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_CHINESE = "〇一二三四五六七八九"


def in_form(number: int, form: str) -> str:
    """Return a number in a form by its name in HTML, CSS, docutils or Word: ``a``, ``lower-roman``, ``upperLetter``."""
    name = form.lower().replace("-", "")
    write = _FORMS.get(name.removeprefix("lower").removeprefix("upper"), str)
    shown = write(number) if number > 0 else str(number)
    return shown.upper() if form in ("A", "I") or name.startswith("upper") else shown


def letters(number: int) -> str:
    """Return a number as columns and lists count in small letters: z, aa, ab."""
    written = ""
    while number > 0:
        number, letter = divmod(number - 1, 26)
        written = chr(97 + letter) + written
    return written


def _repeated(number: int) -> str:
    """Return a number as Word counts in letters: z, aa, bb."""
    return chr(97 + (number - 1) % 26) * (1 + (number - 1) // 26) if number <= 780 else str(number)


def _roman(number: int) -> str:
    digits, left = "", number
    for value, letter in _ROMAN:
        count, left = divmod(left, value)
        digits += letter * count
    return digits if number < 4000 else str(number)


def _chinese(number: int) -> str:
    if number >= 100:
        return str(number)
    tens, ones = divmod(number, 10)
    return ("" if tens < 2 else _CHINESE[tens]) + ("十" if tens else "") + (_CHINESE[ones] if ones else "")


_FORMS: dict[str, Callable[[int], str]] = {
    **dict.fromkeys(("a", "alpha", "latin"), letters),
    **dict.fromkeys(("i", "roman"), _roman),
    "letter": _repeated,
    "decimalzero": "{:02}".format,
    **dict.fromkeys(("chinesecounting", "chinesecountingthousand", "japanesecounting", "taiwanesecounting"), _chinese),
}
