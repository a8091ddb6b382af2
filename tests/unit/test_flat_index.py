"""A flat index against a plain sort of all vectors, through any sequence of changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tools.retrieval.flat_index import FlatIndex, Nearest, ReadVectors, Stamp

DIMENSION = 8
Library = dict[bytes, tuple[Stamp, NDArray[np.float16]]]  # by document: its stamp, and its vectors


def packed(vectors: NDArray[np.float16]) -> bytes:
    """Lay vectors out as PostgreSQL sends them."""
    rows = np.zeros(len(vectors), [("index", ">i4"), ("head", ">i2", (2,)), ("vector", ">f2", (vectors.shape[1],))])
    rows["index"] = np.arange(len(vectors))
    rows["head"][:, 0] = vectors.shape[1]
    rows["vector"] = vectors
    return rows.tobytes()


def unpacked(found: Nearest) -> list[tuple[bytes, int]]:
    ids = np.frombuffer(found.document_ids[20:], np.uint8).reshape(-1, 20)[:, 4:]
    indexes = np.frombuffer(found.indexes[20:], ">i4").reshape(-1, 2)[:, 1]
    return [(each.tobytes(), int(index)) for each, index in zip(ids, indexes, strict=True)]


def image(old: FlatIndex, library: Library, version: str) -> FlatIndex:
    stamps = {document_id: stamp for document_id, (stamp, _) in library.items()}
    outdated = old.outdated(stamps)
    read = ReadVectors(DIMENSION, sum(stamps[each].segments for each in outdated))
    for start in range(0, len(outdated), 2):
        read.add([(each, packed(library[each][1])) for each in outdated[start : start + 2]])
    return old.renewed(version, stamps, read)


def sorted_all(library: Library, question: NDArray[np.float32]) -> list[tuple[float, bytes, int]]:
    found = []
    for document_id, (_, vectors) in library.items():
        for index, vector in enumerate(vectors.astype(np.float64)):
            if (length := float(np.linalg.norm(vector))) > 0:
                found.append((float(vector @ question) / length, document_id, index))
    return sorted(found, reverse=True)


CHANGES = st.lists(
    st.dictionaries(st.integers(0, 12), st.none() | st.integers(1, 9), max_size=6), min_size=1, max_size=25
)


@given(CHANGES, st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_the_nearest_are_those_of_a_sort_after_any_changes(
    changes: list[dict[int, int | None]], count: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    library: Library = {}
    index = FlatIndex("0", DIMENSION)
    for transaction, changed in enumerate(changes, start=1):
        for number, segments in changed.items():
            document_id = number.to_bytes(16, "big")
            if segments is None:
                library.pop(document_id, None)
            else:
                vectors = random.normal(size=(segments, DIMENSION)).astype(np.float16)
                vectors[random.random(segments) < 0.1] = 0
                library[document_id] = (Stamp(segments, transaction, transaction), vectors)
        before, expected_before = index, len(index)
        index = image(index, library, str(transaction))
        assert (index.version, len(before)) == (str(transaction), expected_before)
        question = random.normal(size=DIMENSION).astype(np.float32)
        found = index.nearest(question, count)
        everything = sorted_all(library, question)
        assert len(index) == len(everything)
        assert found.complete == (count >= len(everything))
        similar = {(document_id, place): score for score, document_id, place in everything}
        assert [similar[each] for each in unpacked(found)] == pytest.approx(
            [score for score, _, _ in everything[:count]], abs=1e-5
        )


def test_only_what_changed_is_read_again() -> None:
    vectors = np.ones((3, DIMENSION), np.float16)
    library: Library = {bytes([n]) * 16: (Stamp(3, 1, 1), vectors) for n in range(4)}
    index = image(FlatIndex("0", DIMENSION), library, "1")
    changed = bytes([2]) * 16
    library[changed] = (Stamp(3, 5, 5), vectors)
    assert index.outdated({document_id: stamp for document_id, (stamp, _) in library.items()}) == [changed]


def test_memory_does_not_grow_with_changes() -> None:
    vectors = np.ones((10, DIMENSION), np.float16)
    library: Library = {bytes([n]) * 16: (Stamp(10, 1, 1), vectors) for n in range(20)}
    index = image(FlatIndex("0", DIMENSION), library, "1")
    first = index.memory
    for transaction in range(2, 200):
        library[bytes([transaction % 20]) * 16] = (Stamp(10, transaction, transaction), vectors)
        index = image(index, library, str(transaction))
        assert len(index) == 200
        assert index.memory < 1.5 * first


@pytest.mark.parametrize(("dimension", "segments"), [(4, 2), (16, 2), (DIMENSION, 3)])
def test_what_does_not_fit_is_refused(dimension: int, segments: int) -> None:
    read = ReadVectors(DIMENSION, 2)
    with pytest.raises(ValueError, match="vectors"):
        read.add([(bytes(16), packed(np.ones((segments, dimension), np.float16)))])
