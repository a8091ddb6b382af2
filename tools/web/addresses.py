"""Addresses of pages in one spelling: what names the same page is the same text, as far as an address can tell."""

import re
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit
from uuid import UUID, uuid5

import httpx2

from tools.web.guard import LONGEST_URL, PORTS

_TRACKING = re.compile(
    r"(?:utm_\w+|gclid|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|igshid|mc_[ce]id|_ga|_gl|_hsenc|_hsmi"
    r"|mkt_tok|vero_id|oly_(?:anon|enc)_id)",
    re.IGNORECASE,
)
_ENCODED = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_PAGES = UUID("0b6f0e67-6d8e-5a39-8a58-6a51c6c53c1f")


def is_address(text: str) -> bool:
    """Whether a text is the address of a web page, rather than the path of a file."""
    return re.match(r"https?://[^\s/]", text, re.IGNORECASE) is not None


def canonical_address(url: str, base: str = "") -> str | None:
    """Return an address in its one spelling, without fragment and tracking parameters; None if it is none.

    Scheme and host are in lower case, the port is left out where it is the usual one, dots in the path are resolved,
    and letters that need no encoding have none. A relative address is one below ``base``.
    """
    url = url.strip()
    if not url or len(url) > LONGEST_URL:
        return None
    try:
        joined = urljoin(base, url) if base else url
        # Resolves the dots of the path. Without the one before it, a path that begins with two slashes would be a host.
        parts = urlsplit(urljoin(joined, f"/.{urlsplit(joined).path or '/'}"))
        parts = parts._replace(query=urlsplit(joined).query)
        if parts.scheme not in PORTS or not parts.hostname:
            return None
        host = httpx2.URL(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}").raw_host.decode("ascii").lower()
        port = parts.port
    except (ValueError, httpx2.InvalidURL, UnicodeError):
        return None
    host = f"[{host}]" if ":" in host else host.rstrip(".")
    if not host:
        return None
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""  # the guard refuses it
    netloc = host if port in (None, PORTS[parts.scheme]) else f"{host}:{port}"
    query = "&".join(
        each for each in parts.query.split("&") if each and not _TRACKING.fullmatch(each.partition("=")[0])
    )
    spelled = urlunsplit(SplitResult(parts.scheme, user + netloc, _spelled(parts.path) or "/", _spelled(query), ""))
    return spelled if len(spelled) <= LONGEST_URL else None


def _spelled(text: str) -> str:
    """Encode what is not ASCII and white space, and spell encoded letters in one way."""
    encoded = "".join(
        letter if "!" <= letter <= "~" else "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "replace"))
        for letter in text
    )

    def normal(found: re.Match[str]) -> str:
        letter = chr(int(found[1], 16))
        return letter if _UNRESERVED.fullmatch(letter) else f"%{found[1].upper()}"

    return _ENCODED.sub(normal, encoded)


def host_of(address: str) -> str:
    """Return the host of a canonical address, with its port if that is not the usual one."""
    return urlsplit(address).netloc.rpartition("@")[2]


def folder_of(address: str) -> str:
    """Return the path that a site below an address has: that of its folder where it names a file."""
    path = urlsplit(address).path
    head, _, last = path.rpartition("/")
    return f"{head}/" if "." in last else path


def is_below(address: str, host: str, folder: str) -> bool:
    """Whether an address is on a host and at a path, or below it. Both http and https are."""
    path = urlsplit(address).path
    return host_of(address) == host and (path == folder or path.startswith(f"{folder.rstrip('/')}/"))


def document_id_of(workspace: str, address: str) -> str:
    """Return the id of the document that a workspace has of an address."""
    return str(uuid5(_PAGES, f"{workspace}\n{address}"))
