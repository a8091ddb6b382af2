"""What each route needs of credentials: declared beside the route by ``needs``, checked before its body is read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from re import Pattern
from typing import Any, TypeVar

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute

from graph.errors import NotPermitted
from tools.auth.audit_log import Action
from tools.auth.identities import ORDINARY, SCOPES, Rights, Scope

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
READING_METHODS = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Needs:
    """What a route needs: one of the scopes, or all of them. ``lists``: it lists what different askers have made.

    ``action`` is what the audit log says of it; None for what its method says.
    """

    scopes: tuple[Scope, ...]
    lists: bool = False
    action: Action | None = None
    all_of: bool = False

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


# Of a route that says nothing, such as one of an installed dialect: credentials that nothing is taken from.
UNDECLARED = Needs(tuple(scope for scope in SCOPES if scope in ORDINARY), lists=True, all_of=True)


def needs(*scopes: Scope, lists: bool = False, action: Action | None = None) -> Callable[[Endpoint], Endpoint]:
    """Declare, below the decorator of a route, that it needs one of these scopes."""
    declared = Needs(scopes, lists, action)

    def declare(endpoint: Endpoint) -> Endpoint:
        endpoint.needs = declared  # type: ignore[attr-defined]
        return endpoint

    return declare


def needs_of(endpoint: object) -> Needs | None:
    """Return what an endpoint declares, or None."""
    declared = getattr(endpoint, "needs", None)
    return declared if isinstance(declared, Needs) else None


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
        declared = needs_of(context.endpoint) or UNDECLARED
        methods = frozenset(context.methods or ())
        yield _Route(context.path_regex, methods, RouteNeeds(context.path or "", declared))


def default_action(method: str) -> Action:
    """Return what the audit log says of a route that says nothing itself."""
    return "read" if method in READING_METHODS else "change"
