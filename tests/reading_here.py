"""Reads what pages and sitemaps name in the process of the test, as a sandbox reads it in one of its own."""

from collections.abc import Sequence

from tools.web.named_addresses import addresses_of, sitemap_entries
from tools.web.sites import Entry


class ReadHere:
    """A reader of addresses without a sandbox."""

    async def addresses(self, data: bytes, address: str) -> tuple[str, Sequence[str]]:
        return addresses_of(data, address)

    async def sitemap(self, data: bytes, max_bytes: int) -> Sequence[Entry]:
        return sitemap_entries(data, max_bytes)
