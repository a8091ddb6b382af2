"""Texts that were replaced are kept for a while, seen by who may read the document, and brought back as they were."""

from dataclasses import replace
from datetime import timedelta

import pytest

from graph.errors import NotFound
from graph.evidence import Identity, Space
from graph.ports import SearchQuery
from tools.library.ingestion import NewDocument
from tools.library.versions import KeptText, Version, Versions, expire_versions
from tools.process.library import Library, open_library
from tools.settings import Settings, VersionSettings

ID = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a09"
AMY, EVE = Identity("default", "amy"), Identity("default", "eve")
TRUE = "# Leave\n\nEvery employee gets 25 days.\n\n| Grade | Days |\n|---|---|\n| A | 30 |\n"
FALSE = "# Leave\n\nEvery employee gets no days at all.\n"


async def put(
    library: Library,
    who: Identity,
    text: str,
    owner: str | None = None,
    *,
    readers: list[str] | None = None,
    space: Space | None = None,
) -> None:
    document = NewDocument(
        document_id=ID,
        name="leave.md",
        data=text.encode(),
        title="Leave",
        owner=owner,
        readers=readers,
        space=space,
    )
    await library.ingestor.ingest(who, document)


def numbers(found: list[Version]) -> list[tuple[int, str | None, str | None, bool]]:
    return [(each.version, each.changed_by, each.replaced_by, each.current) for each in found]


async def test_a_text_that_was_replaced_is_seen_and_brought_back_as_it_was(settings: Settings) -> None:
    async with open_library(settings) as library:
        await put(library, AMY, TRUE)
        before = await library.documents.raw_text(AMY, ID)
        [segment] = await library.reader.read_segments([f"{ID}:0"], AMY)
        await put(library, EVE, FALSE)
        assert numbers(await library.versions.list(AMY, ID)) == [(2, "eve", None, True), (1, "amy", "eve", False)]
        assert await library.versions.read(AMY, ID, 1) == before
        restored = await library.ingestor.restore(AMY, ID, 1)
        assert restored.status == "updated"
        assert await library.documents.raw_text(AMY, ID) == before
        [again] = await library.reader.read_segments([f"{ID}:0"], AMY)
        assert (again.text, again.blocks, again.heading) == (segment.text, segment.blocks, segment.heading)
        found = await library.searcher.search(SearchQuery("how many days", AMY, top_k=3, min_score=0.0))
        assert [hit.segment.segment_id for hit in found.hits] == [f"{ID}:0"]
        assert numbers(await library.versions.list(AMY, ID)) == [
            (3, "amy", None, True),
            (2, "eve", "amy", False),
            (1, "amy", "eve", False),
        ]
        await library.documents.purge("default")
        original = await library.originals.find(AMY, ID)
        assert await library.originals.read_whole(original) == TRUE.encode()
        for version in (3, 4):
            with pytest.raises(NotFound):
                await library.versions.read(AMY, ID, version)


async def test_a_title_alone_is_no_version_and_leaves_the_vectors_as_they_are(settings: Settings) -> None:
    few = settings.model_copy(update={"versions": VersionSettings(keep=1)})
    async with open_library(few) as library:
        for text in ("The limit is ONE.", "The limit is TWO."):
            await put(library, AMY, text)
        before = await stored_segments(library)
        for title in ("First", "Lighthouse"):
            await library.ingestor.rename(AMY, ID, title)
        assert numbers(await library.versions.list(AMY, ID)) == [(2, "amy", None, True), (1, "amy", "amy", False)]
        assert await stored_segments(library) == before
        found = await library.searcher.search(SearchQuery("lighthouse", AMY, top_k=3, min_score=0.0))
        assert [(hit.segment.segment_id, hit.segment.title) for hit in found.hits] == [(f"{ID}:0", "Lighthouse")]
        with pytest.raises(NotFound):
            await library.ingestor.rename(AMY, "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2a10", "Lighthouse")


async def stored_segments(library: Library) -> list[tuple[object, ...]]:
    statement = """
        SELECT s.segment_index, s.body, v.embedding::text FROM all_segments AS s
        LEFT JOIN shared_segment_vectors AS v USING (workspace, document_id, segment_index)
        WHERE document_id = %s ORDER BY s.segment_index
    """
    return await library.database.fetch_all(statement, [ID])


