import re
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import ConfigurationError
from tools.embeddings import static_embedding
from tools.embeddings.embedder import StaticEmbedder, count_tokens, open_embedder
from tools.embeddings.static_embedding import ALONE, SPACE_MARK, WordTokens, bundled_embedder, bundled_tokenizer
from tools.embeddings.token_vectors import TokenVectors
from tools.settings import EmbeddingSettings, Settings

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@pytest.fixture(scope="module")
async def static() -> StaticEmbedder:
    return await StaticEmbedder.load()


async def test_the_default_is_the_bundled_model() -> None:
    embedder = await open_embedder(Settings())
    assert (embedder.model, embedder.dimension) == ("wordllama-l2_supercat-256", 256)


async def test_vectors_are_those_of_wordllama(static: StaticEmbedder) -> None:
    """Pooling is done here, a text at a time, where wordllama pads a batch to its longest text."""
    from wordllama import WordLlama

    from tools.embeddings.static_embedding import _wheel

    texts = ["The war began in 1914.", "短文。", "A much longer text, with commas, 🙂 and digits 12345." * 7]
    theirs = WordLlama.load(cache_dir=_wheel(), disable_download=True).embed(texts, norm=True)
    np.testing.assert_allclose(await static.embed(texts), theirs, atol=1e-5)


async def test_near_texts_are_nearer(static: StaticEmbedder) -> None:
    question, answer, other = await static.embed(
        ["How do I reset my password?", "To change a forgotten password, open settings.", "Bananas ripen in the sun."]
    )
    assert question @ answer > question @ other + 0.1


async def test_a_dimension_that_the_model_does_not_have() -> None:
    settings = Settings(embedding=EmbeddingSettings(dimension=100))
    with pytest.raises(ConfigurationError, match="100") as caught:
        await open_embedder(settings)
    assert "CITEWELL_EMBEDDING__DIMENSION" in caught.value.advice


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("When did the war begin?", 1.0, 1.0),
        ("Người Việt Nam sống ở đâu?", 0.1, 0.4),
        ("谁是中国的主席？", 0.0, 0.0),
        ("когда началась война", 0.0, 1.0),
        ("?!", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_coverage_tells_what_the_model_can_read(static: StaticEmbedder, text: str, low: float, high: float) -> None:
    assert low <= static.coverage(text) <= high


def test_coverage_weighs_words_by_their_characters(static: StaticEmbedder) -> None:
    assert static.coverage("war 战争") == pytest.approx(3 / 5)


@given(st.lists(st.text(max_size=80), max_size=20))
def test_tokens_are_counted_text_by_text(texts: list[str]) -> None:
    counts = count_tokens(texts)
    assert counts == [count_tokens([text])[0] for text in texts]
    assert all((count == 0) == (text == "") for count, text in zip(counts, texts, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "one two",
        " led by a space",
        "two  spaces",
        "ended by one ",
        "a\nb c",
        "a\n  b\n\n c\n",
        "a <s> b</s>c <unk>",
        "▁ of its own▁ ▁",
        "",
        "渡船 要 chờ đợi",
        "渡船要等待。한국어 カナ",
        "a word of " + "very" * 20 + "\nlength 渡船" + "长" * 40,
        "a\ufffd\ufffd\ufffd b\u00a0c\td\x00",
        "=" * 500,
    ],
)
def test_tokens_word_by_word_are_those_of_the_text(text: str) -> None:
    assert bundled_embedder().tokens(text).tolist() == _whole(text)


@given(st.lists(st.text(alphabet=st.sampled_from(" \n▁ab.e<s/>unk-渡船한カé🙂\ufffd\t0,"), max_size=60), max_size=6))
def test_tokens_of_any_texts_are_those_of_each_whole(texts: list[str]) -> None:
    assert [ids.tolist() for ids in WordTokens(bundled_tokenizer).ids(texts)] == list(map(_whole, texts))
    assert count_tokens(texts) == [len(_whole(text)) for text in texts]


def test_no_token_spans_what_the_words_are_cut_at() -> None:
    vocabulary = [token for token in bundled_tokenizer().get_vocab() if len(token) > 1]
    assert not [token for token in vocabulary if re.search(rf"[^{SPACE_MARK}]{SPACE_MARK}|\n|[{ALONE}]", token)]


def test_words_that_are_met_again_are_remembered_and_the_others_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_embedding, "MOST_CHARACTERS", 40)
    counting = _CountingTokenizer()
    words = WordTokens(lambda: cast("Tokenizer", counting))

    def tokenized(text: str) -> list[str]:
        counting.model.pieces.clear()
        assert words.ids([text])[0].tolist() == _whole(text)
        return [piece.strip(SPACE_MARK) for piece in counting.model.pieces]

    assert sorted(tokenized("kept words once")) == ["kept", "once", "words"]
    assert tokenized("words kept once") == []
    for number in range(8):  # each brings new words, and some of the first text
        assert "kept" not in tokenized(f"kept words and other{number} longer{number}")
    assert tokenized("once") == ["once"]
    assert sorted(tokenized("once in\nlines 渡")) == ["", "\n", "in", "lines", "渡"]
    assert tokenized("once in\nlines 渡") == []


