"""What every store of originals does. A store's test class inherits this and gives a ``store`` and two workspaces."""

import hashlib
import os

import pytest

from graph.errors import NotFound
from tools.originals.stores import CHUNK_BYTES, OriginalKey, OriginalStore

DATA = os.urandom(2 * CHUNK_BYTES + 12_345) + b"the end"
SPANS = [
    (0, 1),
    (0, len(DATA)),
    (CHUNK_BYTES - 1, CHUNK_BYTES + 1),
    (CHUNK_BYTES, 2 * CHUNK_BYTES),
    (len(DATA) - 7, len(DATA)),
    (5, 5),
]


async def whole(store: OriginalStore, key: OriginalKey, start: int, end: int) -> bytes:
    return b"".join([piece async for piece in store.read(key, start, end)])


class OriginalStoreContract:
    @pytest.fixture
    def key(self, workspaces: tuple[int, int]) -> OriginalKey:
        return OriginalKey(workspaces[0], hashlib.sha256(DATA).hexdigest())

    @pytest.mark.parametrize("span", SPANS)
    async def test_any_range_is_read_back(self, store: OriginalStore, key: OriginalKey, span: tuple[int, int]) -> None:
        await store.put(key, DATA)
        assert await whole(store, key, *span) == DATA[slice(*span)]

    async def test_pieces_are_small(self, store: OriginalStore, key: OriginalKey) -> None:
        large = DATA * 8
        await store.put(key, large)
        assert max([len(piece) async for piece in store.read(key, 0, len(large))]) <= 4 * CHUNK_BYTES

    async def test_storing_again_changes_nothing(self, store: OriginalStore, key: OriginalKey) -> None:
        await store.put(key, DATA)
        await store.put(key, DATA)
        assert await whole(store, key, 0, len(DATA)) == DATA

    async def test_what_is_deleted_is_gone(self, store: OriginalStore, key: OriginalKey) -> None:
        assert not await store.exists(key)
        await store.put(key, DATA)
        assert await store.exists(key)
        await store.delete([key, OriginalKey(key.workspace, "0" * 64)])
        assert not await store.exists(key)
        with pytest.raises(NotFound):
            await whole(store, key, 0, 1)
        await store.delete([key])

    async def test_workspaces_hold_their_own(
        self, store: OriginalStore, key: OriginalKey, workspaces: tuple[int, int]
    ) -> None:
        other = OriginalKey(workspaces[1], key.sha256)
        await store.put(key, DATA)
        assert not await store.exists(other)
        await store.put(other, DATA)
        await store.delete_workspace(key.workspace)
        assert (await store.exists(key), await store.exists(other)) == (False, True)
