"""Requests that a browser makes in a person's name: where we are for it, our cookies, and other sites' pages.

A browser sends a cookie along with requests that another site's page makes (cross-site request forgery). So a cookie
counts only where the browser says that our own page asked: by `Sec-Fetch-Site`, or by `Origin` if it is too old for
that. Pages cannot set either. Links from elsewhere may open a document or a share, which changes nothing.
"""

import re
from collections.abc import Container
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response

from graph.errors import ConfigurationError, CrossSiteRequest, InvalidRequest
from tools.auth.identities import is_loopback
from tools.settings import Settings

OURS = frozenset({"same-origin", "none"})  # asked by our page, or by the person: an address typed, a bookmark
SAFE = frozenset({"GET", "HEAD"})
_OPENABLE = re.compile(r"(?:/documents/[^/]+|/shares/[^/]+|/api/documents/[^/]+/original)\Z")
LOGIN_COOKIE = "citewell-login"
ATTEMPT_COOKIE = "citewell-attempt-"  # and the attempt's state: each tab that logs in has its own
ATTEMPT_SECONDS = 600
LONGEST_NEXT = 1000
_UNFIT_NEXT = re.compile(r"[^!-~]|\\")


class PublicAddress:
    """The address at which browsers reach the service, as the settings say, or as a browser on this machine does."""

    def __init__(self, settings: Settings) -> None:
        """Set the address. Raises ConfigurationError if people log in and a cookie could be read on the way."""
        self._url = settings.public_url
        if not settings.oidc.issuer:
            return
        if self._url is None and not is_loopback(settings.host):
            raise ConfigurationError(
                "public_url: people log in, and nothing says at which address.",
                suggestion="Set CITEWELL_PUBLIC_URL to the https address that browsers use.",
            )
        if self._url is not None and not (self._url.startswith("https://") or names_loopback(self._url)):
            raise ConfigurationError(
                "public_url: people log in, so it must be https or this machine.",
                suggestion="Put a proxy with TLS before the service, and set its https address.",
            )

    def of(self, headers: Headers) -> str:
        """Return the address without a slash at its end. Raises InvalidRequest if neither says it."""
        if self._url is not None:
            return self._url
        host = headers.get("host", "")
        if not names_loopback(f"//{host}"):
            raise InvalidRequest(
                "Host: it must name this machine, since no public address is set.",
                suggestion="Open the service as localhost, or set CITEWELL_PUBLIC_URL.",
            )
        return f"http://{host}"

    @property
    def home(self) -> str:
        """The path of the page on its host, with a slash at its end."""
        return f"{urlsplit(self._url or '').path}/"

    def owns(self, origin: str, headers: Headers) -> bool:
        """Whether an Origin is our own; without a public address, whether it is the one that Host names."""
        try:
            url = self._url if self._url is not None else f"{urlsplit(origin).scheme}://{headers.get('host')}"
            parts = urlsplit(url)
        except ValueError:  # an unclosed bracket
            return False
        return origin.lower() == f"{parts.scheme}://{parts.netloc}".lower()

    def cookie_name(self, name: str) -> str:
        """Return a cookie's full name; over https its prefix keeps other hosts of the domain from setting it."""
        return f"__Host-{name}" if self._is_secure else name

    def set_cookie(self, response: Response, name: str, value: str, seconds: float) -> None:
        """Set a cookie that no script reads and, from other sites, only links send; 0 seconds removes it."""
        response.set_cookie(
            self.cookie_name(name),
            value,
            max_age=int(seconds),
            path="/",
            secure=self._is_secure,
            httponly=True,
            samesite="lax",
        )

    def cookie(self, headers: Headers, name: str) -> str | None:
        """Return the value of one of our cookies, or None if it is not sent, or sent with different values."""
        full = self.cookie_name(name)
        pairs = (pair.partition("=") for pair in ";".join(headers.getlist("cookie")).split(";"))
        values = {value.strip() for key, _, value in pairs if key.strip() == full}
        return values.pop() if len(values) == 1 else None

    @property
    def _is_secure(self) -> bool:
        return self._url is not None and self._url.startswith("https://")


def refuse_cross_site(
    connection: HTTPConnection,
    address: PublicAddress,
    *,
    allowed: frozenset[str] = frozenset(),
    silent_ones: bool = False,
) -> None:
    """Raise CrossSiteRequest unless our own page, a page of an allowed origin, or the person made the browser send it.

    ``silent_ones`` lets a request pass that says nothing of where it comes from, as programs do; a browser always does
    where something changes.
    """
    headers = connection.headers
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if origin is not None and origin.lower() in allowed:
        return
    if site is not None:
        ours = site in OURS
    elif origin is not None:
        ours = address.owns(origin, headers)
    else:
        ours = silent_ones
    if not ours and not opens_document(connection):
        raise CrossSiteRequest("The browser does not say that this service's own page sent the request.")


def opens_document(connection: HTTPConnection) -> bool:
    """Whether a person follows a link to a document or a share, from wherever."""
    return _navigates(connection) and _OPENABLE.match(connection.scope["path"]) is not None


def opens_page(connection: HTTPConnection, paths: Container[str]) -> bool:
    """Whether a person follows a link to one of these paths, from wherever."""
    return _navigates(connection) and connection.scope["path"] in paths


def _navigates(connection: HTTPConnection) -> bool:
    headers = connection.headers
    return (
        connection.scope["method"] in SAFE
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def safe_next(wanted: str | None, home: str) -> str:
    """Return where to go after a login, if that is a path of this host, or else ``home``.

    A path that begins with two slashes, or with a backslash among them, would be another host for a browser.
    """
    if (
        not wanted
        or len(wanted) > LONGEST_NEXT
        or not wanted.startswith("/")
        or wanted.startswith("//")
        or _UNFIT_NEXT.search(wanted)
    ):
        return home
    return wanted


def names_loopback(url: str) -> bool:
    """Whether a URL or an origin is on this machine."""
    try:
        host = urlsplit(url).hostname
    except ValueError:  # an unclosed bracket
        return False
    return host is not None and is_loopback(host)
