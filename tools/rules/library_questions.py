"""Recognise questions about the library itself: how many documents, which ones, where one is, what changed.

A question is one of these only if a pattern covers all of it, so "How many documents does a visa need?" and "List the
files that dpkg installs" stay questions for the contents. The patterns are in ``library_questions.toml``.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from itertools import count, groupby
from operator import attrgetter

from graph.evidence import LibraryQuestion
from graph.rows import Turn
from text.late_patterns import LatePattern
from tools.rules.small_talk_rules import without_courtesies

LONGEST = 200  # characters
_PART = re.compile(r"(?<!\?P)<(\w+)>")
_GROUP = re.compile(r"\(\?P<(\w+)>")


@dataclass(frozen=True, slots=True)
class LibraryPattern:
    """A pattern with the key that it stands under, which says what is asked and when.

    Whatever it matches contains a match of ``needs``, unless it is of a follow-up: most questions compile none.
    """

    key: str
    needs: re.Pattern[str]
    found: LatePattern

    def applies(self, *, needed: bool, alone: bool, after_listing: bool) -> bool:
        """Whether to try the pattern on a line that has what it needs, if ``needed``; see ``library_question``."""
        if self.key.startswith("follow_up"):
            return after_listing
        return needed and (alone or after_listing or not self.key.startswith("in_empty_view"))


@cache
def library_patterns() -> tuple[LibraryPattern, ...]:
    """Load the patterns, in the order in which they are tried."""
    return tuple(_read_patterns())


@cache
def _patterns_by_need() -> tuple[tuple[re.Pattern[str], tuple[LibraryPattern, ...]], ...]:
    """Return the same by what they need, which is looked for once for all of a language's patterns."""
    grouped = groupby(library_patterns(), key=attrgetter("needs"))
    return tuple((needs, tuple(patterns)) for needs, patterns in grouped)


def _read_patterns() -> Iterator[LibraryPattern]:
    tables = tomllib.loads(files(__package__).joinpath("library_questions.toml").read_text(encoding="utf-8"))
    shared = tables.pop("shared")
    for table in tables.values():
        parts = {**shared, **table.pop("parts")}
        needs = re.compile(table.pop("needs"), re.IGNORECASE)
        for key, lines in table.items():
            for line in lines:
                yield LibraryPattern(key, needs, LatePattern(_expanded(line, parts), re.IGNORECASE))


def _expanded(line: str, parts: Mapping[str, str]) -> str:
    """Return a pattern with its parts filled in, and its groups numbered, since a part may stand in it twice."""
    while _PART.search(line):
        line = _PART.sub(lambda found: parts[found[1]], line)
    places = count()
    return _GROUP.sub(lambda found: f"(?P<{found[1]}_{next(places)}>", line)


_MEDIA_TYPES = {
    "pdf": "application/pdf",
    "markdown": "text/markdown",
    "html": "text/html",
    "csv": "text/csv",
    "text": "text/plain",
    "txt": "text/plain",
}
_END = re.compile(r"[\s?？.。!！…]+$|(?<=[\u3400-\u9fff])[吗呢啊呀][\s?？.。!！]*$")
_SPACES_IN_CHINESE = re.compile(r"(?<=[\u3400-\u9fff])\s+|\s+(?=[\u3400-\u9fff])")


def after_listing(turns: Sequence[Turn]) -> bool:
    """Return whether the last turn was answered from the catalogue.

    A turn that does not say so, of a client's history or of an older release, is told by its question and those before.
    """
    listed = False
    for at, turn in enumerate(turns):
        known = turn.get("from_catalogue")
        listed = (
            known
            if known is not None
            else (library_question(turn["question"], after_listing=listed, alone=at == 0) is not None)
        )
    return listed


def library_question(question: str, *, after_listing: bool = False, alone: bool = True) -> LibraryQuestion | None:
    """Return what a question asks about the library itself, None if it asks about the contents of documents.

    A question that the catalogue has answered may be followed up ("And which of them changed last?"): that is one
    ``after_listing``. ``alone`` is False where a conversation or a selection is in view, which "What changed last
    week?" may be about.
    """
    line = _line(question)
    if line is None:
        return None
    for needs, patterns in _patterns_by_need():
        needed = needs.search(line) is not None
        for pattern in patterns:
            applies = pattern.applies(needed=needed, alone=alone, after_listing=after_listing)
            if applies and (found := pattern.found.fullmatch(line)):
                groups = {name.rpartition("_")[0]: value for name, value in found.groupdict().items() if value}
                return _asked(pattern.key, groups)
    return None


