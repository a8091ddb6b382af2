"""Who may store, change and give away a document.

A document with an owner is changed by the owner alone; any other is the workspace's, and whoever may write and read it
changes its text. Nobody makes it their own, and nobody gives a document to somebody else, but who assigns owners. What
is stored with credentials that are restricted to some spaces is in one of these.
"""

from typing import Any
from uuid import UUID

from graph.errors import InvalidRequest, NotFound, NotPermitted
from graph.evidence import Identity
from tools.auth.identities import checked_identity
from tools.library.catalogue import StoredDocument
from tools.library.new_documents import DocumentFields, ReadyDocument
from tools.retrieval.scope import IN_SPACES, LASTING, readable, reading_as
from tools.storage.database import Database
from tools.storage.tenants import Workspaces


def refusal_to_store(
    new: ReadyDocument, stored: StoredDocument | None, identity: Identity, *, all_readers: bool
) -> InvalidRequest | None:
    """Return why an identity may not store a document, or a new version of the stored one; None if it may.

    What the identity may not change is not there for it. ``all_readers``: it may change what has no owner, whoever the
    readers are.
    """
    owned_by, exists = None, False
    if stored is not None:
        owned_by, exists = stored.fields.owner, not stored.deleted
        may_change = stored.fields.may_be_changed_by(identity) or (all_readers and owned_by is None)
        if not may_change or refusal_of_space(stored.fields, identity) is not None:
            return NotFound(f"There is no document {new.document_id} that you can change.")
    return refusal_of_space(new.fields, identity) or refusal_of_owner(
        new.fields.owner, identity, owned_by=owned_by, exists=exists
    )


def refusal_of_owner(
    owner: str | None, identity: Identity, *, owned_by: str | None = None, exists: bool = False
) -> InvalidRequest | None:
    """Return why an identity may not make somebody the owner of a document that exists or is new; None if it may."""
    if identity.assigns_owners or owner is None:
        return None
    if owner != identity.user:
        return NotPermitted(
            "owner: you may name yourself or nobody; to name others needs the scope admin.",
            suggestion="Leave the owner out for a document of the whole workspace.",
        )
    if exists and owned_by is None:
        return NotPermitted(
            "owner: the document is the whole workspace's; to make it yours needs the scope admin.",
            suggestion="Store a copy under another id, or leave the owner out.",
        )
    return None


def refusal_of_space(fields: DocumentFields, identity: Identity) -> InvalidRequest | None:
    """Return why an identity may not store a document in its space; None if it may."""
    # What a run stores for its asker, and for a time, is in no space.
    if identity.spaces is None or fields.expires_at is not None:
        return None
    if fields.space_id in identity.spaces or fields.space_slug in identity.spaces:
        return None
    return NotPermitted(
        f"space: these credentials write in {', '.join(identity.spaces) or 'no space'} alone.",
        suggestion="Name one of these spaces as the document's.",
    )


_LOCK = f"""
SELECT d.owner FROM documents AS d
WHERE d.workspace = %(workspace)s AND d.document_id = %(document_id)s AND d.deleted_at IS NULL AND {LASTING}
  AND (%(assigns_owners)s OR d.owner = %(user)s OR d.owner IS NULL AND {readable("d")}) AND {IN_SPACES}
FOR UPDATE
"""
_CHANGE = """
UPDATE documents SET owner = %(owner)s, updated_at = now()
WHERE workspace = %(workspace)s AND document_id = %(document_id)s AND owner IS DISTINCT FROM %(owner)s
"""


async def change_owner(
    database: Database, workspaces: Workspaces, identity: Identity, document_id: str, owner: str | None
) -> None:
    """Make somebody a document's owner; None: the whole workspace. Raises NotFound, NotPermitted, InvalidRequest."""
    if owner is not None:
        try:
            checked_identity(identity.workspace, owner)
        except ValueError as error:
            raise InvalidRequest(f"owner: {str(error).partition(': ')[2]}.") from None
    row: dict[str, Any] = {
        **reading_as(identity),
        "workspace": await workspaces.number(identity.workspace),
        "document_id": UUID(document_id),
        "assigns_owners": identity.assigns_owners,
        "owner": owner,
    }
    async with database.connection() as connection, connection.transaction():
        found = await (await connection.execute(_LOCK, row)).fetchone()
        if found is None:
            raise NotFound(f"There is no document {document_id} that you can change.")
        refusal = refusal_of_owner(owner, identity, owned_by=found[0], exists=True)
        if refusal is not None:
            raise refusal
        await connection.execute(_CHANGE, row)
