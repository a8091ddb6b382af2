"""The route of signed links: a document with the cited quote marked, for a browser without credentials."""

import asyncio

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from api.dependencies import OpenLibrary
from api.document_page import LINK_HEADERS, NOT_OPEN, render_page
from api.scopes import needs

router = APIRouter(include_in_schema=False)


@router.get("/links/{token}")
@needs()
async def open_link(token: str, library: OpenLibrary) -> HTMLResponse:
    """Open a link. What is absent, forbidden, expired or forged is answered with the same page."""
    opened = await library.links.open(token)
    if opened is not None:
        identity, place = opened
        pages = await library.reader.read_pages([place.document_id], identity)
        if pages:
            return HTMLResponse(await asyncio.to_thread(render_page, pages[0], place), headers=LINK_HEADERS)
    return HTMLResponse(NOT_OPEN, status_code=404, headers=LINK_HEADERS)
