"""New documents: what one holds, which of them an archive holds, and what is made of one before it is stored."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from operator import attrgetter
from pathlib import PurePath
from typing import Any
from uuid import UUID, uuid4, uuid5

from graph.errors import InvalidRequest, UnreadableDocument
from graph.evidence import EVERYONE, GROUP, USER, Identity, Space
from tools.library.sketches import sketch
from tools.originals.new_original import NewOriginal
from tools.parsers import Parsed, Recognition, is_zipped, media_type_of, parse
from tools.parsers.canonical_text import Block, composed, storable
from tools.parsers.parser_registry import ARCHIVE
from tools.retrieval.segmenting import SegmentSize

HASH_EPOCH = b"7"  # raise it when parsing or segmenting changes: re-ingestion then segments every document again
MOST_METADATA_BYTES = 16_384
MOST_METADATA_DEPTH = 20  # replies and messages hold it some levels deeper, and no reader of JSON goes on without end
MOST_CHARACTERS = {"title": 500, "slug": 500, "url": 2000, "source_type": 100, "owner": 200, "name": 1000}
MOST_READERS = 100
LONGEST_ORIGINAL_NAME = 255
_NAMED_BY_TEXT = 80
_FILES = UUID("b1d3c5f2-7c0a-5f0e-8a61-3e9d2f4c6b80")
_URL = re.compile(r"https?://[^\s/]|/(?!/)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document to ingest: either ``text`` or the ``data`` of a file. Fields that are None may come from the file.

    ``text`` is plain text unless ``media_type`` or the suffix of ``name`` names another format. ``owner`` and
    ``readers`` say who may read the document, see ``checked_readers``; where ``readers`` is None, those of a stored
    document stay. ``metadata`` is stored and returned as is, at most 16 KB of JSON in 20 levels; ``source`` joins it
    under that name, and says where the file was fetched. ``dialect`` is the wire format that will ask for it, which
    decides on the size of its segments.
    """

    text: str | None = None
    data: bytes | None = None
    name: str = ""
    media_type: str | None = None
    document_id: str | None = None
    title: str | None = None
    owner: str | None = None
    readers: Sequence[str] | None = None
    space: Space | None = None
    slug: str | None = None
    url: str | None = None
    source_type: str = "document"
    metadata: dict[str, Any] | None = None
    source: dict[str, Any] | None = None
    expires_at: datetime | None = None
    dialect: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentFields:
    """A document's row without its id, hash and dates; compared as a whole to detect changes.

    ``left_out`` says in plain sentences what of the file is not in its text. ``likeness`` is the sketch of the text.
    The original is the file that the text was read from; its fields are None where none is kept.
    """

    title: str
    slug: str | None
    space_id: str | None
    space_slug: str | None
    url: str | None
    source_type: str
    owner: str | None
    readers: list[str] | None
    metadata: dict[str, Any]
    media_type: str
    page_count: int | None
    left_out: list[str]
    likeness: str | None
    expires_at: datetime | None
    original_sha256: str | None = None
    original_size: int | None = None
    original_media_type: str | None = None
    original_name: str | None = None

    def may_be_changed_by(self, identity: Identity) -> bool:
        """Whether an identity may change the document: its owner, or where it has none all who may read it."""
        if self.owner is not None:
            return self.owner == identity.user
        return self.readers is None or not set(self.readers).isdisjoint(identity.readers)


@dataclass(frozen=True, slots=True)
class ReadyDocument:
    """A validated document without its text, with the file to keep and what may be wrong in the text."""

    document_id: str
    name: str
    fields: DocumentFields
    content_hash: str
    original: NewOriginal | None = None
    warnings: tuple[str, ...] = ()

    def called(self, title: str) -> "ReadyDocument":
        """Return it under the title that a person gave it."""
        return replace(
            self, fields=replace(self.fields, title=title), content_hash=hash_under(title, self.content_hash)
        )

    def with_original(self, data: bytes | None) -> "ReadyDocument":
        """Add the file that the document was read from; none to what is stored for a time only."""
        if data is None or self.fields.expires_at is not None:
            return self
        original = NewOriginal.of(data)
        fields = replace(
            self.fields,
            original_sha256=original.sha256,
            original_size=len(data),
            original_media_type=self.fields.media_type,
            original_name=PurePath(self.name).name[:LONGEST_ORIGINAL_NAME],
        )
        return replace(self, fields=fields, original=original)


