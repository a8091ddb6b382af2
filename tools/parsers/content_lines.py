"""Parser of calendars (iCalendar) and contacts (vCard): a heading for each event or person, and rows of its fields.

Both are lines of a name, parameters and a value. Moments are ISO 8601, as the file has them, with their time zone; an
event of whole days ends on its last one. Lists of values are split and shown as people read them.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from quopri import decodestring

from graph.errors import UnreadableDocument
from tools.parsers.canonical_text import CHECK_SUFFIX, CanonicalText, Parsed, storable
from tools.parsers.plain import decode

_FOLD = re.compile(r"\r?\n[ \t]")
_QUOTED_FOLD = re.compile(r"(?im)^([^:\r\n]{0,300}quoted-printable[^:\r\n]{0,300}:(?:[^\r\n]*=\r?\n)+[^\r\n]*)")
_LINE = re.compile(
    r"(?:(?P<group>[\w-]+)\.)?(?P<name>[\w-]+)(?P<parameters>(?:;(?:\"[^\"]*\"|[^\":])*)?):(?P<value>.*)"
)
_PARAMETER = re.compile(r";([\w-]+)(?:=((?:\"[^\"]*\"|[^\";])*))?")
_MOMENT = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d)(?::?(\d\d))?(Z)?)?")
_DURATION = re.compile(r"([+-]?)P(?=\d|T\d)(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_SHOWN = frozenset({"VEVENT", "VTODO", "VJOURNAL", "VCARD"})
_NAMES = {  # of fields that are not called as people call them
    "DTSTART": "Start", "DTEND": "End", "RRULE": "Repeats", "RDATE": "Also on", "EXDATE": "Not on",
    "RECURRENCE-ID": "Instead of", "ATTENDEE": "Attendees", "TEL": "Phone", "ADR": "Address", "ORG": "Organization",
    "BDAY": "Birthday", "IMPP": "Chat", "PERCENT-COMPLETE": "Percent complete",
}  # fmt: skip
_OF_PROGRAMS = re.compile(
    r"VERSION|PRODID|UID|DTSTAMP|CREATED|LAST-MODIFIED|SEQUENCE|TRANSP|CLASS|METHOD|REV|N|FN|SUMMARY|KEY|TZ|CALSCALE"
    r"|REQUEST-STATUS|CLIENTPIDMAP|PHOTO|LOGO|SOUND|ATTACH|X-.*"
)
_MEDIA = frozenset({"PHOTO", "LOGO", "SOUND", "ATTACH"})
_SAYS_NOTHING = frozenset({"pref", "internet", "voice", "x-internet"})  # types of nearly every number and address
_LONG = 300  # characters


@dataclass(slots=True)
class _Component:
    """An event, a task or a person: its kind, and its lines as group, name, parameters and value."""

    kind: str
    lines: list[tuple[str, str, dict[str, str], str]] = field(default_factory=list)

    def value(self, name: str) -> str:
        """Return the value of the first line of a name, "" where there is none."""
        return next((value for _, each, _, value in self.lines if each == name), "")


def read(data: bytes) -> Parsed:
    """Parse a calendar or contacts. Raises UnreadableDocument if the file is neither."""
    text = storable(decode(data))
    if not re.match(r"\s*BEGIN:V(?:CALENDAR|CARD|EVENT|TODO|JOURNAL)", text, re.IGNORECASE):
        raise UnreadableDocument(
            "The file is no calendar and holds no contacts: it does not begin with BEGIN:VCALENDAR or BEGIN:VCARD.",
            suggestion=CHECK_SUFFIX,
        )
    written = CanonicalText()
    components = list(_components(text))
    shown = [component for component in components if component.kind in _SHOWN]
    for component in shown:
        _write(written, component)
    written.left_out["alarm"] += sum(component.kind == "VALARM" for component in components)
    calendar = next((name for component in components if (name := component.value("X-WR-CALNAME"))), "")
    title = _words(calendar) or (_title(shown[0]) if len(shown) == 1 else "")
    return replace(written.parsed(), title=title or None)


def _components(text: str) -> Iterator[_Component]:
    """Yield the components in the order in which they begin; what is within another one is apart."""
    text = _QUOTED_FOLD.sub(lambda found: re.sub(r"=\r?\n", "", found[1]), text)
    around: list[_Component] = []
    for line in _FOLD.sub("", text).splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        name, value = found["name"].upper(), found["value"]
        if name == "BEGIN":
            around.append(_Component(value.strip().upper()))
            yield around[-1]
        elif name == "END" and around:
            around.pop()
        elif around:
            parameters: dict[str, str] = {}
            for key, said in _PARAMETER.findall(found["parameters"]):  # vCard 2.1 writes types alone, as ";CELL"
                key, said = (key.upper(), said.strip('"')) if said else ("TYPE", key)
                parameters[key] = f"{parameters[key]},{said}" if key in parameters else said
            if "QUOTED-PRINTABLE" in f"{parameters.get('ENCODING', '')},{parameters.get('TYPE', '')}".upper():
                value = decodestring(value.encode()).decode("utf-8", "replace")
            around[-1].lines.append(((found["group"] or "").lower(), name, parameters, value))


def _write(written: CanonicalText, component: _Component) -> None:
    written.add_heading(1, _title(component))
    labels = {group: _words(value).strip("_$!<>") for group, name, _, value in component.lines if name == "X-ABLABEL"}
    rows: dict[str, dict[str, None]] = {}  # each value once
    for group, name, parameters, value in component.lines:
        if _OF_PROGRAMS.fullmatch(name):
            continue
        kinds = [each for each in parameters.get("TYPE", "").lower().split(",") if each not in _SAYS_NOTHING]
        kind = labels.get(group) or ", ".join(filter(None, kinds))
        label = _NAMES.get(name, name.replace("-", " ").capitalize()) + (f" ({kind})" if kind else "")
        if said := _said(name, parameters, value, component):
            rows.setdefault(label, {})[said] = None
    fields = sorted(((label, "; ".join(values)) for label, values in rows.items()), key=lambda row: _is_long(row[1]))
    for at, (label, said) in enumerate(fields):
        if not _is_long(said):
            written.add("table_row", f"{label}: {said}", tight=at > 0)
            continue
        term = written.add("term", label)
        for paragraph in re.split(r"\n\s*\n", said):
            written.add("paragraph", paragraph, hangs_on=(term,))
    written.left_out["picture or attachment"] += sum(name in _MEDIA for _, name, _, _ in component.lines)


def _is_long(said: str) -> bool:
    return len(said) > _LONG or "\n" in said


def _title(component: _Component) -> str:
    if component.kind != "VCARD":
        return _words(component.value("SUMMARY")) or component.kind.removeprefix("V").capitalize()
    family, given, *more = [*_parts(component.value("N")), "", ""]
    names = (_words(component.value("FN")), " ".join(filter(None, (*more[1:2], given, *more[:1], family))))
    return next(filter(None, (*names, ", ".join(_parts(component.value("ORG"))), "Contact")))


def _said(name: str, parameters: dict[str, str], value: str, component: _Component) -> str:
    zone = parameters.get("TZID", "")
    if name == "RRULE":
        rule = dict(part.partition("=")[::2] for part in value.split(";"))
        frequency = rule.pop("FREQ", "").lower()
        return ", ".join(filter(None, (frequency, *(f"{key.lower()} {_moment(said)}" for key, said in rule.items()))))
    if name == "DTEND" and re.fullmatch(r"\d{4}-?\d\d-?\d\d", value):  # the day behind the last one
        with suppress(ValueError, OverflowError):
            value = str(date.fromisoformat(value) - timedelta(days=1))
        return "" if value == _moment(component.value("DTSTART")) else _moment(value)
    if name in ("ADR", "ORG"):
        return ", ".join(filter(None, _parts(value)))
    if found := _DURATION.fullmatch(value):
        parts = zip(found.groups()[1:], ("weeks", "days", "h", "min", "s"), strict=True)
        return found[1] + " ".join(f"{count} {unit}" for count, unit in parts if count)
    if _MOMENT.match(value):
        return ", ".join(_moment(each) for each in value.split(",")) + (f" ({zone})" if zone else "")
    address = re.sub(r"^(?:mailto|tel):", "", _words(value), flags=re.IGNORECASE)
    named = parameters.get("CN", "")
    return f"{named} <{address}>" if named and named != address else address


def _moment(value: str) -> str:
    """Return a date and time as people write ISO 8601; anything else stays as it is."""
    found = _MOMENT.fullmatch(value)
    if found is None:
        return _words(value)
    seconds = f":{found[6]}" if found[6] not in (None, "00") else ""
    time = f" {found[4]}:{found[5]}{seconds}{' UTC' if found[7] else ''}" if found[4] else ""
    return f"{found[1]}-{found[2]}-{found[3]}{time}"


def _parts(value: str) -> list[str]:
    return [_words(part) for part in re.split(r"(?<!\\);", value)]


def _words(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] in "nN" else found[1], value).strip()
