"""The bundled tokenizer's tokens of texts, remembered by word: a library repeats its words, and no token spans two.

The tokenizer (LLaMA 2's) writes a space as ``▁`` and has no token in which one follows another character, nor one with
a line break or two letters of Chinese, Japanese or Korean. So a text can be cut there, and the tokens of its pieces are
those of the whole.
"""

import re
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPACE_MARK = "\u2581"  # how the tokenizer writes a space
ALONE = "\u2e80-\u9fff\uac00-\ud7ff"  # ideographs, kana, Hangul: each is a token of its own, or several
MOST_CHARACTERS = 400_000  # of the remembered pieces, some ten megabytes

_PIECE = re.compile(f"{SPACE_MARK}++[^{SPACE_MARK}\n{ALONE}]*+|[^{SPACE_MARK}\n{ALONE}]++|[\n{ALONE}]")
_MARK = re.compile(r"<(?:s|/s|unk)>")  # the tokenizer reads these as one token, wherever they stand

Ids = NDArray[np.uint16]


class WordTokens:
    """A tokenizer of texts by their words. It may be used by several threads at once."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        self.tokenizer = tokenizer
        self._model = tokenizer.model
        self._known: dict[str, bytes] = {}
        self._characters = 0

    def ids(self, texts: Sequence[str]) -> list[Ids]:
        """Return each text's token ids; an empty text has none. Takes time linear in the texts."""
        return [np.frombuffer(row, np.uint16) for row in self._rows(texts)]

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Return each text's number of tokens."""
        return [len(row) // 2 for row in self._rows(texts)]

    def _rows(self, texts: Sequence[str]) -> list[bytes]:
        """Return the ids of each text, two bytes each."""
        if self._characters > MOST_CHARACTERS:
            self._known, self._characters = {}, 0
        known = self._known
        cut = [_PIECE.findall(SPACE_MARK + text.replace(" ", SPACE_MARK)) if text else [] for text in texts]
        if new := {piece for pieces in cut for piece in pieces if piece not in known}:
            known.update(
                (piece, array("H", [token.id for token in self._model.tokenize(piece)]).tobytes()) for piece in new
            )
            self._characters += sum(map(len, new))
        rows = [b"".join([known[piece] for piece in pieces]) for pieces in cut]
        for place, text in enumerate(texts):
            if "<" in text and _MARK.search(text):
                rows[place] = array("H", self.tokenizer.encode(text, add_special_tokens=False).ids).tobytes()
        return rows