@dataclass(frozen=True, slots=True)
class UnreadDocument:
    """A document whose bytes are still where they are, and its id where that is known.

    ``load`` reads at most as many bytes as it is told and one more. It blocks, and raises CitewellError.
    """

    name: str
    document_id: str | None
    load: Callable[[int], NewDocument]

    @classmethod
    def of(cls, document: "NewDocument | UnreadDocument") -> "UnreadDocument":
        """Return a document as one that is still to be read, which it may be already."""
        if isinstance(document, UnreadDocument):
            return document
        return cls(document.name, document.document_id, lambda max_bytes: document)


def make_ready(
    new: NewDocument, size: SegmentSize, *, max_bytes: int, recognition: Recognition | None = None
) -> tuple[ReadyDocument, Parsed]:
    """Validate and parse a document; ``recognition`` is how scanned pages are read. Takes CPU time: run it in a thread.

    Raises InvalidRequest naming the invalid field, UnreadableDocument if the content cannot be read.
    """
    document_id = id_of(new)
    new = replace(new, name=composed(new.name))
    parsed = _read(new, max_bytes, recognition)
    front = parsed.metadata
    metadata = new.metadata
    if metadata is None:
        # The name of a file, for lists of documents; a text that only has a name comes from no file.
        is_file = new.data is not None and PurePath(new.name).suffix
        metadata = {"file_path": new.name} | front if is_file else front
    if new.source is not None and isinstance(metadata, dict):
        metadata = {**metadata, "source": new.source}
    fields = DocumentFields(
        title=_short("title", new.title) or _title(parsed, new.name),
        slug=_short("slug", new.slug or _text_field(front, "slug")),
        url=_checked_url(_short("url", new.url or _text_field(front, "url"))),
        source_type=_short("source_type", new.source_type) or "document",
        metadata=_checked_metadata(metadata),
        media_type=parsed.media_type,
        page_count=parsed.page_count,
        left_out=[storable(said) for said in parsed.left_out],
        likeness=sketch(parsed.text),
        **fields_of_request(new),
    )
    content_hash = _content_hash(parsed, fields.title, size)
    return ReadyDocument(document_id, new.name, fields, content_hash, warnings=parsed.warnings), parsed


def fields_of_request(new: NewDocument) -> dict[str, Any]:
    """Return the fields on which no file has a say: who may read it, where, and how long. Raises InvalidRequest."""
    space: Space = new.space or {"id": None, "slug": None}
    return {
        "space_id": _short("space.id", space.get("id")),
        "space_slug": _short("space.slug", space.get("slug")),
        "owner": _short("owner", new.owner),
        "readers": checked_readers(new.readers, new.owner),
        "expires_at": _checked_moment(new.expires_at),
    }


def is_archive(new: NewDocument) -> bool:
    """Whether a file holds several documents."""
    return new.data is not None and media_type_of(new.data, name=new.name, media_type=new.media_type) == ARCHIVE


def may_be_archive(new: NewDocument) -> bool:
    """Whether a file has to be opened to know whether it holds several documents. It is not opened here."""
    return new.data is not None and is_zipped(new.data, name=new.name, media_type=new.media_type)


def documents_in(new: NewDocument, *, max_bytes: int) -> Iterator[tuple[str, NewDocument | UnreadableDocument]]:
    """Yield the documents of an archive, each with its path in it, or else the document itself, whose path is empty.

    Their ids are derived from that of the archive and from the path; the other fields are those of the archive.
    Raises InvalidRequest for a title or slug, which they cannot share, and UnreadableDocument if it cannot be opened.
    """
    if (size := len(_bytes_of(new))) > max_bytes:
        yield "", too_large(size, max_bytes)
        return
    if not is_archive(new) or new.data is None:
        yield "", new
        return
    from tools.parsers.zipped import members  # only here, for lxml takes a while to load

    if new.title or new.slug:
        raise InvalidRequest("title, slug: an archive holds several documents, each of which has its own.")
    empty = True
    for member in members(new.data, max_bytes=max_bytes):
        empty = False
        yield member.path, member.error or member_of(new, member.path, member.data)
    if empty:
        raise UnreadableDocument("The archive holds no files.")


