"""What a folder lacks is named, with the setting and what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graph.errors import ConfigurationError
from tests.onnx_models import encoder, write_folder
from tools.encoders.model_folder import read_folder


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def holding(name: str, text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    return write


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (without("config.json"), "no config.json"),
        (without("tokenizer.json"), "no tokenizer.json"),
        (without("onnx/model.onnx"), "no model.onnx"),
        (holding("config.json", "{"), "config.json is no JSON"),
        (holding("config.json", "[]"), "can't be used"),
        (holding("modules.json", '[{"type": "x.Pooling", "path": "1_Pooling"}]'), "no config.json"),
        (holding("modules.json", '{"type": 1}'), "can't be used"),
        (holding("modules.json", '[{"type": "x.Dense", "path": "2_Dense"}]'), "no model.safetensors"),
        (holding("modules.json", '[{"type": "x.LSTM", "path": ""}]'), "module LSTM"),
        (holding("modules.json", "{}x"), "modules.json is no JSON"),
        (holding("1_Pooling/config.json", '{"pooling_mode_max_tokens": true}'), "pooling_mode_max_tokens"),
        (holding("1_Pooling/config.json", '{"pooling_mode": "mean_sqrt_len_tokens"}'), "mean_sqrt_len_tokens"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, change: Callable[[Path], None], named: str) -> None:
    folder = write_folder(tmp_path / "tiny", encoder())
    change(folder)
    with pytest.raises(ConfigurationError, match=named) as caught:
        read_folder(str(folder), "reranker.model")
    assert caught.value.message.startswith("reranker.model: ")
    assert caught.value.advice


@pytest.mark.parametrize("named", ["nowhere", "nowhere/model.onnx"])
def test_a_path_that_is_not_there(tmp_path: Path, named: str) -> None:
    with pytest.raises(ConfigurationError, match="nowhere"):
        read_folder(str(tmp_path / named), "embedding.model")


def test_of_several_models_one_has_to_be_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny", encoder())
    (folder / "onnx" / "model.onnx").rename(folder / "onnx" / "model_int8.onnx")
    assert read_folder(str(folder), "embedding.model").model.name == "model_int8.onnx"
    (folder / "onnx" / "model_fp16.onnx").write_bytes(encoder())
    with pytest.raises(ConfigurationError, match=r"model_fp16\.onnx, .*model_int8\.onnx"):
        read_folder(str(folder), "embedding.model")
    assert (
        read_folder(str(folder / "onnx" / "model_fp16.onnx"), "embedding.model").tokenizer == folder / "tokenizer.json"
    )


def test_the_digest_covers_weights_beside_the_model(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny", encoder())
    before = read_folder(str(folder), "embedding.model").digest()
    (folder / "onnx" / "model.onnx_data").write_bytes(b"weights")
    assert read_folder(str(folder), "embedding.model").digest() != before
