"""Which web pages may call the service from a browser: those of the origins that the deployment lists."""

from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from graph.errors import ConfigurationError
from tools.settings import Settings

ANY = "*"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
EXPOSED = ("Retry-After", "WWW-Authenticate", "X-Request-ID", "x-vercel-ai-ui-message-stream")
PREFLIGHT_SECONDS = 600


def listed_origins(settings: Settings) -> frozenset[str]:
    """Give the origins as browsers write them.

    Raises ConfigurationError where one is no origin, and where any page at all could call a service that asks nobody
    who they are.
    """
    origins = frozenset(origin.rstrip("/").lower() for origin in settings.cors_origins)
    for origin in origins - {ANY}:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.hostname or origin != f"{parts.scheme}://{parts.netloc}":
            raise ConfigurationError(
                f"cors_origins: {origin!r} is no origin.",
                suggestion="Write each as a browser does: https://wiki.example.com, with the port where it has one.",
            )
    if ANY in origins and settings.auth.mode == "none":
        raise ConfigurationError(
            "cors_origins: '*' would let every web page read the library, since nobody is asked who they are.",
            suggestion="List the origins, or set CITEWELL_AUTH__MODE.",
        )
    return origins


def allow_origins(app: FastAPI, origins: frozenset[str]) -> None:
    """Let pages of these origins call the app. Cookies are nothing to it, so browsers are not told to send any."""
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=METHODS,
            allow_headers=[ANY],
            expose_headers=EXPOSED,
            allow_private_network=True,
            max_age=PREFLIGHT_SECONDS,
        )
