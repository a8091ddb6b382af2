"""Estimate token counts without a model's own tokenizer, which no endpoint offers."""

import math

ASCII_PER_TOKEN = 3.6


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a model makes of a text, rather too many than too few.

    ASCII counts 3.6 characters a token; every other character counts as one (CJK, accented letters).
    """
    ascii_length = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_length / ASCII_PER_TOKEN) + len(text) - ascii_length


def cut_to_tokens(text: str, tokens: int) -> str:
    """Cut a text at a space so that its estimate is at most ``tokens``; "…" marks the cut."""
    if estimate_tokens(text) <= tokens:
        return text
    shortest, longest = 0, len(text)
    while shortest < longest:
        middle = (shortest + longest + 1) // 2
        if estimate_tokens(text[:middle]) < tokens:
            shortest = middle
        else:
            longest = middle - 1
    whole_words = text[:shortest].rsplit(None, 1)[0] if " " in text[shortest // 2 : shortest] else text[:shortest]
    return whole_words + "…"
