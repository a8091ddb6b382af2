"""Recognise questions about the library itself: how many documents, which ones, where one is, what changed.

So are orders to change files or folders, which nobody here follows.

A question is one of these only if known words cover all of it, so "How many documents does a visa need?" and "List the
files that dpkg installs" stay questions for the contents. The words are in ``library_questions.toml``, by kind.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files

from graph.evidence import Asks, LibraryQuestion
from graph.rows import Turn
from tools.rules.small_talk_rules import without_courtesies

LONGEST = 200  # characters
_NAMED = {
    "file": r"(?P<file>[^\s\"“”«»「」《》?？]+\.[A-Za-z][A-Za-z0-9]{0,4})",
    "quoted": r"[\"“”«「《'‘](?P<quoted>[^\"“”«»「」《》]{1,120})[\"“”»」》'’]",
    "name": r"(?P<name>\S(?:.{0,100}?\S)??)",
}
_FILE = re.compile(_NAMED["file"])
_OF_PATTERNS = ("folder", "change", "ask", "own", "says", "media")  # kinds whose words stand in patterns alone
_GROUP = re.compile(r"\(\?P<\w+>")
_PART = re.compile(r"(?<!\?P)<(\w+)>")
_WORD_END = r"(?:(?<![a-zà-ỹđ0-9])|(?![a-zà-ỹđ0-9]))"  # Chinese words have none
_BETWEEN = re.compile(r"[\s,，、]*")


@dataclass(frozen=True, slots=True)
class LibraryWords:
    """The words of one language: which kind of them stands at a place, and the patterns that capture a name."""

    words: re.Pattern[str]
    find: tuple[re.Pattern[str], ...]
    mention: tuple[re.Pattern[str], ...]
    edit: tuple[re.Pattern[str], ...]
    request: tuple[re.Pattern[str], ...] = ()

    def kinds(self, line: str) -> dict[str, str] | None:
        """Return the kinds of the words of a line, and what they capture; None where another word stands in it."""
        found: dict[str, str] = {}
        place = 0
        while place < len(line):
            word = self.words.match(line, place)
            if word is None:
                return None
            found |= {kind: text for kind, text in word.groupdict().items() if text}
            between = _BETWEEN.match(line, word.end())
            place = between.end() if between else word.end()
        return found


@cache
def library_words() -> tuple[LibraryWords, ...]:
    """Load the words, a table a language."""
    text = files(__package__).joinpath("library_questions.toml").read_text(encoding="utf-8")
    return tuple(map(_compiled, tomllib.loads(text).values()))


def _compiled(table: dict[str, str | list[str]]) -> LibraryWords:
    words = {kind: text for kind, text in table.items() if isinstance(text, str)}
    whole = {**words, "noun": f"(?:{words['document']}|{words['page']})"}
    plain = {kind: text if kind == "media" else _GROUP.sub("(?:", text) for kind, text in whole.items()}
    parts = {**{kind: f"(?:{text})" for kind, text in plain.items()}, **_NAMED}
    found = {
        key: tuple(_pattern(_PART.sub(lambda part: parts[part[1]], line)) for line in lines)
        for key, lines in table.items()
        if not isinstance(lines, str)
    }
    kinds = (
        text if kind == "type" else f"(?P<{kind}_>{text})" for kind, text in words.items() if kind not in _OF_PATTERNS
    )
    return LibraryWords(re.compile(rf"(?:{'|'.join(kinds)}){_WORD_END}", re.IGNORECASE), **found)


def _pattern(line: str) -> re.Pattern[str]:
    """Compile a pattern, in which a name may stand in several places."""
    places = iter(range(len(line)))
    return re.compile(_GROUP.sub(lambda group: f"{group[0][:-1]}_{next(places)}>", line), re.IGNORECASE)


_MEDIA_TYPES = {
    "pdf": "application/pdf",
    "markdown": "text/markdown",
    "html": "text/html",
    "csv": "text/csv",
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
    asked = _line(question)
    if not asked:
        return None
    line = _bare(asked)
    for language in library_words():
        kinds = language.kinds(line)
        if kinds and _is_of_library(kinds, after_listing=after_listing, alone=alone or after_listing):
            return _listed(kinds)
        told: tuple[tuple[Asks, tuple[re.Pattern[str], ...]], ...] = (
            ("mention", language.mention),
            ("find", language.find),
        )
        orders = language.request if question.rstrip().endswith(("?", "？")) else language.edit
        if any(pattern.fullmatch(asked) for pattern in orders):
            file = _FILE.search(asked)
            return _named("edit", file.groupdict() if file else {})
        for asks, patterns in told:
            for pattern in patterns:
                if found := pattern.fullmatch(line):
                    names = {name.partition("_")[0]: value for name, value in found.groupdict().items() if value}
                    return _named(asks, names)
    return None


def _is_of_library(kinds: Mapping[str, str], *, after_listing: bool, alone: bool) -> bool:
    """Whether a question is about the library, of whose words these are the kinds."""

    def has(*names: str) -> bool:
        return any(f"{name}_" in kinds for name in names)

    dated = "when" in kinds or "since" in kinds
    when = dated or has("newest")
    asked = has("count", "list", "which")
    whole = has("document") or "type" in kinds  # a page or an article may be a part of a document
    noun = whole or has("page")
    of_library = (
        has("store")
        and ((asked and has("inside", "has", "there", "count", "list", "changed")) or (has("changed") and when)),
        noun and has("has") and asked,
        noun and has("mine") and (has("count", "list") or when),
        has("changed") and when and (noun or has("has", "mine")),
    )
    of_what_is_in_view = (
        whole and (has("count", "list") or (has("there") and asked)),
        noun and has("newest") and asked,
        has("changed") and asked and (dated or noun or has("has")),
        noun and has("has"),
    )
    of_listing = (
        dated or has("newest"),
        asked and (has("them", "changed") or "type" in kinds),
    )
    return any(of_library) or (alone and any(of_what_is_in_view)) or (after_listing and any(of_listing))


def _line(question: str) -> str | None:
    """Return a question in one line, without courtesies and marks at its end; None for a long one."""
    if len(question) > LONGEST:
        return None
    line = _SPACES_IN_CHINESE.sub("", " ".join(without_courtesies(unicodedata.normalize("NFC", question)).split()))
    return _END.sub("", _END.sub("", line)).removesuffix(", please").removesuffix(" please")


def _bare(line: str) -> str:
    """Return a line without the words that ask for what it says."""
    for polite in ("please ", "could you ", "can you ", "would you ", "i want you to ", "i need you to ", "请问", "请"):
        if line.casefold().startswith(polite) and not line.casefold().startswith(("can you see", "can you read")):
            line = line[len(polite) :]
    return line


def _listed(kinds: Mapping[str, str]) -> LibraryQuestion:
    since, until = _period(kinds)
    kind = kinds.get("type", "").casefold()
    return LibraryQuestion(
        asks="changed" if since else "list",
        name="",
        is_file=False,
        media_type=_MEDIA_TYPES.get(kind, ""),
        since=since,
        until=until,
    )


def _named(asks: Asks, names: Mapping[str, str]) -> LibraryQuestion:
    name = next((names[each] for each in ("file", "quoted", "name") if each in names), "")
    return LibraryQuestion(
        asks=asks,
        name=name.strip(" ,.:;"),
        is_file="file" in names,
        media_type=_MEDIA_TYPES.get(names.get("media", "").casefold(), ""),
        since="",
        until="",
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


def _period(groups: Mapping[str, str]) -> tuple[str, str]:
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
