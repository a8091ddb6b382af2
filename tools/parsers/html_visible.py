"""What a reader of a page sees of it: neither its frame (navigation, forms, cookie bars) nor its hidden text."""

import re
from itertools import islice
from typing import Any


def names_of(words: str) -> frozenset[str]:
    """Return the set of some words."""
    return frozenset(words.split())


_FRAME_TAGS = names_of(
    """
    annotation button canvas dialog head iframe nav noscript object script select style svg template textarea
    title
    """
)
_FRAME_NAMES = names_of(
    """
    breadcrumb breadcrumbs clipboard-copy copy-button copybutton docnav edit-link edit-this-page editlink footer
    gutter header-nav indexdiv-quicklinks lineno linenodiv linenos line-numbers-rows mathjax_preview mobile-nav
    mw-editsection mw-jump-link nav nav-links nav-panel navbar navbox navfooter navheader navigation nodebar nosearch
    pagination page-nav pagination-nav rst-versions skip-link skip-to-content skiplink skipnav site-footer
    site-nav sphinxsidebar theme-doc-breadcrumbs theme-doc-footer theme-doc-sidebar-container
    theme-edit-this-page toolbar topnav viewcode-back viewcode-link
    """
)
_FRAME_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar", "dialog"})
_FRAME_IDS = names_of(
    "banner breadcrumb breadcrumbs footer nav navbar navigation menu search searchbox sidebar skip-link toolbar"
)
_COOKIE_BAR = re.compile(r"\b(?:cookie|consent|gdpr)[-_]?(?:bar|banner|consent|notice|popup|message|modal|overlay)\b")
_PERMALINKS = names_of(
    "headerlink hash-link anchor-link anchorjs-link copiable-link copiable-anchor permalink footnote-back "
    "footnote-backref data-footnote-backref reversefootnote"
)
_PERMALINK_SIGNS = frozenset(["", *"¶#§🔗\u200b^↑↩⏎", "↩\ufe0e", "↩\ufe0f", "Permalink"])
_NOTES_OF_BOOKS = names_of("footnote footnotes endnote endnotes rearnote rearnotes note notes")
_NOTE_MARKS = names_of("noteref footnote-ref footnote-reference footnoteref footnote-mark fnref")
_SITE = re.compile(r"(?:https?://[^/]*)?(?:\.{0,2}/)*(?:index\.html?)?")
_TEXT_BOXES = names_of("admonition footnote footnote-list system-message topic theme-admonition markdown-alert")
NOTES = names_of(
    """
    admonition admonitionblock attention caution danger deprecated error hint important markdown-alert note
    seealso sidebar sidebarblock theme-admonition tip versionadded versionchanged versionremoved warning
    """
)
TELLS_NOTHING = names_of("accesskey align alt colspan href name rel rowspan src tabindex target title valign")
_TELLING = TELLS_NOTHING | {"class", "style"}  # with these alone, what is seen does not depend on the place

_PROPERTIES = names_of(
    """
    background background-color color display font-size height left list-style list-style-type margin-left max-height
    max-width opacity overflow right text-decoration text-decoration-line text-indent top vertical-align visibility
    width
    """
)
_COMMENT = re.compile(r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)")
_SELECTOR = re.compile(r"([a-z][a-z0-9]*)?(?:([.#])([\w-]+))?", re.IGNORECASE)
_LENGTH = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))(px|pt|em|rem|%|vw|ch)?")
_COLOURS = {"white": (255, 255, 255), "black": (0, 0, 0), "snow": (255, 250, 250), "ivory": (255, 255, 240)}
_CLEAR = (-1, -1, -1)
_LEAST_CONTRAST = 32
Colour = tuple[int, int, int]


