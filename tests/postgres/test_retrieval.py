"""Search over real SQL: the same as exact BM25, true statistics, and what happens when a leg fails."""

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from numpy.typing import NDArray

from graph.errors import EmbeddingUnavailable, NotFound
from graph.evidence import Identity
from graph.ports import SearchQuery
from tests.cut_documents import CutDocument
from text.terms import weigh_question, weigh_segment
from tools.embeddings.embedder import Embedder
from tools.retrieval import indexing
from tools.retrieval.common_terms import Combinations, CommonTerms
from tools.retrieval.hybrid_search import NO_EMBEDDING, NO_VECTORS, BoundQuery, HybridSearcher, bound_parameters
from tools.retrieval.indexing import drop_segments, index_documents
from tools.retrieval.reweighing import weigh_anew
from tools.retrieval.scope import Scope
from tools.retrieval.search_sql import (
    CONTEXT,
    CONTEXT_NORM,
    IDF_POWER,
    INTERCEPT,
    LEXICAL,
    OPENING,
    as_hit,
    planned,
    search_statement,
)
from tools.retrieval.segment_store import SegmentStore
from tools.retrieval.segmenting import SegmentSpan
from tools.retrieval.term_counting import count_common_terms
from tools.retrieval.title_hop import MOST_NAMED, NAMESAKES
from tools.storage.database import Connection, Database
from tools.storage.partitions import Place, create_partition, drop_partition
from tools.storage.tenants import Workspaces

ME = Identity()
SMALL_BUDGET = 300  # segments
RANDOM = np.random.default_rng(7)
VOCABULARY = [f"word{n}" for n in range(400)]


class HashEmbedder(Embedder):
    """Embeds by hashing words, in any dimension; ``fails`` makes it an endpoint that does not answer."""

    model = "hash"

    def __init__(self, dimension: int = 32, *, fails: bool = False, coverage: float = 1.0) -> None:
        self.dimension = dimension
        self._fails = fails
        self._coverage = coverage

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._fails:
            raise EmbeddingUnavailable("The endpoint does not answer.")
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for word in text.split():
                vectors[row, sum(map(ord, word)) % self.dimension] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def coverage(self, text: str) -> float:
        return self._coverage


def prose(words: int) -> str:
    ranks = np.minimum(RANDOM.zipf(1.3, words) - 1, len(VOCABULARY) - 1)
    return " ".join(VOCABULARY[rank] for rank in ranks.tolist())


def cut(text: str, size: int) -> list[SegmentSpan]:
    starts = range(0, len(text), size)
    return [SegmentSpan(n, at, min(at + size, len(text)), None, "", 1) for n, at in enumerate(starts)]


async def made(number: int, text: str, size: int = 120, title: str = "") -> CutDocument:
    spans = cut(text, size)
    vectors = await HashEmbedder().embed([text[span.start : span.end] for span in spans])
    return CutDocument(str(UUID(int=number)), title, spans, text, vectors)


async def store(database: Database, documents: Sequence[CutDocument], workspace: int = 1) -> None:
    async with database.connection() as conn:
        async with conn.transaction():
            for document in documents:
                await conn.execute(
                    "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
                    " VALUES (%s, %s, %s, 'text/plain', '')",
                    [workspace, document.document_id, document.title],
                )
            await index_documents(conn, workspace, [document.packed(workspace) for document in documents])
        await indexing.maintain(conn, workspace)


async def test_a_library_is_analysed_when_it_is_first_maintained(database: Database) -> None:
    """Or a search would look its documents up by another index than their own, with all that the workspace has."""
    await store(database, [await made(number, prose(30)) for number in range(20)])
    async with database.connection() as conn:
        async with planned(conn):
            plan = await conn.execute(
                "EXPLAIN SELECT 1 FROM documents WHERE workspace = 1 AND document_id = %s", [UUID(int=3)]
            )
            lines = await plan.fetchall()
        assert "documents_pkey" in str(lines)
        known = await conn.execute("SELECT reltuples FROM pg_class WHERE oid = 'documents'::regclass")
        assert await known.fetchone() == (20,)


