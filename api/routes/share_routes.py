"""Routes of shares: made, listed and ended by their owner, and opened by whoever has the link.

What opens is rendered here as a report without scripts, by the rights that the opener has at that moment.
"""

import asyncio
from dataclasses import replace
from datetime import datetime
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Request, status
from fastapi.responses import HTMLResponse
from pydantic import Field
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from api.auditing import Audited
from api.browsers import PublicAddress
from api.dependencies import AppSettings, Asking, OpenLibrary, address_of, needs
from api.fields import Body, optional
from api.problems import problems
from api.routes.export_routes import exports_of
from graph.errors import CitewellError, NotAuthenticated
from graph.evidence import Identity
from tools.auth.identities import Grant, Limits
from tools.auth.limits import UsedLimits
from tools.exports.wording import LANGUAGES, Language, words_of
from tools.process.library import Library
from tools.sessions.shares import DAY_SECONDS, SHARES_PATH, Audience, OpenedShare, Share

shares_router = APIRouter(prefix="/api/sessions/{session_id}/shares", tags=["sessions"])
opening_router = APIRouter(include_in_schema=False)
OPENING_SCOPES = frozenset({"ask", "read"})  # either opens what an answer cites
A_MINUTE_BY_ADDRESS = 60  # openings: enough for an office behind one address
LONGEST_CREDENTIAL = 20_000
_HEADERS = {
    "X-Robots-Tag": "noindex, nofollow",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
}


class NewShare(Body):
    """For whom and for how long; without ``message_id`` the session is shared as it is now."""

    expires_in: int = Field(default=7 * DAY_SECONDS, ge=1, le=365 * DAY_SECONDS, description="In seconds.")
    audience: Audience = Field(
        default="workspace",
        description="`workspace`: those whose credentials are for it; `link`: anybody who has the link.",
    )
    message_id: UUID | None = Field(default=None, description="An answer to share alone, with its question.")


class MadeShare(Body):
    """A new share; ``url`` is told this once."""

    share_id: str
    message_id: str | None
    audience: Audience
    created_at: datetime
    expires_at: datetime
    url: str


class ShareList(Body):
    """The shares of a session that still open, and what can be shared here: nothing where no audience is offered."""

    shares: list[Share]
    audiences: list[Audience]
    longest_seconds: int


@shares_router.post("", status_code=status.HTTP_201_CREATED, responses=problems(403, 404, 422, 503))
@needs("ask")
async def share_session(session_id: UUID, body: NewShare, by: Asking) -> MadeShare:
    """Share a session or an answer by a link that ends, and that shows each opener what they may read."""
    share, token = await by.library.shares.create(
        by.me, str(session_id), expires_in=body.expires_in, audience=body.audience, message=optional(body.message_id)
    )
    told = {name: getattr(share, name) for name in MadeShare.model_fields if name != "url"}
    return MadeShare(**told, url=f"{by.address}{SHARES_PATH}{token}")


@shares_router.get("", responses=problems(404, 422, 503))
@needs("ask", lists=True)
async def list_shares(session_id: UUID, by: Asking) -> ShareList:
    """List the shares of a session, the oldest first. Their links are not told again."""
    shares = await by.library.shares.list(by.me, str(session_id))
    return ShareList(
        shares=shares, audiences=by.library.shares.audiences, longest_seconds=by.library.shares.longest_seconds
    )


