"""Numbers in Han numerals."""

from unicodedata import numeric


def han_number(text: str) -> int:
    """Return the value of Han numerals, by what Unicode says of each, or of digits: in a row, or with their scales.

    Raises ValueError for more than some 4,000 digits in a row.
    """
    values = [int(numeric(sign)) for sign in text.replace("两", "兩")]
    if max(values) < 10:
        return int("".join(map(str, values)))
    total = part = last = 0
    for value in values:
        if value >= 10_000:
            total, part, last = total + (part + last or 1) * value, 0, 0
        elif value >= 10:
            part, last = part + (last or 1) * value, 0
        else:
            last = value
    return total + part + last
