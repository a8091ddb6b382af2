"""Where a passage ends in the middle of a word or number, so that it is not what it seems to be."""

import re
import unicodedata

# Scripts that write no spaces: every offset may be the edge of a word.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def cuts_word(text: str, offset: int) -> bool:
    """Tell whether an offset lies within a word or a number: "25" is no passage of "250", nor of "2.25"."""
    if not 0 < offset < len(text):
        return False
    before, after = text[offset - 1], text[offset]
    if unicodedata.combining(after):
        return True
    if before.isalnum() and after.isalnum():
        return not (_UNSPACED.match(before) or _UNSPACED.match(after))
    if after.isdigit() and before in ".,":
        return offset > 1 and text[offset - 2].isdigit()
    return before.isdigit() and after in ".," and text[offset + 1 : offset + 2].isdigit()


def is_whole(text: str, start: int, end: int) -> bool:
    """Tell whether a passage begins and ends between words."""
    return not cuts_word(text, start) and not cuts_word(text, end)
