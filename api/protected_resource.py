"""Who issues tokens for this service, for clients that log in by themselves: RFC 9728, protected resource metadata.

The 401 of ``/mcp`` leads a client of MCP here, and this to the issuer. Where requests have keys alone, there is none.
"""

from fastapi import FastAPI
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from api.browsers import names_loopback
from api.dependencies import needs
from graph.errors import InvalidRequest
from tools.settings import Settings

WELL_KNOWN = "/.well-known/oauth-protected-resource"
MCP = "/mcp"
METADATA_PATHS = frozenset({WELL_KNOWN, WELL_KNOWN + MCP})


def token_issuer(settings: Settings) -> str | None:
    """Return the issuer whose access tokens are accepted, or None where a client could not find it by its name."""
    issuer = {"jwt": settings.auth.issuer, "keys": settings.oidc.issuer}.get(settings.auth.mode)
    return issuer if issuer and (issuer.startswith("https://") or names_loopback(issuer)) else None


def resource_names(base: str) -> list[str]:
    """Return the names that a token may have for the service at an address, as its audience (RFC 8707)."""
    return [f"{base}{MCP}", base, f"{base}/"]


def metadata_url(connection: HTTPConnection) -> str | None:
    """Return where the metadata of the requested path is; None where there is none, or our own address is not known."""
    state = connection.app.state
    if connection.scope["path"] != MCP or token_issuer(state.settings) is None:
        return None
    try:
        return f"{state.public_address.of(connection.headers)}{WELL_KNOWN}{MCP}"
    except InvalidRequest:
        return None


@needs()
async def get_metadata(request: Request) -> Response:
    """Tell the issuer of tokens for the service, or for the part of it that the path ends in."""
    state = request.app.state
    resource = state.public_address.of(request.headers) + request.scope["path"].removeprefix(WELL_KNOWN)
    told = {"resource": resource, "authorization_servers": [token_issuer(state.settings)]}
    if state.settings.auth.mode == "keys":
        told["scopes_supported"] = state.settings.oidc.scopes.split()
    return JSONResponse({**told, "bearer_methods_supported": ["header"], "resource_name": "Citewell"})


def mount_metadata(app: FastAPI, settings: Settings) -> None:
    """Mount the metadata where there is an issuer to tell."""
    if token_issuer(settings) is not None:
        app.router.routes += [Route(path, get_metadata, include_in_schema=False) for path in sorted(METADATA_PATHS)]