async def test_a_text_that_is_stored_during_a_change_of_title_stays(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_library(settings) as library:
        await put(library, AMY, "The limit is ONE.")
        load, loads = Versions.load, 0

        async def overtaken(
            self: Versions, identity: Identity, document_id: str, version: int | None = None
        ) -> KeptText:
            nonlocal loads
            kept, loads = await load(self, identity, document_id, version), loads + 1
            if loads == 1:
                await put(library, EVE, "The limit is TWO.")
            return kept

        monkeypatch.setattr(Versions, "load", overtaken)
        await library.ingestor.rename(AMY, ID, "Limits")
        text = await library.documents.raw_text(AMY, ID)
        assert (text["title"], [each["text"] for each in text["segments"]]) == ("Limits", ["The limit is TWO."])
        assert numbers(await library.versions.list(AMY, ID)) == [(2, "eve", None, True), (1, "amy", "eve", False)]


async def test_versions_go_with_their_document_and_after_their_time(settings: Settings) -> None:
    few = settings.model_copy(update={"versions": VersionSettings(keep=2)})
    async with open_library(few) as library:
        for text in ("One.", "Two.", "Three.", "Four."):
            await put(library, AMY, text)
        assert [each.version for each in await library.versions.list(AMY, ID)] == [4, 3, 2]
        async with library.database.connection() as connection:
            await connection.execute(
                "UPDATE document_versions SET replaced_at = now() - interval '9 days' WHERE version = 2"
            )
        assert await expire_versions(library.database, days=8) == 1
        assert [each.version for each in await library.versions.list(AMY, ID)] == [4, 3]
        await library.documents.delete(AMY, ID)
        with pytest.raises(NotFound):
            await library.versions.list(AMY, ID)
        assert await library.documents.purge("default", older_than=timedelta(0)) == 1
        async with library.database.connection() as connection:
            (count,) = await (await connection.execute("SELECT count(*) FROM document_versions")).fetchone() or ()
        assert count == 0
    none = settings.model_copy(update={"versions": VersionSettings(keep=0)})
    async with open_library(none) as library:
        await put(library, AMY, TRUE)
        await put(library, AMY, FALSE)
        assert [each.current for each in await library.versions.list(AMY, ID)] == [True]


async def test_versions_are_read_and_restored_by_whom_their_document_lets(settings: Settings) -> None:
    async with open_library(settings) as library:
        await put(library, AMY, TRUE, owner="amy")
        await put(library, AMY, FALSE, owner="amy")
        await put(library, AMY, "Shared with all.", owner=None)
        assert [each.version for each in await library.versions.list(EVE, ID)] == [3]
        assert [each.version for each in await library.versions.list(AMY, ID)] == [3, 2, 1]
        with pytest.raises(NotFound):
            await library.versions.read(EVE, ID, 1)
        with pytest.raises(NotFound):
            await library.ingestor.restore(EVE, ID, 1)
        await library.ingestor.restore(AMY, ID, 2)
        assert (await library.documents.get(EVE, ID)).owner is None
        await put(library, AMY, TRUE, owner="amy")
        for hidden in (library.versions.list(EVE, ID), library.versions.read(EVE, ID, 3)):
            with pytest.raises(NotFound):
                await hidden
        with pytest.raises(NotFound):
            await library.versions.list(Identity("default", "amy"), "not-an-id")


async def test_a_document_opened_to_all_keeps_its_earlier_texts_for_their_readers(settings: Settings) -> None:
    hr = replace(AMY, groups=("hr",))
    async with open_library(settings) as library:
        await put(library, hr, FALSE, readers=["group:hr"])
        await put(library, hr, TRUE, readers=["everyone"])
        assert [each.version for each in await library.versions.list(hr, ID)] == [2, 1]
        assert [each.version for each in await library.versions.list(EVE, ID)] == [2]
        for hidden in (library.versions.read(EVE, ID, 1), library.ingestor.restore(EVE, ID, 1)):
            with pytest.raises(NotFound):
                await hidden
        # What was opened before it was replaced stays open, until the document is closed again.
        await put(library, hr, "# Leave\n\nA third text.\n")
        assert [each.version for each in await library.versions.list(EVE, ID)] == [3, 2]
        await library.documents.set_readers(hr, ID, ["group:hr"])
        with pytest.raises(NotFound):
            await library.versions.list(EVE, ID)
        assert [each.version for each in await library.versions.list(hr, ID)] == [3, 2, 1]


async def test_a_document_shared_by_its_owner_keeps_its_earlier_texts_for_their_readers(settings: Settings) -> None:
    async with open_library(settings) as library:
        await put(library, AMY, FALSE, owner="amy", readers=["user:eve"])
        await put(library, AMY, TRUE, owner="amy", readers=["user:eve", "user:bob"])
        assert [each.version for each in await library.versions.list(EVE, ID)] == [2, 1]
        assert [each.version for each in await library.versions.list(Identity("default", "bob"), ID)] == [2]


async def test_credentials_of_a_space_read_the_texts_that_were_in_it(settings: Settings) -> None:
    public = replace(EVE, spaces=("public",))
    async with open_library(settings) as library:
        await put(library, AMY, FALSE, space={"id": "board", "slug": None})
        await put(library, AMY, TRUE, space={"id": "public", "slug": None})
        assert [each.version for each in await library.versions.list(public, ID)] == [2]
        assert [each.version for each in await library.versions.list(EVE, ID)] == [2, 1]
        with pytest.raises(NotFound):
            await library.versions.read(public, ID, 1)


async def test_a_version_of_before_its_readers_were_kept_is_read_by_who_stored_it(settings: Settings) -> None:
    async with open_library(settings) as library:
        await put(library, AMY, FALSE)
        await put(library, EVE, TRUE)
        async with library.database.connection() as connection:
            await connection.execute("UPDATE document_versions SET readers = DEFAULT, space_id = DEFAULT")
        assert [each.version for each in await library.versions.list(AMY, ID)] == [2, 1]
        assert [each.version for each in await library.versions.list(EVE, ID)] == [2]
