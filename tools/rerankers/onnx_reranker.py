"""A reranker by a cross-encoder of a folder, in a process of its own."""

import asyncio
from collections.abc import Sequence

from graph.errors import RerankerUnavailable
from tools.encoders.encoder_process import EncoderFailed, EncoderProcess
from tools.encoders.model_folder import fault, read_folder
from tools.rerankers.reranker_endpoint import LONGEST_QUERY, LONGEST_TEXT, SECONDS
from tools.telemetry.tracing import model_call

SETTING = "reranker.model"
TURN_TEXTS = 4  # in a request, so that what is not waited for any more is not scored
TRIAL = ("When does the office open?", "The office opens at eight.")


class OnnxReranker:
    """A cross-encoder by ONNX Runtime; the process starts at the first question. ``close`` it after use."""

    def __init__(self, named: str) -> None:
        """Read the folder or file. Raises ConfigurationError if a file is missing."""
        self.folder = read_folder(named, SETTING)
        self._process = EncoderProcess(self.folder.model)

    async def load(self) -> None:
        """Load the model and score a pair. Raises ConfigurationError if it is no cross-encoder."""
        question, text = TRIAL
        try:
            await self._process.ask([text], question=question)
        except EncoderFailed as error:
            raise fault(
                SETTING, f"{self.folder.model} can't be used: {error}", "Take another file or model."
            ) from error

    async def score(self, query: str, texts: Sequence[str], *, seconds: float | None = None) -> list[float]:
        """Score each text's relevance to a query, from 0 to 1, in order; long queries and texts are cut.

        Takes at most ``SECONDS``, or ``seconds`` if that is less. Raises RerankerUnavailable.
        """
        limit = SECONDS if seconds is None else min(SECONDS, seconds)
        question, given = query[:LONGEST_QUERY], [text[:LONGEST_TEXT] for text in texts]
        turns = [given[start : start + TURN_TEXTS] for start in range(0, len(given), TURN_TEXTS)]
        try:
            with model_call("rerank", self.folder.name, "onnx"):
                async with asyncio.timeout(limit):
                    found = [await self._process.ask(turn, question=question, first=True) for turn in turns]
        except EncoderFailed as error:
            raise RerankerUnavailable(f"The reranker {self.folder.name} failed: {error}.") from error
        except TimeoutError as error:
            raise RerankerUnavailable(f"The reranker did not answer within {limit:.3g} seconds.") from error
        return [float(score) for scores in found for score in scores]

    async def close(self) -> None:
        """End the process."""
        await self._process.close()
