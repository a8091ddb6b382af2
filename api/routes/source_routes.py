"""Source routes: add, list, read and delete the sources that the library is kept in step with, and sync them."""

import asyncio
from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response, status
from pydantic import Field

from api.dependencies import Asking, needs
from api.fields import Body, Name, Printable
from api.problems import problems
from graph.errors import NotPermitted, SourceBusy
from tools.library.new_documents import readers_with
from tools.library.source_records import Kind, SourceOptions, SyncedSource
from tools.library.syncing import MOST_DELETED, SyncReport, checked_location
from tools.process.library import Library

router = APIRouter(tags=["sources"])

Text = Annotated[str, Field(min_length=1, max_length=500), Printable]


class NewSource(Body):
    """A source to add: a folder of the server's machine, a site, a git repository, or an S3 bucket and prefix."""

    kind: Kind
    location: Annotated[str, Field(min_length=1, max_length=2000), Printable]
    owner: Name | None = Field(default=None, description="You, to be the only one who may change it; null for none.")
    readers: list[str] | None = Field(
        default=None,
        description="Who may read it and its documents: `user:NAME`, `group:NAME`, or `everyone`. Left out, its owner, "
        "or everyone where it has none.",
    )
    space: Name | None = Field(default=None, description="The slug of the documents' space.")
    link: Text | None = Field(default=None, description="The address of a document, with `{path}` for its path.")
    ref: Text | None = Field(default=None, description="The branch or tag of a repository; null for its own.")
    extent: Literal["page", "sitemap", "site"] | None = Field(
        default=None, description="How much of a site: a page, what its sitemap lists, or all below the address."
    )
    folder: Text | None = Field(default=None, description="The folder of a repository to read; null for all of it.")


class SourceChange(Body):
    """What to change of a source."""

    readers: list[str] = Field(
        description="Who may read it and its documents from the next request on: `user:NAME`, `group:NAME`, or "
        "`everyone`. The owner always does."
    )


class SourceList(Body):
    """The sources of a workspace, ordered by their location."""

    sources: list[SyncedSource]


class SourceDeleted(Body):
    """What went with a source."""

    documents_deleted: int


class SyncWish(Body):
    """How to sync."""

    dry_run: bool = Field(default=False, description="Only tell what would happen.")
    most_deleted: Annotated[float, Field(ge=0, le=1)] = Field(
        default=MOST_DELETED, description="The share of documents that may be deleted; `1` for all."
    )


class SyncStarted(Body):
    """A sync that goes on; its report will be on the source."""

    source_id: str
    syncing: bool


@router.post("/api/sources", status_code=status.HTTP_201_CREATED, responses=problems(404, 413, 422, 503))
@needs("write")
async def add_source(new: NewSource, by: Asking, response: Response) -> SyncedSource:
    """Add a source; one that is there already gets the other options, and 200."""
    if new.owner not in (None, by.me.user) and not by.me.assigns_owners:
        raise NotPermitted("owner: you may name yourself or nobody; to name others needs the scope admin.")
    if by.me.spaces is not None and new.space not in by.me.spaces:
        raise NotPermitted(
            f"space: these credentials write in {', '.join(by.me.spaces) or 'no space'} alone.",
            suggestion="Name one of these spaces as that of the documents.",
        )
    readers = readers_with(by.me, new.readers, new.owner)
    location = await asyncio.to_thread(checked_location, new.kind, new.location, by.settings.source_roots)
    options = SourceOptions(new.space, new.link, new.ref, new.folder, new.extent)
    source, is_new = await by.library.sources.add(by.me, new.kind, location, options, owner=new.owner, readers=readers)
    if not is_new:
        response.status_code = status.HTTP_200_OK
    return source


@router.get("/api/sources", responses=problems(422, 503))
@needs("write")
async def list_sources(by: Asking) -> SourceList:
    """List the sources."""
    return SourceList(sources=[_with_state(by.library, source) for source in await by.library.sources.list(by.me)])


@router.get("/api/sources/{source_id}", responses=problems(404, 422, 503))
@needs("write")
async def get_source(source_id: UUID, by: Asking) -> SyncedSource:
    """Read a source, with the report of its last sync."""
    return _with_state(by.library, await by.library.sources.get(by.me, str(source_id)))


@router.patch("/api/sources/{source_id}", responses=problems(404, 413, 422, 503))
@needs("write")
async def change_source(source_id: UUID, change: SourceChange, by: Asking) -> SyncedSource:
    """Change who may read a source and its documents."""
    await by.library.sources.set_readers(by.me, str(source_id), change.readers)
    return _with_state(by.library, await by.library.sources.get(by.me, str(source_id)))


@router.delete("/api/sources/{source_id}", responses=problems(404, 422, 503))
@needs("write")
async def delete_source(
    source_id: UUID, by: Asking, documents: Annotated[Literal["keep", "delete"], Query()] = "keep"
) -> SourceDeleted:
    """Delete a source; its documents stay, or those that no other source has are deleted."""
    deleted = await by.library.sources.delete(by.me, str(source_id), with_documents=documents == "delete")
    return SourceDeleted(documents_deleted=deleted)


@router.post(
    "/api/sources/{source_id}/sync",
    status_code=status.HTTP_202_ACCEPTED,
    responses=problems(404, 409, 413, 422, 503) | {200: {"model": SyncReport, "description": "What a sync would do"}},
    response_model=SyncStarted | SyncReport,
)
@needs("write")
async def sync_source(
    source_id: UUID, by: Asking, response: Response, wish: SyncWish | None = None
) -> SyncStarted | SyncReport:
    """Start a sync, or tell what it would do. Its report will be on the source."""
    wish = wish or SyncWish()
    source = _with_state(by.library, await by.library.sources.get(by.me, str(source_id)))
    if wish.dry_run:
        response.status_code = status.HTTP_200_OK
        return await by.library.syncer.sync(by.me, source, dry_run=True)
    if source.syncing:
        raise SourceBusy("The source is being synced already.")
    by.library.syncs.start(by.me, source, most_deleted=wish.most_deleted)
    return SyncStarted(source_id=source.source_id, syncing=True)


def _with_state(library: Library, source: SyncedSource) -> SyncedSource:
    return replace(source, syncing=source.syncing or library.syncs.is_under_way(source.source_id))
