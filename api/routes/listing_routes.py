"""Routes of the library as a list: its documents by name, type and folder, how many there are, and many at a time."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from typing_extensions import TypedDict

from api.dependencies import Asking, needs
from api.fields import Body, Cursor, Limit, ModelName, Name, Printable, optional
from api.problems import problems
from graph.rows import MOST_READ_WHOLE
from nodes.load_selected_pages import read_tokens
from tools.library.catalogue import DocumentPage
from tools.library.document_filters import DocumentFilter, FolderCount, Order, Sort, SourceCount, TypeCount

router = APIRouter(tags=["documents"])
MOST_AT_ONCE = 1000
Filter = Annotated[Name | None, Query()]
PathPart = Annotated[str, Field(min_length=1, max_length=2000), Printable]


def _filter(
    space: Annotated[Name | None, Query(description="The id or the slug of a space.")] = None,
    title: Annotated[Name | None, Query(description="A part of the title.")] = None,
    source: Annotated[UUID | None, Query(description="The id of a source.")] = None,
    path: Annotated[
        PathPart | None, Query(description="How a path in a source begins, or a pattern with `*` and `?`.")
    ] = None,
    q: Annotated[Name | None, Query(description="Words that the title, the path or the address has.")] = None,
    media_type: Annotated[list[Name], Query(max_length=50, description="Any of these media types.")] = [],  # noqa: B006
    folder: Annotated[
        str | None, Query(max_length=2000, pattern=r"^[^\x00]*$", description="The file's; empty for none.")
    ] = None,
    name: Annotated[list[Name], Query(max_length=100, description="Any of these names of files.")] = [],  # noqa: B006
    document_id: Annotated[list[UUID], Query(max_length=200, description="Any of these.")] = [],  # noqa: B006
    collection: Annotated[UUID | None, Query(description="The id of a collection.")] = None,
    lasting: Annotated[bool, Query(description="Without what runs brought for a limited time.")] = False,
) -> DocumentFilter:
    return DocumentFilter(
        space=space,
        title=title,
        source=optional(source),
        path=path,
        document_ids=[str(each) for each in document_id] or None,
        lasting=lasting,
        query=q,
        media_types=media_type,
        folder=folder,
        names=name,
        collection=optional(collection),
    )


Filtered = Annotated[DocumentFilter, Depends(_filter)]


@router.get("/api/documents", responses=problems(422, 503))
@needs("read")
async def list_documents(
    by: Asking,
    shown: Filtered,
    limit: Limit = 50,
    cursor: Cursor = None,
    sort: Sort = "changed",
    order: Order | None = None,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1, description="How many documents to leave out first.")] = 0,
    count: Annotated[bool, Query(description="Whether to count all that match, as `total`.")] = False,
) -> DocumentPage:
    """List documents, last changed first unless told otherwise.

    ``next_cursor`` is for that order; in another one, or from the middle, ``offset`` asks for a page.
    """
    return await by.library.documents.list(
        by.me, shown, limit=limit, cursor=cursor, sort=sort, order=order, offset=offset, count=count
    )


class ReadWhole(TypedDict):
    """How many selected documents a question reads whole at most, and how many tokens of them."""

    documents: int
    tokens: int


class LibrarySummary(Body):
    """How many documents there are, by type, folder and source, and what of them a question can read whole.

    `folders` are the first 1,000, in the order of a list that is sorted by folder; `folder_count` is that of all.
    """

    documents: int
    types: list[TypeCount]
    folders: list[FolderCount]
    folder_count: int
    sources: list[SourceCount]
    reads_whole: ReadWhole


@router.get("/api/library", responses=problems(400, 422, 503))
@needs("read")
async def summarise_library(by: Asking, shown: Filtered, model: Annotated[ModelName, Query()] = "") -> LibrarySummary:
    """Count the documents that the same parameters list, by type, folder and source."""
    found = await by.library.documents.summarise(by.me, shown)
    room = by.library.resources.families(model).room
    return LibrarySummary(
        documents=found.documents,
        types=found.types,
        folders=found.folders,
        folder_count=found.folder_count,
        sources=found.sources,
        reads_whole={"documents": MOST_READ_WHOLE, "tokens": read_tokens("", None, room)},
    )


class ChosenDocuments(Body):
    """Some documents."""

    document_ids: Annotated[list[UUID], Field(min_length=1, max_length=MOST_AT_ONCE)]

    def ids(self) -> list[str]:
        """Return their ids as text."""
        return [str(each) for each in self.document_ids]


class DocumentsDeleted(Body):
    """The documents that were deleted."""

    deleted: list[str]


class DocumentsRestored(Body):
    """The documents that are back."""

    restored: list[str]


@router.post("/api/deletions", responses=problems(422, 503))
@needs("write")
async def delete_documents(chosen: ChosenDocuments, by: Asking) -> DocumentsDeleted:
    """Hide documents at once, as `DELETE` of each does; what is not there or not yours to delete is left out."""
    return DocumentsDeleted(deleted=list(await by.library.documents.delete_some(by.me, chosen.ids())))


@router.post("/api/deletions/undo", responses=problems(422, 503))
@needs("write")
async def restore_documents(chosen: ChosenDocuments, by: Asking) -> DocumentsRestored:
    """Bring documents back within an hour of their deletion, if they were not purged."""
    return DocumentsRestored(restored=list(await by.library.documents.restore(by.me, chosen.ids())))
