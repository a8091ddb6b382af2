"""What routes get and what they need: the open library, the identity that a request is served as, and scopes.

Routes get it by dependencies, which are coroutines though none waits: FastAPI sends a plain function to a thread, which
takes longer than what it does. What a route needs of credentials is declared beside it by ``needs``, and checked before
its body is read.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from re import Pattern
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from fastapi.routing import iter_route_contexts
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute

from api.auditing import Audited
from graph.entrypoint import Citewell
from graph.errors import ConfigurationError, NotPermitted
from graph.evidence import Identity
from tools.auth.audit_log import Action
from tools.auth.identities import ORDINARY, SCOPES, Grant, Rights, Scope, is_loopback
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
        allowed = None if spaces is None else list(spaces)
        context = replace(request.context, allowed_spaces=allowed, is_shared=self._identity.is_shared)
        await self._limits.take_run(self._grant)
        try:
            run = await self._runner.start(session_id, replace(request, context=context))
        except BaseException:
            await shield_until_done(self._limits.give_back_run(self._grant))
            raise
        self._audited.asked(request.question, run.run_id)
        return run

    @asynccontextmanager
    async def counted(self, question: str = "") -> AsyncIterator[None]:
        """Count what asks several questions at once as a run of these credentials, unless it is refused.

        Raises RateLimited.
        """
        await self._limits.take_run(self._grant)
        self._audited.asked(question)
        try:
            yield
        except Exception:  # not a cancellation: what has begun counts, as a run does that is cancelled
            await shield_until_done(self._limits.give_back_run(self._grant))
            raise

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


async def _known_tags(request: Request) -> list[str]:
    """Return the entity tags of the client's cached copies."""
    return [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who sends a request, by which credentials, and what answers it.

    ``address`` is where whoever opens a link elsewhere finds this service's documents, without a slash at its end.
    """

    me: Identity
    grant: Grant
    settings: Settings
    citewell: Citewell
    runner: GrantedRunner
    address: str

    @property
    def library(self) -> Library:
        """The open library."""
        return self.citewell.library


async def _asker(request: Request) -> Asker:
    app, state = request.app.state, request.state
    runner = granted_runner(request)
    return Asker(state.identity, state.grant, app.settings, app.citewell, runner, address_of(request))


OpenLibrary = Annotated[Library, Depends(_library)]
Asking = Annotated[Asker, Depends(_asker)]
Me = Annotated[Identity, Depends(identify)]
KnownTags = Annotated[list[str], Depends(_known_tags)]


def check_bind(settings: Settings) -> None:
    """Raise ConfigurationError if other machines could reach a service that does not authenticate requests."""
    if settings.auth.mode == "none" and not is_loopback(settings.host):
        raise ConfigurationError(
            f"host: {settings.host} can be reached from other machines, and requests are not authenticated.",
            suggestion="Set CITEWELL_AUTH__MODE to keys, jwt or proxy, or CITEWELL_HOST to 127.0.0.1.",
        )


Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
READING_METHODS = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Needs:
    """What a route needs: one of the scopes, or all of them. ``lists``: it lists what different askers have made.

    ``opens``: it shows more of documents than what answers quote. ``action`` is what the audit log says of it; None for
    what its method says.
    """

    scopes: tuple[Scope, ...]
    lists: bool = False
    action: Action | None = None
    all_of: bool = False
    opens: bool = False

    def check(self, rights: Rights, *, is_public: bool = False) -> None:
        """Raise NotPermitted, with the scope that is missing, unless credentials with these rights will do."""
        missing = [scope for scope in self.scopes if scope not in rights.scopes]
        if missing and (self.all_of or len(missing) == len(self.scopes)):
            held = ", ".join(scope for scope in SCOPES if scope in rights.scopes) or "none"
            wanted = (" and " if self.all_of else " or ").join(missing)
            raise NotPermitted(
                f"This needs the scope {wanted}; these credentials have {held}.",
                suggestion=f"Use a key of `citewell keys create --scope {missing[0]}`, or a token with that scope.",
            )
        if self.lists and is_public:
            raise NotPermitted(
                "A public key lists nothing: those who share it would see each other's.",
                suggestion="Keep the ids that you are given; each one opens what it names.",
            )
        if self.opens and is_public:
            raise NotPermitted(
                "A public key opens no documents: it is shown the passages that its answers quote.",
                suggestion="Link to the document's own address, or use a key that is not public.",
            )


# Of a route that says nothing, such as one of an installed dialect: credentials that nothing is taken from.
UNDECLARED = Needs(tuple(scope for scope in SCOPES if scope in ORDINARY), lists=True, all_of=True, opens=True)


def needs(
    *scopes: Scope, lists: bool = False, opens: bool = False, action: Action | None = None
) -> Callable[[Endpoint], Endpoint]:
    """Declare, below the decorator of a route, that it needs one of these scopes."""
    declared = Needs(scopes, lists, action, opens=opens)

    def declare(endpoint: Endpoint) -> Endpoint:
        endpoint.needs = declared  # type: ignore[attr-defined]
        return endpoint

    return declare


@dataclass(frozen=True, slots=True)
class RouteNeeds:
    """A route with what it needs, and the ids in the path of a request."""

    template: str
    needs: Needs
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Route:
    pattern: Pattern[str]
    methods: frozenset[str]
    named: RouteNeeds


class RouteTable:
    """What the routes of an app need, by method and path, found in the order in which the app finds them."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self.routes = list(_routes(routes))

    def find(self, method: str, path: str) -> RouteNeeds | None:
        """Return the route that will answer a request, or None where there is none."""
        for route in self.routes:
            if method in route.methods and (found := route.pattern.match(path)) is not None:
                return RouteNeeds(route.named.template, route.named.needs, tuple(found.groups()))
        return None


def _routes(routes: Sequence[BaseRoute]) -> Iterator[_Route]:
    for context in iter_route_contexts(routes):
        declared: Needs = getattr(context.endpoint, "needs", UNDECLARED)
        methods = frozenset(context.methods or ())
        yield _Route(context.path_regex, methods, RouteNeeds(context.path or "", declared))


def default_action(method: str) -> Action:
    """Return what the audit log says of a route that says nothing itself."""
    return "read" if method in READING_METHODS else "change"


def address_of(request: Request) -> str:
    """Return the address below which this service's documents are, for whoever opens a link to them elsewhere."""
    public: str | None = request.app.state.settings.public_url
    return (public or str(request.base_url)).rstrip("/")
