"""Numbers of spreadsheets as their formats show them: decimals, percentages, currencies and units; dates as ISO 8601.

A format is that of Excel, such as ``#,##0.00" kg";[Red]-0.0%;@``. What it cannot say (fractions, unknown signs) is
shown as a plain number.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache
from typing import Literal

Kind = Literal["general", "number", "date", "time", "datetime", "duration", "text"]

BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
    21: "h:mm:ss", 22: "m/d/yy h:mm", 37: "#,##0;-#,##0", 38: "#,##0;-#,##0", 39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"), **dict.fromkeys(range(32, 36), "h:mm:ss"),
}  # fmt: skip
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*](?P<space>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]?|\[(?P<elapsed>[hms]+)\]'
    r"|\[[^\]]*\]?|(?P<general>general)|(?P<half>am/pm|a/p)|(?P<power>e[+-])|(?P<digits>[0#?]|,|\.|%|/)"
    r"|(?P<date>[ymdhsgea])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_DATE_SIGNS = re.compile(r"[,/.]*+0*[,/]*")  # fractions of a second
_LONGEST = 400  # characters of a format; Excel writes at most 255
_EPOCH = datetime(1899, 12, 30)
_EPOCH_1904 = datetime(1904, 1, 1)
_MOST_DAYS = 2_958_466  # up to the year 9999


@dataclass(frozen=True, slots=True)
class _Section:
    kind: Kind
    before: str = ""
    after: str = ""
    decimals: int = 0
    thousands: bool = False
    percents: int = 0
    scaled: int = 0
    least: int = 0  # digits before the point


def shown(value: float, code: str, *, since_1904: bool = False) -> str:
    """Return a number as its format shows it; dates and times are in ISO 8601."""
    if value != value or value in (float("inf"), float("-inf")):
        return ""
    sections = _sections(code[:_LONGEST])
    if sections[0].kind in ("date", "time", "datetime", "duration"):
        return _moment(value, sections[0].kind, since_1904) or plain(value)
    if value < 0 and len(sections) > 1:
        return _number(-value, sections[1], "")
    section = sections[2] if value == 0 and len(sections) > 2 else sections[0]
    return _number(abs(value), section, "-" if value < 0 else "")


def plain(value: float) -> str:
    """Return a number without the noise of binary fractions, at 15 digits as spreadsheets keep them."""
    short = f"{value:.15g}"
    if "e" in short:
        return short if abs(value) < 1e-9 or abs(value) >= 1e20 else format(Decimal(short), "f")
    return "0" if short == "-0" else short


def _number(value: float, section: _Section, sign: str) -> str:
    if section.kind == "text":
        return f"{section.before}{section.after}".strip() or sign + plain(value)
    if section.kind == "general":
        return f"{sign}{section.before}{plain(value)}{section.after}".strip()
    try:
        number = Decimal(f"{value:.15g}").scaleb(2 * section.percents - 3 * section.scaled)
        number = number.quantize(Decimal(1).scaleb(-section.decimals), rounding=ROUND_HALF_UP)
    except InvalidOperation:
        return sign + plain(value)
    digits = format(number, ",f" if section.thousands else "f")
    whole, point, rest = digits.partition(".")
    digits = whole.rjust(section.least, "0") + point + rest
    sign = sign if number else ""
    return f"{sign}{section.before}{digits}{'%' * section.percents}{section.after}".strip()


def _moment(value: float, kind: Kind, since_1904: bool) -> str | None:
    """Return ISO 8601; None where the number is no date that a calendar has."""
    if abs(value) > _MOST_DAYS:
        return None
    seconds = round(value * 86_400)
    if kind == "duration":
        hours, rest = divmod(abs(seconds), 3600)
        return f"{'-' if seconds < 0 else ''}{hours}:{rest // 60:02}:{rest % 60:02}"
    if value < 0:
        return None
    if kind == "time" and value < 1:
        return (_EPOCH + timedelta(seconds=seconds)).strftime("%H:%M:%S").removesuffix(":00")
    try:
        at = (_EPOCH_1904 if since_1904 else _EPOCH) + timedelta(seconds=seconds)
        if not since_1904 and value < 60:
            at += timedelta(days=1)  # Excel counts a 29 February 1900
    except OverflowError:
        return None
    if kind == "date" and seconds % 86_400 == 0:
        return at.date().isoformat()
    return at.isoformat(" ", "minutes" if at.second == 0 else "seconds")


@lru_cache(maxsize=2048)
def _sections(code: str) -> tuple[_Section, ...]:
    parts: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(code):
        if token["other"] == ";":
            parts.append([])
        else:
            parts[-1].append(token)
    return tuple(_section(part) for part in parts[:4])


def _section(tokens: list[re.Match[str]]) -> _Section:
    dated = "".join(token["date"] or token["elapsed"] or "" for token in tokens).lower()
    signs = "".join(token["digits"] or "" for token in tokens)
    if dated and not any(token["general"] for token in tokens) and _DATE_SIGNS.fullmatch(signs):
        return _Section(_date_kind(dated, any(token["elapsed"] for token in tokens)))
    before, after = _around(tokens)
    if any(token["power"] for token in tokens) or "/" in signs or any(token["general"] for token in tokens):
        return _Section("general", before if "/" not in signs else "", after if "/" not in signs else "")
    if not re.search(r"[0#?]", signs):
        return _Section("text" if before or after or not tokens else "general", before, after)
    whole, _, fraction = signs.replace("%", "").partition(".")
    scaled = len(signs.replace("%", "")) - len(signs.replace("%", "").rstrip(","))
    return _Section(
        "number",
        before,
        after,
        decimals=min(sum(sign in "0#?" for sign in fraction), 30),
        thousands="," in whole.rstrip(","),
        percents=min(signs.count("%"), 2),
        scaled=min(scaled, 4),
        least=min(whole.count("0"), 30) if "," not in whole else 0,
    )


def _date_kind(letters: str, elapsed: bool) -> Kind:
    if elapsed and not re.search(r"[yd]", letters):
        return "duration"
    has_date = bool(re.search(r"[ydge]", letters)) or ("m" in letters and not re.search(r"[hs]", letters))
    has_time = bool(re.search(r"[hs]", letters))
    return "datetime" if has_date and has_time else "date" if has_date else "time"


def _around(tokens: list[re.Match[str]]) -> tuple[str, str]:
    """Return what the format writes before and after the digits: currencies, units, brackets."""
    written: tuple[list[str], list[str]] = ([], [])
    past = False
    for token in tokens:
        past = past or bool(token["digits"] and token["digits"] in "0#?") or bool(token["general"])
        said = token["quoted"] or token["escaped"] or token["currency"] or token["other"] or ""
        written[past].append(" " if token["space"] else said if said != "@" else "")
    return "".join(written[0]).lstrip(), "".join(written[1]).rstrip()
