"""Embeddings by a sentence encoder of a folder, in a process of its own."""

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graph.errors import EmbeddingUnavailable
from text.language import language
from tools.embeddings.endpoint_embedding import MOST_DIMENSION, OF_ANOTHER_LANGUAGE
from tools.embeddings.similarity_scale import RELATIVE, SimilarityScale
from tools.encoders.encoder_process import EncoderFailed, EncoderProcess
from tools.encoders.model_folder import ModelFolder, fault, read_folder

SETTING = "embedding.model"
TURN_BYTES = 4000  # of documents in a request, some 1,000 tokens: a question waits for no more of them
QUESTION_SECONDS = 10.0  # then it is searched for by its words
TOKEN_CHARACTERS = 16  # what is beyond as many for each token that the model takes is not sent


class OnnxEmbedder:
    """An embedder by ONNX Runtime. Create it with ``open``, and ``close`` it after use."""

    scale: SimilarityScale = RELATIVE

    def __init__(self, folder: ModelFolder, model: str, dimension: int, process: EncoderProcess) -> None:
        self.folder = folder
        self.model = model
        self.dimension = dimension
        self._process = process

    @classmethod
    async def open(cls, named: str, dimension: int | None = None) -> "OnnxEmbedder":
        """Load the encoder of a folder or file, and try it; a smaller ``dimension`` cuts its vectors.

        Raises ConfigurationError if a file is missing, or the model does not load or is none for texts.
        """
        folder = await asyncio.to_thread(read_folder, named, SETTING)
        process = EncoderProcess(folder.model)
        try:
            try:
                trial, digest = await asyncio.gather(process.ask(["A text."]), asyncio.to_thread(folder.digest))
            except EncoderFailed as error:
                raise fault(SETTING, f"{folder.model} can't be used: {error}", "Take another file or model.") from error
            if (most := min(len(trial), MOST_DIMENSION)) < (dimension or len(trial)):
                what = f"{folder.name} has {len(trial)} dimensions, and {MOST_DIMENSION} can be stored"
                raise fault("embedding.dimension", what, f"Set CITEWELL_EMBEDDING__DIMENSION to at most {most}.")
        except BaseException:
            await process.close()
            raise
        return cls(folder, f"onnx:{folder.name}@{digest}", dimension or len(trial), process)

    @property
    def reading(self) -> str:
        """How texts are read, for whoever checks it against the model's card."""
        prompts = f"prompts {self.folder.query_prompt!r} and {self.folder.document_prompt!r}"
        pooling = self.folder.pooling or "mean, as its folder does not say,"
        return f"pooling {pooling} of at most {self.folder.max_tokens} tokens, {prompts}"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed documents, shape (n, dimension); an empty text is the zero vector. Raises EmbeddingUnavailable."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        turns: list[list[int]] = [[]]
        size = 0
        for index, text in enumerate(texts):
            if not text.strip():
                continue
            if (size := size + len(text.encode())) > TURN_BYTES and turns[-1]:
                turns.append([])
                size = len(text.encode())
            turns[-1].append(index)
        for turn in filter(None, turns):
            vectors[turn] = await self._asked(self.folder.document_prompt, [texts[index] for index in turn])
        return vectors

    async def embed_question(self, text: str) -> NDArray[np.float32]:
        """Embed a question, before documents that wait. Raises EmbeddingUnavailable."""
        if not text.strip():
            return np.zeros(self.dimension, np.float32)
        vector: NDArray[np.float32] = (await self._asked(self.folder.query_prompt, [text], is_question=True))[0]
        return vector

    def coverage(self, text: str) -> float:
        """Return 1, or little for a text in another language than those that the model's card names."""
        known = self.folder.languages
        return 1.0 if not known or language(text) in known else OF_ANOTHER_LANGUAGE

    async def close(self) -> None:
        """End the process."""
        await self._process.close()

    async def _asked(self, prompt: str, texts: Sequence[str], *, is_question: bool = False) -> NDArray[np.float32]:
        longest = self.folder.max_tokens * TOKEN_CHARACTERS
        given = [prompt + text[:longest] for text in texts]
        try:
            found = await self._process.ask(given, first=is_question, seconds=QUESTION_SECONDS if is_question else None)
        except EncoderFailed as error:
            raise EmbeddingUnavailable(f"The encoder {self.folder.name} failed: {error}.") from error
        vectors = found.reshape(len(texts), -1)[:, : self.dimension]
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
