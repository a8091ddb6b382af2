"""The addresses that a page or a sitemap names. They parse what a stranger wrote: run them in a sandbox."""

import zlib
from collections.abc import Iterator
from io import BytesIO
from itertools import islice

from lxml import etree

from graph.errors import UnreadableDocument
from tools.parsers.html import read_tree
from tools.web.addresses import canonical_address, host_of, is_address
from tools.web.fetching import TOO_LARGE
from tools.web.sites import Entry

MOST_ENTRIES = 50_000  # of one sitemap, as its protocol says
MOST_LINKS = 5_000  # of one page


def addresses_of(data: bytes, address: str) -> tuple[str, tuple[str, ...]]:
    """Return the address that an HTML page calls its own, and those it links to.

    A page's word for its own address counts on its own host alone: no site can stand for another's pages.
    """
    try:
        page = read_tree(data)
    except UnreadableDocument:
        return address, ()
    base = next((canonical_address(each.get("href") or "", address) for each in page.iter("base")), None) or address
    own = address
    for link in page.iter("link"):
        if "canonical" in (link.get("rel") or "").lower().split():
            named = canonical_address(link.get("href") or "", base)
            if named is not None and host_of(named) == host_of(address):
                own = named
            break
    links: dict[str, None] = {}
    for anchor in islice(page.iter("a"), 4 * MOST_LINKS):
        if "nofollow" not in (anchor.get("rel") or "").lower().split():
            target = canonical_address(anchor.get("href") or "", base)
            if target is not None:
                links[target] = None
        if len(links) >= MOST_LINKS:
            break
    return own, tuple(links)


def sitemap_entries(data: bytes, max_bytes: int) -> list[Entry]:
    """Return the entries of a sitemap, which is XML or a list of addresses, compressed or not.

    Raises UnreadableDocument.
    """
    data = _unpacked(data, max_bytes)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        found = _xml_entries(data)
    else:
        found = ((False, line, None) for line in data.decode("utf-8", "replace").splitlines())
    whole = (entry for entry in found if is_address(entry[1]))
    spelled = ((canonical_address(named), modified, is_sitemap) for is_sitemap, named, modified in whole)
    entries = ((named, modified, is_sitemap) for named, modified, is_sitemap in spelled if named is not None)
    return list(islice(entries, MOST_ENTRIES))


def _unpacked(data: bytes, max_bytes: int) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    unpacking = zlib.decompressobj(31)
    try:
        unpacked = unpacking.decompress(data, max_bytes + 1)
    except zlib.error as error:
        raise UnreadableDocument("The sitemap's compressed data is corrupt.") from error
    if len(unpacked) > max_bytes:
        raise UnreadableDocument(f"The sitemap cannot be read: {TOO_LARGE}.")
    return unpacked


def _xml_entries(data: bytes) -> Iterator[tuple[bool, str, str | None]]:
    walk = etree.iterparse(
        BytesIO(data), events=("end",), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    found: dict[str, str] = {}
    try:
        for _, element in walk:
            tag = etree.QName(element).localname if isinstance(element.tag, str) else ""
            if tag in ("loc", "lastmod"):
                found.setdefault(tag, (element.text or "").strip())
            elif tag in ("url", "sitemap"):
                if found.get("loc"):
                    yield tag == "sitemap", found["loc"], found.get("lastmod") or None
                found = {}
                element.clear()
                parent = element.getparent()
                while parent is not None and element.getprevious() is not None:
                    del parent[0]
    except etree.XMLSyntaxError as error:
        raise UnreadableDocument("The sitemap is not well-formed XML.") from error
