"""Dependencies of routes: settings, the open library, the runner, and the identity that a request is served as.

All are coroutines, though none waits: FastAPI sends a plain function to a thread, which takes longer than what it does.
"""

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request
from starlette.requests import HTTPConnection

from api.auditing import Audited
from graph.entrypoint import Citewell
from graph.errors import ConfigurationError
from graph.evidence import Identity
from tools.auth.identities import Grant, is_loopback
from tools.auth.limits import UsedLimits
from tools.concurrency.tasks import shield_until_done
from tools.process.library import Library
from tools.runs.live_run import Run
from tools.sessions.run_request import RunReader, RunRequest
from tools.settings import Settings


async def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


async def _citewell(request: Request) -> Citewell:
    citewell: Citewell = request.app.state.citewell
    return citewell


AppSettings = Annotated[Settings, Depends(_settings)]
Opened = Annotated[Citewell, Depends(_citewell)]


async def _library(citewell: Opened) -> Library:
    return citewell.library


async def identify(request: Request) -> Identity:
    """Return the identity that a request is served as; it comes from credentials, never from path, query or body.

    Where the credentials allow several workspaces, a header chooses one of these.
    """
    identity: Identity = request.state.identity
    return identity


async def _grant(request: Request) -> Grant:
    grant: Grant = request.state.grant
    return grant


class GrantedRunner:
    """The runner on behalf of the credentials of one request: within their spaces and limits, and audited."""

    def __init__(self, citewell: Citewell, identity: Identity, grant: Grant, audited: Audited) -> None:
        self._runner = citewell.runner
        self._limits = UsedLimits(citewell.library.database, citewell.library.settings.spending.zone)
        self._identity = identity
        self._grant = grant
        self._audited = audited

    async def start(self, session_id: str, request: RunRequest) -> Run:
        """Start a run as ``Runner.start`` does. Raises what that raises, and RateLimited."""
        spaces = self._identity.spaces
        context = replace(request.context, allowed_spaces=None if spaces is None else list(spaces))
        await self._limits.take_run(self._grant)
        try:
            run = await self._runner.start(session_id, replace(request, context=context))
        except BaseException:
            await shield_until_done(self._limits.give_back_run(self._grant))
            raise
        self._audited.asked(run.run_id, request.question)
        return run

    async def cancel_abandoned_predecessors(self, run: Run) -> None:
        """Stop the earlier runs of a run's session, as ``Runner.cancel_abandoned_predecessors`` does."""
        await self._runner.cancel_abandoned_predecessors(run)

    async def join(self, identity: Identity, run_id: str) -> RunReader:
        """Return a run to read. Raises NotFound where the identity has no such run."""
        return await self._runner.join(identity, run_id)

    async def current(self, identity: Identity, session_id: str) -> RunReader | None:
        """Return the running run of a session, else the one that has waited longest, else None."""
        return await self._runner.current(identity, session_id)


def granted_runner(request: HTTPConnection) -> GrantedRunner:
    """Return the runner on behalf of a request."""
    state = request.state
    return GrantedRunner(request.app.state.citewell, state.identity, state.grant, state.audited)


async def _runner(request: Request) -> GrantedRunner:
    return granted_runner(request)


async def _known_tags(request: Request) -> list[str]:
    """Return the entity tags of the client's cached copies."""
    return [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]


OpenLibrary = Annotated[Library, Depends(_library)]
OpenRunner = Annotated[GrantedRunner, Depends(_runner)]
Me = Annotated[Identity, Depends(identify)]
Granted = Annotated[Grant, Depends(_grant)]
KnownTags = Annotated[list[str], Depends(_known_tags)]


def check_bind(settings: Settings) -> None:
    """Raise ConfigurationError if other machines could reach a service that does not authenticate requests."""
    if settings.auth.mode == "none" and not is_loopback(settings.host):
        raise ConfigurationError(
            f"host: {settings.host} can be reached from other machines, and requests are not authenticated.",
            suggestion="Set CITEWELL_AUTH__MODE to keys, jwt or proxy, or CITEWELL_HOST to 127.0.0.1.",
        )
