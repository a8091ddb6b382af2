"""Dependencies of routes: settings, the open library, the runner, and the identity that a request is served as."""

from typing import Annotated

from fastapi import Depends, Request

from graph.entrypoint import Citewell
from graph.errors import ConfigurationError
from graph.evidence import Identity
from tools.auth.identities import Grant, is_loopback
from tools.library.library import Library
from tools.runs.runner import Runner
from tools.settings import Settings


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def _citewell(request: Request) -> Citewell:
    citewell: Citewell = request.app.state.citewell
    return citewell


AppSettings = Annotated[Settings, Depends(_settings)]
Opened = Annotated[Citewell, Depends(_citewell)]


def _library(citewell: Opened) -> Library:
    return citewell.library


def _runner(citewell: Opened) -> Runner:
    return citewell.runner


def identify(request: Request) -> Identity:
    """Return the identity that a request is served as; it comes from credentials, never from path, query or body.

    Where the credentials allow several workspaces, a header chooses one of these.
    """
    identity: Identity = request.state.identity
    return identity


def _grant(request: Request) -> Grant:
    grant: Grant = request.state.grant
    return grant


def _known_tags(request: Request) -> list[str]:
    """Return the entity tags of the client's cached copies."""
    return [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]


OpenLibrary = Annotated[Library, Depends(_library)]
OpenRunner = Annotated[Runner, Depends(_runner)]
Me = Annotated[Identity, Depends(identify)]
Granted = Annotated[Grant, Depends(_grant)]
KnownTags = Annotated[list[str], Depends(_known_tags)]


def check_bind(settings: Settings) -> None:
    """Raise ConfigurationError if other machines could reach a service that does not authenticate requests."""
    if settings.auth.mode == "none" and not is_loopback(settings.host):
        raise ConfigurationError(
            f"host: {settings.host} can be reached from other machines, and requests are not authenticated.",
            suggestion="Set CITEWELL_AUTH__MODE to keys or jwt, or CITEWELL_HOST to 127.0.0.1.",
        )
