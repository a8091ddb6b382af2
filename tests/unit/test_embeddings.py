import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import ConfigurationError
from tools.embeddings.embedder import StaticEmbedder, count_tokens, open_embedder
from tools.settings import EmbeddingSettings, Settings


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


def test_loading_leaves_the_root_logger_alone_and_nothing_is_downloaded() -> None:
    """wordllama configures logging for the whole process when it is imported."""
    program = (
        "import asyncio, logging, sys, warnings; warnings.simplefilter('error');"
        "sys.addaudithook(lambda event, _: event == 'socket.connect' and sys.exit('it reached for the network'));"
        "from tools.embeddings.embedder import StaticEmbedder; asyncio.run(StaticEmbedder.load());"
        "root = logging.getLogger(); assert (root.handlers, root.level) == ([], logging.WARNING), root.handlers"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