async def true_counts(database: Database) -> tuple[Counter[int], int, int]:
    async with database.connection() as conn:
        found = await conn.execute("SELECT document_id, terms FROM segments WHERE workspace = 1")
        rows = await found.fetchall()
    return Counter(term for _, terms in rows for term in terms), len(rows), len({row[0] for row in rows})


async def kept_counts(database: Database) -> tuple[dict[int, int], int, int]:
    async with database.connection() as conn:
        found = await conn.execute("SELECT term, segments FROM term_statistics WHERE workspace = 1")
        terms = dict(await found.fetchall())
        found = await conn.execute("SELECT segments, documents FROM library_statistics WHERE workspace = 1")
        row = await found.fetchone()
    assert row is not None
    return terms, row[0], row[1]


def of_terms(counts: dict[int, int]) -> dict[int, int]:
    """Leave out impact keys, which are counted with all terms alone."""
    return {term: count for term, count in counts.items() if term > 0}


def exact_scores(documents: Sequence[CutDocument], question: str) -> dict[tuple[str, int], float]:
    """Score every segment as the lexical leg should, in memory."""
    vectors = {
        (document.document_id, span.segment_index): weigh_segment(document.text[span.start : span.end])
        for document in documents
        for span in document.spans
    }
    weights = {key: dict(zip(v.ids.tolist(), v.weights.tolist(), strict=True)) for key, v in vectors.items()}
    held = Counter(term for each in weights.values() for term in each)
    asked = weigh_question(question)
    idf, attainable = {}, 0.0
    for term, weight, expected in zip(asked.ids.tolist(), asked.weights.tolist(), asked.expected.tolist(), strict=True):
        idf[term] = weight * math.log(1 + (len(weights) - held[term] + 0.5) / (held[term] + 0.5)) ** IDF_POWER
        attainable += expected * idf[term]
    own = {key: sum(idf.get(term, 0) * weight for term, weight in each.items()) for key, each in weights.items()}
    scores = {}
    for (document_id, index), score in own.items():
        beside = [own[key] for key in ((document_id, index - 1), (document_id, index + 1)) if key in own]
        lexical = (score + CONTEXT * max(beside)) / CONTEXT_NORM if beside else score
        scores[document_id, index] = 1 / (1 + math.exp(-(INTERCEPT + LEXICAL * lexical / attainable)))
    return scores


@pytest.mark.parametrize(("count", "size"), [(150, 10_000), (40, 120)])
async def test_the_lexical_leg_is_exact_bm25(database: Database, count: int, size: int) -> None:
    documents = [await made(n, prose(120), size) for n in range(count)]
    await store(database, documents)
    searcher = HybridSearcher(database, Workspaces(database), HashEmbedder(coverage=0.0))
    for _ in range(10):
        question = prose(8)
        expected = exact_scores(documents, question)
        found = await searcher.search(SearchQuery(question, ME, min_score=0.0, expand=0))
        got = {(hit.segment.document_id, hit.segment.segment_index): hit.score for hit in found.hits}
        assert len(got) == 10
        assert list(got.values()) == pytest.approx([expected[key] for key in got], rel=1e-4)
        if size == 10_000:  # with neighbours a segment may also rise that the leg itself did not bring
            best = sorted(expected.values(), reverse=True)[: len(got)]
            assert list(got.values()) == pytest.approx(best, rel=1e-4)


async def test_statistics_stay_true_through_any_change(database: Database) -> None:
    documents = [await made(n, prose(300), 60) for n in range(40)]
    await store(database, documents)
    terms, segments, holding = await kept_counts(database)
    true, *totals = await true_counts(database)
    assert [segments, holding] == totals
    assert terms == {term: count for term, count in true.items() if count >= indexing.COMMON}
    assert terms

    async with database.connection() as conn:
        dropped = await drop_segments(conn, 1, [documents[0].document_id, documents[1].document_id, str(UUID(int=99))])
        assert dropped == len(documents[0].spans) + len(documents[1].spans)
        again = await made(0, prose(100), 60)
        await index_documents(conn, 1, [again.packed()])
    terms, segments, holding = await kept_counts(database)
    true, *totals = await true_counts(database)
    assert [segments, holding] == totals
    assert of_terms(terms) == {term: true[term] for term in of_terms(terms)}