class _CountingTokenizer:
    """The bundled tokenizer, which notes the pieces that it was asked for."""

    def __init__(self) -> None:
        self.model = _CountingModel()


class _CountingModel:
    def __init__(self) -> None:
        self.pieces: list[str] = []

    def tokenize(self, piece: str) -> Any:
        self.pieces.append(piece)
        return bundled_tokenizer().model.tokenize(piece)


def _whole(text: str) -> list[int]:
    ids: list[int] = bundled_tokenizer().encode(text, add_special_tokens=False).ids
    return ids


def test_loading_imports_no_wordllama_and_nothing_is_downloaded() -> None:
    """wordllama configures logging for the whole process when it is imported, and brings much that is not needed."""
    program = (
        "import asyncio, logging, sys, warnings; warnings.simplefilter('error');"
        "sys.addaudithook(lambda event, _: event == 'socket.connect' and sys.exit('it reached for the network'));"
        "from tools.embeddings.embedder import StaticEmbedder; asyncio.run(StaticEmbedder.load());"
        "root = logging.getLogger(); assert (root.handlers, root.level) == ([], logging.WARNING), root.handlers;"
        "assert not {'wordllama', 'numpy.random', 'safetensors'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_vectors_of_tokens_are_those_of_the_file_in_any_order_and_in_threads() -> None:
    narrow = np.random.default_rng(5).standard_normal((500, 8)).astype(np.float16)
    vectors = TokenVectors(narrow)
    drawn = [np.random.default_rng(seed).integers(0, 500, 40).astype(np.uint16) for seed in range(64)]
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(vectors.take, drawn))
    for tokens, rows in zip(drawn, taken, strict=True):
        assert rows.dtype == np.float32
        np.testing.assert_array_equal(rows, narrow.astype(np.float32)[tokens])
    np.testing.assert_array_equal(vectors.truncated(3).take(drawn[0]), narrow.astype(np.float32)[drawn[0], :3])
    assert vectors.take(np.array([], np.uint16)).shape == (0, 8)
    sums = vectors.summed([*drawn, np.array([], np.uint16)])
    np.testing.assert_allclose(sums, [*(rows.sum(axis=0) for rows in taken), np.zeros(8)], atol=1e-5)
    assert vectors.summed([]).shape == (0, 8)
    np.testing.assert_array_equal(vectors.take(np.array([60_000], np.uint16))[0], narrow[-1].astype(np.float32))


@given(st.lists(st.lists(st.integers(0, 59), max_size=30), max_size=12), st.integers(1, 60))
def test_vectors_are_those_of_the_file_however_few_are_kept(texts: list[list[int]], most: int) -> None:
    narrow = np.random.default_rng(6).standard_normal((60, 4)).astype(np.float16)
    vectors = TokenVectors(narrow, most)
    wide = narrow.astype(np.float32)
    drawn = [np.array(text, np.uint16) for text in texts]
    for tokens in drawn:
        np.testing.assert_array_equal(vectors.take(tokens), wide[tokens])
    sums = np.array([wide[tokens].sum(axis=0) for tokens in drawn]).reshape(-1, 4)
    np.testing.assert_allclose(vectors.summed(drawn), sums, atol=1e-4)


def test_vectors_are_right_while_threads_push_out_each_others_rows() -> None:
    narrow = np.random.default_rng(7).standard_normal((500, 8)).astype(np.float16)
    vectors = TokenVectors(narrow, 60)
    drawn = [np.random.default_rng(seed).integers(0, 500, 40).astype(np.uint16) for seed in range(400)]
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(vectors.take, drawn))
    for tokens, rows in zip(drawn, taken, strict=True):
        np.testing.assert_array_equal(rows, narrow.astype(np.float32)[tokens])


def test_processes_that_are_forked_write_no_vectors_into_each_others_memory() -> None:
    program = """
import os
import numpy as np
from tools.embeddings.token_vectors import TokenVectors

narrow = np.random.default_rng(8).standard_normal((100, 8)).astype(np.float16)
vectors = TokenVectors(narrow)
vectors.take(np.arange(10))
reading, writing = os.pipe()
if (child := os.fork()) == 0:
    os.read(reading, 1)
    vectors.take(np.arange(50, 60))
    os._exit(0)
vectors.take(np.arange(20, 30))
os.write(writing, b".")
os.waitpid(child, 0)
assert (vectors.take(np.arange(20, 30)) == narrow[20:30]).all()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="tells the memory of a process on Linux")
def test_wide_vectors_take_no_more_memory_than_they_may() -> None:
    narrow = np.ones((40_000, 256), np.float16)
    vectors = TokenVectors(narrow, 1_000)
    before = _resident()
    for start in range(0, len(narrow), 500):
        vectors.take(np.arange(start, start + 500))
    assert _resident() - before < 16_000_000  # of all together: 40 MB


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


@pytest.mark.parametrize("content", [b"", b"\x02" + bytes(7) + b"{}", (9).to_bytes(8, "little") + b"not JSON!"])
def test_a_broken_file_of_vectors_is_a_configuration_error(tmp_path: Path, content: bytes) -> None:
    (file := tmp_path / "vectors.safetensors").write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"vectors\.safetensors can't be read"):
        TokenVectors.mapped(file)
