"""The formulas of a page: MathML, LaTeX that a script draws, and pictures whose words are LaTeX."""

import re
from collections.abc import Callable
from typing import Any, Literal

from lxml import etree

from tools.parsers.linear_formulas import from_latex, from_mathml, latex_in

Mark = Callable[[str, Literal["mathml", "latex"], str], str]
_MATHML = ("math", "m:math", "mml:math")
_DRAWN = frozenset({"math", "arithmatex"})  # classes of elements that hold LaTeX alone
_SIGNS = ("math", 'class="tex"', 'class="latex"')
# What a page's script would draw: the content holds no sign of another formula, so that none is looked through twice.
_IN_TEXT = re.compile(r"\\\((?:[^\\]|\\[^()])+\\\)|\\\[(?:[^\\]|\\[^\[\]])+\\\]|\$\$[^$]+\$\$")
_DRAWS = re.compile("mathjax|katex", re.IGNORECASE)
_DELIMITED = re.compile(r"\\[(\[](.*)\\[)\]]|\$\$?(.*?)\$?\$|(.*)", re.DOTALL)


def formulas_of(page: Any, html: str) -> frozenset[Any]:
    """Return the elements of a page that are formulas; most pages have none, as their source shows."""
    if not any(sign in html for sign in _SIGNS):
        return frozenset()
    return frozenset(part for part in page.iter("script", "img", "span", "div", "math-renderer", *_MATHML) if _is(part))


def _is(part: Any) -> bool:
    if part.tag == "script":
        return (part.get("type") or "").startswith("math/tex")
    names = (part.get("class") or "").split()
    if part.tag == "img":
        return names in (["tex"], ["latex"], ["math"]) or any(name.startswith("mwe-math") for name in names)
    return part.tag not in ("span", "div") or (not _DRAWN.isdisjoint(names) and not len(part))


def formula(element: Any, mark: Mark) -> str:
    """Return a formula's element as a marked line, or as the LaTeX that it is written in."""
    if element.tag in _MATHML:
        latex = latex_in(element)
        source = latex or etree.tostring(element, encoding="unicode", with_tail=False)
        line = from_mathml(element)
        line = mark(line, "latex" if latex else "mathml", source) if line else ""
        return f" {line} " if element.get("display") == "block" else line
    said = element.get("alt") if element.tag == "img" else "".join(element.itertext())
    return latex_formula(said or "", mark)


def latex_formula(written: str, mark: Mark) -> str:
    """Return LaTeX, with or without its delimiters, as a marked line, or as it is if that fails."""
    found = _DELIMITED.fullmatch(written.strip())
    latex = next((part for part in found.groups() if part is not None), "").strip() if found else ""
    line = from_latex(latex) if latex else None
    return mark(line, "latex", latex) if line else written


def draws_latex(page: Any) -> bool:
    """Whether a script of the page draws the LaTeX in its text."""
    return any(_DRAWS.search(script.get("src") or script.text or "") for script in page.iter("script"))


def with_formulas(words: str, mark: Mark) -> str:
    """Return text in which the LaTeX that a page's script would draw is written as lines."""
    return _IN_TEXT.sub(lambda found: latex_formula(found[0], mark), words)
