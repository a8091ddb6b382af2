"""Static embeddings from the ``wordllama`` wheel: a vector per token, and their mean as a text's embedding.

The vectors ignore context, so they compare words rather than sentences. The vocabulary is English: in other languages
the tokenizer falls back to syllables and bytes, which ``coverage`` measures.
"""

import asyncio
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graph.errors import ConfigurationError
from tools.embeddings.similarity_scale import FITTED, SimilarityScale
from tools.embeddings.token_vectors import TokenVectors

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


if TYPE_CHECKING:
    from tokenizers import Tokenizer

CONFIG = "l2_supercat"
WIDTH = 256
TRUNCATED_WIDTHS = (64, 128, WIDTH)
WORD = re.compile(r"[^\W_]+")
KNOWN_WORD_CHARACTERS_PER_TOKEN = 3
INLINE_CHARACTERS = 2_000  # below this, tokenizing is faster than the switch to another thread
BATCH_TEXTS = 256


class StaticEmbedder:
    """A local embedder for some thousands of paragraphs per second. Create it with ``load``."""

    scale: SimilarityScale = FITTED

    def __init__(self, words: WordTokens, vectors: TokenVectors) -> None:
        self._words = words
        self._vectors = vectors
        self.dimension = vectors.dimension
        self.model = f"wordllama-{CONFIG}-{self.dimension}"

    @classmethod
    async def load(cls, dimension: int = WIDTH) -> "StaticEmbedder":
        """Map the weights of the wheel, once per process; a smaller dimension truncates the vectors.

        The tokenizer is loaded when there is a first text. Raises ConfigurationError for a dimension that the model
        wasn't trained to be truncated to.
        """
        if dimension not in TRUNCATED_WIDTHS:
            raise ConfigurationError(
                f"embedding.dimension is {dimension}; the static model has {', '.join(map(str, TRUNCATED_WIDTHS))}.",
                suggestion=f"Set CITEWELL_EMBEDDING__DIMENSION={WIDTH}.",
            )
        return cls(_word_tokens(), _bundled_vectors().truncated(dimension))

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as unit vectors, shape (n, dimension); a text without a token is the zero vector."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), BATCH_TEXTS):
            batch = list(texts[start : start + BATCH_TEXTS])
            short = sum(map(len, batch)) <= INLINE_CHARACTERS
            vectors[start : start + len(batch)] = (
                self.pooled(batch) if short else await asyncio.to_thread(self.pooled, batch)
            )
        return vectors

    async def embed_question(self, text: str) -> NDArray[np.float32]:
        """Embed a question; see ``embed``."""
        vector: NDArray[np.float32] = (await self.embed([text]))[0]
        return vector

    async def close(self) -> None:
        """Do nothing: the weights belong to the process."""

    def coverage(self, text: str) -> float:
        """Return the share of the text's word characters that belong to words the tokenizer knows.

        A word is known if it has at least three characters per token, or is ASCII and a single token. About 0.9 for
        English, 0.1 for Vietnamese, 0 for Chinese; 0 for a text without words.
        """
        ends = [end for _, end in self._words.tokenizer.encode(text, add_special_tokens=False).offsets]
        known = total = 0
        for word in WORD.finditer(text):
            length = word.end() - word.start()
            tokens = bisect_right(ends, word.end()) - bisect_right(ends, word.start())
            whole = tokens <= 1 and word.group().isascii()
            total += length
            known += length if whole or length >= KNOWN_WORD_CHARACTERS_PER_TOKEN * tokens else 0
        return known / total if total else 0.0

    def pooled(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed a few texts on the calling thread; see ``embed``."""
        return unit_vectors(self.summed(texts))

    def summed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Add up the vectors of each text's tokens, so that the sum of two joined texts is that of their sums."""
        return self._vectors.summed(self._words.ids(texts))

    def tokens(self, text: str) -> Ids:
        """Return a text's token ids."""
        return self._words.ids_of(text)

    def truncated(self, dimension: int) -> "StaticEmbedder":
        """Return the same model with shorter vectors."""
        return StaticEmbedder(self._words, self._vectors.truncated(dimension))


def unit_vectors(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to norm 1, in place; zero rows are unchanged."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    np.divide(rows, norms, out=rows, where=norms > 0)
    return rows


@cache
def bundled_embedder() -> StaticEmbedder:
    """Return the bundled model in full width, cached per process. The first text blocks for 0.1 s."""
    return StaticEmbedder(_word_tokens(), _bundled_vectors())


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Count each text's tokens with the bundled tokenizer (LLaMA 2's). Blocks; about 20,000 paragraphs per second."""
    return _word_tokens().counts(texts)


@cache
def _word_tokens() -> WordTokens:
    return WordTokens(bundled_tokenizer)


@cache
def bundled_tokenizer() -> "Tokenizer":
    """Read the tokenizer from the wheel, without padding or truncation. Blocks for 0.1 s the first time."""
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_file(str(_wheel() / "tokenizers" / f"{CONFIG}_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    # Words are remembered in WordTokens; the model would keep 10,000 more in each thread that it is called from.
    tokenizer.model._resize_cache(0)
    return tokenizer


@cache
def _bundled_vectors() -> TokenVectors:
    # Read here rather than by wordllama, whose import brings k-means, random numbers and TOML.
    return TokenVectors.mapped(_wheel() / "weights" / f"{CONFIG}_{WIDTH}.safetensors")


def _wheel() -> Path:
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ConfigurationError("The static embeddings are not installed.", suggestion="Install wordllama.")
    return Path(spec.origin).parent
