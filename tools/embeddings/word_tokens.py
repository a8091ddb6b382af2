"""The bundled tokenizer's tokens of texts, remembered by word: a library repeats its words, and no token spans two.

The tokenizer (LLaMA 2's) writes a space as ``▁`` and has no token in which one follows another character, nor one with
a line break or two letters of Chinese, Japanese or Korean. So a text can be cut there, and the tokens of its pieces are
those of the whole.
"""

import re
from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from tokenizers.models import Model

SPACE_MARK = "\u2581"  # how the tokenizer writes a space
ALONE = "\u2e80-\u9fff\uac00-\ud7ff"  # ideographs, kana, Hangul: each is a token of its own, or several
MOST_CHARACTERS = 200_000  # of the remembered words and pieces: some five megabytes
LONGEST_WORD = 32  # longer ones are seldom met again

_PIECE = re.compile(f"{SPACE_MARK}++[^{SPACE_MARK}\n{ALONE}]*+|[^{SPACE_MARK}\n{ALONE}]++|[\n{ALONE}]")
_MARK = re.compile(r"<(?:s|/s|unk)>")  # the tokenizer reads these as one token, wherever they stand

Ids = NDArray[np.uint16]


class WordTokens:
    """A tokenizer of texts by their words. It may be used by several threads at once."""

    def __init__(self, load: Callable[[], "Tokenizer"]) -> None:
        """Set how the tokenizer is loaded, when there is a first text: it takes 0.1 s and twenty megabytes."""
        self._load = load
        self._words: dict[str, bytes] = {}  # the ids of words with the space before them, two bytes each
        self._pieces: dict[str, bytes] = {}  # of pieces as the tokenizer writes them
        self._characters = 0
        # What was remembered before it: what is met again moves on, the rest is forgotten at the next turn.
        self._former_words: dict[str, bytes] = {}
        self._former_pieces: dict[str, bytes] = {}

    @cached_property
    def tokenizer(self) -> "Tokenizer":
        """The tokenizer itself."""
        return self._load()

    @cached_property
    def _model(self) -> "Model":
        model: Model = self.tokenizer.model
        return model

    def ids(self, texts: Sequence[str]) -> list[Ids]:
        """Return each text's token ids; an empty text has none. Takes time linear in the texts."""
        return [np.frombuffer(row, np.uint16) for row in self._rows(texts)]

    def ids_of(self, text: str) -> Ids:
        """Return one text's token ids."""
        return np.frombuffer(self._rows((text,))[0], np.uint16)

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Return each text's number of tokens."""
        return [len(row) // 2 for row in self._rows(texts)]

    def _rows(self, texts: Sequence[str]) -> list[bytes]:
        if self._characters > MOST_CHARACTERS // 2:
            self._former_words, self._former_pieces = self._words, self._pieces
            self._words, self._pieces, self._characters = {}, {}, 0
        known, pieces = self._words, self._pieces
        return [self._row(text, known, pieces) if text else b"" for text in texts]

    def _row(self, text: str, known: dict[str, bytes], pieces: dict[str, bytes]) -> bytes:
        if "<" in text and _MARK.search(text):
            return array("H", self.tokenizer.encode(text, add_special_tokens=False).ids).tobytes()
        words = text.split(" ")
        try:
            return b"".join(map(known.__getitem__, words))
        except KeyError:
            if "" in words or SPACE_MARK in text:  # never known, since several spaces have tokens of their own
                return self._joined(SPACE_MARK + text.replace(" ", SPACE_MARK), pieces)
            former = self._former_words
            unknown = set(words).difference(known)
            new = {word: former.get(word) or self._joined(SPACE_MARK + word, pieces) for word in unknown}
            self._keep(new, known)
            return b"".join([new[word] if word in new else known[word] for word in words])

    def _joined(self, marked: str, pieces: dict[str, bytes]) -> bytes:
        """Return the ids of a text whose spaces are marked."""
        found = _PIECE.findall(marked)
        if len(found) == 1:  # a word, which is kept itself
            return pieces.get(marked) or self._tokenized(marked)
        try:
            return b"".join([pieces[piece] for piece in found])
        except KeyError:
            former = self._former_pieces
            new = {piece: former.get(piece) or self._tokenized(piece) for piece in set(found).difference(pieces)}
            self._keep(new, pieces)
            return b"".join([new[piece] if piece in new else pieces[piece] for piece in found])

    def _tokenized(self, piece: str) -> bytes:
        return array("H", [token.id for token in self._model.tokenize(piece)]).tobytes()

    def _keep(self, new: dict[str, bytes], known: dict[str, bytes]) -> None:
        short = {text: row for text, row in new.items() if len(text) <= LONGEST_WORD}
        known.update(short)
        self._characters += sum(map(len, short))
