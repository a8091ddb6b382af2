"""Fold what two writings of one sentence may differ in without differing in meaning."""

import re
import unicodedata

_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300c\u300d\u300e\u300f"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d"
_NOTHING = "\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f"
_DOTS = "\u30fb\u2022\u2027\u22c5\uff65"  # of transliterated names, beside the middle dot
_TABLE = str.maketrans(
    {
        **dict.fromkeys(_QUOTES, "'"),
        **dict.fromkeys(_DOUBLE_QUOTES, '"'),
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_NOTHING, ""),
        **dict.fromkeys(_DOTS, "\u00b7"),
    }
)
_REFERENCE_MARK = re.compile(
    r"\[(?:\^?\d{1,4}(?:[,;]\s?\d{1,4})*"
    r"|\^\w{1,20}|ref:\d{1,4}|note \d+|nb \d+|citation needed|cần dẫn nguồn|来源请求)\]"
)
_FRACTIONS = {"¼": ".25", "½": ".5", "¾": ".75"}
_FRACTION = re.compile(r"(\d?)([¼½¾])")
_TOKENISED_QUOTES = re.compile(r"``|''")


def fold(text: str) -> str:
    """Give a text composed (NFKC), with one kind of quote and dash, and without reference marks such as ``[3]``.

    Case is kept, since capitals show names. Offsets are not: a proof is found by its sentence, whose span is known.
    """
    if not text.isascii():
        text = _FRACTION.sub(lambda found: (found[1] or "0") + _FRACTIONS[found[2]], text)
        text = unicodedata.normalize("NFKC", text.translate(_TABLE)).translate(_TABLE)
    if "[" in text:
        text = _REFERENCE_MARK.sub(" ", text)
    return _TOKENISED_QUOTES.sub('"', text)
