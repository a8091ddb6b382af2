"""A few vectors of each library, which tell how similar a question is to what has nothing to do with it."""

import time

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from tools.embeddings.similarity_scale import SimilarityScale
from tools.storage.database import Connection
from tools.storage.partitions import Place

MOST = 256  # vectors of a library
LOOKED_AT = 8 * MOST  # that they are drawn from, about
SECONDS = 600.0  # for which they are kept; a library that has fewer is read each time
MOST_LIBRARIES = 64  # that are kept, some 400 KB each


class TypicalVectors:
    """Vectors drawn from libraries, kept for a while."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[float, NDArray[np.float32]]] = {}

    async def scaled(
        self, conn: Connection, place: Place, question: NDArray[np.float32], scale: SimilarityScale
    ) -> SimilarityScale:
        """Return a scale for the cosines of a question in a library, by the median of them."""
        drawn_at, drawn = self._kept.get(place.workspace, (0.0, None))
        if drawn is None or drawn.shape[1:] != question.shape or time.monotonic() - drawn_at > SECONDS:
            drawn = await _draw(conn, place, len(question))
            if len(drawn) == MOST:
                while len(self._kept) >= MOST_LIBRARIES:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[place.workspace] = time.monotonic(), drawn
        return scale.above(float(np.median(drawn @ question)) if len(drawn) else 0.0)


async def _draw(conn: Connection, place: Place, dimension: int) -> NDArray[np.float32]:
    pages = sql.SQL(_SOME_PAGES if place.own else "")
    share = -(-MOST // len(place.tables))
    bound = {"workspace": place.workspace, "share": share, "looked_at": LOOKED_AT}
    rows: list[list[float]] = []
    for table in place.tables:
        found = await conn.execute(sql.SQL(_DRAWN).format(vectors=table.vectors, pages=pages), bound)
        rows += [vector for (vector,) in await found.fetchall()]
    fitting = [row for row in rows if len(row) == dimension]  # all, but for the moment of another model's swap
    return np.asarray(fitting[:MOST], np.float32).reshape(-1, dimension)


_DRAWN = """
SELECT embedding::real[] FROM {vectors} {pages} WHERE workspace = %(workspace)s AND embedding IS NOT NULL
ORDER BY uuid_hash(document_id) # hashint4(segment_index) LIMIT %(share)s
"""
# A large library is not read whole for them; the same pages each time, so that a score is the same.
_SOME_PAGES = """TABLESAMPLE SYSTEM ((
    SELECT least(100, 100.0 * %(looked_at)s / greatest(segments, 1)) FROM library_statistics
    WHERE workspace = %(workspace)s
)) REPEATABLE (0)"""
