"""A library in another model: what a cosine says is measured, and searches go on while it is embedded anew."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cli.checks import check_embedding
from graph.errors import EmbeddingMismatch
from graph.evidence import Identity
from graph.ports import SearchQuery
from tests.onnx_models import WIDTH, encoder, write_folder
from tools.embeddings.embedder import Embedder, open_embedder, recorded_embedding
from tools.embeddings.similarity_scale import RELATIVE
from tools.library.ingestion import Ingestor, NewDocument
from tools.process.library import open_library
from tools.retrieval import library_embedder
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.library_embedder import open_library_embedder
from tools.retrieval.reindexing import reindex
from tools.settings import EmbeddingSettings, Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

ME = Identity()
LAMPS = [
    "Die Lampe brennt.",
    "La lampe brille.",
    "渡轮中午离开港口。",
    "Phà rời bến cảng.",
    "Der Hund bellt.",
    "Le chat dort.",
]


class Topical(Embedder):
    """A model for which all texts are much alike, as contextual encoders have it, and two are about the same."""

    model, dimension, scale = "topical", 16, RELATIVE

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimension), np.float32)
        rows[:, 0] = 2.0
        for row, text in zip(rows, texts, strict=True):
            row[1 + (0 if "amp" in text else sum(text.encode()) % 14 + 1)] = 1.0
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def coverage(self, text: str) -> float:
        return 1.0

    async def close(self) -> None: ...


async def test_a_text_without_a_word_in_common_is_found_by_how_far_it_stands_above_the_rest(
    database: Database, settings: Settings
) -> None:
    workspaces, model = Workspaces(database), Topical()
    ingestor = Ingestor(database, workspaces, model, settings)
    for text in LAMPS:
        await ingestor.ingest(ME, NewDocument(text=text))
    searcher = HybridSearcher(database, workspaces, model)
    found = (await searcher.search(SearchQuery("Where is a lamp lit?", ME, min_score=0.3))).hits
    assert {hit.segment.text.strip() for hit in found} == {"La lampe brille.", "Die Lampe brennt."}
    assert not (await searcher.search(SearchQuery("Which price has rye bread?", ME, min_score=0.3))).hits


def of_folder(settings: Settings, folder: Path) -> Settings:
    return settings.model_copy(update={"embedding": EmbeddingSettings(model=f"onnx:{folder}")})


async def test_other_weights_in_the_same_folder_are_a_mismatch(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    changed = of_folder(settings, write_folder(tmp_path / "tiny", encoder()))
    embedder = await open_embedder(changed)
    await Ingestor(database, Workspaces(database), embedder, changed).ingest(ME, NewDocument(text=LAMPS[0]))
    await embedder.close()
    write_folder(tmp_path / "tiny", encoder(seed=1))
    with pytest.raises(EmbeddingMismatch, match="onnx:tiny@") as caught:
        async with open_library_embedder(changed, database):
            pass
    assert "reindex" in caught.value.advice


async def test_a_library_is_searched_by_its_own_vectors_until_the_new_ones_are_there(
    database: Database, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_embedder, "ASKED_EVERY_SECONDS", 0.05)
    async with open_library(settings) as library:
        await library.ingestor.ingest(ME, NewDocument(text="The lamp is lit at night."))
    changed = of_folder(settings, write_folder(tmp_path / "tiny", encoder()))
    embedder = await open_embedder(changed)
    refused = await check_embedding(changed)
    assert not refused.ok
    async with database.connection() as connection:
        await connection.execute(
            "INSERT INTO reindexed_segments (workspace, document_id, segment_index, model, body_hash, embedding)"
            " SELECT workspace, document_id, segment_index, %s, 0, %s::halfvec FROM all_segments",
            [f"{embedder.model}/{WIDTH}", str([0] * WIDTH)],
        )
    assert "1 of 1 segment" in (await check_embedding(changed)).detail
    async with open_library(changed) as library:
        before = await library.searcher.search(SearchQuery("When is the lamp lit?", ME))
        assert (library.embedder.dimension, before.degraded, len(before.hits)) == (256, None, 1)
        await library.ingestor.ingest(ME, NewDocument(text="A ferry leaves at noon."))
        assert (await reindex(database, embedder)).segments == 2
        while library.embedder.dimension != WIDTH:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        after = await library.searcher.search(SearchQuery("When does the ferry leave?", ME))
        assert after.degraded is None
        assert after.hits[0].segment.text.strip() == "A ferry leaves at noon."
        await library.ingestor.ingest(ME, NewDocument(text="A third text."))
    await embedder.close()


async def test_a_reindex_in_the_background_goes_on_by_itself(
    database: Database, settings: Settings, database_url: str, tmp_path: Path
) -> None:
    async with open_library(settings) as library:
        for text in LAMPS:
            await library.ingestor.ingest(ME, NewDocument(text=text))
    folder = write_folder(tmp_path / "tiny", encoder())
    environment = os.environ | {
        "CITEWELL_DATABASE_URL": database_url,
        "CITEWELL_DATA_DIR": str(tmp_path / "data"),
        "CITEWELL_EMBEDDING__MODEL": f"onnx:{folder}",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    command = [sys.executable, "-c", "from cli.main import main; main()", "reindex", "--background", "--json"]
    ran = await asyncio.to_thread(subprocess.run, command, env=environment, capture_output=True, check=True)
    assert json.loads(ran.stdout)["started"] is True
    async with asyncio.timeout(100), database.connection() as connection:
        while ((recorded := await recorded_embedding(connection)) or ("", 0))[1] != WIDTH:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert recorded is not None
    assert recorded[0].startswith("onnx:tiny@")
