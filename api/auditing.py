"""The audit log's entries of requests: who sent them, what they did, and how that ended."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.errors import NotAuthenticated, NotPermitted, RateLimited
from graph.evidence import Identity
from tools.auth.audit_log import Action, AuditEntry, AuditLog, Outcome
from tools.auth.identities import Grant
from tools.settings import Settings

LONGEST_TARGET = 500
LONGEST_QUESTION = 10_000
NO_ROUTE = "-"  # never the path that was sent: whoever tries many would fill the log
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_REFUSALS = {NotAuthenticated.code, NotPermitted.code, RateLimited.code}
_REFUSED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(slots=True)
class Audited:
    """What becomes known of a request while it is answered; ``question`` is kept only where the deployment says so."""

    keeps_questions: bool = False
    route: str = NO_ROUTE
    grant: Grant | None = None
    identity: Identity | None = None
    action: Action = "read"
    target: str | None = None
    reason: str | None = None
    question: str | None = None
    is_late: bool = False  # the response begins before it is known what is done

    def asked(self, question: str, run_id: str | None = None) -> None:
        """Note what the request asked, if anything in words, and the run that it began."""
        self.action = "ask"
        self.target = run_id
        if self.keeps_questions and question:
            self.question = _fit(question, LONGEST_QUESTION)


class AuditMiddleware:
    """Middleware that leaves an entry in the audit log for each request to a route that is not open to everybody.

    It is left when the response begins, since a stream may last for minutes.
    """

    def __init__(self, app: ASGIApp, *, keeps_questions: bool) -> None:
        self._app = app
        self._keeps_questions = keeps_questions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and leave its entry."""
        audit: AuditLog | None = scope["app"].state.audit if scope["type"] == "http" else None
        if audit is None:
            await self._app(scope, receive, send)
            return
        audited = Audited(self._keeps_questions)
        scope.setdefault("state", {})["audited"] = audited

        status: int | None = None

        def leave() -> None:
            # What is open to everybody was neither identified nor refused.
            if status is not None and (audited.grant is not None or status in _REFUSED):
                audit.record(_entry(scope, audited, status))

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if not audited.is_late:
                    leave()
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            if audited.is_late:
                leave()


def _entry(scope: Scope, audited: Audited, status: int) -> AuditEntry:
    identity, grant = audited.identity, audited.grant
    client = scope.get("client")
    return AuditEntry(
        workspace=identity.workspace if identity else None,
        user=grant.identity.user if grant else None,
        credential=_fit(grant.credential, LONGEST_TARGET) or None if grant else None,
        action=audited.action,
        request=_fit(f"{scope['method']} {audited.route}", LONGEST_TARGET),
        target=_fit(audited.target, LONGEST_TARGET) if audited.target else None,
        outcome="refused" if audited.reason in _REFUSALS else _outcome(status),
        status=status,
        reason=audited.reason,
        address=_fit(client[0], LONGEST_TARGET) if client else None,
        question=audited.question,
    )


def _outcome(status: int) -> Outcome:
    if status < HTTPStatus.BAD_REQUEST:
        return "done"
    if status in _REFUSED:
        return "refused"
    if status == HTTPStatus.NOT_FOUND:
        return "not_found"
    return "invalid" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "failed"


def _fit(text: str, longest: int) -> str:
    return _UNFIT.sub("?", text)[:longest]


@asynccontextmanager
async def serve_audit(app: FastAPI, settings: Settings) -> AsyncIterator[None]:
    """Write the audit log of an app whose library is open: unless told otherwise, where requests are authenticated."""
    days = settings.audit.keep_days
    if not (settings.auth.mode != "none" if days is None else days > 0):
        yield
        return
    app.state.audit = AuditLog(app.state.citewell.library.database)
    async with app.state.audit.writing():
        yield
