"""Who may read a document reads it wherever it can be read; for whoever may not, it is as if it were not there."""

import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid5

import pytest
from pydantic import SecretStr

from graph.errors import InvalidRequest, NotFound
from graph.evidence import EVERYONE, Identity, LibraryQuestion
from graph.ports import SearchQuery
from tests.conftest import NO_FILE
from tools.langchain.vector_store import library_vector_store
from tools.library.ingestion import NewDocument
from tools.library.new_documents import checked_readers, stored_readers
from tools.library.source_records import SourceOptions
from tools.process.library import Library, open_library
from tools.retrieval.scope import CANDIDATES
from tools.settings import Settings

USERS = ("ann", "bob", "cid")
GROUPS = ("legal", "sales")
READERS = (EVERYONE, *(f"user:{user}" for user in USERS), *(f"group:{group}" for group in GROUPS))
DOCUMENTS = 8
ROUNDS = 25
SALT = UUID("00000000-0000-4000-8000-0000000000aa")
ABSENT = str(uuid5(SALT, "absent"))
IDS = [str(uuid5(SALT, str(number))) for number in range(DOCUMENTS)]
# Each holds a word of its own, one that all hold, and names the next by its title; two hold nearly the same text.
ALIKE = " ".join(f"word{number}" for number in range(80))
TEXTS = [
    f"The lantern of pier {number} is called Lamp{number}. See the guide Beacon {(number + 1) % DOCUMENTS}.\n\n{ALIKE}"
    for number in range(DOCUMENTS)
]


@pytest.fixture(scope="module")
async def library(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Library]:
    settings = Settings(
        **NO_FILE,
        database_url=SecretStr(shared_database_url),
        data_dir=tmp_path_factory.mktemp("readers"),
        source_roots=[str(tmp_path_factory.mktemp("shelves"))],
        pool_size=4,
    )
    async with open_library(settings) as opened:
        for number, document_id in enumerate(IDS):
            new = NewDocument(
                document_id=document_id,
                title=f"Beacon {number}",
                data=TEXTS[number].encode(),
                name=f"beacon{number}.md",
                space={"id": None, "slug": "harbour"},
            )
            await opened.ingestor.ingest(Identity(), new)
        yield opened


def may_read(who: Identity, owner: str | None, readers: Sequence[str] | None) -> bool:
    """The model: what the documentation says of readers, without a database."""
    if owner == who.user:
        return True
    if readers is None:
        return owner is None
    groups = {f"group:{group}" for group in who.groups}
    return EVERYONE in readers or f"user:{who.user}" in readers or bool(groups & set(readers))


async def seen(library: Library, who: Identity) -> dict[str, set[str]]:
    """Return which documents each way of reading gives to somebody."""
    found: dict[str, set[str]] = {}
    query = SearchQuery("What is the lantern of the pier called?", who, top_k=30, min_score=0.0, expand=1)
    for name, asked in (
        ("search", query),
        ("search in a space", replace(query, spaces=("harbour",))),
        ("search in documents", replace(query, document_ids=tuple(IDS))),
        ("search by title", replace(query, text="Beacon 1, Beacon 2, Beacon 3, Beacon 4, Beacon 5, Beacon 6")),
    ):
        hits = (await library.searcher.search(asked)).hits
        found[name] = {hit.segment.document_id for hit in hits}
    found["pages"] = {page.document_id for page in await library.reader.read_pages(IDS, who)}
    segments = await library.reader.read_segments([f"{each}:0" for each in IDS], who)
    found["segments"] = {segment.document_id for segment in segments}
    found["list"] = {each.document_id for each in (await library.documents.list(who)).documents}
    found["named"] = {each.document_id for each in (await library.documents.list(who, title="Beacon")).documents}
    asked_all = LibraryQuestion(asks="list", name="", is_file=False, media_type="", since="", until="")
    listing = await library.catalogue.list(asked_all, who)
    found["catalogue"] = {each.document_id for each in listing.documents}
    assert listing.total == len(listing.documents)
    for name in ("details", "text", "original", "place"):
        found[name] = set()
    similar: dict[str, set[str]] = {}
    errors: list[str] = []
    for document_id in (*IDS, ABSENT):
        try:
            details = await library.documents.get(who, document_id)
        except NotFound as error:
            errors.append(str(error).replace(document_id, ""))
        else:
            found["details"].add(document_id)
            similar[document_id] = {each["document_id"] for each in details.similar_to}
        for name, read in (
            ("text", library.documents.raw_text(who, document_id)),
            ("original", library.originals.find(who, document_id)),
            ("place", library.places.find(who, document_id, 0, None, None)),
        ):
            try:
                await read
            except NotFound:
                continue
            found[name].add(document_id)
    assert len(set(errors)) == 1, "what is absent and what is forbidden are told alike"
    for document_id, others in similar.items():
        assert others <= found["details"], f"{document_id} tells of others"
    return {way: documents & {*IDS} for way, documents in found.items()}


