"""A document as an HTML page: its text by segments, each with an anchor."""

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from html import escape

from answers.original_places import said_segment_place
from graph.evidence import Page, Segment

STYLE = (
    "body{max-width:45rem;margin:2rem auto;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif}"
    "section{white-space:pre-wrap;overflow-wrap:anywhere;padding:.25rem .5rem;border-radius:.25rem}"
    "section:target{background:#fff3c4;color:#222}h2{font-size:.85rem;color:#767676;margin:1.5rem 0 0}"
)
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-cache",
}


def render_page(page: Page) -> str:
    """Return the document as HTML with all its content escaped. Takes CPU time: run it in a thread."""
    title = escape(page.title)
    original = _original(page.segments[0].url) if page.segments else ""
    return (
        f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
        f"<body><h1>{title}</h1>{original}\n{''.join(_sections(page))}</body></html>\n"
    )


def _sections(page: Page) -> Iterator[str]:
    above = ""
    for segment in page.segments:
        place = _place(segment)
        if place and place != above:
            yield f"<h2>{escape(place)}</h2>"
        above = place
        yield f'<section id="segment-{segment.segment_index}">{escape(segment.text)}</section>\n'


def _place(segment: Segment) -> str:
    parts = [segment.heading] if segment.heading else []
    if said := said_segment_place(segment):
        parts.append(said)
    return " · ".join(parts)


def _original(url: str | None) -> str:
    if url is None or not url.lower().startswith(("http://", "https://", "/")):
        return ""
    return f'<p><a href="{escape(url)}" rel="noreferrer nofollow">{escape(url)}</a></p>'
