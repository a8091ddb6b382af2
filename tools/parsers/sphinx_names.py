"""What the directives and roles of docutils, Sphinx and their common extensions mean to a reader."""

import re
from typing import Literal

Meaning = Literal[
    "admonition",  # its title is known: ADMONITIONS
    "change",  # a note on a version: CHANGES
    "titled",  # its argument is the title of its body
    "described",  # its arguments are what its body describes: a function, an option, a setting
    "body",  # its body alone is shown
    "code",
    "quote",
    "nothing",
]

_ADMONITIONS = "attention caution danger error hint important note tip todo warning"
ADMONITIONS = {name: name.capitalize() for name in _ADMONITIONS.split()} | {"seealso": "See also"}
CHANGES = {f"version{dash}{what}": f"{what.capitalize()} in version" for what in ("added", "changed", "removed")
           for dash in ("", "-")}  # fmt: skip
CHANGES |= dict.fromkeys(("deprecated", "deprecated-removed", "version-deprecated"), "Deprecated since version")
_TITLED = "admonition card collapse details dropdown grid-item-card group-tab sidebar tab tab-item topic"
_BODIES = """article aside class compound cond container content-tabs cssclass div dropdowns grid grid-item hlist
    ifconfig line-block module-body only rst-class section tab-set tabs versionmodified"""
_CODE = """bash code code-block code-tab cmdoption-block command-output console doctest highlight-code ipython ipython3
    jinja literal math parsed-literal prompt productionlist pycon python shell shell-session sourcecode terminal
    testcode testoutput"""
_QUOTES = "epigraph highlights pull-quote"
_NOTHING = """auto-pytabs autosummary automodule bibliography blockdiag card-carousel click-meta codeauthor contents
    currentmodule date default-domain default-role digraph footbibliography footer graph graphviz header highlight
    highlightlang include index inheritance-diagram jsonschema linksourcecode literalinclude mermaid meta module
    moduleauthor namespace plantuml plot program py-module raw role sectionauthor sectnum tabularcolumns target-notes
    testcleanup testsetup title toctree uml"""
_MEANINGS: dict[str, Meaning] = {
    **dict.fromkeys(ADMONITIONS, "admonition"),
    **dict.fromkeys(CHANGES, "change"),
    **dict.fromkeys(_TITLED.split(), "titled"),
    **dict.fromkeys(_BODIES.split(), "body"),
    **dict.fromkeys(_CODE.split(), "code"),
    **dict.fromkeys(_QUOTES.split(), "quote"),
    **dict.fromkeys(_NOTHING.split(), "nothing"),
}
_DOMAINS = frozenset({"c", "confval", "cpp", "http", "js", "make", "py", "std"})
_CODE_OF_DOMAIN = frozenset({"class", "code", "section", "title"})  # names that mean otherwise within a domain


def meaning_of(name: str, argument: str, *, has_body: bool) -> Meaning:
    """Return what a directive means, by its name or, if that is unknown, by the shape of its argument."""
    domain, _, bare = name.lower().rpartition(":")
    if (domain and bare not in _MEANINGS) or (domain in _DOMAINS and bare in _CODE_OF_DOMAIN):
        return "described"
    if bare == "class" and _is_python_class(argument, has_body):
        return "described"
    if bare in _MEANINGS:
        return _MEANINGS[bare]
    if not argument:
        return "body"
    return "titled" if " " in argument and not re.search(r"[(<\[=-]", argument) else "described"


def _is_python_class(argument: str, has_body: bool) -> bool:
    """Return whether ``class:: Name`` is Sphinx's, not docutils' class of CSS, which mostly has no body."""
    return bool(re.search(r"[A-Z(.]", argument)) or (has_body and argument.isidentifier())


_EXPLICIT_TITLE = re.compile(r"(.+?)\s*<([^<>]*)>\Z", re.DOTALL)
_FUNCTIONS = frozenset({"func", "meth", "c:func", "cpp:func", "js:func", "js:meth", "py:func", "py:meth"})
_LAST_PART = re.compile(r"[~!]*~[~!.]*[\w.]*?(\w+(?:\(.*\))?)\Z", re.DOTALL)
_PREFIXES = {"cwe": "CWE-", "gh": "#", "issue": "#", "pep": "PEP ", "pr": "#", "pull": "#", "rfc": "RFC "}
_BRACED = frozenset({"file", "samp"})
STRUCK_OUT = frozenset({"del", "deleted", "line-through", "s", "strike", "strikethrough", "struck"})
# Their text is the name of a label or file, and what is shown is the title of what it names.
LABELS = frozenset({"numref", "ref"})


def explicit_title(text: str) -> str | None:
    """Return the title of ``title <target>``, or None if the text is the target."""
    found = _EXPLICIT_TITLE.match(text)
    return found[1] if found else None


def shown(role: str, text: str) -> str:
    """Return what Sphinx shows of interpreted text: a title, the last part of ``~a.b.c``, ``PEP 8``."""
    name = role.lower()
    title = explicit_title(text)
    if title is not None:
        return title
    bare = name.rpartition(":")[2]
    if bare in _BRACED:
        return re.sub(r"\{([^{}]*)\}", r"\1", text)
    if bare == "doc":
        return text.rpartition("/")[2] or text
    if bare in _PREFIXES and text[:1].isdigit():
        return _PREFIXES[bare] + text
    if not bare or bare in ("math", "code", "literal", "kbd", "command"):
        return text
    last = _LAST_PART.match(text)
    text = last[1] if last else text.removeprefix("!")
    return f"{text}()" if name in _FUNCTIONS and not text.endswith(")") else text
