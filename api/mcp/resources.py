"""Documents as resources: listed page by page, and read whole, by part or by segment."""

import re
from uuid import UUID

import mcp_types as types

from api.mcp.tool_schemas import DOCUMENT_ID, ReadArguments
from api.mcp.tools import Toolbox
from graph.errors import InvalidRequest, NotFound
from graph.evidence import Identity
from tools.library.catalogue import Document

A_PAGE = 100
MOST_CHARACTERS = 1_000_000  # of a document that is read whole
TEXT = "text/plain"
TEMPLATES = [
    types.ResourceTemplate(
        name="document",
        title="Document",
        uri_template="citewell://documents/{document_id}",
        description="The whole text of a document, to which the offsets of quotes refer.",
        mime_type=TEXT,
    ),
    types.ResourceTemplate(
        name="part",
        title="Part of a document",
        uri_template="citewell://documents/{document_id}/parts/{part}",
        description="A part of a document's text, from 1; the tool `read` says how many there are.",
        mime_type=TEXT,
    ),
    types.ResourceTemplate(
        name="segment",
        title="Segment",
        uri_template="citewell://documents/{document_id}/segments/{segment_index}",
        description="A passage of a document, as search and citations name it: {document_id}:{segment_index}.",
        mime_type=TEXT,
    ),
]
_URI = re.compile(
    rf"citewell://documents/({DOCUMENT_ID})"
    r"(?:/parts/(?P<part>[1-9][0-9]{0,5})|/segments/(?P<segment>[0-9]{1,6}))?"
)


async def list_documents(box: Toolbox, me: Identity, cursor: str | None) -> types.ListResourcesResult:
    """List the documents that the identity may read, last changed first, without those that runs stored for a time."""
    page = await box.citewell.library.documents.list(me, limit=A_PAGE, cursor=cursor, lasting=True)
    return types.ListResourcesResult(resources=list(map(_resource, page.documents)), next_cursor=page.next_cursor)


def _resource(document: Document) -> types.Resource:
    return types.Resource(
        uri=f"citewell://documents/{document.document_id}",
        name=document.title or document.document_id,
        title=document.title or None,
        description=document.url,
        mime_type=TEXT,
        annotations=types.Annotations(last_modified=document.updated_at.isoformat(timespec="seconds")),
    )


async def read_resource(box: Toolbox, me: Identity, uri: str) -> types.ReadResourceResult:
    """Read a document, a part of it or a segment. Raises NotFound, InvalidRequest for a document that is too long."""
    named = _URI.fullmatch(uri)
    if named is None:
        raise NotFound(f"There is no resource {uri[:200]}.", suggestion="List the resources and their templates.")
    document_id = named[1]
    if named["part"]:
        asked = ReadArguments(document_id=UUID(document_id), part=int(named["part"]))
        return _contents(uri, (await box.read(asked, me)).text)
    if named["segment"]:
        asked = ReadArguments(segment_id=f"{document_id}:{named['segment']}")
        return _contents(uri, (await box.read(asked, me)).text)
    pages = await box.citewell.library.reader.read_pages([document_id], me)
    if not pages:
        raise NotFound(f"There is no document {document_id}.")
    length = pages[0].segments[-1].end
    if length > MOST_CHARACTERS:
        raise InvalidRequest(
            f"The document has {length} characters; one that is read whole has at most {MOST_CHARACTERS}.",
            suggestion=f"Read {uri}/parts/1 and the parts that follow, or call the tool `read`.",
        )
    return _contents(uri, "".join(segment.text for segment in pages[0].segments))


def _contents(uri: str, text: str) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=TEXT, text=text)])
