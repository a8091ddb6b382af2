"""Dates that a text writes, in one form: "6 May 2026", "May 6, 2026", 2026-05-06, 6.5.2026, 2026年5月6日."""

import re
from collections.abc import Iterator

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = rf"(?P<name>{'|'.join(sorted(MONTHS, key=len, reverse=True))})(?!\w)\.?"
_DAY = r"(?<![\d.,:/-])(?P<day>\d{1,2})"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_WRITTEN = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<!\d)(?P<year>\d{4})(?:-|\s?年\s?)(?P<month>\d{1,2})(?:-|\s?月\s?)(?P<day>\d{1,2})(?!\d)",
        r"(?<!\d)(?P<month>\d{1,2})\s?月\s?(?P<day>\d{1,2})\s?[日号]",
        rf"(?:ngày\s)?{_DAY}(?:[./]\s?|\stháng\s)(?P<month>\d{{1,2}})(?:[./]\s?|\snăm\s){_YEAR}",
        rf"ngày\s{_DAY}(?:/|\stháng\s)(?P<month>\d{{1,2}})(?!\d)",
        rf"{_DAY}(?:st|nd|rd|th|\.)?\s(?:of\s)?{_MONTH}(?:,?\s{_YEAR})?",
        rf"(?<!\w){_MONTH}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d\w:])(?:,?\s{_YEAR})?",
        rf"(?<!\w){_MONTH}\s{_YEAR}",
    )
)


def dates_of(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each date of a text as 2026-05-06, 05-06 or 2026-05, as far as it is told, with its span."""
    taken: list[tuple[int, int]] = []
    for pattern in _WRITTEN:
        for found in pattern.finditer(text):
            start, end = found.span()
            if any(start < past and begin < end for begin, past in taken):
                continue
            told = found.groupdict()
            month = MONTHS[told["name"].lower()] if told.get("name") else int(told["month"])
            day = int(told["day"]) if told.get("day") else None
            if month > 12 and day is not None:
                month, day = day, month  # as Americans write it
            if 1 <= month <= 12 and (day is None or 1 <= day <= 31):
                taken.append((start, end))
                yield (
                    "-".join((*filter(None, (told.get("year"),)), f"{month:02}", *([f"{day:02}"] if day else []))),
                    start,
                    end,
                )


def parts_of_date(date: str) -> frozenset[str]:
    """Return a date with what else may be asked of it: 2026-05-06 is a 05-06, of 2026-05 and of 2026."""
    year, _, rest = date.partition("-")
    if len(year) < 4:
        return frozenset((date,))
    return frozenset((date, year, *((f"{year}-{rest[:2]}", rest) if len(rest) > 2 else ())))
