"""Read an HTML tag as a browser does, and say where it leads or what it would run.

Attributes are taken to lead somewhere unless they are known not to, and a tag that runs or embeds something leads to
itself.
"""

import re
from collections.abc import Iterator

_BEGUN = re.compile(r"<(?=/?[A-Za-z]|[!?][A-Za-z\[-])")
_WHOLE = re.compile(r"<(?:!--.*?-->|[/!?]?[A-Za-z\[](?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>)", re.DOTALL)
_NAME = re.compile(r"<[/!?]?([A-Za-z][^\s/>]*)")
_POINTED = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>]*>")  # an address in angle brackets, found as one
_ATTRIBUTE = re.compile(r"([^\s/>=\"'][^\s/>=]*)(?:\s*=\s*(?:\"([^\"]*)\"?|'([^']*)'?|([^\s>]*)))?")
_STYLE_LEADS = re.compile(r"url|image|@import|src|expression|behavior|binding|\\|/\*", re.IGNORECASE)
_INERT = """class id align valign colspan rowspan span width height border title alt lang dir start type name value
    scope open cellpadding cellspacing checked disabled rel target reversed color size face loading decoding
    referrerpolicy headers abbr datetime nowrap hidden tabindex role"""
_ACTIVE = """script iframe object embed applet base meta link style form input button textarea select svg math audio
    video frame frameset portal template noscript xml xss foreignobject animate set use isindex keygen marquee param
    import layer ilayer bgsound plaintext xmp listing noembed noframes"""
INERT_ATTRIBUTES = frozenset(_INERT.split())
ACTIVE_TAGS = frozenset(_ACTIVE.split())
LEADING_TAGS = ACTIVE_TAGS | {"a", "img", "image", "source", "picture"}


def tags_begun(text: str) -> Iterator[tuple[int, int | None]]:
    """Give where each tag begins and ends, None where nothing closes it."""
    last = text.rfind(">")
    for begun in _BEGUN.finditer(text):
        whole = _WHOLE.match(text, begun.start()) if begun.start() < last else None
        yield begun.start(), whole.end() if whole else None


def targets_of_tag(tag: str) -> tuple[str, ...]:
    """Give where a whole tag leads; nothing where it leads nowhere and runs nothing."""
    if tag.startswith("<!--"):
        return ()
    if _POINTED.fullmatch(tag):
        return ()
    named = _NAME.match(tag)
    if named is None or tag.startswith(("<!", "<?")):
        return () if re.match(r"<!doctype\b", tag, re.IGNORECASE) else (" ".join(tag.split()),)
    name = named[1].lower().rpartition(":")[2]
    targets = () if tag.startswith("</") else _leading(tag[named.end() :].removesuffix(">"))
    if name in ACTIVE_TAGS and not targets:
        return (" ".join(tag.split()).lower(),)
    return targets


def targets_of_begun(text: str) -> tuple[str, ...]:
    """Give where a tag would lead that nothing closes: what follows the answer might close it."""
    named = _NAME.match(text)
    if named is None:
        return (text[:80],) if text.startswith("<!--") else ()
    if not re.match(r"[\s/]", text[named.end() :]) and named.end() < len(text):
        return ()
    name = named[1].lower().rpartition(":")[2]
    targets = _leading(text[named.end() :])
    return targets or ((named[0],) if name in LEADING_TAGS else ())


def _leading(attributes: str) -> tuple[str, ...]:
    targets: list[str] = []
    for found in _ATTRIBUTE.finditer(attributes):
        name = found[1].lower()
        value = next((group for group in found.groups()[1:] if group is not None), "").strip()
        if not value or name in INERT_ATTRIBUTES or (name == "style" and not _STYLE_LEADS.search(value)):
            continue
        if name.endswith("srcset"):
            targets += [part.split()[0] for part in value.split(",") if part.strip()]
        else:
            targets.append(value)
    return tuple(dict.fromkeys(targets))