class Visibility:
    """The rules of one page, from its style sheets of its own, for what of it is read."""

    def __init__(self, page: Any, *, in_main: bool) -> None:
        """``in_main`` says that only the main part, as the page itself marks it, is read."""
        self._in_main = in_main
        self._rules: dict[str, dict[str, str]] = {}
        self._styles: dict[str, dict[str, str]] = {}
        self._settings: dict[tuple[str | None, ...], str] = {}
        self._sets = False  # whether a rule may raise, lower or break text within a line
        self._pointed_at: frozenset[str] | None = None
        self._page = page
        self._behind: dict[Any, Colour | None] = {}
        for sheet in page.iter("style"):
            self._read_rules(_COMMENT.sub("", sheet.text or ""))

    def is_frame(self, element: Any) -> bool:
        """Whether an element leads to other pages or serves the page, rather than being its text."""
        tag = element.tag
        if tag in _FRAME_TAGS:
            return True
        if tag == "form":  # some pages are one form as a whole
            within = next(element.iterancestors("form"), None) is not None
            return not within and next(element.iter("p", "h1", "h2", "h3", "main"), None) is None
        if tag == "footer":
            return element.getparent() is None or element.getparent().tag not in ("blockquote", "figure")
        names = (element.get("class") or "").lower().split()
        if tag == "aside" and not self._in_main and _TEXT_BOXES.isdisjoint(names):
            return not (_is_titled(element) or is_note(element) or self._is_pointed_at(element))
        if names and self._names_frame(element, names):
            return True
        if element.get("role") in _FRAME_ROLES:
            return True
        identity = element.get("id")
        return identity is not None and tag in ("div", "ul", "p", "table") and _is_frame_id(identity.lower(), names)

    def _names_frame(self, element: Any, names: list[str]) -> bool:
        if not _FRAME_NAMES.isdisjoint(names) and element.tag not in ("body", "html"):
            return True
        if "menu" in names and element.tag not in ("ul", "table", "dl"):  # those of texinfo are tables of contents
            return True
        if "related" in names and element.tag == "div":
            return True
        if "sidebar" in names and element.tag == "div" and not _is_titled(element):
            return True
        return _COOKIE_BAR.search(" ".join(names)) is not None

    def is_hidden(self, element: Any) -> bool:
        """Whether text is struck out, not displayed, or cannot be seen for its size, place or colour."""
        tag = element.tag
        if tag in ("del", "s", "strike"):
            return True
        if tag == "aside" and is_note(element):  # a reader of books shows it where its mark is pressed
            return False
        if element.get("hidden") is not None or element.get("aria-hidden") == "true":
            return True
        style = self._style(element)
        if not style or tag in ("html", "body"):  # pages that appear once their script has run
            return False
        if is_concealed(style):
            return not _is_formula_alone(element)  # of which a picture is seen instead
        return "color" in style and self._lacks_contrast(element, style["color"])

    def is_told_by_attributes(self, element: Any) -> bool:
        """Whether all elements of its tag, class and style are seen as this one is, wherever they stand."""
        if element.tag in ("form", "footer", "aside") or not _TELLING.issuperset(element.keys()):
            return False
        style = self._style(element)
        is_sidebar = "sidebar" in (element.get("class") or "").lower().split()
        return not is_sidebar and "color" not in style and not is_concealed(style)

    def setting(self, element: Any) -> str:
        """Return how an inline element is set by its tag or style: super, sub, block, or "" for none of these."""
        tag = element.tag
        if tag in ("sup", "sub"):
            return "super" if tag == "sup" else "sub"
        style = element.get("style")
        if style is None and not self._sets:
            return ""
        key = (tag, style, element.get("class"))
        known = self._settings.get(key)
        if known is None:
            known = self._settings[key] = _setting(self._style(element))
        return known

    def list_style(self, element: Any) -> str:
        """Return how the page numbers a list, in the words of CSS; "" where it does not say."""
        style = self._style(element)
        named = style.get("list-style-type") or style.get("list-style", "")
        return next((word for word in named.split() if word not in ("inside", "outside")), "")

    def _is_pointed_at(self, element: Any) -> bool:
        """Whether a link of the page leads to an element: an aside is no note of its margin then."""
        if self._pointed_at is None:
            links = (link.get("href") or "" for link in self._page.iter("a"))
            self._pointed_at = frozenset(href[1:] for href in links if href.startswith("#"))
        return element.get("id") in self._pointed_at

    def _read_rules(self, sheet: str) -> None:
        """Read the rules for a single tag, class or id; those within ``@media`` hold only sometimes."""
        depth = 0
        prelude = ""
        for part in re.split(r"([{}])", sheet):
            if part == "{":
                depth += 1
            elif part == "}":
                depth = max(0, depth - 1)
            elif depth == 0:
                prelude = part
            elif depth == 1 and not prelude.lstrip().startswith("@"):
                declared = {name: value for name, value in declarations(part).items() if name in _PROPERTIES}
                self._sets = self._sets or "vertical-align" in declared or _setting(declared) != ""
                for selector in prelude.split(",") if declared else ():
                    found = _SELECTOR.fullmatch(selector.strip())
                    if found and found[0]:
                        key = f"{found[2]}{found[3]}" if found[2] else found[0].lower()
                        self._rules.setdefault(key, {}).update(declared)

    def _style(self, element: Any) -> dict[str, str]:
        written = element.get("style") or ""
        if element.tag == "font" and element.get("color"):
            written = f"color:{element.get('color')};{written}"
        if element.get("bgcolor"):
            written = f"background-color:{element.get('bgcolor')};{written}"
        known = self._styles.get(written)
        if known is None:
            known = self._styles[written] = declarations(written)
        if self._rules:
            keys = [element.tag, *(f".{name}" for name in (element.get("class") or "").split())]
            keys += [f"#{element.get('id')}"] if element.get("id") else []
            ruled = [self._rules[key] for key in keys if key in self._rules]
            return {name: value for style in (*ruled, known) for name, value in style.items()} if ruled else known
        return known

    def _lacks_contrast(self, element: Any, value: str) -> bool:
        colour = _colour(value)
        if colour is None or colour == _CLEAR:
            return colour == _CLEAR
        behind = self._background(element)
        return behind is not None and max(abs(a - b) for a, b in zip(colour, behind, strict=True)) < _LEAST_CONTRAST

    def _background(self, element: Any) -> Colour | None:
        """Return the colour behind an element: white if the page tells none, None if unknown (highlighted code)."""
        passed: list[Any] = []
        found: Colour | None = (255, 255, 255)
        at = element
        while at is not None:
            if at in self._behind:
                found = self._behind[at]
                break
            passed.append(at)
            style = self._style(at)
            told = style.get("background-color") or style.get("background") or "transparent"
            colour = _colour(told)
            if colour != _CLEAR and told not in ("none", "inherit", "initial", "unset"):
                found = colour  # None for a picture or a variable
                break
            if at.tag == "pre":
                found = None
                break
            at = at.getparent()
        self._behind.update(dict.fromkeys(passed, found))
        return found


