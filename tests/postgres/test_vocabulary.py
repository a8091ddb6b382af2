"""A question is spelt as the library spells it, and nobody is told a word that they may not read."""

from collections.abc import AsyncIterator

import pytest

from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity
from graph.ports import SearchQuery, SearchResult
from text.terms import TERMS_VERSION
from tools.library.ingestion import NewDocument
from tools.retrieval.reindexing import reindex
from tools.retrieval.vocabulary import Vocabulary
from tools.settings import Settings
from tools.storage.partitions import find_place

ME, YOU = Identity(user="me"), Identity(user="you")
LEAVE = "A sabbatical of six weeks comes every three years."
OTHERS = ["Sick pay lasts six weeks.", "The data sheet is in the blue folder.", "Die Gebühr beträgt fünf Euro."]


@pytest.fixture
async def citewell(settings: Settings) -> AsyncIterator[Citewell]:
    async with open_citewell(settings) as opened:
        for number, text in enumerate([LEAVE, *OTHERS]):
            await opened.library.ingestor.ingest(ME, NewDocument(text=text, title=f"Note {number}"))
        yield opened


async def ask(citewell: Citewell, question: str, identity: Identity = ME) -> SearchResult:
    return await citewell.library.searcher.search(SearchQuery(question, identity, expand=0, min_score=0.0))


@pytest.mark.parametrize(
    ("question", "also", "text"),
    [
        ("sabatical", ("sabbatical",), LEAVE),
        ("datasheet", ("data sheet",), OTHERS[1]),
        ("GEBUEHR", ("gebühr",), OTHERS[2]),
    ],
)
async def test_an_unknown_word_is_searched_as_known_ones(
    citewell: Citewell, question: str, also: tuple[str, ...], text: str
) -> None:
    found = await ask(citewell, question)
    assert found.also_searched == also
    assert found.hits[0].segment.text == text


async def test_known_words_stay_as_they_are(citewell: Citewell) -> None:
    assert (await ask(citewell, "sabbatical in the blue folder")).also_searched == ()


async def test_only_words_of_readable_texts_are_told(citewell: Citewell) -> None:
    await citewell.library.ingestor.ingest(ME, NewDocument(text="The merger with Kaltenbach is near.", owner="me"))
    await citewell.library.workspaces.create("elsewhere")
    assert (await ask(citewell, "kaltnbach")).also_searched == ("kaltenbach",)
    async with citewell.library.database.connection() as conn:
        await conn.execute("UPDATE documents SET owner = 'you' WHERE owner = 'me'")
    assert (await ask(citewell, "kaltnbach")).also_searched == ()
    async with citewell.library.database.connection() as conn:
        await conn.execute("UPDATE documents SET owner = 'me' WHERE owner = 'you'")
    assert (await ask(citewell, "kaltnbach", YOU)).also_searched == ()
    assert (await ask(citewell, "kaltnbach", Identity("elsewhere", "me"))).also_searched == ()


async def test_what_one_may_not_read_is_not_noticed_by_what_is_told(citewell: Citewell) -> None:
    hidden = NewDocument(text="The sabatical, sabaticals too, and blue folders of Kaltenbach.", owner="me")
    await citewell.library.ingestor.ingest(ME, hidden)
    await citewell.library.ingestor.ingest(
        ME, NewDocument(text="The data of sheets.", space={"id": "1", "slug": "public"})
    )
    assert (await ask(citewell, "sabatical")).also_searched == ()
    for others in (YOU, Identity(user="third", groups=("all",))):
        assert (await ask(citewell, "sabatical", others)).also_searched == ("sabbatical",)
        assert (await ask(citewell, "sabaticals", others)).also_searched == ("sabbatical",)
        assert (await ask(citewell, "the bluefolders", others)).also_searched == ()
    assert (await ask(citewell, "datasheet", Identity(spaces=("public",)))).also_searched == ()


async def test_words_go_with_the_last_document_that_has_them(citewell: Citewell) -> None:
    library = citewell.library
    gone = await library.ingestor.ingest(ME, NewDocument(text="Sabbatical and Kaltenbach."))
    await library.documents.delete(ME, gone.document_id)
    assert (await ask(citewell, "kaltnbach")).also_searched == ()
    await library.documents.purge(ME.workspace)
    async with library.database.connection() as conn:
        found = await conn.execute("SELECT word FROM vocabulary WHERE word IN ('kaltenbach', 'sabbatical')")
        assert await found.fetchall() == [("sabbatical",)]


async def test_a_library_of_an_earlier_release_is_searched_as_before_until_it_is_weighed_anew(
    citewell: Citewell, settings: Settings
) -> None:
    library = citewell.library
    await library.ingestor.ingest(ME, NewDocument(text="Present: Anna and Boris.", title="Meeting 2026-05-06"))
    async with library.database.connection() as conn:
        before = await _weighed(conn)
        await conn.execute("UPDATE library_statistics SET terms_version = 1")
        await conn.execute("DELETE FROM vocabulary")
        await conn.execute("UPDATE shared_segments SET terms = terms[1:1]")
    assert (await ask(citewell, "sabatical")).also_searched == ()
    async with library.database.connection() as conn:
        place = await find_place(conn, await library.workspaces.number(ME.workspace))
        assert place is not None
        for question in ("may", "ひらがな"):  # of the first it knows words, of the second there are none to know
            assert (await Vocabulary().respell(conn, place, question, ME)).respelling.is_older
    await reindex(library.database, library.embedder)
    async with library.database.connection() as conn:
        assert await _weighed(conn) == before
        versions = await (await conn.execute("SELECT DISTINCT terms_version FROM library_statistics")).fetchall()
        assert versions == [(TERMS_VERSION,)]
    async with open_citewell(settings) as anew:
        assert (await ask(anew, "sabatical")).also_searched == ("sabbatical",)
        assert (await ask(anew, "meeting of 6 May 2026")).hits[0].segment.title == "Meeting 2026-05-06"


async def _weighed(conn: object) -> list[tuple[object, ...]]:
    found = await conn.execute(  # type: ignore[attr-defined]
        "SELECT document_id, segment_index, terms, weights::text FROM shared_segments ORDER BY 1, 2"
    )
    return list(await found.fetchall())
