"""Embed a library again on a cluster: pages of segments are its tasks, and the swap stays with the command.

A page may be embedded twice, for its vectors are filed under the text that they are of, and what a cluster missed is
embedded by the command before it swaps. So nothing is lost or doubled, whoever dies, and the next run goes on.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tools.bulk.actors import Actor, Table, own_release
from tools.bulk.cluster import Cluster, Dataset, settings_on_nodes
from tools.embeddings.embedder import Embedder, open_embedder
from tools.retrieval.reindexing import Reindexed, embed_page, name_of, pages_of, reindex
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.startup import open_database

CONNECTIONS = 2  # of a task


async def reindex_on_ray(
    cluster: Cluster,
    database: Database,
    embedder: Embedder,
    settings: Settings,
    progress: Callable[[int, int], None] | None = None,
) -> Reindexed:
    """Embed the library again by the tasks of a cluster. Raises as ``reindex`` does, and DependencyFailed."""
    on_nodes = settings_on_nodes(settings, database)
    await cluster.refuse_too_small(cluster.tasks)
    loop = asyncio.get_running_loop()

    async def elsewhere(workspaces: Sequence[int], advance: Callable[[int], None]) -> None:
        async with database.connection() as connection:
            pages = [(number, *place) for number in workspaces for place in await pages_of(connection, number)]
        if pages:
            await cluster.run(
                lambda: _embedding(cluster.tasks, on_nodes, pages),
                lambda rows: loop.call_soon_threadsafe(advance, int(sum(rows["segments"]))),
            )

    return await reindex(database, embedder, progress, elsewhere=elsewhere)


def _embedding(tasks: int, settings: Settings, pages: Sequence[tuple[int, str, int]]) -> Dataset:
    from ray.data import ActorPoolStrategy, from_items

    rows = from_items(
        [{"workspace": workspace, "document": document, "index": index} for workspace, document, index in pages],
        override_num_blocks=len(pages),
    )
    return rows.map_batches(
        EmbedPages,
        fn_constructor_args=(settings, own_release()),
        compute=ActorPoolStrategy(size=min(tasks, len(pages))),
        num_cpus=1,
        batch_size=None,
        batch_format="pyarrow",
    )


@dataclass(frozen=True, slots=True)
class _Embedding:
    """The embedding of pages over a task's own connections."""

    database: Database
    embedder: Embedder

    @classmethod
    @asynccontextmanager
    async def opened(cls, settings: Settings) -> AsyncIterator["_Embedding"]:
        """Open the database and the model. Raises ConfigurationError, DatabaseUnavailable, EmbeddingUnavailable."""
        async with open_database(settings.model_copy(update={"pool_size": CONNECTIONS})) as database:
            embedder = await open_embedder(settings)
            try:
                yield cls(database, embedder)
            finally:
                await embedder.close()

    async def embed(self, workspace: int, document: str, index: int) -> int:
        """Embed the page behind a place; return the number of its segments."""
        async with self.database.connection() as connection:
            page = await embed_page(connection, workspace, (document, index), self.embedder, name_of(self.embedder))
        return 0 if page is None else page[0]


class EmbedPages(Actor[_Embedding]):
    """Embeds pages of segments by the places behind which they begin."""

    def __init__(self, settings: Settings, release: str) -> None:
        super().__init__(release, _Embedding.opened(settings))

    def __call__(self, places: Table) -> Table:
        """Return the number of segments of each page."""
        import pyarrow

        embedding = self.opened
        done = [self.submit(embedding.embed(**place)).result() for place in places.to_pylist()]
        return pyarrow.table({"segments": pyarrow.array(done, pyarrow.int64())})
