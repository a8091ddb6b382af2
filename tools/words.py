"""What counts as a word where a size is given in words."""

import re
from collections.abc import Sequence

_SINGLE = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTERS = rf"[^\W{_SINGLE}{_UNSPACED}]+"
_WORD = re.compile(rf"[{_SINGLE}]|[{_UNSPACED}]{{1,4}}|{_LETTERS}(?:['’\-]{_LETTERS})*")


def count_words(texts: Sequence[str]) -> list[int]:
    """Count the words of each text.

    A run of letters and digits is a word. Where a script writes no spaces, each Han letter or kana is one, and so are
    four letters of Thai, Lao, Khmer or Burmese.
    """
    return [sum(1 for _ in _WORD.finditer(text)) for text in texts]
