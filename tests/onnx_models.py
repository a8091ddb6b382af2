"""Tiny ONNX models and their folders, written by hand: the format is Protocol Buffers (onnx.proto), field by field.

Texts are read byte by byte. The encoder gives each byte a vector; the reranker likes the letter o in the text beside a
question.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WIDTH = 16
FLOAT, INT64 = 1, 7
START, END = 256, 257  # tokens around each text


def field(number: int, value: "int | str | bytes") -> bytes:
    """Return a field of a message: a number, or bytes behind their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    """Return a number, seven bits a byte."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def node(kind: str, inputs: Sequence[str], output: str, **attributes: int) -> bytes:
    """Return a node with integer attributes."""
    made = b"".join(field(1, each) for each in inputs) + field(2, output) + field(4, kind)
    for name, value in attributes.items():
        made += field(5, field(1, name) + field(3, value) + field(20, 2))
    return field(1, made)


def constant(name: str, values: NDArray[Any]) -> bytes:
    """Return a constant."""
    kind = FLOAT if values.dtype == np.float32 else INT64
    sizes = b"".join(field(1, size) for size in values.shape)
    return field(5, sizes + field(2, kind) + field(8, name) + field(9, values.tobytes()))


def value(number: int, name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    """Return an input (11) or an output (12)."""
    sizes = b"".join(field(1, field(1 if isinstance(size, int) else 2, size)) for size in shape)
    return field(number, field(1, name) + field(2, field(1, field(1, kind) + field(2, sizes))))


def model(*parts: bytes) -> bytes:
    """Return a model of the parts of its graph."""
    return field(1, 8) + field(7, b"".join(parts) + field(2, "tiny")) + field(8, field(1, "") + field(2, 17))


def encoder(*, seed: int = 0, width: int = WIDTH) -> bytes:
    """Return an encoder: a random vector for each byte."""
    table = np.random.default_rng(seed).normal(size=(258, width)).astype(np.float32)
    return model(
        value(11, "input_ids", INT64, ["n", "tokens"]),
        value(11, "attention_mask", INT64, ["n", "tokens"]),
        constant("table", table),
        node("Gather", ["table", "input_ids"], "last_hidden_state"),
        value(12, "last_hidden_state", FLOAT, ["n", "tokens", width]),
    )


def reranker(labels: int = 1) -> bytes:
    """Return a cross-encoder: the letters o of the second text, as log odds of the last label."""
    table = np.full((258, labels), -0.25, np.float32)
    table[ord("o"), -1] = 3.0
    table[:, :-1] = 0.0
    return model(
        value(11, "input_ids", INT64, ["n", "tokens"]),
        value(11, "token_type_ids", INT64, ["n", "tokens"]),
        constant("table", table),
        constant("axis", np.array([2])),
        constant("tokens", np.array([1])),
        node("Gather", ["table", "input_ids"], "each"),
        node("Cast", ["token_type_ids"], "second", to=FLOAT),
        node("Unsqueeze", ["second", "axis"], "wide"),
        node("Mul", ["each", "wide"], "kept"),
        node("ReduceSum", ["kept", "tokens"], "logits", keepdims=0),
        value(12, "logits", FLOAT, ["n", labels]),
    )


def tokenizer() -> Tokenizer:
    """Return a tokenizer whose tokens are bytes, between a start and an end."""
    letters = {letter: _byte(letter) for letter in pre_tokenizers.ByteLevel.alphabet()}
    made = Tokenizer(models.BPE(vocab=letters | {"[CLS]": START, "[SEP]": END}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", START), ("[SEP]", END)]
    )
    return made


def _byte(letter: str) -> int:
    """Return the byte that a letter of the byte-level alphabet stands for: printable ones stand for themselves."""
    code = ord(letter)
    hidden = [each for each in range(256) if not (33 <= each <= 126 or 161 <= each <= 172 or 174 <= each <= 255)]
    return hidden[code - 256] if code >= 256 else code


def write_folder(folder: Path, weights: bytes, files: Mapping[str, Any] | None = None, *, at: str = "onnx") -> Path:
    """Write a folder as such models are downloaded, with further JSON ``files``, and return it."""
    (folder / at).mkdir(parents=True, exist_ok=True)
    (folder / at / "model.onnx").write_bytes(weights)
    tokenizer().save(str(folder / "tokenizer.json"))
    for name, content in {"config.json": {"max_position_embeddings": 514}, **(files or {})}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder
