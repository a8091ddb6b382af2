"""Addresses as people and logs are told them: without the credentials that stand in them."""

import re

HIDDEN = "…"
_USER = re.compile(r"(?<=://)[^\s/?#\"'<>]*@")
_SECRET = re.compile(
    r"(?<=[?&])([\w.~%-]*(?:key|token|secret|passw|pwd|sig|auth|credential|code)[\w.~%-]*=)[^\s&#\"'<>]+", re.IGNORECASE
)


def without_credentials(text: str) -> str:
    """Return a text whose addresses have no user, no password, and no value of a parameter that is named like a key."""
    return _SECRET.sub(rf"\g<1>{HIDDEN}", _USER.sub(f"{HIDDEN}@", text)) if "://" in text else text