async def set_readers(library: Library, owners: Sequence[str | None], readers: Sequence[list[str] | None]) -> None:
    async with library.database.connection() as connection:
        for document_id, owner, given in zip(IDS, owners, readers, strict=True):
            await connection.execute(
                "UPDATE documents SET owner = %s, readers = %s WHERE document_id = %s", [owner, given, document_id]
            )


async def test_every_way_of_reading_gives_what_the_readers_say(library: Library) -> None:
    drawn = random.Random(18)
    everybody = [Identity(user=user, groups=groups) for user in (*USERS, "eve") for groups in ((), ("legal",), GROUPS)]
    for _ in range(ROUNDS):
        owners = [drawn.choice((None, None, *USERS)) for _ in IDS]
        said = [
            drawn.choice((None, drawn.sample(READERS, drawn.randint(1, 3)), [] if owner else None)) for owner in owners
        ]
        readers = [
            stored_readers(checked_readers(given, owner), owner) for given, owner in zip(said, owners, strict=True)
        ]
        await set_readers(library, owners, readers)
        who = drawn.choice(everybody)
        expected = {
            document_id
            for document_id, owner, given in zip(IDS, owners, said, strict=True)
            if may_read(who, owner, given)
        }
        for way, found in (await seen(library, who)).items():
            assert found == expected, (way, who, dict(zip(IDS, zip(owners, said, strict=True), strict=True)))


async def test_what_langchain_sees_is_for_everybody(library: Library) -> None:
    readers: list[list[str] | None] = [None, ["group:legal"], *([None] * (DOCUMENTS - 2))]
    await set_readers(library, [None] * DOCUMENTS, readers)
    async with library_vector_store(library.database, library.workspaces, library.embedder) as store:
        found = await store.asimilarity_search("lantern", k=30)
    assert {each.metadata["document_id"] for each in found} == {*IDS} - {IDS[1]}


async def test_who_sends_a_document_again_keeps_its_readers_unless_others_are_named(library: Library) -> None:
    ann, bob = Identity(user="ann", groups=("legal",)), Identity(user="bob")
    secret = NewDocument(
        document_id=str(uuid5(SALT, "secret")), text="The safe opens at nine.", readers=["group:legal"]
    )
    await library.ingestor.ingest(ann, secret)
    with pytest.raises(NotFound):
        await library.ingestor.ingest(bob, replace(secret, readers=None, text="Taken over."))
    changed = replace(secret, readers=None, text="The safe opens at ten.")
    assert (await library.ingestor.ingest(ann, changed)).status == "updated"
    document_id = str(secret.document_id)
    assert (await library.documents.get(ann, document_id)).readers == ["group:legal"]
    assert (await library.ingestor.ingest(ann, changed)).status == "unchanged"
    with pytest.raises(NotFound):
        await library.documents.get(bob, document_id)
    opened = replace(changed, readers=[EVERYONE])
    assert (await library.ingestor.ingest(ann, opened)).status == "updated"
    assert (await library.documents.get(bob, document_id)).readers is None
    await library.documents.delete(bob, document_id)


async def test_readers_change_without_the_text_and_never_shut_out_who_changes_them(library: Library) -> None:
    ann, bob = Identity(user="ann", groups=("legal",)), Identity(user="bob")
    document = NewDocument(text="The bell rings at noon.", owner="ann", readers=["group:sales", "user:bob"])
    document_id = (await library.ingestor.ingest(ann, document)).document_id
    assert (await library.documents.get(bob, document_id)).readers == ["group:sales", "user:bob"]
    for change in (
        library.documents.set_readers(bob, document_id, [EVERYONE]),
        library.documents.delete(bob, document_id),
    ):
        with pytest.raises(NotFound):
            await change
    await library.documents.set_readers(ann, document_id, [])
    with pytest.raises(NotFound):
        await library.documents.get(bob, document_id)
    await library.documents.set_readers(ann, document_id, [EVERYONE])
    assert (await library.documents.get(bob, document_id)).readers == [EVERYONE]
    shared = (await library.ingestor.ingest(ann, NewDocument(text="The gong rings at one."))).document_id
    with pytest.raises(InvalidRequest, match=r"readers: .* not be among"):
        await library.documents.set_readers(ann, shared, ["group:sales"])
    for given in (["legal"], ["group:"], ["user:\n"], ["user:" + "x" * 201], ["user:a"] * 101, []):
        with pytest.raises(InvalidRequest, match="readers"):
            await library.documents.set_readers(ann, shared, given)