def is_permalink(element: Any) -> bool:
    """Whether a link is the sign beside a heading or term that leads to itself, or back from a footnote."""
    names = (element.get("class") or "").split()
    if not _PERMALINKS.isdisjoint(names):
        return True
    if len(element):
        return False
    sign = "".join((element.text or "").split())
    if element.get("role") == "doc-backlink":  # a heading that leads back to the table of contents is one too
        return not any(letter.isalnum() for letter in sign)
    return (element.get("href") or "").startswith("#") and sign in _PERMALINK_SIGNS


def types_of(element: Any, *names: str) -> set[str]:
    """Return what attributes of some names, by default those of EPUB, ARIA and its class, say that an element is."""
    said = [said for name in names or ("epub:type", "role", "class") if (said := element.get(name))]
    return {word.removeprefix("doc-") for word in " ".join(said).split()} if said else set()


def is_note(element: Any) -> bool:
    """Whether an element is a footnote or endnote, or holds them."""
    return not _NOTES_OF_BOOKS.isdisjoint(types_of(element, "epub:type", "role"))


def is_note_mark(element: Any) -> bool:
    """Whether a link or raised text marks a note, as the file itself says."""
    return not _NOTE_MARKS.isdisjoint(types_of(element))


def leads_to_note(raised: Any) -> bool:
    """Whether raised text is, holds or stands in a link to a place of the page or book."""
    near = [raised, *islice(raised.iterancestors(), 2), *islice(raised.iter("a"), 3)]
    return any(
        is_note_mark(part) or (part.tag == "a" and "#" in (part.get("href") or "")) for part in near
    ) or "reference" in types_of(raised)


