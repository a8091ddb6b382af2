"""What routes are given: the open library and runner, and on whose behalf a request is served."""

from ipaddress import ip_address
from typing import Annotated

from fastapi import Depends, Request

from graph.entrypoint import Citewell
from graph.errors import ConfigurationError
from graph.evidence import Identity
from tools.resources import Library
from tools.runner import Runner
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


def identify(settings: AppSettings) -> Identity:
    """Give the identity that a request is served as: the settings' own, never what a body or a header says."""
    return Identity(settings.workspace, settings.user)


OpenLibrary = Annotated[Library, Depends(_library)]
OpenRunner = Annotated[Runner, Depends(_runner)]
Me = Annotated[Identity, Depends(identify)]


def is_loopback(host: str) -> bool:
    """Tell whether a host name or address means this machine alone."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def check_bind(settings: Settings) -> None:
    """Refuse to listen where others could reach a service that asks nobody who they are.

    Raises ConfigurationError.
    """
    if not is_loopback(settings.host):
        raise ConfigurationError(
            f"host: {settings.host} can be reached from other machines, and this version has no authentication.",
            suggestion="Set CITEWELL_HOST=127.0.0.1, and let a proxy that authenticates stand before it.",
        )
