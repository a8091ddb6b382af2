"""Find names in scripts that write them with capitals."""

import re
from collections.abc import Callable, Container
from functools import lru_cache

from research.mutations.swaps import Name

UPPER = "".join(chr(code) for code in range(0x41, 0x1EFF) if chr(code).isupper() and not 0x370 <= code < 0x1E00)
_WORD = rf"[{UPPER}][^\W\d_]*(?:[-–’'][{UPPER}][^\W\d_]+)*"
_OPENS = re.compile(r"(?:^|[.!?:;]\s+|[\"“”'‘(\[–—-])\s*$")

Sort = Callable[[str, str, str], str | None]


@lru_cache
def _runs(connectors: str) -> re.Pattern[str]:
    joint = rf" (?:(?:{connectors}) (?:the )?)?" if connectors else " "
    return re.compile(rf"(?<![\w.+’'-]){_WORD}(?:{joint}{_WORD})*(?![\w+-]|\.\w)")


def capital_names(
    sentence: str, paragraph: str, *, left_out: Container[str], sort: Sort, connectors: str = ""
) -> list[Name]:
    """Give the runs of capitalised words that are names, in order.

    A run that opens a sentence or a quotation counts only where it also stands inside a sentence of the paragraph.
    ``sort`` is told the name, what stands before it in the sentence, and the paragraph; it gives None for no name.
    """
    found: list[Name] = []
    for run in _runs(connectors).finditer(sentence):
        start, text = run.start(), run[0]
        while text.split(" ", 1)[0] in left_out:
            first, _, text = text.partition(" ")
            start += len(first) + 1
            if not text:
                break
        if len(text) < 3 or any(word in left_out for word in text.split()):
            continue
        if text[-2:-1] == " ":  # an initial: the name goes on behind its dot
            continue
        if _OPENS.search(sentence[:start]) and not re.search(rf"[^\W\d_,] {re.escape(text)}\b", paragraph):
            continue
        if (kept := sort(text, sentence[:start], paragraph)) is not None:
            found.append(Name(start, start + len(text), text, kept))
    return found
