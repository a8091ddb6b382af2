"""Encoders of a folder as embedders: what their folder says is done, and what is stored names their weights."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from graph.errors import ConfigurationError, EmbeddingUnavailable
from tests.contract.embedder import EmbedderContract
from tests.onnx_models import END, START, WIDTH, encoder, reranker, write_folder
from tools.embeddings.embedder import Embedder, open_embedder
from tools.embeddings.onnx_embedding import OnnxEmbedder
from tools.settings import EmbeddingSettings, Settings

TABLE = np.random.default_rng(0).normal(size=(258, WIDTH)).astype(np.float32)
TRANSFORMER = {"type": "sentence_transformers.models.Transformer", "path": ""}


@asynccontextmanager
async def opened(named: Path | str, dimension: int | None = None) -> AsyncIterator[OnnxEmbedder]:
    embedder = await OnnxEmbedder.open(str(named), dimension)
    try:
        yield embedder
    finally:
        await embedder.close()


def unit(vector: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(vector / np.linalg.norm(vector))


def states(text: str) -> NDArray[Any]:
    """What the tiny encoder gives for each token."""
    return np.asarray(TABLE[[START, *text.encode(), END]])


class TestOnnxEmbedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self, tmp_path: Path) -> AsyncIterator[Embedder]:
        async with opened(write_folder(tmp_path / "tiny", encoder())) as embedder:
            yield embedder


async def test_the_setting_names_a_folder_or_a_file(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny", encoder())
    for named in (folder, folder / "onnx" / "model.onnx"):
        settings = Settings(_env_file=None, embedding=EmbeddingSettings(model=f"onnx:{named}"))
        embedder = await open_embedder(settings)
        assert (embedder.dimension, embedder.coverage("渡轮中午离开港口。")) == (WIDTH, 1.0)
        await embedder.close()


@pytest.mark.parametrize(
    ("pooling", "pooled"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, states("a lamp").mean(0)),
        ({"pooling_mode_cls_token": True}, TABLE[START]),
        ({"pooling_mode_lasttoken": True}, TABLE[END]),
        ({"pooling_mode": "cls"}, TABLE[START]),
        (None, states("a lamp").mean(0)),
    ],
)
async def test_tokens_are_pooled_as_the_folder_says(tmp_path: Path, pooling: Any, pooled: NDArray[Any]) -> None:
    files = {} if pooling is None else {"1_Pooling/config.json": {"word_embedding_dimension": WIDTH, **pooling}}
    async with opened(write_folder(tmp_path / "tiny", encoder(), files)) as embedder:
        np.testing.assert_allclose(await embedder.embed(["a lamp"]), [unit(pooled)], atol=1e-6)


async def test_linear_layers_behind_the_pooling(tmp_path: Path) -> None:
    modules = [TRANSFORMER, {"type": "x.Pooling", "path": "1_Pooling"}, {"type": "x.Dense", "path": "2_Dense"}]
    files = {
        "modules.json": "",
        "1_Pooling/config.json": {"pooling_mode_mean_tokens": True},
        "2_Dense/config.json": {"activation_function": "torch.nn.modules.activation.Tanh"},
    }
    folder = write_folder(tmp_path / "tiny", encoder(), files | {"modules.json": modules})
    weight, bias = np.random.default_rng(1).normal(size=(8, WIDTH)).astype(np.float32), np.ones(8, np.float32)
    save_file({"linear.weight": weight, "linear.bias": bias}, folder / "2_Dense" / "model.safetensors")
    async with opened(folder) as embedder:
        assert embedder.dimension == 8
        expected = unit(np.tanh(weight @ states("a lamp").mean(0) + bias))
        np.testing.assert_allclose(await embedder.embed(["a lamp"]), [expected], atol=1e-5)


async def test_questions_and_documents_have_the_prompts_of_the_folder(tmp_path: Path) -> None:
    prompts = {"config_sentence_transformers.json": {"prompts": {"query": "Q: ", "document": "D: "}}}
    async with opened(write_folder(tmp_path / "tiny", encoder(), prompts)) as embedder:
        np.testing.assert_allclose(
            await embedder.embed_question("a lamp"), unit(states("Q: a lamp").mean(0)), atol=1e-6
        )
        np.testing.assert_allclose(await embedder.embed(["a lamp"]), [unit(states("D: a lamp").mean(0))], atol=1e-6)


@pytest.mark.parametrize(("name", "has"), [("multilingual-e5-small", True), ("e5_large", True), ("gte-e5x", False)])
async def test_e5_has_its_prompts_where_its_folder_says_nothing(tmp_path: Path, name: str, has: bool) -> None:
    async with opened(write_folder(tmp_path / name, encoder())) as embedder:
        assert (embedder.folder.query_prompt, embedder.folder.document_prompt) == (
            ("query: ", "passage: ") if has else ("", "")
        )


async def test_a_text_is_cut_at_the_tokens_that_the_model_takes(tmp_path: Path) -> None:
    limit = {"sentence_bert_config.json": {"max_seq_length": 10}}
    async with opened(write_folder(tmp_path / "tiny", encoder(), limit)) as embedder:
        np.testing.assert_allclose(await embedder.embed(["abcdefgh, and more"]), await embedder.embed(["abcdefgh"]))


async def test_a_model_for_english_counts_little_elsewhere(tmp_path: Path) -> None:
    card = {"README.md": "---\nlanguage: en\nlicense: mit\n---\n# Tiny\n"}
    async with opened(write_folder(tmp_path / "tiny", encoder(), card)) as embedder:
        assert embedder.coverage("The ferry leaves at noon.") == 1.0
        assert embedder.coverage("渡轮中午离开港口。") < 0.4


async def test_the_name_that_is_stored_tells_other_weights_but_no_other_place(tmp_path: Path) -> None:
    said = {"config.json": {"_name_or_path": "somebody/tiny"}}
    first = write_folder(tmp_path / "a", encoder(), said)
    moved = write_folder(tmp_path / "b", encoder(), said, at=".")
    other = write_folder(tmp_path / "c", encoder(seed=1), said)
    pooled = write_folder(tmp_path / "d", encoder(), said | {"1_Pooling/config.json": {"pooling_mode": "cls"}})
    names = []
    for folder in (first, moved, other, pooled):
        async with opened(folder) as embedder:
            names.append(embedder.model)
    assert names[0] == names[1]
    assert len(set(names)) == 3
    assert names[0].startswith("onnx:tiny@")


async def test_a_shorter_vector_is_the_beginning_of_the_whole_one(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny", encoder())
    async with opened(folder) as whole, opened(folder, 8) as shorter:
        [vector] = await whole.embed(["a lamp"])
        np.testing.assert_allclose(await shorter.embed(["a lamp"]), [unit(vector[:8])], atol=1e-6)


@pytest.mark.parametrize(
    ("weights", "what"),
    [(b"no model", "can't be used"), (reranker(), "states of tokens"), (encoder()[:-40], "can't be used")],
)
async def test_a_file_that_is_no_encoder_is_told_at_the_start(tmp_path: Path, weights: bytes, what: str) -> None:
    with pytest.raises(ConfigurationError, match=what) as caught:
        async with opened(write_folder(tmp_path / "tiny", weights)):
            pass
    assert caught.value.message.startswith("embedding.model: ")


async def test_more_dimensions_than_the_model_has(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"embedding\.dimension") as caught:
        async with opened(write_folder(tmp_path / "tiny", encoder()), 32):
            pass
    assert f"CITEWELL_EMBEDDING__DIMENSION to at most {WIDTH}" in caught.value.advice


async def test_a_vector_without_a_length_is_a_failure_and_the_next_text_is_embedded(tmp_path: Path) -> None:
    table = TABLE.copy()
    table[ord("n")] = np.nan
    broken = encoder().replace(TABLE.tobytes(), table.tobytes())
    async with opened(write_folder(tmp_path / "tiny", broken)) as embedder:
        with pytest.raises(EmbeddingUnavailable, match="no length"):
            await embedder.embed(["n"])
        assert (await embedder.embed(["a"])).any()