def draws_formula(element: Any) -> bool:
    """Whether a hidden element or picture only draws the formula that MathML beside it says."""
    around = element.getparent()
    return around is not None and len(around) < 5 and next(around.iter("math"), None) is not None


def _is_formula_alone(element: Any) -> bool:
    while element.tag != "math" and len(element) == 1 and not (element.text or "").strip():
        element = element[0]
    return bool(element.tag == "math")


def leads_to_site(href: str | None) -> bool:
    """Whether a link leads to the first page of a site, as the site's name in a banner does."""
    return bool(href) and _SITE.fullmatch(href or "") is not None


def _is_titled(element: Any) -> bool:
    """Whether a sidebar is one of DocBook or docutils, text with a title, rather than a site's."""
    return any(
        not {"title", "sidebar-title", "admonition-title", "topic-title"}.isdisjoint((part.get("class") or "").split())
        for part in islice(element.iter("p", "div", "h3"), 12)
    )


def _is_frame_id(identity: str, names: list[str]) -> bool:
    if any(name.startswith(("sect", "chapter", "level")) for name in names):  # a section about navigation
        return False
    return identity in _FRAME_IDS or _COOKIE_BAR.search(identity) is not None


def declarations(written: str) -> dict[str, str]:
    """Return the properties that a style sets."""
    found: dict[str, str] = {}
    for declaration in written.lower().replace("!important", "").split(";"):
        name, _, value = declaration.partition(":")
        if value.strip():
            found[name.strip()] = value.strip()
    return found


def _setting(style: dict[str, str]) -> str:
    align = style.get("vertical-align", "")
    if align in ("super", "sub"):
        return align
    if "font-size" in style:
        rise = _length(style, "vertical-align", 0) or -_length(style, "top", 0)
        if rise or align in ("top", "text-top"):
            return "sub" if rise < 0 else "super"
    return "block" if style.get("display") in ("block", "flex", "grid", "table", "list-item") else ""


def is_concealed(style: dict[str, str]) -> bool:
    """Whether a style strikes an element out, or hides it whatever its colour."""
    if style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse"):
        return True
    if "line-through" in style.get("text-decoration", "") or "line-through" in style.get("text-decoration-line", ""):
        return True
    if _length(style, "opacity", 1) < 0.05 or _is_tiny(style.get("font-size", "")):
        return True
    if any(_length(style, name, 0) <= -999 for name in ("left", "right", "top", "margin-left", "text-indent")):
        return True
    return style.get("overflow") == "hidden" and 0 in (
        _length(style, name, 1) for name in ("width", "height", "max-height", "max-width")
    )


def _is_tiny(size: str) -> bool:
    found = _LENGTH.fullmatch(size)
    return found is not None and float(found[1]) < {"px": 2, "pt": 2, "%": 10}.get(found[2] or "px", 0.15)


def _length(style: dict[str, str], name: str, otherwise: float) -> float:
    found = _LENGTH.fullmatch(style.get(name, ""))
    return float(found[1]) if found else otherwise


def _colour(value: str) -> Colour | None:
    """Return a colour as red, green and blue in [0, 255], ``_CLEAR`` if it is transparent, None if it is not known."""
    first = value if value.startswith("rgb") else value.split(" ")[0]
    if first == "transparent":
        return _CLEAR
    if first in _COLOURS:
        return _COLOURS[first]
    if re.fullmatch(r"#(?:[0-9a-f]{3,4}){1,2}", first):
        digits = first[1:] if len(first) > 5 else "".join(digit * 2 for digit in first[1:])
        if digits[6:] == "00":
            return _CLEAR
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
    parts = re.findall(r"\d*\.?\d+", first) if first.startswith("rgb") and len(first) < 60 else []
    if len(parts) < 3:
        return None
    if len(parts) > 3 and float(parts[3]) < 0.05:
        return _CLEAR
    return int(float(parts[0])), int(float(parts[1])), int(float(parts[2]))