async def test_terms_are_counted_while_the_library_changes(database: Database) -> None:
    documents = [await made(n, prose(200), 60) for n in range(60)]
    await store(database, documents[:30])

    async def recount() -> None:
        async with database.connection() as conn:
            for _ in range(5):
                await count_common_terms(conn, 1, memory="64MB")

    async def change() -> None:
        for document in documents[30:]:
            async with database.connection() as conn:
                await conn.execute(
                    "INSERT INTO documents (workspace, document_id, title, media_type, content_hash)"
                    " VALUES (1, %s, '', 'text/plain', '')",
                    [document.document_id],
                )
                await index_documents(conn, 1, [document.packed()])
                await drop_segments(conn, 1, [documents[UUID(document.document_id).int - 30].document_id])

    await asyncio.gather(recount(), change())
    true, *totals = await true_counts(database)
    terms, *counted = await kept_counts(database)
    assert counted == totals
    assert {term: true[term] for term in of_terms(terms)} == of_terms(terms)
    async with database.connection() as conn:
        await count_common_terms(conn, 1, memory="64MB")
        left = await conn.execute("SELECT count(*) FROM term_changes")
        assert await left.fetchone() == (0,)
    terms, *_ = await kept_counts(database)
    assert terms == {term: count for term, count in true.items() if count >= indexing.COMMON}


@pytest.mark.parametrize("words", ["word1 word2", "word1 word3 word4 word6", "word2 word5 word390"])
async def test_common_words_are_looked_up_within_a_budget(database: Database, words: str) -> None:
    documents = [await made(n, prose(400), 100) for n in range(60)]
    await store(database, documents)
    question, terms = SearchQuery(words, ME, min_score=0.0, expand=0), weigh_question(words)
    async with database.connection() as conn:
        common = await CommonTerms().combinations(conn, 1, terms, SMALL_BUDGET)
        assert common.boxes
        asked = BoundQuery(Place(1, own=True), question, terms, Scope(candidates=SMALL_BUDGET), common)
        statement = search_statement(1, 32, leg=30, dense=False, reach="library")
        async with conn.transaction():
            before = await fetched_rows(conn)
            async with planned(conn):
                found = [as_hit(row) for row in await statement.execute(conn, bound_parameters(asked))]
            fetched = await fetched_rows(conn) - before
    whole = HybridSearcher(database, Workspaces(database), HashEmbedder(coverage=0.0))
    exact = (await whole.search(question)).hits
    assert fetched < 2 * SMALL_BUDGET  # with the rarer word's, and neighbours of what was found
    assert len(found) == len(exact) == 10
    assert sum(hit.score >= exact[-1].score for hit in found) >= 8  # there are ties


async def test_a_word_of_all_segments_is_looked_up_in_a_library_that_has_grown(database: Database) -> None:
    """Its count is read later than the library's, and may be larger."""

    async def store_more(numbers: range) -> None:
        await store(database, [await made(n, " lamp ".join(prose(200).split()), 100) for n in numbers])

    await store_more(range(30))
    common_terms = CommonTerms()
    async with database.connection() as conn:
        assert (await common_terms.combinations(conn, 1, weigh_question("word1 word2"), SMALL_BUDGET)).boxes
        await store_more(range(30, 40))
        found = await common_terms.combinations(conn, 1, weigh_question("lamp word3"), SMALL_BUDGET)
    assert found.terms & set(weigh_question("lamp").ids.tolist())
    assert found.boxes


async def fetched_rows(conn: Connection) -> int:
    """Return the rows of the partition that the connection has fetched and not told the server's statistics yet."""
    row = await (await conn.execute("SELECT pg_stat_get_xact_tuples_fetched('segments_1'::regclass)")).fetchone()
    assert row is not None
    return int(row[0])


