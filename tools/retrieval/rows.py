"""Rows of the library as segments."""

from typing import Any

from graph.evidence import Segment

# Of segments AS s joined with documents AS d.
SEGMENT_COLUMNS = (
    "s.document_id::text, s.segment_index, s.start_offset, s.end_offset, s.body, s.page_idx, s.heading, s.tokens,"
    " d.title, d.source_type, d.slug, d.space_id, d.space_slug, d.url, d.metadata"
)
NOT_EXPIRED = "(d.expires_at IS NULL OR d.expires_at > now())"
VISIBLE = f"d.deleted_at IS NULL AND (d.owner IS NULL OR d.owner = %(user)s) AND {NOT_EXPIRED}"
# What has a time limit was brought by a run: a page of the web, a passage that a reader marked. It can be read and
# cited by its id, and is no part of the library that everybody's questions search.
LASTING = "d.expires_at IS NULL"


def as_segment(row: tuple[Any, ...]) -> Segment:
    """Read the first of a row's columns, as ``SEGMENT_COLUMNS`` orders them."""
    document_id, index, start, end, body, page_idx, heading, tokens, title, source_type, slug, *rest = row
    space_id, space_slug, url, metadata = rest[:4]
    return Segment(
        document_id=document_id,
        segment_index=index,
        start=start,
        end=end,
        text=body,
        page_idx=page_idx,
        heading=heading,
        tokens=tokens,
        title=title,
        source_type=source_type,
        slug=slug,
        space=None if space_id is None and space_slug is None else {"id": space_id, "slug": space_slug},
        url=url,
        metadata=metadata,
    )
