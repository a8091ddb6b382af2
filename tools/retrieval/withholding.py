"""What of a stored answer its own asker may no longer read: found by today's rights, and taken out before it is shown.

An answer's section may be the very words of the documents that it cites, so it goes with their quotes.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from graph.evidence import Citation, Identity, PagesRead, PageUse, SectionClaim, answer_text
from tools.retrieval.scope import READABLE, as_array, as_uuid, reading_as
from tools.storage.database import Connection

WITHHELD = "[…]"  # instead of the text of a section
FROM_SERVERS = "mcp"
MARKED = "selection"
# The types of what a run stored for its asker alone, and for a limited time: that it is gone takes no right away.
BROUGHT = frozenset({"web", FROM_SERVERS, MARKED})
_RIGHTS = f"""
SELECT d.document_id::text, coalesce({READABLE}, false) FROM documents AS d
WHERE d.workspace = %(workspace)s AND d.document_id = ANY(%(ids)s::uuid[])
"""
_DELETED = """
SELECT document_id::text FROM documents
WHERE workspace = %(workspace)s AND document_id = ANY(%(ids)s::uuid[]) AND deleted_at IS NOT NULL
"""


async def find_unreadable(
    connection: Connection, workspace: int, identity: Identity, document_ids: Iterable[str]
) -> tuple[set[str], set[str]]:
    """Return those of some documents that an identity may not read, and those that are gone, whose readers are unknown.

    A deleted document that is not purged yet still has readers.
    """
    ids = {str(each) for each in map(as_uuid, document_ids) if each is not None}
    if not ids:
        return set(), set()
    row = {"workspace": workspace, **reading_as(identity), "ids": as_array(sorted(ids))}
    found: dict[str, bool] = dict(await (await connection.execute(_RIGHTS, row)).fetchall())
    refused = {document_id for document_id, allowed in found.items() if not allowed}
    return refused, {each for each in ids if each not in found}


async def find_deleted(connection: Connection, workspace: int, document_ids: Iterable[str]) -> set[str]:
    """Return those of some documents that are deleted and not purged yet."""
    ids = {str(each) for each in map(as_uuid, document_ids) if each is not None}
    row = {"workspace": workspace, "ids": as_array(sorted(ids))}
    return {each for (each,) in await (await connection.execute(_DELETED, row)).fetchall()} if ids else set()


def documents_of(body: Mapping[str, Any]) -> set[str]:
    """Return the ids of the documents that an answer's body shows something of, or whose words it may have."""
    sources = [*body.get("sources", ()), *body.get("nearest", ())]
    cited = [*body.get("citations", ()), *(each for claim in body.get("claims", ()) for each in claim["citations"])]
    stated = [each for found in body.get("disagreements", ()) for each in found.get("positions", ())]
    copies = [copy for each in cited for copy in each.get("copies", ())]
    pages = body.get("pages") or {}
    read = [*pages.get("used", ()), *pages.get("cut", ())]
    named = [each for section in body.get("sections", ()) for each in section["source_ids"]]
    named += [each for found in body.get("disagreements", ()) for each in found["segment_ids"]]
    told = {each["document_id"] for each in (*sources, *cited, *copies, *stated, *read)}
    return told | {each.rpartition(":")[0] for each in named}


def brought_in(body: Mapping[str, Any]) -> set[str]:
    """Return the ids of the documents that a run stored for its asker, of those that its answer was written from."""
    return {each["document_id"] for each in body.get("sources", ()) if each["source_type"] in BROUGHT}


def hidden_in(body: Mapping[str, Any], refused: Collection[str], gone: Collection[str]) -> set[str]:
    """Return the documents of an answer that are to be withheld: the refused, and those that somebody purged."""
    if not refused and not gone:
        return set()
    return documents_of(body) & {*refused, *(set(gone) - brought_in(body))}


def hidden_from_another(body: Mapping[str, Any], refused: Collection[str], gone: Collection[str]) -> set[str]:
    """Return what of an answer is withheld from a reader who did not ask.

    Pages that a search of the web brought are everybody's. What else the run brought was its asker's alone, and so is
    what is gone, whose readers nobody knows.
    """
    web = {each["document_id"] for each in body.get("sources", ()) if each["kind"] == each["source_type"] == "web"}
    return documents_of(body) & ({*refused, *gone} - web)