def _line(question: str) -> str | None:
    """Return a question as the patterns read it: one line, without courtesies and marks at its end."""
    if len(question) > LONGEST:
        return None
    line = _SPACES_IN_CHINESE.sub("", " ".join(without_courtesies(unicodedata.normalize("NFC", question)).split()))
    for polite in ("please ", "could you ", "can you ", "请问", "请"):
        if line.casefold().startswith(polite) and not line.casefold().startswith(("can you see", "can you read")):
            line = line[len(polite) :]
    return _END.sub("", _END.sub("", line)).removesuffix(", please").removesuffix(" please")


def _asked(key: str, groups: dict[str, str]) -> LibraryQuestion:
    name = next((groups[each] for each in ("file", "quoted", "name") if each in groups), "")
    since, until = _period(groups) if key.endswith("changed") else ("", "")
    return LibraryQuestion(
        asks="find" if name else "changed" if since else "list",
        name=name.strip(" ,.:;"),
        is_file="file" in groups,
        media_type=_MEDIA_TYPES.get(groups.get("type", "").casefold().removesuffix("s"), ""),
        since=since,
        until=until,
        sure=key == "find_here" or not name,
    )


def _today() -> date:
    return datetime.now(UTC).date()


_Period = Callable[[date], tuple[date, date]]
_PERIODS: tuple[tuple[tuple[str, ...], _Period], ...] = (
    (("today", "今天", "hôm nay"), lambda now: (now, now)),
    (("yesterday", "昨天", "hôm qua"), lambda now: (now - timedelta(1), now - timedelta(1))),
    (
        ("this week", "本周", "这周", "这星期", "这个星期", "tuần này"),
        lambda now: (now - timedelta(now.weekday()), now),
    ),
    (("the last week", "the past week", "past week", "tuần qua"), lambda now: (now - timedelta(7), now)),
    (("the last month", "the past month", "past month", "tháng qua"), lambda now: (now - timedelta(30), now)),
    (("the last year", "the past year", "past year"), lambda now: (now - timedelta(365), now)),
    (
        ("last week", "上周", "上星期", "上个星期", "tuần trước", "tuần vừa rồi"),
        lambda now: (now - timedelta(now.weekday() + 7), now - timedelta(now.weekday() + 1)),
    ),
    (("this month", "本月", "这月", "这个月", "tháng này"), lambda now: (now.replace(day=1), now)),
    (
        ("last month", "上月", "上个月", "tháng trước"),
        lambda now: ((now.replace(day=1) - timedelta(1)).replace(day=1), now.replace(day=1) - timedelta(1)),
    ),
    (("this year", "今年", "năm nay"), lambda now: (now.replace(month=1, day=1), now)),
    (
        ("last year", "去年", "năm ngoái"),
        lambda now: (date(now.year - 1, 1, 1), date(now.year - 1, 12, 31)),
    ),
)
_DAYS = {"day": 1, "week": 7, "month": 30, "天": 1, "周": 7, "个月": 30, "ngày": 1, "tuần": 7, "tháng": 30}


def _period(groups: dict[str, str]) -> tuple[str, str]:
    """Return the first and the last day (ISO, UTC) that a question names; empty for none, as in "recently"."""
    today = _today()
    if "n" in groups:
        days = int(groups["n"]) * _DAYS[groups["unit"].casefold()]
        return (today - timedelta(days)).isoformat(), today.isoformat()
    named = groups.get("since", groups.get("when", "")).casefold()
    if re.fullmatch(r"\d{4}-\d\d-\d\d", named):
        try:
            return date.fromisoformat(named).isoformat(), today.isoformat()
        except ValueError:
            return "", ""
    for words, period in _PERIODS:
        if named in words:
            since, until = period(today)
            return since.isoformat(), today.isoformat() if "since" in groups else until.isoformat()
    return "", ""