def member_of(archive: NewDocument, path: str, data: bytes) -> NewDocument:
    """Return the document that a file of an archive is. Raises InvalidRequest."""
    document_id = None if archive.document_id is None else UUID(valid_id(archive.document_id))
    return replace(
        archive,
        data=data,
        name="/".join(filter(None, (archive.name, path))),
        media_type=None,
        document_id=None if document_id is None else str(uuid5(document_id, composed(path))),
    )


def id_of(new: NewDocument) -> str:
    """Return the id of a document: its own, for a file one that follows from its bytes, or else a new one.

    So a file that is sent twice is one document, unless its host addresses it differently, or it is in another space,
    of another owner or for other readers. Raises InvalidRequest.
    """
    if new.document_id is not None:
        return valid_id(new.document_id)
    if new.data is None:
        return str(uuid4())
    space = new.space or {"id": None, "slug": None}
    place: list[Any] = [new.owner, space.get("id"), space.get("slug"), new.slug, new.url]
    if readers := stored_readers(checked_readers(new.readers, new.owner), new.owner):
        place.append(readers)
    return str(uuid5(_FILES, json.dumps([*place, hashlib.sha256(new.data).hexdigest()], default=str)))


def checked_readers(readers: Sequence[str] | None, owner: str | None) -> list[str] | None:
    """Return who may read a document besides its owner, in order and each once; None says nothing of it.

    Readers are ``user:NAME``, ``group:NAME``, or ``everyone`` in the workspace. An empty list leaves the owner alone.
    Raises InvalidRequest.
    """
    if readers is None:
        return None
    if len(readers) > MOST_READERS:
        raise InvalidRequest(f"readers: at most {MOST_READERS}.", suggestion="Name a group of them.")
    for reader in readers:
        kind = next((kind for kind in (USER, GROUP) if reader.startswith(kind)), None)
        name = reader.removeprefix(kind) if kind else ""
        if reader != EVERYONE and (not name.strip() or len(name) > MOST_CHARACTERS["owner"] or not name.isprintable()):
            raise InvalidRequest(
                f"readers: {reader[:100]!r} is no reader.",
                suggestion="Write user:NAME, group:NAME, or everyone.",
            )
    if EVERYONE in readers:
        return [EVERYONE]
    if not readers and owner is None:
        raise InvalidRequest(
            "readers: nobody could read the document.",
            suggestion="Name a user, a group or everyone, or set its owner.",
        )
    return sorted(set(readers))


def stored_readers(said: list[str] | None, owner: str | None) -> list[str] | None:
    """Return checked readers as they are stored: None for everyone, or for the owner alone where there is one."""
    return None if not said or (said == [EVERYONE] and owner is None) else said


def readers_with(identity: Identity, readers: Sequence[str] | None, owner: str | None) -> list[str] | None:
    """Return readers as ``checked_readers`` does, for a document that an identity stores for itself too.

    Raises InvalidRequest also for readers without the identity, which would lose the document by its own request.
    """
    checked = checked_readers(readers, owner)
    if checked is not None and owner != identity.user and set(checked).isdisjoint(identity.readers):
        raise InvalidRequest(
            "readers: you would not be among them.",
            suggestion=f"Add {USER}{identity.user} or one of your groups, or be the document's owner.",
        )
    return checked


def valid_id(document_id: str) -> str:
    """Return a UUID in its canonical spelling. Raises InvalidRequest."""
    try:
        return str(UUID(document_id))
    except (ValueError, AttributeError, TypeError) as error:
        raise InvalidRequest(f"document_id: {document_id!r} is not a UUID.") from error


