"""The formulas of a page: MathML, LaTeX that a script draws, and pictures whose words are LaTeX."""

import re
from collections.abc import Callable
from typing import Any, Literal

from lxml import etree

from tools.parsers.linear_formulas import from_latex, from_mathml, latex_in

Mark = Callable[[str, Literal["mathml", "latex"], str], str]
_FORMULAS = etree.XPath(
    "//math | //*[contains(name(), ':math')] | //math-renderer | //script[starts-with(@type, 'math/tex')]"
    " | //*[contains(concat(' ', @class, ' '), ' math ') or contains(concat(' ', @class, ' '), ' arithmatex ')]"
    "[not(*)] | //img[contains(@class, 'mwe-math') or @class = 'tex' or @class = 'latex' or @class = 'math']"
)
# What a page's script would draw: the content holds no sign of another formula, so that none is looked through twice.
_IN_TEXT = re.compile(r"\\\((?:[^\\]|\\[^()])+\\\)|\\\[(?:[^\\]|\\[^\[\]])+\\\]|\$\$[^$]+\$\$")
_DRAWS = re.compile("mathjax|katex", re.IGNORECASE)
_DELIMITED = re.compile(r"\\[(\[](.*)\\[)\]]|\$\$?(.*?)\$?\$|(.*)", re.DOTALL)


def formulas_of(page: Any) -> frozenset[Any]:
    """Return the elements of a page that are formulas."""
    return frozenset(_FORMULAS(page))


def formula(element: Any, mark: Mark) -> str:
    """Return a formula's element as a marked line, or as the LaTeX that it is written in."""
    if isinstance(element.tag, str) and element.tag.rpartition(":")[2] == "math":
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
