"""A flat index against a plain sort of all segments, through any sequence of changes."""

from struct import Struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from text.terms import QueryTerms
from tools.retrieval import term_block
from tools.retrieval.candidates import CandidateList
from tools.retrieval.flat_index import FlatIndex, ReadSegments, Stamp

DIMENSION = 8
Library = dict[bytes, tuple[Stamp, NDArray[np.float16]]]  # by document: its stamp, and its vectors


TERMS = 12  # of a library


def weights_of(vectors: NDArray[np.float16]) -> list[dict[int, float]]:
    """Return terms of segments, which follow from their vectors."""
    return [
        {1 + int(abs(value) * 1000) % TERMS: 0.5 + at / 8 for at, value in enumerate(vector[:3].tolist())}
        for vector in vectors
    ]


def packed(vectors: NDArray[np.float16]) -> bytes:
    """Lay segments out as PostgreSQL sends them."""
    rows = b""
    for index, (vector, weights) in enumerate(zip(vectors, weights_of(vectors), strict=True)):
        ids = np.array(sorted(weights), ">i4")
        rows += Struct(">iiii").pack(index, 10**9, len(ids), 0) + (ids - 1).astype(">i4").tobytes()
        rows += np.array([weights[each] for each in ids.tolist()], ">f4").tobytes()
        rows += Struct(">hh").pack(len(vector), 0) + vector.astype(">f2").tobytes()
    return rows


def unpacked(found: CandidateList) -> list[tuple[bytes, int]]:
    ids, indexes = (each.strip("{}").split(",") for each in (found.document_ids, found.indexes))
    return [(bytes.fromhex(each), int(index)) for each, index in zip(ids, indexes, strict=True) if each]


def image(old: FlatIndex, library: Library, version: str) -> FlatIndex:
    stamps = {document_id: stamp for document_id, (stamp, _) in library.items()}
    outdated = old.outdated(stamps)
    read = ReadSegments(DIMENSION)
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
        assert len(index) == sum(len(vectors) for _, vectors in library.values())
        assert found.complete == (count >= len(everything))
        similar = {(document_id, place): score for score, document_id, place in everything}
        assert [similar[each] for each in unpacked(found)] == pytest.approx(
            [score for score, _, _ in everything[:count]], abs=2e-3
        )
        weights = {
            (document_id, place): each[term]
            for document_id, (_, vectors) in library.items()
            for place, each in enumerate(weights_of(vectors))
            if (term := 1 + transaction % TERMS) in each
        }
        said = index.heaviest(asked_for(1 + transaction % TERMS), count)
        assert said.complete == (count >= len(weights))
        assert [weights[each] for each in unpacked(said)] == sorted(weights.values(), reverse=True)[:count]


def asked_for(*terms: int) -> QueryTerms:
    ids = np.array(sorted(terms), np.int32)
    return QueryTerms(ids, np.ones(len(ids), np.float32), np.ones(len(ids), np.float32), np.zeros(len(ids), np.bool_))


def test_a_rarer_term_weighs_more_and_what_holds_both_weighs_most() -> None:
    vectors = np.array([[0.001, 0.002], [0.002, 0.002], [0.002, 0.002], [0.001, 0.001]], np.float16)
    vectors = np.pad(vectors, ((0, 0), (0, DIMENSION - 2)))
    index = image(FlatIndex("0", DIMENSION), {bytes(16): (Stamp(4, 1, 1), vectors)}, "1")
    rare, common = [
        1 + int(abs(value) * 1000) % TERMS for value in (float(np.float16(0.001)), float(np.float16(0.002)))
    ]
    assert rare != common
    assert [index for _, index in unpacked(index.heaviest(asked_for(rare, common), 2))] == [0, 3]


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


@pytest.mark.parametrize("dimension", [4, 16])
def test_what_does_not_fit_is_refused(dimension: int) -> None:
    with pytest.raises(ValueError, match="vectors"):
        ReadSegments(DIMENSION).add([(bytes(16), packed(np.ones((2, dimension), np.float16)))])


def test_many_small_changes_make_no_more_blocks_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_block, "FULL", 40)
    random = np.random.default_rng(3)
    library: Library = {}
    index = FlatIndex("0", DIMENSION)
    for transaction in range(1, 60):
        vectors = random.normal(size=(1 + transaction % 7, DIMENSION)).astype(np.float16)
        library[transaction.to_bytes(16, "big")] = (Stamp(len(vectors), transaction, transaction), vectors)
        index = image(index, library, str(transaction))
    question = random.normal(size=DIMENSION).astype(np.float32)
    nearest = unpacked(index.nearest(question, 5))
    assert nearest == [(document_id, place) for _, document_id, place in sorted_all(library, question)[:5]]