@shares_router.delete("/{share_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 422, 503))
@needs("ask")
async def revoke_share(session_id: UUID, share_id: UUID, by: Asking) -> None:
    """End a share at once."""
    await by.library.shares.revoke(by.me, str(session_id), str(share_id))


@opening_router.get("/shares/{token}")
@needs()
async def open_share(token: str, request: Request, settings: AppSettings, library: OpenLibrary) -> HTMLResponse:
    """Open a share as who the request's credentials name, or as nobody where anybody may."""
    return await _Opening(request, library, token).reply(request, public=settings.shares.public)


@opening_router.post("/shares/{token}")
@needs()
async def open_share_by_key(token: str, request: Request, settings: AppSettings, library: OpenLibrary) -> HTMLResponse:
    """Open a share by a key or a token from the form of its page, which nothing keeps."""
    form = await request.form(max_files=0, max_fields=1)
    given = form.get("key")
    sent = given.strip()[:LONGEST_CREDENTIAL] if isinstance(given, str) else ""
    headers = [each for each in request.scope["headers"] if each[0] not in _CREDENTIAL_HEADERS]
    if sent.isascii() and sent.isprintable():
        headers.append((b"authorization", f"Bearer {sent}".encode()))
    connection = HTTPConnection({**request.scope, "headers": headers})
    return await _Opening(request, library, token).reply(connection, public=settings.shares.public, tried=True)


_CREDENTIAL_HEADERS = (b"authorization", b"x-api-key", b"cookie")


class _Opening:
    """The answer to one request for a share."""

    def __init__(self, request: Request, library: Library, token: str) -> None:
        self._request = request
        self._library = library
        self._token = token
        self._language = _language(request.headers)
        state = request.scope.setdefault("state", {})
        self._audited: Audited = state.get("audited") or Audited()
        self._audited.route = f"{SHARES_PATH}{{token}}"
        self._audited.action = "read"

    async def reply(self, connection: HTTPConnection, *, public: bool, tried: bool = False) -> HTMLResponse:
        """Return the page. What is absent, over, revoked or of another workspace is answered alike."""
        await self._count()
        share = await self._library.shares.open(self._token)
        if share is None:
            return self._closed()
        self._audited.target = share.share_id
        viewer, known = await self._viewer(connection, share)
        if viewer is None and public and share.audience == "link":
            viewer = share.anyone
            self._audited.identity = viewer
            self._audited.grant = Grant(viewer, (share.workspace,), credential=f"share:{share.share_id}")
        if viewer is not None:
            return await self._shown(share, viewer)
        return self._closed() if known else self._asked(tried)

    async def _count(self) -> None:
        """Count the request against the limit of its address. Raises RateLimited."""
        everybody = Grant(
            Identity("", ""), (), credential="shares", limits=Limits(a_minute_by_address=A_MINUTE_BY_ADDRESS)
        )
        client = self._request.client
        await UsedLimits(self._library.database).take_request(everybody, client.host if client else "")

    async def _viewer(self, connection: HTTPConnection, share: OpenedShare) -> tuple[Identity | None, bool]:
        """Return as whom a share is opened, None for somebody who may not, and whether the credentials are good."""
        try:
            grant: Grant = await connection.app.state.identify(connection, self._library)
        except CitewellError as error:
            if not isinstance(error, NotAuthenticated) and error.retryable:
                raise
            return None, False
        self._audited.grant = grant
        if grant.is_public or not grant.allows(share.workspace):
            return None, True
        identity = grant.restricted(replace(grant.identity, workspace=share.workspace))
        self._audited.identity = identity
        allowed = grant.rights_in(share.workspace).scopes & OPENING_SCOPES
        return (identity, True) if allowed else (None, True)

    async def _shown(self, share: OpenedShare, viewer: Identity) -> HTMLResponse:
        from tools.exports.html_report import POLICY, html_report

        only = {"through": share.message_id} if share.is_whole else {"message": share.message_id}
        transcript = await exports_of(self._library).transcript(
            share.owner, share.session_id, viewer=viewer, base_url=address_of(self._request), **only
        )
        words = words_of(self._language)
        note = words("shared_until", date=words.day(share.expires_at))
        page = await asyncio.to_thread(html_report, transcript, words, note=note)
        return HTMLResponse(page, headers={**_HEADERS, "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'"})

    def _closed(self) -> HTMLResponse:
        from tools.exports.share_pages import closed_page

        return self._page(closed_page(words_of(self._language)), status.HTTP_404_NOT_FOUND)

    def _asked(self, tried: bool) -> HTMLResponse:
        """Return the page that asks for a login, a key or a token, whichever the deployment has."""
        from tools.exports.share_pages import asking_page

        self._audited.reason = NotAuthenticated.code
        state = self._request.app.state
        address: PublicAddress = state.public_address
        login = ""
        if state.relying_party is not None:
            login = f"{address.home}login?next={quote(f'{address.home}shares/{self._token}', safe='')}"
        by_key = state.settings.auth.mode in ("keys", "jwt")
        page = asking_page(words_of(self._language), login=login, by_key=by_key, tried=tried)
        return self._page(page, status.HTTP_401_UNAUTHORIZED)

    def _page(self, page: tuple[bytes, str], code: int) -> HTMLResponse:
        content, policy = page
        return HTMLResponse(content, status_code=code, headers={**_HEADERS, "Content-Security-Policy": policy})


def _language(headers: Headers) -> Language:
    """Return the first language of a request that there are words in, or English."""
    for each in headers.get("accept-language", "")[:500].split(","):
        tag = each.partition(";")[0].strip().lower().partition("-")[0]
        for language in LANGUAGES:
            if tag == language:
                return language
    return "en"
