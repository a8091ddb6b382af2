"""Formulas of Word, PowerPoint and RTF (OMML) as MathML, which has one reader here and can be drawn by a viewer."""

import re
from itertools import groupby
from typing import Any

from lxml import etree

from tools.parsers.canonical_text import CanonicalText

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
OMATH = f"{M}oMath"
_MATHML = "http://www.w3.org/1998/Math/MathML"
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|\s+|.", re.DOTALL)
_SCRIPTS = {"sSup": ("msup", "e", "sup"), "sSub": ("msub", "e", "sub"), "sSubSup": ("msubsup", "e", "sub", "sup"),
            "limLow": ("munder", "e", "lim"), "limUpp": ("mover", "e", "lim")}  # fmt: skip
_DEEPEST = 100  # elements within each other; what nests deeper is read as its words alone
_OFF = ("0", "off", "false")
_ACCENTS = dict(zip("\u0302\u0303\u0304\u0305\u0307\u0308\u20d7", "^~¯¯˙¨→", strict=True))  # as MathML has them
_APPLY = "\u2061"


def said_formula(text: CanonicalText, omath: Any) -> str:
    """Return a formula of Office as a marked line of the text."""
    return said_mathml(text, to_mathml(omath))


def said_mathml(text: CanonicalText, math: Any) -> str:
    """Return a formula in MathML as a marked line of the text; "" for an empty one."""
    from tools.parsers.linear_formulas import from_mathml

    line = from_mathml(math)
    return text.formula(line, "mathml", etree.tostring(math, encoding="unicode", with_tail=False)) if line else ""


def to_mathml(omath: Any) -> Any:
    """Return a formula of Office as an element of MathML."""
    now = deepest = 0
    for event, _ in etree.iterwalk(omath, events=("start", "end")):
        now += 1 if event == "start" else -1
        deepest = max(deepest, now)
    return _of("math", *(_children(omath) if deepest <= _DEEPEST else [_token("".join(omath.itertext()) or " ")]))


def _of(tag: str, *children: Any, **attributes: str) -> Any:
    element = etree.Element(f"{{{_MATHML}}}{tag}", attributes, {None: _MATHML})
    element.extend(children)
    return element


def _sign(sign: str) -> Any:
    element = _of("mo")
    element.text = sign
    return element


def _children(element: Any | None) -> list[Any]:
    """Return what an element holds; a number is one, however the program has cut it into runs."""
    found: list[Any] = []
    for kind, group in groupby(element if element is not None else (), _kind):
        if kind in ("run", "words"):
            said = ["".join(each.text or "" for each in run.iter(f"{M}t")) for run in group]
            joined = re.sub(r"(?<=\d)\0(?=[\d.,])|(?<=[.,])\0(?=\d)", "", "\0".join(said))
            for run in filter(None, joined.split("\0")):
                found.extend(map(_token, _TOKEN.findall(run) if kind == "run" else [run]))
        elif kind == "part":
            found.extend(map(_read, group))
    return found


def _kind(child: Any) -> str:
    if child.tag == f"{M}r":
        words = child.find(f"{M}rPr/{M}nor")
        return "run" if words is None or words.get(f"{M}val") in _OFF else "words"
    name = str(child.tag).rpartition("}")[2]
    return "" if name.endswith("Pr") or name in ("del", "moveFrom") else "part"


def _token(said: str) -> Any:
    element = _of(
        "mn" if said[0].isdigit() else "mi" if said.isalpha() else "mtext" if len(said) > 1 or said.isspace() else "mo"
    )
    element.text = said
    return element


def _row(element: Any | None) -> Any:
    children = _children(element)
    return children[0] if len(children) == 1 else _of("mrow", *children)


def _read(element: Any) -> Any:
    """Return a part of a formula by its name; one without a look of its own is what it holds."""
    name = element.tag.removeprefix(M)
    if name in _SCRIPTS:
        tag, *parts = _SCRIPTS[name]
        return _of(tag, *(_row(element.find(M + part)) for part in parts))
    return _READERS[name](element) if name in _READERS else _row(element)


def _property(element: Any, name: str, otherwise: str = "") -> str:
    tag = element.tag.removeprefix(M)
    found = element.find(f"{M}{tag}Pr/{M}{name}")
    return otherwise if found is None else (found.get(f"{M}val") or "")


def _is_on(element: Any, name: str) -> bool:
    return element.find(f"{element.tag}Pr/{M}{name}") is not None and _property(element, name) not in _OFF


def _fraction(element: Any) -> Any:
    found = _of("mfrac", _row(element.find(f"{M}num")), _row(element.find(f"{M}den")))
    if _property(element, "type") == "noBar":
        found.set("linethickness", "0")
    return found


def _root(element: Any) -> Any:
    inner, degree = _row(element.find(f"{M}e")), element.find(f"{M}deg")
    if degree is None or not len(degree) or _is_on(element, "degHide"):
        return _of("msqrt", inner)
    return _of("mroot", inner, _row(degree))


def _sum(element: Any) -> Any:
    sides = {"sub": "subHide", "sup": "supHide"}
    low, high = (None if _is_on(element, hide) else element.find(M + side) for side, hide in sides.items())
    tags = "munderover" if _property(element, "limLoc") == "undOvr" else "msubsup"
    sign = _sign(_property(element, "chr", "∫"))
    return _of("mrow", _of(tags, sign, _row(low), _row(high)), _row(element.find(f"{M}e")))


def _delimited(element: Any) -> Any:
    begin, between, end = (_property(element, *each) for each in (("begChr", "("), ("sepChr", "|"), ("endChr", ")")))
    found = _of("mrow", *([_sign(begin)] if begin else ()))
    for at, part in enumerate(element.iterchildren(f"{M}e")):
        found.extend([*([_sign(between)] if at and between else ()), _row(part)])
    found.extend([_sign(end)] if end else ())
    return found


def _matrix(element: Any) -> Any:
    rows = ([_of("mtd", *_children(each)) for each in row] for row in element.iterchildren(f"{M}mr"))
    return _of("mtable", *(_of("mtr", *cells) for cells in rows))


def _equations(element: Any) -> Any:
    """Return equations one below the other; their & says only where they are aligned."""
    found = _of("mtable", *(_of("mtr", _of("mtd", *_children(each))) for each in element.iterchildren(f"{M}e")))
    for each in found.iter(f"{{{_MATHML}}}mo"):
        each.text = "" if each.text == "&" else each.text
    return found


def _accent(element: Any) -> Any:
    below = element.tag != f"{M}acc" and _property(element, "pos", "bot") != "top"
    drawn = "¯" if element.tag == f"{M}bar" else _property(element, "chr", "\u0302")
    sign = _sign(_ACCENTS.get(drawn, drawn))
    return _of("munder" if below else "mover", _row(element.find(f"{M}e")), sign, accent="true")


_READERS = {
    "f": _fraction, "rad": _root, "nary": _sum, "d": _delimited, "m": _matrix, "eqArr": _equations,
    "func": lambda func: _of("mrow", _row(func.find(f"{M}fName")), _sign(_APPLY), _row(func.find(f"{M}e"))),
    "sPre": lambda pre: _of("mmultiscripts", _row(pre.find(f"{M}e")), _of("mprescripts"), _row(pre.find(f"{M}sub")),
                            _row(pre.find(f"{M}sup"))),
    "acc": _accent, "bar": _accent, "groupChr": _accent,
}  # fmt: skip