async def test_segments_of_earlier_releases_get_their_impact_keys(database: Database) -> None:
    await store(database, [await made(n, prose(400), 100) for n in range(60)])
    before = await kept_terms(database)
    async with database.connection() as conn:
        await conn.execute("UPDATE segments SET terms = ARRAY(SELECT term FROM unnest(terms) AS term WHERE term > 0)")
        await conn.execute(
            "UPDATE library_statistics SET impacts_from = '00000000-0000-0000-0000-000000000000', terms_version = 1"
        )
        await conn.execute("DELETE FROM term_statistics WHERE term < 0")
        terms = weigh_question("word1 word2")
        assert await CommonTerms().combinations(conn, 1, terms, SMALL_BUDGET) == Combinations()
        await weigh_anew(conn, 1)
        assert (await CommonTerms().combinations(conn, 1, terms, SMALL_BUDGET)).boxes
    assert await kept_terms(database) == before


async def kept_terms(database: Database) -> tuple[list[Any], dict[int, int]]:
    async with database.connection() as conn:
        found = await conn.execute("SELECT document_id, segment_index, terms FROM segments ORDER BY 1, 2")
        return await found.fetchall(), (await kept_counts(database))[0]


async def test_a_failed_ingestion_leaves_nothing(database: Database) -> None:
    document = await made(1, prose(100))
    await store(database, [document])
    before = await kept_counts(database), await true_counts(database)
    async with database.connection() as conn:
        with pytest.raises(Exception, match="duplicate key"):
            await index_documents(conn, 1, [(await made(2, prose(50))).packed(), document.packed()])
    assert (await kept_counts(database), await true_counts(database)) == before
    with pytest.raises(ValueError, match="exactly one embedding"):
        replace(document, embeddings=document.embeddings[:1]).packed()


async def test_ingestions_at_once_do_not_deadlock(database: Database) -> None:
    batches = [[await made(n * 10 + m, prose(60)) for m in range(5)] for n in range(6)]
    await asyncio.gather(*(store(database, batch if n % 2 else batch[::-1]) for n, batch in enumerate(batches)))
    terms, segments, holding = await kept_counts(database)
    true, *totals = await true_counts(database)
    assert [segments, holding] == totals
    assert of_terms(terms) == {term: true[term] for term in of_terms(terms)}


async def test_a_large_workspace_is_searched_by_its_vector_index(database: Database) -> None:
    documents = [await made(n, prose(200), 60) for n in range(30)]
    await store(database, documents)
    async with database.connection() as conn:
        await indexing.maintain(conn, 1, index_vectors_above=200)
        found = await conn.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = 'segment_vectors_1_hnsw'::regclass"
        )
        assert await found.fetchone() == (True,)
        await indexing.maintain(conn, 1, index_vectors_above=200)
    searcher = HybridSearcher(database, Workspaces(database), HashEmbedder())
    target = documents[3].text[:60]
    found_hits = (await searcher.search(SearchQuery(target, ME, expand=0))).hits
    assert found_hits[0].segment.text == target


async def test_words_answer_alone_where_the_embedder_does_not(database: Database) -> None:
    await store(database, [await made(1, "the lamp turns"), await made(2, "the gears are oiled")])
    workspaces = Workspaces(database)
    failing = await HybridSearcher(database, workspaces, HashEmbedder(fails=True)).search(SearchQuery("lamp", ME))
    assert (failing.degraded, [hit.segment.text for hit in failing.hits]) == (NO_EMBEDDING, ["the lamp turns"])
    other = HybridSearcher(database, workspaces, HashEmbedder(dimension=16))
    for _ in range(3):  # a failed statement leaves the connection usable
        broken = await other.search(SearchQuery("lamp", ME))
        assert (broken.degraded, [hit.segment.text for hit in broken.hits]) == (NO_VECTORS, ["the lamp turns"])
    whole = await HybridSearcher(database, workspaces, HashEmbedder()).search(SearchQuery("lamp", ME))
    assert whole.degraded is None


