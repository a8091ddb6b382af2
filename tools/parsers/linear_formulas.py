"""Formulas as one line of text that keeps their value: 1/2, 10^-4, x_12, sqrt(16), 2 3/4, (a+b)/(c+d).

MathML is walked, LaTeX becomes MathML first. What is no single number, name or bracket gets brackets of its own, so
that the line says what the drawing says. The four functions for a fraction, scripts and a root serve other notations.
"""

import html
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from tools.parsers.canonical_text import without_marks

_DEEPEST = 100  # elements; what nests deeper is read as its words alone
_LONGEST_LATEX = 4000
_NUMBER = r"\d(?:[\d.,]*\d)?"
_UPPER = re.compile(rf"-?(?:[\w.,°′″‴]|\^-?{_NUMBER}(?!\S))+|[^\w\s]")  # nothing in it is weaker than a fraction's line
_LOWER = re.compile(rf"{_NUMBER}|\w(?:[\^_]{_NUMBER})?|[^\w\s]")
_BASE = re.compile(rf"{_NUMBER}|[^\W\d_][^\W_]*[\u0300-\u036f\u20d0-\u20ff′]*|[^\w\s]")
_SCRIPT = re.compile(rf"[-+±∓]?(?:{_NUMBER}|[^\W\d_]+|[^\w\s])|[-+*]+")
_FUNCTION = re.compile(r"[^\W\d_]+(?=[(])")
_OPENING, _CLOSING = "([{⟨⌊⌈", ")]}⟩⌋⌉"
_MARKS_OF_UNITS = {"∘": "°", "°": "°", "′": "′", "″": "″", "‴": "‴", "'": "′"}  # raised signs that are no powers
_ACCENTS = {"¯": "\u0304", "‾": "\u0304", "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "→": "\u20d7"}
_ACCENTS |= {"˙": "\u0307", "¨": "\u0308", "⃗": "\u20d7", "_": "\u0304", "―": "\u0304"}
_UNSPACED = frozenset("|¬~⋅∗∘∀∃∂∇∑∏∐∫∬∭∮√∞∅⁄")  # of the signs of mathematics, those without spaces around them
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064\u200b\ufeff"))
_ANNOTATIONS = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts", "maligngroup"})
_ROWS_OF_EQUATIONS = re.compile(r"\\(begin|end)\{(?:aligned|alignedat|align|split|gathered|gather|eqnarray)\*?\}")
_NO_DRAWING = re.compile(
    r"\\(?:begin|end)\{(?:equation|displaymath|math)\*?\}|\\(?:label|tag\*?)\{[^{}]*\}|\\notag|\\nonumber"
)
_MACROS = re.compile(r"\\(?:re)?newcommand|\\[gex]?def\b|\\let\b")  # a few lines of them write text without end


def fraction(above: str, below: str) -> str:
    """Write one over the other."""
    return f"{_as_one(above, _UPPER)}/{_as_one(below, _LOWER)}"


def scripts(base: str, lower: str = "", upper: str = "") -> str:
    """Write a base with its index or lower limit and its power or upper limit."""
    written = _as_one(base, _BASE) if lower or upper else base
    written += f"_{_as_one(lower, _SCRIPT)}" if lower else ""
    marks = [_MARKS_OF_UNITS.get(sign) for sign in upper]
    if upper and all(marks):
        return base + "".join(mark or "" for mark in marks) if not lower else written + upper
    return written + (f"^{_as_one(upper, _SCRIPT)}" if upper else "")


def root(of: str, degree: str = "") -> str:
    """Write a root: sqrt(16), or root(3)(8) with a degree."""
    return f"root({degree})({of})" if degree not in ("", "2") else f"sqrt({of})"


def in_a_row(parts: Sequence[str]) -> str:
    """Join parts of a formula; a number, a fraction or a script never runs into what follows it."""
    line: list[str] = []
    for part in parts:
        if line and _runs_together(line[-1], part):
            line.append(" ")
        elif len(line) > 1 and line[-1] == ", " and line[-2][-1:].isdigit() and part[:1].isdigit():
            line[-1] = ","  # 1,000 is one number
        line.append(part)
    return " ".join("".join(line).split())


def set_apart(before: str, line: str, after: str) -> str:
    """Return a line with the spaces that keep its value apart from the words around it: 2 and 1/2 are not 21/2."""
    plain = without_marks(line)
    lead = " " if before[-1:].isalnum() and plain[:1].isalnum() else ""
    return lead + line + (" " if plain[-1:].isalnum() and after[:1].isdigit() else "")


def from_mathml(element: Any) -> str:
    """Return a formula of MathML, whatever prefix its names have, as a line."""
    return in_a_row(_row([element], 0, tight=False))


def latex_in(element: Any) -> str | None:
    """Return the LaTeX that MathML keeps beside itself, if it does."""
    for part in element.iter():
        if _name(part) == "annotation" and "tex" in (part.get("encoding") or "").lower():
            return html.unescape("".join(part.itertext())).strip() or None
    return element.get("alttext") or None


def from_latex(latex: str) -> str | None:
    """Return a formula of LaTeX as a line; None if it is none that can be read, and better stays as it is written."""
    if len(latex) > _LONGEST_LATEX or _MACROS.search(latex):
        return None
    from latex2mathml.converter import convert_to_element  # only documents with formulas need it

    try:
        rows = _ROWS_OF_EQUATIONS.sub(r"\\\1{matrix}", _NO_DRAWING.sub("", latex))
        line = from_mathml(convert_to_element(rows))
    except Exception:  # noqa: BLE001 - its own errors have no common class, and broken input raises any other
        return None
    return line if line and "\\" not in line else None


def _name(element: Any) -> str:
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(tag, str) else ""


def _row(elements: Sequence[Any], depth: int, *, tight: bool) -> list[str]:
    """Return the parts of some elements in a row; ``tight`` leaves out the spaces around signs."""
    parts: list[str] = []
    for element in elements:
        name = _name(element)
        if name in ("mrow", "math", "mstyle", "mpadded", "merror", "mtd", "menclose") and depth < _DEEPEST:
            inside = _row(list(element), depth + 1, tight=tight)
            is_root = name == "menclose" and "radical" in (element.get("notation") or "")
            parts += [root(in_a_row(inside))] if is_root else inside
        elif name == "mo" or (name == "mi" and _is_relation(html.unescape(element.text or "")[:1] or "x")):
            parts += _operator(element, parts, tight=tight)
        elif name == "mspace":
            parts.append(" ")
        elif words := _one(element, name, depth):
            parts.append(words)
    return parts


def _operator(element: Any, before: Sequence[str], *, tight: bool) -> list[str]:
    raw = html.unescape(element.text or "").strip()
    sign = raw.translate(_INVISIBLE).replace("\u2212", "-")
    if not sign:
        return [" "] if raw else []
    said = next((part for part in reversed(before) if part.strip()), "").strip()
    may_be_a_sign = sign in "+-±∓" and (not said or said[-1] in _OPENING + ",;" or _is_relation(said[-1]))
    if tight or may_be_a_sign or not _is_relation(sign[0]) or element.get("form") in ("prefix", "postfix"):
        return [f"{sign} " if sign in ",;" and not tight else sign]
    return [f" {sign} "]


def _is_relation(sign: str) -> bool:
    return sign == "-" or (unicodedata.category(sign) == "Sm" and sign not in _UNSPACED)


def _one(element: Any, name: str, depth: int) -> str:
    """Return one element that is no row and no operator."""
    children = [child for child in element if _name(child)]
    if name in _ANNOTATIONS:
        return ""
    if depth >= _DEEPEST:
        return " ".join("".join(element.itertext()).split())
    if name == "mtext" or not children:
        words = html.unescape("".join(element.itertext())).translate(_INVISIBLE).replace("\u2212", "-")
        return re.sub(r"\s+", " ", words) if name == "mtext" else " ".join(words.split())
    if name == "mtable":
        return "; ".join(filter(None, (_table_row(row, depth + 1) for row in children)))
    if name in ("semantics", "maction"):
        return in_a_row(_row(children[:1], depth + 1, tight=False))
    if name == "mfenced":
        signs = "".join((element.get("separators") or ",").split()) or " "
        inside = [in_a_row(_row([child], depth + 1, tight=False)) for child in children]
        between = [signs[min(at, len(signs) - 1)] for at in range(len(inside) - 1)]
        line = "".join(f"{words}{sign} " for words, sign in zip(inside, [*between, ""], strict=True)).strip()
        return f"{element.get('open', '(')}{line}{element.get('close', ')')}"
    tight = name in ("mfrac", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts")
    parts = [in_a_row(_row([child], depth + 1, tight=tight)) for child in children]
    if name == "mroot" and len(parts) == 2:
        return root(*parts)
    if name == "msqrt":
        return root(in_a_row(_row(children, depth + 1, tight=False)))
    return _with_scripts(name, parts, element, children) if tight else in_a_row(parts)


def _with_scripts(name: str, parts: list[str], element: Any, children: Sequence[Any]) -> str:
    base, first, second = [*parts, "", "", ""][:3]
    if name == "mfrac":
        thickness = element.get("linethickness") or "1"
        return f"{base} over {first}" if thickness.startswith("0") else fraction(base, first)
    if name == "mmultiscripts":
        names = [_name(child) for child in children]
        before = names.index("mprescripts") if "mprescripts" in names else len(parts)
        behind, ahead = parts[1:before], parts[before + 1 :]
        lead = scripts("", *(ahead[:2])) if any(ahead) else ""
        return (f"{lead} " if lead else "") + scripts(base, *(behind[:2]))
    if name in ("mover", "munder") and len(first) == 1 and not first.isalnum():
        return base + _ACCENTS.get(first, "") if len(base) == 1 else base if first in _ACCENTS or first in "⏞⏟" else (
            scripts(base, *(("", first) if name == "mover" else (first, "")))
        )  # fmt: skip
    return scripts(base, "", first) if name in ("msup", "mover") else scripts(base, first, second)


def _table_row(row: Any, depth: int) -> str:
    cells = [in_a_row(_row([cell], depth + 1, tight=False)) for cell in row if _name(cell)]
    said = [cell for cell in cells if cell]
    if _name(row) == "mlabeledtr" and said:
        said = [*said[1:], said[0]]
    goes_on = any(_is_relation(cell[0]) for cell in said[1:])
    return (" " if goes_on else ", ").join(said)


def _as_one(words: str, simple: re.Pattern[str]) -> str:
    words = words.strip()
    if not words or simple.fullmatch(words):
        return words
    function = _FUNCTION.match(words)
    return words if _is_bracketed(words[function.end() if function else 0 :]) else f"({words})"


def _is_bracketed(words: str) -> bool:
    """Whether a bracket at the start is closed at the very end."""
    opened = 0
    for at, sign in enumerate(words):
        opened += (sign in _OPENING) - (sign in _CLOSING)
        if not opened:
            return 0 < at == len(words) - 1
    return False


def _runs_together(before: str, part: str) -> bool:
    """Whether a part would change what stands before it: 2 and 3/4, a power and what it multiplies, sin and x."""
    if not before or not part or before[-1].isspace():
        return False
    if part[0] == "(":
        return "/" in before
    if not part[0].isalnum() or not (before[-1].isalnum() or before[-1] in _CLOSING):
        return False
    if part[0].isdigit() or any(sign in before for sign in "/^_"):
        return before[-1].isalnum() or len(before) > 1
    return any(len(name) > 1 and name.isalpha() for name in (before, part))
