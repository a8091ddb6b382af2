"""Questions about the library itself, answered from the catalogue within the reach of who asks."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import prompts
from graph.context import Context
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity, LibraryQuestion, Message
from graph.state import State
from tools.library.ingestion import NewDocument
from tools.library.listing import LibraryCatalogue
from tools.runs.completion import finished_message
from tools.settings import Settings

ME = Identity()
OF_ANOTHER = {"title": "Private notes", "owner": "stranger"}


@pytest.fixture
async def citewell(settings: Settings) -> AsyncIterator[Citewell]:
    async with open_citewell(settings) as opened:
        yield opened


@pytest.fixture
def catalogue(citewell: Citewell) -> LibraryCatalogue:
    return citewell.library.catalogue


async def put(citewell: Citewell, title: str, **fields: Any) -> str:
    given: dict[str, Any] = {"text": f"# {title}\n\nThe text of {title}."} | fields
    return (await citewell.library.ingestor.ingest(ME, NewDocument(title=title, **given))).document_id


async def put_file(citewell: Citewell, name: str, text: str = "Cells divide.") -> str:
    document = NewDocument(data=text.encode(), name=name)
    return (await citewell.library.ingestor.ingest(ME, document)).document_id


async def titles(catalogue: LibraryCatalogue, question: str, **scope: Any) -> list[str] | None:
    """List what the catalogue answers with; None where the question is one for the contents."""
    asked = await catalogue.recognise(question, [], ME, **scope)
    if asked is None:
        return None
    return [document.title for document in (await catalogue.list(asked, ME)).documents]


async def answered(citewell: Citewell, question: str) -> Message:
    """Ask the whole graph."""
    state = State(**await citewell.graph.ainvoke({"question": question}, context=Context()))
    assert (state.outcome, state.stop_reason) == ("answered", "answered_from_catalogue")
    return await finished_message(state, citewell.library.reader, ME, "extractive")


async def test_the_newest_of_what_one_may_read_come_first(citewell: Citewell, catalogue: LibraryCatalogue) -> None:
    for title in ("Travel policy", "Handbook", "Holiday plan"):
        await put(citewell, title)
    await put(citewell, **OF_ANOTHER)
    await put(citewell, "A page of the web", expires_at=datetime.now(UTC) + timedelta(1))
    assert await titles(catalogue, "list my files") == ["Holiday plan", "Handbook", "Travel policy"]


async def test_a_document_is_found_by_its_file_or_title(citewell: Citewell, catalogue: LibraryCatalogue) -> None:
    await put_file(citewell, "school/Biology-notes.md", "# Notes on cells\n\nCells divide.")
    await put(citewell, "Parental leave policy")
    await put(citewell, "Leave for parents")
    assert await titles(catalogue, "where is biology-notes.md?") == ["Notes on cells"]
    assert await titles(catalogue, "where is school/biology-notes.md?") == ["Notes on cells"]
    assert await titles(catalogue, "Do we have anything about parental leave?") == ["Parental leave policy"]
    assert await titles(catalogue, "Where is “leave for parents”?") == ["Leave for parents"]


async def test_a_name_that_no_document_has_is_asked_of_the_contents(
    citewell: Citewell, catalogue: LibraryCatalogue
) -> None:
    await put_file(citewell, "auth-pg-hba-conf.md", "The file pg_hba.conf stands in the data folder.")
    assert await titles(catalogue, "Where is pg_hba.conf?") is None
    assert await titles(catalogue, "Do we have anything about parental leave?") is None


@pytest.mark.parametrize("name", ["100% of it", "under_score", "back\\slash", "'; DROP TABLE documents; --"])
async def test_a_name_is_no_pattern(citewell: Citewell, catalogue: LibraryCatalogue, name: str) -> None:
    await put(citewell, f"About {name}")
    await put(citewell, "About 100 backXslash underXscore of it")
    assert await titles(catalogue, f"Do I have a document called “{name}”?") == [f"About {name}"]


async def test_what_changed_in_a_time(citewell: Citewell, catalogue: LibraryCatalogue) -> None:
    old = await put(citewell, "Old")
    await put(citewell, "New")
    async with citewell.library.database.connection() as connection:
        before = datetime.now(UTC) - timedelta(days=40)
        await connection.execute(
            "UPDATE documents SET created_at = %s, updated_at = %s WHERE document_id = %s", [before, before, old]
        )
    assert await titles(catalogue, "what changed today?") == ["New"]
    assert await titles(catalogue, "which documents were changed yesterday?") == []
    assert await titles(catalogue, "which documents were changed in the last 50 days?") == ["New", "Old"]


async def test_a_format_and_the_spaces_of_a_run_narrow_it(citewell: Citewell, catalogue: LibraryCatalogue) -> None:
    await put_file(citewell, "notes.md")
    await put(citewell, "Elsewhere", space={"id": "s2", "slug": "there"})
    asked = await catalogue.recognise("How many markdown files do I have?", [], ME)
    assert asked is not None
    assert (await catalogue.list(asked, ME)).total == 1
    every = LibraryQuestion(asks="list", name="", is_file=False, media_type="", since="", until="")
    assert [each.title for each in (await catalogue.list(every, ME, spaces=["there"])).documents] == ["Elsewhere"]


async def test_at_most_twenty_are_listed_each_as_a_source(citewell: Citewell) -> None:
    documents = [NewDocument(text=f"Text {number}.", title=f"Document {number}") for number in range(23)]
    async for _ in citewell.library.ingestor.ingest_many(ME, documents):
        pass
    message = await answered(citewell, "How many documents do I have?")
    assert message["answer"].startswith(f"{prompts.lines('en').catalogue_holds.format(documents='23 documents')}\n\n- ")
    assert message["answer"].endswith("\n\nAnd 3 more.")
    assert len(message["sources"]) == message["answer"].count("\n- ") == 20
    (section,) = message["sections"]
    assert section["source_ids"] == [source["segment_id"] for source in message["sources"]]
    assert (message["citations"], message["claims"]) == ([], [])


@pytest.mark.parametrize(
    ("question", "language"),
    [("How many documents do I have?", "en"), ("Tôi có bao nhiêu tài liệu?", "vi"), ("我有多少文档？", "zh")],
)
async def test_an_empty_library_says_so(citewell: Citewell, question: str, language: str) -> None:
    told = (await answered(citewell, question))["answer"]
    assert told.startswith(prompts.lines(language).catalogue_empty)
    assert "`citewell ingest " in told


@pytest.mark.parametrize(
    ("question", "language"),
    [("How is the boiler vented?", "en"), ("Nồi hơi được xả khí như thế nào?", "vi"), ("锅炉怎样排气？", "zh")],
)
async def test_a_question_to_an_empty_library_is_told_how_to_fill_it(
    citewell: Citewell, question: str, language: str
) -> None:
    state = State(**await citewell.graph.ainvoke({"question": question}, context=Context()))
    assert (state.outcome, state.stop_reason) == ("abstained", "library_empty")
    (section,) = state.sections
    assert section["text"].startswith(prompts.lines(language).catalogue_empty)
    assert "`citewell ingest " in section["text"]
    await put(citewell, "Ferry", text="The ferry leaves at nine.")
    state = State(**await citewell.graph.ainvoke({"question": question}, context=Context()))
    assert state.stop_reason != "library_empty"


@pytest.mark.usefixtures("same_day")
async def test_it_speaks_the_language_of_the_question(citewell: Citewell) -> None:
    await put_file(citewell, "plans/plan.md", "# The plan\n\nWe go on.")
    today = datetime.now(UTC).date().isoformat()
    assert (await answered(citewell, "Tôi có bao nhiêu tài liệu?"))["answer"] == (
        "Thư viện của bạn có 1 tài liệu, mới thay đổi nhất ở trên:\n\n"
        f"- The plan (plans/plan.md, 1 kB), thêm ngày {today}"
    )
    assert (await answered(citewell, "我有多少文档？"))["answer"] == (
        f"您的资料库中共有 1 份文档，最近更新的在前：\n\n- The plan（plans/plan.md、1 kB），{today} 添加"
    )


async def test_a_list_tells_folder_author_pages_and_size(citewell: Citewell) -> None:
    book = b"The lamp.\fThe wick.\fThe oil." + b" " * 1_250_000
    about = {"author": "Ada", "file_path": "books/lamp.txt"}
    await citewell.library.ingestor.ingest(ME, NewDocument(data=book, name="lamp.txt", metadata=about))
    pages = prompts.lines("en").catalogue_pages.format(count=3)
    assert f"(books/lamp.txt, Ada, {pages}, 1.3 MB)" in (await answered(citewell, "list my files"))["answer"]


async def test_a_title_brings_no_link_of_its_own(citewell: Citewell) -> None:
    await put(citewell, "![x](https://evil.example/?q=1)", text="Nothing.")
    assert "evil.example" not in (await answered(citewell, "list my files"))["answer"]


@pytest.mark.parametrize(
    ("order", "language"),
    [
        ("Create a folder named Taxes", "en"),
        ("Please delete cells.md", "en"),
        ("Đổi tên cells.md thành te-bao.md", "vi"),
        ("创建一个名为税务的文件夹", "zh"),
    ],
)
async def test_an_order_to_change_files_is_told_what_can_be_done_instead(
    citewell: Citewell, order: str, language: str
) -> None:
    await put_file(citewell, "school/cells.md")
    message = await answered(citewell, order)
    assert message["answer"].startswith(prompts.lines(language).read_only)
    assert len(message["sources"]) == ("cells.md" in order), "the file that it names is shown"


async def test_what_a_document_mentions_is_in_its_text(citewell: Citewell, catalogue: LibraryCatalogue) -> None:
    await put(citewell, "Plants", text="Photosynthesis takes place in the leaves.")
    await put(citewell, "Animals", text="Mitochondria are found in cells of animals.")
    await put_file(citewell, "light.md", "# Light\n\nPlants use it for photosynthesis.")
    await put(citewell, **{**OF_ANOTHER, "text": "Photosynthesis in my diary."})
    assert await titles(catalogue, "Which documents mention photosynthesis?") == ["Light", "Plants"]
    assert await titles(catalogue, "Which markdown files mention photosynthesis?") == ["Light"]
    assert await titles(catalogue, "Which PDFs mention photosynthesis?") is None, "its contents are asked"
    assert await titles(catalogue, "Which documents mention leave?") is None, "and leaves are another word"
    message = await answered(citewell, "Which documents mention mitochondria?")
    assert [source["title"] for source in message["sources"]] == ["Animals"]
