"""Identity by headers of a trusted proxy, which has authenticated the person and lets no such header of theirs through.

The headers count only on connections from the listed addresses. From anywhere else a request that brings them is
refused: a stranger who reaches the service past the proxy must not be whom they like.
"""

import logging
import re
import secrets
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

from graph.errors import NotAuthenticated, UntrustedProxy
from tools.auth.identities import Grant, checked_grant
from tools.settings import Settings

log = logging.getLogger("citewell.identity")

# What Caddy sends in place of a header that its source lacks.
SECRET_HEADER = "X-Proxy-Secret"  # any proxy can add a header of any name
_UNFILLED = re.compile(r"\{[^{}]*\}")

SentHeader = Callable[[str], list[str]]  # all values of a header, decoded as Latin-1


class AuthProxy:
    """What the headers of a deployment's proxies say about a request."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.auth_proxy
        self._trusted = settings.http.trusted_proxies
        self._default_workspace = settings.auth.default_workspace
        self._secret = self._settings.secret.get_secret_value()
        named = (self._settings.user_header, self._settings.groups_header, self._settings.workspace_header)
        self._headers = tuple(name for name in named if name is not None)

    def identify(self, peer: str | None, sent: SentHeader) -> Grant:
        """Return what the proxy says that a request may do; ``peer`` is the address at the socket's other end.

        Raises UntrustedProxy if a header names somebody and does not come from a trusted proxy, and NotAuthenticated if
        none does, or if one is sent twice or names nobody.
        """
        present = [name for name in self._headers if sent(name)]
        if not self._is_trusted(peer, sent):
            if present:
                log.warning(
                    "refused %s from %s, which is not a trusted proxy", ", ".join(present), peer or "an unknown peer"
                )
                raise UntrustedProxy(f"{present[0]} counts only from a trusted proxy.")
            raise NotAuthenticated("The request did not come through the proxy.", suggestion="Call through the proxy.")
        for name in present:
            if len(sent(name)) > 1:
                raise NotAuthenticated(f"{name} was sent twice.", suggestion="Let the proxy replace it.")
        settings = self._settings
        workspace: object = self._default_workspace
        if settings.workspace_header is not None and sent(settings.workspace_header):
            workspace = self._list(settings.workspace_header, sent)
        user = self._text(settings.user_header, sent)
        try:
            return checked_grant(workspace, user, self._list(settings.groups_header, sent))
        except ValueError as error:
            what, _, why = str(error).partition(": ")
            names = {
                "user": settings.user_header,
                "groups": settings.groups_header,
                "workspace": settings.workspace_header,
            }
            message = f"The proxy's header {names[what]} does not name a {what}: {why}."
            raise NotAuthenticated(message, suggestion="Configure the proxy to send it.") from None

    def _is_trusted(self, peer: str | None, sent: SentHeader) -> bool:
        try:
            address = ip_address(peer or "")
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped  # what a socket for both families calls an IPv4 peer
        if not any(address in network for network in self._trusted):
            return False
        if not self._secret:
            return True
        given = sent(SECRET_HEADER)
        return len(given) == 1 and secrets.compare_digest(given[0].encode(), self._secret.encode())

    def _text(self, name: str, sent: SentHeader) -> str | None:
        values = sent(name)
        if not values or _UNFILLED.fullmatch(values[0].strip()):
            return None
        try:
            return values[0].encode("latin-1").decode().strip()
        except UnicodeDecodeError:
            raise NotAuthenticated(f"{name} is not UTF-8.", suggestion="Configure the proxy to send UTF-8.") from None

    def _list(self, name: str, sent: SentHeader) -> list[str]:
        return [part.strip() for part in (self._text(name, sent) or "").split(",") if part.strip()]