async def test_one_file_for_two_groups_is_two_documents_that_know_nothing_of_each_other(library: Library) -> None:
    ann, bob = Identity(user="ann", groups=("legal",)), Identity(user="bob", groups=("sales",))
    data = (ALIKE + " The gate is shut.").encode()
    first = await library.ingestor.ingest(ann, NewDocument(data=data, name="gate.md", readers=["group:legal"]))
    second = await library.ingestor.ingest(bob, NewDocument(data=data, name="gate.md", readers=["group:sales"]))
    assert first.document_id != second.document_id
    assert (second.status, [each["document_id"] for each in second.similar_to if each["document_id"] not in IDS]) == (
        "created",
        [],
    )


async def test_a_source_gives_its_readers_to_its_documents_and_takes_them_away(
    library: Library,
) -> None:
    root = Path(library.settings.source_roots[0]) / "desk"
    root.mkdir()
    (root / "vault.md").write_text("The vault is behind the picture.", encoding="utf-8")
    ann, bob = Identity(user="ann", groups=("legal",)), Identity(user="bob")
    sources, location = library.sources, str(root)
    ours, is_new = await sources.add(ann, "folder", location, SourceOptions(), readers=["group:legal"])
    assert (is_new, ours.readers) == (True, ["group:legal"])
    assert (await library.syncer.sync(ann, ours)).counts["new"] == 1
    [document] = (await library.documents.list(ann, source=ours.source_id)).documents
    assert (document.readers, len(document.places)) == (["group:legal"], 1)
    with pytest.raises(NotFound):
        await library.documents.get(bob, document.document_id)
    with pytest.raises(NotFound):
        await sources.get(bob, ours.source_id)
    assert location not in str(await sources.list(bob))
    with pytest.raises(InvalidRequest, match="comes from a source"):
        await library.documents.set_readers(ann, document.document_id, [EVERYONE])
    theirs, is_new = await sources.add(bob, "folder", location, SourceOptions())
    assert is_new
    assert theirs.source_id != ours.source_id
    await sources.delete(bob, theirs.source_id, with_documents=False)
    await sources.set_readers(ann, ours.source_id, [EVERYONE])
    assert (await library.documents.get(bob, document.document_id)).readers is None
    assert (await sources.get(bob, ours.source_id)).readers is None
    twin = NewDocument(text=f"{ALIKE} The lock is old.", title="Twin", readers=["user:ann"])
    report = await library.ingestor.ingest(ann, twin)
    (root / "lock.md").write_text(f"{ALIKE} The lock is old.", encoding="utf-8")
    await sources.set_readers(ann, ours.source_id, ["user:ann", "user:bob"])
    assert (await library.syncer.sync(ann, await sources.get(ann, ours.source_id))).counts["new"] == 1
    assert report.document_id in str((await sources.get(ann, ours.source_id)).report)
    assert report.document_id not in str((await sources.get(bob, ours.source_id)).report)
    assert report.document_id not in str(await sources.list(bob))
    await sources.set_readers(ann, ours.source_id, [EVERYONE])
    (root / "vault.md").write_text("The vault is below the stairs.", encoding="utf-8")
    assert (await library.syncer.sync(ann, await sources.get(ann, ours.source_id))).counts["changed"] == 1
    assert (await library.documents.get(bob, document.document_id)).readers is None


async def test_who_may_read_one_small_space_finds_what_is_in_it_among_all_others(library: Library) -> None:
    everywhere = Identity("fleet", "local")
    await library.workspaces.ensure(everywhere.workspace)
    # More alike than are candidates for anybody, so that what is not looked for by its space is none.
    fleet = [
        NewDocument(text=f"Người gác số {number} thắp đèn của bến tàu lúc hoàng hôn.", title=f"Log {number}")
        for number in range(CANDIDATES + 500)
    ]
    # In Vietnamese, so that words alone are searched: with vectors, all of a library of this size are compared.
    yard = "Ở sân, người làm vườn thắp đèn của bến tàu lúc bình minh, khi cửa xưởng mở và cần cẩu bắt đầu quay."
    fleet.append(NewDocument(text=yard, title="Yard", space={"id": None, "slug": "yard"}))
    assert len([each async for each in library.ingestor.ingest_many(everywhere, fleet)]) == len(fleet)
    query = SearchQuery("Người gác thắp đèn của bến tàu lúc nào?", replace(everywhere, spaces=("yard",)), min_score=0.0)
    assert [hit.segment.text for hit in (await library.searcher.search(query)).hits] == [yard]
