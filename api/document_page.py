"""A document as an HTML page, for browsers without scripts: its text by segments, with the quote marked.

Where there are scripts, the page's own viewer takes its place.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from urllib.parse import quote

from answers.citations import said_segment_place
from api.static_files import PAGE_FOLDER
from graph.evidence import Page, Segment
from tools.auth.document_links import LinkedPlace, checksum

STYLE = (
    ":root{color-scheme:light dark}body{background:canvas;color:canvastext}"
    "body{max-width:45rem;margin:2rem auto;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif}"
    "section{white-space:pre-wrap;overflow-wrap:anywhere;padding:.25rem .5rem;border-radius:.25rem}"
    "section:target{background:#fff3c4;color:#222}mark{background:#ffd54a;color:#111}"
    "h2{font-size:.85rem;color:light-dark(#666,#aaa);margin:1.5rem 0 0}"
    "pre{overflow-x:auto}summary{cursor:pointer}"
)
OF_DOCUMENT = 'dir="auto" lang=""'  # a text in a language that nobody has told
# Within the page, since a browser that is told of none asks for one that the policy refuses.
ICON = f'<link rel="icon" href="data:image/svg+xml,{quote((PAGE_FOLDER / "icon.svg").read_text("utf-8"))}">'
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; "
        "img-src data:; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-cache",
}


LINK_HEADERS = {**HEADERS, "Cache-Control": "private, no-store", "X-Robots-Tag": "noindex, nofollow"}
_CHANGED = "<p>The document has changed since it was quoted: the quote is not at its place any more.</p>"
NOT_OPEN = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>This link does not open</title>'
    f'<meta name="viewport" content="width=device-width">{ICON}<style>{STYLE}</style></head>\n'
    "<body><main><h1>This link does not open</h1>"
    "<p>It may have expired or been revoked, the document may be gone, or whoever asked may no longer read it.</p>"
    "<p>Ask the question again for a new link, or ask whoever runs the service for access to the document.</p>"
    "</main></body></html>\n"
)


def render_page(page: Page, place: LinkedPlace, version: str) -> str:
    """Return the document as HTML with all its content escaped, and the quote of a place marked where it still stands.

    A place without a checksum is marked as it is. ``version`` is that of the page's files, one of which goes on to the
    viewer. Takes CPU time: run it in a thread.
    """
    title = escape(page.title)
    start, end, note = place.start, place.end, ""
    if start < end and place.checksum:
        text = "".join(segment.text for segment in page.segments)
        if checksum(text[start:end]) != place.checksum:
            start, end, note = 0, 0, _CHANGED
    original = _original(page.segments[0].url) if page.segments else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width">{ICON}<style>{STYLE}</style>'
        f'<script src="../page/{version}/to_viewer.js"></script></head>\n'
        f"<body><main><h1 {OF_DOCUMENT}>{title}</h1>{original}{note}\n"
        f"{''.join(_sections(page, start, end))}</main></body></html>\n"
    )


def _sections(page: Page, start: int, end: int) -> Iterator[str]:
    above = ""
    for segment in page.segments:
        place = _place(segment)
        if place and place != above:
            yield f"<h2 {OF_DOCUMENT}>{escape(place)}</h2>"
        above = place
        yield f'<section id="segment-{segment.segment_index}" {OF_DOCUMENT}>{_marked(segment, start, end)}</section>\n'


def _marked(segment: Segment, start: int, end: int) -> str:
    """Return the text of a segment as HTML, with the part of it that is between two offsets marked."""
    begin, stop = (min(max(at - segment.start, 0), len(segment.text)) for at in (start, end))
    if begin == stop:
        return escape(segment.text)
    before, quote, after = segment.text[:begin], segment.text[begin:stop], segment.text[stop:]
    return f"{escape(before)}<mark>{escape(quote)}</mark>{escape(after)}"


def _place(segment: Segment) -> str:
    parts = [segment.heading] if segment.heading else []
    if said := said_segment_place(segment):
        parts.append(said)
    return " · ".join(parts)


def _original(url: str | None) -> str:
    if url is None or not url.lower().startswith(("http://", "https://", "/")):
        return ""
    return f'<p><a href="{escape(url)}" rel="noreferrer nofollow">{escape(url)}</a></p>'
