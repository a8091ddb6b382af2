"""What runs in an encoder's process: a model, its tokenizer, and requests until the parent closes the pipe.

A request is a frame of JSON, ``{"texts", "question"}``; with a question the texts are scored, else embedded. A reply is
a frame: a byte that says whether it is float32 numbers, in the order of the texts, or the words of an error.
"""

import json
import os
import resource
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tools.encoders.model_folder import ModelFolder, read_folder

LENGTH = struct.Struct(">I")
NUMBERS, WORDS = b"\x00", b"\x01"
SPARE_BYTES = 2 << 30  # for the interpreter, a tokenizer of 250,000 pieces, and the longest text
COPIES = 3  # of the weights, while they are read and laid out anew
INPUTS = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}

Vector = NDArray[np.float32]


class Encoder:
    """A model and its tokenizer, for a text at a time.

    Nothing is padded, so that a vector depends on its text alone, in 8 bits too; on a processor batches are slower.
    """

    def __init__(self, folder: ModelFolder, threads: int) -> None:
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder.tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(folder.max_tokens)
        options = SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.enable_cpu_mem_arena = False  # or the memory of the longest text is kept
        options.enable_mem_pattern = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = InferenceSession(str(folder.model), options, providers=["CPUExecutionProvider"])
        self._inputs = {each.name for each in self._session.get_inputs()}
        if unknown := self._inputs - INPUTS:
            raise ValueError(f"the model asks for {', '.join(sorted(unknown))}, so it is no encoder of texts")
        self._outputs = [each.name for each in self._session.get_outputs()]
        self._pooling = folder.pooling or "mean"
        self._dense = [_dense(path) for path in folder.dense]

    def embed(self, text: str) -> Vector:
        """Return a text's unit vector."""
        found = self._run(self._tokenizer.encode(text))
        whole = next((found[name] for name in ("sentence_embedding", "pooler") if name in found), None)
        if whole is None:
            states = next((each[0] for each in found.values() if each.ndim == 3), None)
            if states is None:
                raise ValueError("the model gives no states of tokens")
            whole = self._pooled(states)
            for layer in self._dense:
                whole = layer(whole)
        vector = np.asarray(whole, np.float32).reshape(-1)
        norm = np.linalg.norm(vector)
        if not np.isfinite(norm) or not norm:
            raise ValueError("the model gives a vector of no length")
        return np.asarray(vector / norm, np.float32)

    def score(self, question: str, text: str) -> float:
        """Return how likely a text bears on a question, from 0 to 1."""
        found = self._run(self._tokenizer.encode(question, text))
        logits = next((each.reshape(-1) for each in found.values() if each.ndim <= 2), np.zeros(0))
        if len(logits) not in (1, 2):
            raise ValueError(f"the model gives {len(logits)} numbers for a pair of texts; a reranker gives 1 or 2")
        odds = float(logits[-1] - logits[0]) if len(logits) == 2 else float(logits[0])
        if not np.isfinite(odds):
            raise ValueError("the model gives a score that is no number")
        return float(1 / (1 + np.exp(-np.clip(odds, -50, 50))))

    def _run(self, encoding: Any) -> dict[str, NDArray[Any]]:
        ids = np.asarray([encoding.ids], np.int64)
        known = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.asarray([encoding.type_ids], np.int64),
            "position_ids": np.arange(ids.shape[1], dtype=np.int64)[None],
        }
        given = {name: values for name, values in known.items() if name in self._inputs}
        return dict(zip(self._outputs, self._session.run(None, given), strict=True))

    def _pooled(self, states: NDArray[Any]) -> NDArray[Any]:
        if self._pooling == "mean":
            return np.asarray(states.mean(0))
        return np.asarray(states[0 if self._pooling == "cls" else -1])


def _dense(folder: Path) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return a linear layer with its activation."""
    from safetensors.numpy import load_file

    said = str(json.loads((folder / "config.json").read_text(encoding="utf-8")).get("activation_function", ""))
    kind = said.rsplit(".", 1)[-1]
    if kind not in ("Identity", "Tanh", ""):
        raise ValueError(f"the activation {said} is not known")
    tensors = load_file(folder / "model.safetensors")
    weight, bias = tensors["linear.weight"], tensors.get("linear.bias", np.float32(0))

    def layer(vector: NDArray[Any]) -> NDArray[Any]:
        made = weight @ vector + bias
        return np.asarray(np.tanh(made) if kind == "Tanh" else made)

    return layer


def main(model: str, threads: int) -> None:
    """Encode until the parent closes the pipe, or is gone."""
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no frame
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        folder = read_folder(model, "model")
        if sys.platform == "linux":
            size = COPIES * sum(each.stat().st_size for each in folder.weights) + SPARE_BYTES
            resource.setrlimit(resource.RLIMIT_DATA, (size, resource.getrlimit(resource.RLIMIT_DATA)[1]))
        encoder = Encoder(folder, threads)
    except Exception as error:  # noqa: BLE001 - whatever a model does is told to whoever asked for it
        _reply(outbox, WORDS + _words(error))
        return
    while request := _request(inbox):
        try:
            if (question := request["question"]) is None:
                rows: list[Any] = [encoder.embed(text) for text in request["texts"]]
            else:
                rows = [encoder.score(question, text) for text in request["texts"]]
            _reply(outbox, NUMBERS + np.asarray(rows, np.float32).tobytes())
        except Exception as error:  # noqa: BLE001
            _reply(outbox, WORDS + _words(error))


def _request(inbox: BinaryIO) -> dict[str, Any] | None:
    head = inbox.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    found: dict[str, Any] = json.loads(inbox.read(*LENGTH.unpack(head)))
    return found


def _reply(outbox: BinaryIO, reply: bytes) -> None:
    outbox.write(LENGTH.pack(len(reply)) + reply)
    outbox.flush()


def _words(error: Exception) -> bytes:
    return " ".join(str(error).split())[:500].encode() or type(error).__name__.encode()
