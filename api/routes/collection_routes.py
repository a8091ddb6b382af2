"""Routes of collections: sets of documents that people name, fill, share, and ask alone."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import Field

from api.dependencies import Asking, needs
from api.fields import Body, Name
from api.problems import problems
from graph.errors import InvalidRequest
from tools.library.document_collections import MOST_DOCUMENTS, Collection

router = APIRouter(prefix="/api/collections", tags=["documents"])
Documents = Annotated[list[UUID], Field(max_length=MOST_DOCUMENTS)]


class NewCollection(Body):
    """A collection to make, with the documents that it begins with."""

    name: Name
    shared: bool = Field(default=False, description="true: all of the workspace see it; false: you alone.")
    document_ids: Documents = Field(default=[])


class CollectionChange(Body):
    """What to change of a collection; what is left out stays."""

    name: Name | None = None
    shared: bool | None = Field(default=None, description="Whether all of the workspace see it, or who made it alone.")
    add: Documents = Field(default=[], description="Documents to put in; those that you may not read are left out.")
    remove: Documents = Field(default=[], description="Documents to take out.")


class CollectionList(Body):
    """The collections that you see, by name."""

    collections: list[Collection]


@router.get("", responses=problems(422, 503))
@needs("read")
async def list_collections(by: Asking) -> CollectionList:
    """List your collections and those that others share with the workspace."""
    return CollectionList(collections=await by.library.collections.list(by.me))


@router.post("", status_code=status.HTTP_201_CREATED, responses=problems(413, 422, 503))
@needs("write")
async def create_collection(new: NewCollection, by: Asking) -> Collection:
    """Make a collection."""
    chosen = [str(each) for each in new.document_ids]
    return await by.library.collections.create(by.me, new.name, shared=new.shared, document_ids=chosen)


@router.patch("/{collection_id}", responses=problems(403, 404, 413, 422, 503))
@needs("write")
async def change_collection(collection_id: UUID, change: CollectionChange, by: Asking) -> Collection:
    """Rename a collection, share it or keep it to yourself, and put documents in or take some out.

    What is shared is filled by whoever may write; renamed, shared and deleted by who made it, or with the scope admin.
    """
    if change == CollectionChange():
        raise InvalidRequest("Send name, shared, add or remove.")
    return await by.library.collections.change(
        by.me,
        str(collection_id),
        name=change.name,
        shared=change.shared,
        add=[str(each) for each in change.add],
        remove=[str(each) for each in change.remove],
    )


@router.delete("/{collection_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problems(403, 404, 422, 503))
@needs("write")
async def delete_collection(collection_id: UUID, by: Asking) -> None:
    """Delete a collection; its documents stay."""
    await by.library.collections.delete(by.me, str(collection_id))
