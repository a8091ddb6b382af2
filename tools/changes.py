"""What ingesting a document changes: everything, its segments, its row alone, or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from graph.errors import NotFound
from graph.evidence import Identity
from tools.database import Connection
from tools.document_rows import StoredDocument, read_stored, write_rows
from tools.new_documents import ReadyDocument
from tools.retrieval.indexing import IndexedDocument, drop_segments, index_documents

Status = Literal["created", "updated", "unchanged"]
Change = Literal["created", "replaced", "updated", "unchanged", "foreign"]


@dataclass(frozen=True, slots=True)
class Ingested:
    """A document that is in the library now. ``segments`` is how many it has."""

    document_id: str
    name: str
    title: str
    status: Status
    segments: int


@dataclass(frozen=True, slots=True)
class Compared:
    """A document beside what is stored of it."""

    document: ReadyDocument
    change: Change
    segments: int

    @property
    def writes(self) -> bool:
        """Tell whether anything of it has to be written."""
        return self.change in ("created", "replaced", "updated")

    def is_new_text(self, drafts: Mapping[str, IndexedDocument]) -> bool:
        """Tell whether its segments have to be made, and are not among the drafts."""
        return self.change in ("created", "replaced") and self.document.document_id not in drafts

    def outcome(self, drafts: Mapping[str, IndexedDocument]) -> Ingested | NotFound:
        """Tell how it ended, once what ``writes`` is written."""
        document = self.document
        if self.change == "foreign":
            return NotFound(f"There is no document {document.document_id} that you may change.")
        status: Status = "updated" if self.change == "replaced" else self.change
        cut = self.change in ("created", "replaced")
        segments = len(drafts[document.document_id].spans) if cut else self.segments
        return Ingested(document.document_id, document.name, document.fields.title, status, segments)


async def compare(
    connection: Connection, workspace: int, identity: Identity, documents: Sequence[ReadyDocument]
) -> list[Compared]:
    """Compare documents with what is stored of them now, as the identity may change it."""
    stored = await read_stored(connection, workspace, [document.document_id for document in documents])
    return [_compared(document, stored.get(document.document_id), identity.user) for document in documents]


def _compared(document: ReadyDocument, stored: StoredDocument | None, user: str) -> Compared:
    if stored is None:
        return Compared(document, "created", 0)
    change: Change = "updated"
    if stored.fields.owner not in (None, user):
        change = "foreign"
    elif stored.is_same(document):
        change = "unchanged"
    elif not stored.holds(document):
        change = "replaced"
    return Compared(document, change, stored.segments)


async def write(
    connection: Connection, workspace: int, changes: Sequence[Compared], drafts: Mapping[str, IndexedDocument]
) -> None:
    """Write what is to be written, within the caller's transaction; ``drafts`` are the segments of new texts."""
    replaced = [each.document.document_id for each in changes if each.change == "replaced"]
    if replaced:
        await drop_segments(connection, workspace, replaced)
    await write_rows(connection, workspace, [each.document for each in changes if each.writes])
    cut = [drafts[each.document.document_id] for each in changes if each.change in ("created", "replaced")]
    await index_documents(connection, workspace, cut)
