"""Who issues tokens for this service, for clients that log in by themselves: RFC 9728, protected resource metadata.

A client of MCP is led here by the 401 of ``/mcp``, and from here to the issuer. There is nothing to tell where requests
have keys alone.
"""

from fastapi import FastAPI
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from api.browsers import PublicAddress, names_loopback
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
    settings: Settings = request.app.state.settings
    address: PublicAddress = request.app.state.public_address
    scopes = {"scopes_supported": settings.oidc.scopes.split()} if settings.auth.mode == "keys" else {}
    return JSONResponse(
        {
            "resource": address.of(request.headers) + request.scope["path"].removeprefix(WELL_KNOWN),
            "resource_name": "Citewell",
            "authorization_servers": [token_issuer(settings)],
            "bearer_methods_supported": ["header"],
            **scopes,
        }
    )


def mount_metadata(app: FastAPI, settings: Settings) -> None:
    """Mount the metadata where there is an issuer to tell."""
    if token_issuer(settings) is not None:
        app.router.routes += [Route(path, get_metadata, include_in_schema=False) for path in sorted(METADATA_PATHS)]
