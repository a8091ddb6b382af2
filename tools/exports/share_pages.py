"""The pages of a share that does not open: because there is none, or until it is known who asks."""

from tools.exports.html_report import POLICY, Element, h, whole_page
from tools.exports.wording import Words

_CLOSED_POLICY = f"{POLICY}; frame-ancestors 'none'"
_ASKING_POLICY = _CLOSED_POLICY.replace("form-action 'none'", "form-action 'self'")


def closed_page(words: Words) -> tuple[bytes, str]:
    """Return the page of a share that does not open, and its policy."""
    return _page(words, words("closed_title"), h("p", {}, words("closed_text"))), _CLOSED_POLICY


def asking_page(words: Words, *, login: str, by_key: bool, tried: bool) -> tuple[bytes, str]:
    """Return the page that asks who opens a share, and its policy.

    ``login`` is the address at which people log in, "" where they don't; ``by_key``: a key or a token opens it too;
    ``tried``: the one that was sent is not good.
    """
    field = h(
        "form",
        {"method": "post", "autocomplete": "off"},
        h("label", {"for": "key"}, words("key_label")),
        h("input", {"id": "key", "name": "key", "type": "password", "required": "required"}),
        h("button", {"type": "submit"}, words("key_open")),
    )
    body = [
        h("p", {}, words("asking_text")),
        h("p", {"class": "notice", "role": "alert"}, words("key_wrong")) if tried else None,
        h("p", {}, h("a", {"href": login}, words("login"))) if login else None,
        field if by_key else None,
    ]
    return _page(words, words("asking_title"), *body), _ASKING_POLICY


def _page(words: Words, title: str, *body: Element | None) -> bytes:
    return whole_page(words, title, h("main", {}, h("h1", {}, title), *body))