async def test_hidden_documents_do_not_starve_a_search(database: Database) -> None:
    hidden = [await made(n, "lamp of the lighthouse") for n in range(300)]
    await store(database, [*hidden, await made(1000, "the lighthouse lamp stands beside other things of some length")])
    async with database.connection() as conn:
        await conn.execute(
            "UPDATE documents SET owner = 'somebody', deleted_at = CASE WHEN random() < 0.5 THEN now() END"
            " WHERE document_id <> %s",
            [str(UUID(int=1000))],
        )
    searcher = HybridSearcher(database, Workspaces(database), HashEmbedder())
    found = await searcher.search(SearchQuery("lamp of the lighthouse", ME, min_score=0.0))
    assert [hit.segment.document_id for hit in found.hits] == [str(UUID(int=1000))]


async def test_reading_keeps_order_and_leaves_out_what_is_out_of_reach(database: Database) -> None:
    text = "".join(f"Paragraph {n} 🙂 灯塔. " for n in range(50))
    document, private = await made(1, text, 40), await made(2, "mine alone")
    await store(database, [document, private])
    async with database.connection() as conn:
        await conn.execute("UPDATE documents SET owner = 'you' WHERE document_id = %s", [private.document_id])
    reader = SegmentStore(database, Workspaces(database))
    one = document.document_id
    ids = [f"{one}:7", f"{one}:2", f"{private.document_id}:0", f"{one}:999", "odd", f"{one}:-1", f"{one}:7"]
    assert [segment.segment_index for segment in await reader.read_segments(ids, ME)] == [7, 2, 7]
    assert len(await reader.read_segments(ids, Identity(user="you"))) == 4
    [page] = await reader.read_pages([private.document_id, one, "odd"], ME)
    assert "".join(segment.text for segment in page.segments) == text
    assert all(text[segment.start : segment.end] == segment.text for segment in page.segments)
    both = await reader.read_pages([private.document_id, one], Identity(user="you"))
    assert [each.document_id for each in both] == [private.document_id, one]


async def test_a_partition_comes_and_goes(database: Database) -> None:
    async with database.connection() as conn:
        await create_partition(conn, 1)
        await conn.execute("INSERT INTO workspaces (name) VALUES ('second')")
        await asyncio.gather(*(_create(database, 2) for _ in range(3)))
    await store(database, [await made(1, "the lamp turns")], workspace=2)
    workspaces = Workspaces(database)
    searcher, second = HybridSearcher(database, workspaces, HashEmbedder()), Identity("second")
    assert len((await searcher.search(SearchQuery("lamp", second))).hits) == 1
    async with database.connection() as conn:
        await drop_partition(conn, 2)
        await drop_partition(conn, 2)
        found = await conn.execute("SELECT count(*) FROM library_statistics")
        assert await found.fetchone() == (1,)
    with pytest.raises(NotFound):
        await searcher.search(SearchQuery("lamp", second))
    with pytest.raises(NotFound):
        await SegmentStore(database, workspaces).read_segments([f"{UUID(int=1)}:0"], second)


async def _create(database: Database, workspace: int) -> None:
    async with database.connection() as conn:
        await create_partition(conn, workspace)


GUIDE = "The guide of the tower says what the Amphitrite carries"


async def found_by_name(database: Database, named: Sequence[CutDocument], guide: str = GUIDE) -> list[int]:
    """Search for a guide that names documents, and give the numbers of the documents found after it."""
    filler = [await made(900 + n, prose(30)) for n in range(20)]
    await store(database, [await made(1, guide, 1000), *named, *filler])
    return await after_the_guide(database)


async def after_the_guide(database: Database, **filters: Any) -> list[int]:
    searcher = HybridSearcher(database, Workspaces(database), HashEmbedder(coverage=0.0))
    query = SearchQuery("what does the guide of the tower say", ME, expand=0, **filters)
    first, *others = [UUID(hit.segment.document_id).int for hit in (await searcher.search(query)).hits]
    assert first == 1
    return others


async def test_a_name_leads_to_one_segment_of_its_document(database: Database) -> None:
    assert await found_by_name(database, [await made(2, "coal and grain " * 80, 60, "Amphitrite (ship)")]) == [2]