def uncited_in(body: Mapping[str, Any]) -> set[int]:
    """Return the sections that cite nothing, of which nobody can tell from which documents their words are."""
    return {index for index, section in enumerate(body.get("sections", ())) if not section["source_ids"]}


def withhold(body: dict[str, Any], hidden: Collection[str], *, also: Collection[int] = ()) -> dict[str, Any]:
    """Return an answer's body without what it shows of some documents; their citations stay, and say that they are.

    ``also`` are further sections that are to be withheld, by their index.
    """
    if not hidden and not also:
        return body
    shown = dict(body)
    for name in ("sources", "nearest"):
        if name in body:
            shown[name] = [_source(each) if each["document_id"] in hidden else each for each in body[name]]
    shown["citations"] = [_citation(each, hidden) for each in body["citations"]]
    sections = list(body.get("sections", ()))
    without = {each["section_index"] for each in body["citations"] if each["document_id"] in hidden} | {*also}
    without |= {
        index
        for index, section in enumerate(sections)
        if any(segment_id.rpartition(":")[0] in hidden for segment_id in section["source_ids"])
    }
    shown["sections"] = [_section(section) if index in without else section for index, section in enumerate(sections)]
    shown["answer"] = answer_text(shown["sections"])
    if "claims" in body:
        shown["claims"] = [
            {**claim, "citations": [_citation(each, hidden) for each in claim["citations"]]}
            for claim in body["claims"]
            if claim["section_index"] not in without
        ]
        shown["claims"] += [_claim(index, shown["citations"]) for index in sorted(without) if index < len(sections)]
    if "disagreements" in body:
        shown["disagreements"] = [each for each in body["disagreements"] if not _is_about(each, hidden)]
    if "pages" in body:
        shown["pages"] = _pages(body["pages"], hidden)
    return shown


def _pages(pages: PagesRead, hidden: Collection[str]) -> PagesRead:
    """Return what was read of which document, without the titles of some."""
    return PagesRead(
        used=[_nameless(use) if use["document_id"] in hidden else use for use in pages["used"]],
        cut=[_nameless(use) if use["document_id"] in hidden else use for use in pages["cut"]],
        unused=pages["unused"],
    )


def _nameless(use: PageUse) -> PageUse:
    return PageUse(**{**use, "title": ""})


def _is_about(disagreement: Mapping[str, Any], hidden: Collection[str]) -> bool:
    return any(segment_id.rpartition(":")[0] in hidden for segment_id in disagreement["segment_ids"])


def _section(section: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in section.items() if name not in ("passage", "marks")}
    return {**kept, "text": WITHHELD}


def _source(source: Mapping[str, Any]) -> dict[str, Any]:
    told = ("slide", "sheet", "page_label", "passage", "answerhood")
    kept = {name: value for name, value in source.items() if name not in told}
    nothing: dict[str, Any] = {
        "title": "",
        "heading": "",
        "excerpt": "",
        "slug": None,
        "space": None,
        "url": None,
        "metadata": {},
    }
    return {**kept, **nothing}


def _claim(section_index: int, citations: Iterable[Citation]) -> SectionClaim:
    """Return what stands for the claims of a withheld section, with its citations."""
    return SectionClaim(
        start=0,
        end=len(WITHHELD),
        text=WITHHELD,
        verdict="unverified",
        reasons=[],
        citations=[each for each in citations if each["section_index"] == section_index],
        mark="withheld",
        section_index=section_index,
    )


def _citation(citation: Citation, hidden: Collection[str]) -> Citation:
    """Return a citation without what it shows of some documents: all, or that they hold copies of it."""
    if citation["document_id"] not in hidden:
        if "copies" not in citation:
            return citation
        copies = [each for each in citation["copies"] if each["document_id"] not in hidden]
        return Citation(**{**citation, "copies": copies})
    return Citation(
        segment_id=citation["segment_id"],
        document_id=citation["document_id"],
        segment_index=citation["segment_index"],
        page_idx=citation["page_idx"],
        start=citation["start"],
        end=citation["end"],
        quote="",
        origin=citation["origin"],
        verdict=citation["verdict"],
        source_index=citation["source_index"],
        section_index=citation["section_index"],
        freshness="withheld",
    )
