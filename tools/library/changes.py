"""What storing a document changes: it is compared with the stored one, written, and told.

Everything here happens within one transaction, or before one and then again in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from graph.errors import CitewellError, InvalidRequest
from graph.evidence import Identity
from tools.library.catalogue import StoredDocument, read_stored_documents, write_document_rows
from tools.library.likeness import SimilarDocument, find_similar
from tools.library.new_documents import ReadyDocument, stored_readers
from tools.library.ownership import refusal_to_store
from tools.library.versions import keep_replaced, note_authors
from tools.retrieval.indexing import drop_segments, index_documents
from tools.retrieval.segment_rows import PackedDocument
from tools.storage.database import Connection

Status = Literal["created", "updated", "unchanged"]
Change = Literal["created", "replaced", "updated", "unchanged", "refused"]
_STATUS: Mapping[Change, Status] = {
    "created": "created", "replaced": "updated", "updated": "updated", "unchanged": "unchanged",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ingested:
    """A document that is now in the library. ``segments`` is the number of its segments.

    ``left_out`` says in plain sentences what of the file is not in its text, such as hidden words or pages without any,
    and ``warnings`` what in it may be wrong, such as letters whose encoding was guessed.
    ``similar_to`` are other documents that share most of a new or changed text, as far as the caller may read them.
    """

    document_id: str
    name: str
    title: str
    status: Status
    segments: int
    left_out: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    similar_to: list[SimilarDocument] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that was not ingested, and the reason."""

    name: str
    code: str
    reason: str
    suggestion: str
    status: Literal["refused"] = "refused"

    @classmethod
    def of(cls, name: str, error: CitewellError) -> "Refused":
        """Return an error as what became of a document."""
        return cls(name, error.code, error.message, error.advice)


Report = Ingested | Refused


@dataclass(frozen=True, slots=True)
class IngestedArchive:
    """An archive whose files are now documents, but for those that were refused."""

    name: str
    documents: list[Ingested]
    refused: list[Refused]
    status: Literal["unpacked"] = "unpacked"


@dataclass(frozen=True, slots=True)
class ComparedDocument:
    """A document with the change that storing it makes, its stored segments' number, and why it may not be stored."""

    document: ReadyDocument
    change: Change
    segments: int = 0
    refusal: InvalidRequest | None = None

    @property
    def writes(self) -> bool:
        """Whether anything has to be written."""
        return self.change in ("created", "replaced", "updated")

    @property
    def is_new_text(self) -> bool:
        """Whether its segments have to be written."""
        return self.change in ("created", "replaced")


async def compare_documents(
    connection: Connection,
    workspace: int,
    identity: Identity,
    documents: Sequence[ReadyDocument],
    *,
    all_readers: bool = False,
) -> list[ComparedDocument]:
    """Compare documents with their stored versions; those that the identity may not store are ``refused``.

    ``all_readers``: documents without an owner may be changed whoever their readers are.
    """
    stored = await read_stored_documents(connection, workspace, [document.document_id for document in documents])
    return [
        _compared(document, stored.get(document.document_id), identity, all_readers=all_readers)
        for document in documents
    ]


def _compared(
    document: ReadyDocument, stored: StoredDocument | None, identity: Identity, *, all_readers: bool
) -> ComparedDocument:
    said = document.fields.readers
    if said is None and stored is not None:
        said = stored.fields.readers  # so that nobody opens a document by not mentioning them
    readers = stored_readers(said, document.fields.owner)
    if readers != document.fields.readers:
        document = replace(document, fields=replace(document.fields, readers=readers))
    if (refusal := refusal_to_store(document, stored, identity, all_readers=all_readers)) is not None:
        return ComparedDocument(document, "refused", refusal=refusal)
    if stored is None:
        return ComparedDocument(document, "created")
    if not stored.holds(document):
        return ComparedDocument(document, "replaced", stored.segments)
    return ComparedDocument(document, "unchanged" if stored.is_same(document) else "updated", stored.segments)


async def write_changes(
    connection: Connection,
    workspace: int,
    changes: Sequence[ComparedDocument],
    drafts: Mapping[str, PackedDocument],
    *,
    user: str,
    keep: int,
) -> None:
    """Write the changes of a user within the caller's transaction; ``drafts`` are the segments of new texts.

    The texts that they replace are kept as versions, at most ``keep`` of a document.
    """
    replaced = [each.document.document_id for each in changes if each.change == "replaced"]
    if replaced:
        await keep_replaced(connection, workspace, replaced, user=user, keep=keep)
        await drop_segments(connection, workspace, replaced)
    await write_document_rows(connection, workspace, [each.document for each in changes if each.writes])
    texts = [each.document.document_id for each in changes if each.is_new_text]
    await note_authors(connection, workspace, texts, user=user)
    await index_documents(connection, workspace, [drafts[each] for each in texts])


async def tell_changes(
    connection: Connection,
    workspace: int,
    identity: Identity,
    changes: Sequence[ComparedDocument],
    drafts: Mapping[str, PackedDocument],
) -> list[Ingested | InvalidRequest]:
    """Tell what became of documents, and of each that was written which others are similar to it."""
    written = [each.document.document_id for each in changes if each.writes]
    similar = await find_similar(connection, workspace, identity, written) if written else {}
    told: list[Ingested | InvalidRequest] = []
    for each in changes:
        if each.refusal is not None:
            told.append(each.refusal)
            continue
        document, fields = each.document, each.document.fields
        told.append(
            Ingested(
                document.document_id,
                document.name,
                fields.title,
                _STATUS[each.change],
                drafts[document.document_id].segments if each.is_new_text else each.segments,
                fields.left_out,
                list(document.warnings),
                similar.get(document.document_id, []),
            )
        )
    return told
