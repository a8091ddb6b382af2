"""Dates of documents: what a document is dated, and of several that say the same which is the newest."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from graph.evidence import Copy, DatedBy, Segment
from text.dates import dates_of
from text.normal_forms import flatten

# Of a document's metadata, the first that holds a date.
_DATES = (
    "date",
    "updated",
    "updated_at",
    "last_updated",
    "modified",
    "last_modified",
    "effective",
    "effective_date",
    "published",
    "published_at",
    "created",
)
_DATE = re.compile(r"\s*(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?!\d)")
_NUMBER = re.compile(r"\d+")
MOST_TOLD = 3  # copies of one passage, the newest ones
_IN_TITLE = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?!\d)")


def document_date(segment: Segment) -> tuple[str, DatedBy]:
    """Return a document's own date as its metadata has it, or else the day on which it was last stored."""
    own = _date_in(segment.metadata)
    if own:
        return own, "document"
    return (segment.updated_at[:10], "library") if segment.updated_at else ("", "")


def _date_in(metadata: Mapping[str, Any]) -> str:
    folded = {str(name).casefold().replace("-", "_").replace(" ", "_"): value for name, value in metadata.items()}
    for name in _DATES:
        value = folded.get(name)
        found = _DATE.match(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else None
        if found is not None and (day := _iso(found)):
            return day
    return ""


def _iso(found: re.Match[str]) -> str:
    """Return a date as far as it is given: a year, a month or a day; "" for one that is none."""
    parts = [int(part) for part in found.groups() if part]
    try:
        date(*[*parts, 1, 1][:3])
    except ValueError:
        return ""
    return "-".join([f"{parts[0]:04}", *(f"{part:02}" for part in parts[1:])])


def age_of(segment: Segment, question: str = "") -> tuple[int, str, str]:
    """Return what orders documents with copies of one text by age: their own dates, or the days they were stored on.

    What was stored on one day, as with its folder, is of one age: the order of files tells nothing. Before all comes a
    document whose title has a number of the question: "in the handbook of 2024".
    """
    named = set(_NUMBER.findall(segment.title)) & set(_NUMBER.findall(question))
    day, dated_by = _own_or_stored(segment)
    return len(named), day if dated_by == "document" else "", segment.updated_at[:10]


def dated_copies(segment: Segment, copies: Sequence[Segment], highlight: str) -> tuple[str, DatedBy, list[Copy]] | None:
    """Return a document's date, who gave it, and which others hold copies of its text; None if there are none to tell.

    They are the newest ones, the newest first. One that neither its title nor its date tells from another is left out.
    Where the ``highlight`` of what is quoted does not stand in one word for word, that one differs.
    """
    dates = {each.document_id: _own_or_stored(each) for each in (segment, *copies)}
    if len({day for day, _ in dates.values()}) == 1:
        dates = dict.fromkeys(dates, ("", ""))
    own, dated_by = dates[segment.document_id]
    told: dict[tuple[str, str], Copy] = {}
    for each in sorted(copies, key=age_of, reverse=True):
        day, by = dates[each.document_id]
        copy = Copy(
            segment_id=each.segment_id,
            document_id=each.document_id,
            title=each.title,
            date=day,
            dated_by=by,
            differs=flatten(highlight) not in flatten(each.text),
        )
        told.setdefault((each.title, day), copy)
    told.pop((segment.title, own), None)
    return (own, dated_by, list(told.values())[:MOST_TOLD]) if told else None


def _own_or_stored(segment: Segment) -> tuple[str, DatedBy]:
    """Return the date of a document, or of its title where it has none of its own: "Handbook 2025"."""
    day, dated_by = document_date(segment)
    in_title = _date_in_title(segment.title) if dated_by != "document" else ""
    return (in_title, "document") if in_title else (day, dated_by)


def _date_in_title(title: str) -> str:
    named = _IN_TITLE.search(title)
    if named is None:
        return ""
    return next((day for day, *_ in dates_of(title) if day.startswith(named[1])), _iso(named))
