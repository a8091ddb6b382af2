"""Text made comparable: case, width and white space folded, and words where a script writes no spaces."""

import re
import unicodedata

_UNSPACED = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_BESIDE_UNSPACED = re.compile(rf"(?<=[{_UNSPACED}])\s+|\s+(?=[{_UNSPACED}])")
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


def folded(text: str) -> str:
    """Fold case, width (NFKC) and white space; Chinese and Japanese characters stand without spaces beside them."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return _BESIDE_UNSPACED.sub("", plain)


def words(text: str) -> list[str]:
    """List the words of a text in folded form, punctuation left out; each Chinese or Japanese character is one."""
    return _WORD.findall(folded(text))