async def test_a_huge_document_is_read_no_further_than_its_opening(database: Database) -> None:
    huge = await made(2, "coal and grains" * OPENING + "the coal, grain", 15, "Amphitrite")
    await found_by_name(database, [huge])
    searcher = HybridSearcher(database, Workspaces(database), HashEmbedder(coverage=0.0))
    query = SearchQuery("what does the guide of the tower say", ME, min_score=0.6, expand=0)
    hits = (await searcher.search(query)).hits
    assert [(UUID(hit.segment.document_id).int, hit.segment.segment_index) for hit in hits] == [(1, 0), (2, 0)]


@pytest.mark.parametrize(("bearers", "led_to"), [(NAMESAKES, [2, 3, 4]), (NAMESAKES + 1, [])])
async def test_a_title_that_many_bear_names_none_of_them(database: Database, bearers: int, led_to: list[int]) -> None:
    named = [await made(2 + n, "coal and grain", title="Amphitrite") for n in range(bearers)]
    assert sorted(await found_by_name(database, named)) == led_to


async def test_the_more_a_text_names_the_less_it_tells_of_each(database: Database) -> None:
    titles = [f"Amphitrite {letter}" for letter in ascii_uppercase]
    named = [await made(2 + n, "coal and grain", title=title) for n, title in enumerate(titles)]
    assert await found_by_name(database, named, "The guide of the tower says " + ", ".join(titles)) == []
    assert 0 < len(await after_the_guide(database, top_k=50, min_score=0.0)) <= MOST_NAMED


async def test_a_name_does_not_lead_to_what_is_hidden(database: Database) -> None:
    assert await found_by_name(database, [await made(2, "coal and grain", title="Amphitrite")]) == [2]
    ship, both = str(UUID(int=2)), (str(UUID(int=1)), str(UUID(int=2)))
    for change, within_both in (
        ("expires_at = now() + interval '1 day'", [2]),
        ("expires_at = now() - interval '1 day'", []),
        ("expires_at = NULL, owner = 'somebody'", []),
        ("owner = NULL, deleted_at = now()", []),
    ):
        async with database.connection() as conn:
            await conn.execute(f"UPDATE documents SET {change} WHERE document_id = %s", [ship])
        assert await after_the_guide(database) == []
        assert await after_the_guide(database, document_ids=both) == within_both


async def test_a_title_of_common_words_alone_names_nothing(database: Database) -> None:
    common = [await made(1000 + n, f"Amphitrite word{n}", title="") for n in range(2 * indexing.COMMON)]
    assert await found_by_name(database, [await made(2, "coal and grain", title="Amphitrite"), *common]) == []


async def test_bigrams_are_weighed_among_segments_of_their_script(database: Database) -> None:
    chinese = [
        await made(n, text) for n, text in enumerate(["灯塔的灯每十二秒旋转", "什么是灯", "守塔人给齿轮上油"], 1)
    ]
    await store(database, chinese)
    searcher = HybridSearcher(database, Workspaces(database), HashEmbedder(coverage=0.0))
    query = SearchQuery("灯塔的灯每几秒旋转", ME, min_score=0.0, expand=0)
    alone = [(hit.segment.document_id, hit.score) for hit in (await searcher.search(query)).hits]
    await store(database, [await made(100 + n, prose(20)) for n in range(300)])
    among_others = [(hit.segment.document_id, hit.score) for hit in (await searcher.search(query)).hits]
    assert among_others == [(document_id, pytest.approx(score)) for document_id, score in alone]


async def test_copies_take_no_places_of_other_texts(database: Database) -> None:
    text = "The harbour ferry leaves the north pier every hour until ten in the evening."
    copies = [await made(number, text, title=f"Copy {number}") for number in range(1, 6)]
    others = [await made(number, f"{text} Note {number} of the harbour office.", size=400) for number in range(6, 9)]
    await store(database, [*copies, *others])
    found = await HybridSearcher(database, Workspaces(database), HashEmbedder()).search(
        SearchQuery("When does the harbour ferry leave?", ME, top_k=3)
    )
    texts = [hit.segment.text for hit in found.hits]
    assert len(texts) == len(set(texts)) == 3
    assert text in texts