def _read(new: NewDocument, max_bytes: int, recognition: Recognition | None) -> Parsed:
    if (new.text is None) == (new.data is None):
        raise InvalidRequest("A document needs either a text or a file.")
    data = _bytes_of(new)
    if len(data) > max_bytes:
        raise too_large(len(data), max_bytes)
    media_type = new.media_type or ("text/plain" if new.text is not None and not PurePath(new.name).suffix else None)
    return parse(data, name=new.name, media_type=media_type, recognition=recognition)


def _bytes_of(new: NewDocument) -> bytes:
    return storable(new.text).encode() if new.text is not None else new.data or b""


def too_large(size: int, max_bytes: int) -> UnreadableDocument:
    """Return the error of a file that has more bytes than a document may have."""
    return UnreadableDocument(
        f"The file is too large: {size:,} bytes, but the limit is {max_bytes:,}.",
        suggestion="Split it, or raise CITEWELL_MAX_DOCUMENT_BYTES.",
    )


def _title(parsed: Parsed, name: str) -> str:
    """Return a default title: the file's own title, its name, or the first words of the text."""
    stem = PurePath(name).stem
    words = " ".join((parsed.title or stem or parsed.text.strip()[: _NAMED_BY_TEXT * 2].splitlines()[0]).split())
    longest = MOST_CHARACTERS["title"] if parsed.title or stem else _NAMED_BY_TEXT
    return words if len(words) <= longest else words[:longest].rsplit(" ", 1)[0]


def _text_field(front: dict[str, Any], key: str) -> str | None:
    value = front.get(key)
    return value if isinstance(value, str) else None


def _short(field: str, value: str | None) -> str | None:
    """Validate a line of text; an empty one becomes None."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidRequest(f"{field}: must be text.")
    line = " ".join((composed if field == "title" else storable)(value).split())
    longest = MOST_CHARACTERS.get(field, 200)
    if len(line) > longest:
        raise InvalidRequest(f"{field}: at most {longest} characters.")
    return line or None


def _checked_url(url: str | None) -> str | None:
    if url is not None and not _URL.match(url):
        raise InvalidRequest("url: must begin with http://, https:// or a single slash.")
    return url


def _checked_moment(moment: datetime | None) -> datetime | None:
    if moment is not None and moment.utcoffset() is None:
        raise InvalidRequest("expires_at: must include a time zone.")
    return moment


def check_depth(metadata: Any) -> None:
    """Raise InvalidRequest for metadata that is nested too deeply."""
    level = [metadata]
    for _ in range(MOST_METADATA_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
    if any(isinstance(each, dict | list | tuple) for each in level):
        raise InvalidRequest(
            f"metadata: nested more than {MOST_METADATA_DEPTH} levels deep.", suggestion="Store it flatter, or as text."
        )


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _checked_metadata(metadata: Any) -> dict[str, Any]:
    if not isinstance(metadata, dict):
        raise InvalidRequest("metadata: must be a JSON object.")
    check_depth(metadata)
    try:
        encoded = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
        size = len(encoded.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest("metadata: must be a JSON object.") from error
    if "\\u0000" in encoded.replace("\\\\", ""):
        raise InvalidRequest("metadata: must not contain the character U+0000.")
    if size > MOST_METADATA_BYTES:
        raise InvalidRequest(f"metadata: {size:,} bytes of JSON, but the limit is {MOST_METADATA_BYTES:,}.")
    restored: dict[str, Any] = json.loads(encoded)
    return restored


_BLOCK_FIELDS = attrgetter(*(each.name for each in fields(Block)))


def hash_under(title: str, content_hash: str) -> str:
    """Return the content hash of a document under a title that a person gave it, whatever it was called before."""
    return f"{content_hash.partition('-')[0]}-{hashlib.sha256(title.encode()).hexdigest()}"


def _content_hash(parsed: Parsed, title: str, size: SegmentSize) -> str:
    """Hash all inputs of segmenting: text, blocks, segment size, and the title, which is indexed in every segment."""
    digest = hashlib.sha256(b"whole blocks" if parsed.whole_blocks else b"")
    for part in (HASH_EPOCH, str(size).encode(), title.encode(), parsed.text.encode()):
        digest.update(b"%d:" % len(part) + part)
    for block in parsed.blocks:
        digest.update(repr(_BLOCK_FIELDS(block)).encode())
    return digest.hexdigest()
