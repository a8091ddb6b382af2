"""Questions that a document may answer, made by rule from what it says: its statements, terms, tables and headings.

A question made so is only a guess until it was asked; see ``proving``.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from answers.entries import entries_of
from answers.entry import Entry
from graph.evidence import Segment, nearest_heading
from text.language import language
from text.normal_forms import fold_case

Kind = Literal["proposed", "heading", "definition", "term", "setting", "statement", "row", "how"]
LONGEST_QUESTION = 120  # characters
LONGEST_TERM = 50
SHORTEST_QUESTION = 6
MOST_SEGMENTS = 40  # of a document that are read for questions
MOST_CANDIDATES = 100  # that are put in order
_CELL = " | "
_NUMBERED = re.compile(
    r"^\s*(?:(?:Chapter|Section|Appendix|Chương|Phần|第)\s*)?(?:[\dA-Z]{1,2}(?:\.\d+)*[.)章节]?\s+)?(?=\S)"
)
_CODE = re.compile(
    r"-{1,2}[A-Za-z][\w-]*|[A-Z][A-Z\d]*(?:_+[A-Z\d]+)+|[a-z][a-z\d]*(?:[_.][a-z\d]+)+(?:\(\))?|/[\w./-]+|\w+\(\)"
)
_ARGUMENT = re.compile(r"[\s=\[<{(].*$", re.DOTALL)
_OPENS_QUOTE = frozenset("\"“”„«'‘’《")
_SEVERAL = re.compile(r"[,，、;；:：]|\b(?:and|or|và|hoặc)\b|[和与或]", re.IGNORECASE)  # tasks that one heading names
_ITSELF = re.compile(r" (?:itself|themselves)$")
_STOP = re.compile(r"[.:] |['’]s?$")
_SEVERAL_THINGS = re.compile(r"\w(?<![sui])s$")  # "uses", but not "class", "virus", "axis"
_QUOTES = re.compile(r"[\"“”„«»]")
_PLAIN = re.compile(r"[`*]+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that may be answered by a document, and the span of the text that it was made of."""

    question: str
    document_id: str
    start: int
    end: int
    kind: Kind
    section: str = ""


@dataclass(frozen=True, slots=True)
class _Forms:
    """How questions are asked in one language."""

    statements: tuple[tuple[re.Pattern[str], str], ...]
    not_np: re.Pattern[str]
    article: re.Pattern[str] | None
    how: str
    verb: re.Pattern[str]
    column: re.Pattern[str]
    people: re.Pattern[str]
    bases: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@cache
def _forms() -> Mapping[str, _Forms]:
    table = tomllib.loads(files(__package__).joinpath("question_forms.toml").read_text(encoding="utf-8"))
    return {code: _form(row) for code, row in table.items()}


def _form(row: Mapping[str, Any]) -> _Forms:
    statements = tuple(
        (re.compile(each["pattern"].replace("NP", row["np"], 1)), each["asks"]) for each in row["statements"]
    )
    return _Forms(
        statements=statements,
        not_np=re.compile(row["not_np"], re.IGNORECASE),
        article=re.compile(row["article"]) if "article" in row else None,
        how=row["how"][0],
        verb=re.compile(rf"(?:{row['verbs']})(?![a-zà-ỹ]|后|前|的)\s*(?=\S)", re.IGNORECASE),
        column=re.compile(row["column"]),
        people=re.compile(row["people"]),
        bases=row.get("bases", {}),
        texts={name: row[name] for name in ("term", "code", "option", "default", "row", "number", "thing", "person")},
        names={name: tuple(row[name]) for name in ("defaults", "meanings")},
    )


def rule_questions(title: str, segments: Sequence[Segment]) -> list[Candidate]:
    """Return the questions of a document, in the order of its text; each is asked once.

    None where its language has no forms.
    """
    maker = _Maker(title, segments)
    found: dict[str, Candidate] = {}
    for segment in segments[:MOST_SEGMENTS]:
        for candidate in maker.questions(segment):
            if SHORTEST_QUESTION <= len(candidate.question) <= LONGEST_QUESTION:
                found.setdefault(fold_case(candidate.question), candidate)
    return list(found.values())


class _Maker:
    """Makes questions of one document's segments."""

    def __init__(self, title: str, segments: Sequence[Segment]) -> None:
        self._title = _PLAIN.sub("", title).strip()
        self._text = " ".join(segment.text for segment in segments[:MOST_SEGMENTS])
        self._language = language(self._text[:5000])

    def questions(self, segment: Segment) -> Iterator[Candidate]:
        """Yield the questions of a segment."""
        headings: set[int] = set()
        for entry in entries_of(segment):
            if not entry.quotable or entry.leads or "?" in entry.text or "？" in entry.text:
                continue
            own = language(entry.text, default=self._language)
            forms = _forms().get(own if own in _forms() else self._language)
            if forms is None:
                continue
            section = nearest_heading(entry.context)
            heading = next((each for each in reversed(entry.context) if each.role == "heading"), None)
            if heading is not None and heading.start not in headings and entry.kind not in ("code", "table_row"):
                headings.add(heading.start)
                asked = _of_heading(heading.text, forms)
                if asked is not None:
                    yield Candidate(asked[0], segment.document_id, entry.start, entry.end, asked[1], section)
            for question, kind in self._of_entry(entry, forms):
                yield Candidate(question, segment.document_id, entry.start, entry.end, kind, section)

    def _of_entry(self, entry: Entry, forms: _Forms) -> Iterator[tuple[str, Kind]]:
        if entry.kind == "table_row":
            yield from self._of_row(entry, forms)
            return
        if entry.kind == "code":
            return
        term = next((each.text for each in reversed(entry.context) if each.role == "term"), "")
        if term and entry.first:
            yield from self._of_term(term, forms)
        text = _PLAIN.sub("", entry.text).lstrip("-–—•* ").strip()
        if text[:1] in _OPENS_QUOTE or any(each.role == "before" for each in entry.context):
            return
        for pattern, asks in forms.statements:
            found = pattern.match(text)
            if found is None:
                continue
            groups = {name: (value or "").strip() for name, value in found.groupdict().items()}
            np = self._subject(groups["np"], forms)
            if np is not None and not ("kind" in groups and forms.not_np.match(groups["kind"])):
                defines = asks == forms.statements[0][1]
                if defines and not np.startswith("the ") and forms.people.match(text, found.start("says")):
                    asks = asks.replace(forms.texts["thing"], forms.texts["person"])
                if not defines and _is_vague(np, asks):
                    return
                base = forms.bases.get(groups.get("done", ""), "")
                question = asks.format(**{**groups, "np": np, "base": base})
                code = _CODE.fullmatch(np) is not None
                yield _sentence(question), "setting" if code else "definition" if defines else "statement"
            return

    def _of_term(self, term: str, forms: _Forms) -> Iterator[tuple[str, Kind]]:
        shown = _PLAIN.sub("", term.strip().splitlines()[-1]).strip()
        code = _CODE.match(shown)
        if code is not None:
            name = _ARGUMENT.sub("", shown).rstrip(",;:")
            if len(name) > 2:
                asks = forms.texts["option" if name.startswith("-") else "code"]
                yield asks.format(term=name, title=self._bare_title()), "setting"
        elif len(shown) <= LONGEST_TERM and not forms.not_np.match(shown) and not re.search(r"[.:;!?。：；]", shown):
            yield forms.texts["term"].format(term=self._in_sentence(shown)), "term"

    def _of_row(self, entry: Entry, forms: _Forms) -> Iterator[tuple[str, Kind]]:
        header = next((each.text for each in reversed(entry.context) if each.role == "header"), "")
        columns, cells = header.split(_CELL), [cell.strip() for cell in entry.text.split(_CELL)]
        if len(columns) != len(cells) or len(cells) < 2 or not cells[0]:
            return
        name = _PLAIN.sub("", cells[0])
        if len(name) > LONGEST_TERM or not re.search(r"[^\W\d]", name):
            return
        is_code = _CODE.fullmatch(_ARGUMENT.sub("", name)) is not None and " " not in name
        for column, cell in list(zip(columns, cells, strict=True))[1:]:
            asked = fold_case(column.strip())
            if not cell or cell in "-–—":
                continue
            if is_code and asked in forms.names["defaults"]:
                yield forms.texts["default"].format(term=name), "setting"
            elif is_code and asked in forms.names["meanings"]:
                yield forms.texts["code"].format(term=name), "setting"
            elif not is_code and asked not in forms.names["meanings"] and forms.column.fullmatch(column.strip()):
                asks = forms.texts["number" if re.match(r"\W*\d", cell) else "row"]
                yield _sentence(asks.format(column=column.strip().lower(), term=self._in_sentence(name))), "row"

    def _subject(self, np: str, forms: _Forms) -> str | None:
        """Return what a statement is about as it is said inside a sentence; None where a reader could not tell what."""
        np = _ITSELF.sub("", _QUOTES.sub("", np)).strip(" ,")
        bare = forms.article.sub("", np, count=1) if forms.article else np
        if forms.not_np.match(bare) or _STOP.search(np) or len(np) > LONGEST_TERM or not re.search(r"[^\W\d_]{2}", np):
            return None
        if forms.article is None:
            return np
        if bare != np:
            if np.startswith("The ") and " " not in bare and bare.islower() and not _CODE.match(bare):
                return None
            return np[0].lower() + np[1:]
        return self._in_sentence(np)

    def _in_sentence(self, words: str) -> str:
        """Return words with a small first letter, where only the beginning of a sentence made it large."""
        first, _, rest = words.partition(" ")
        if (
            first.istitle()
            and not re.search(r"[A-Z]", rest)
            and re.search(rf"(?<!\w){re.escape(first.lower())}(?!\w)", self._text)
        ):
            return words[0].lower() + words[1:]
        return words

    def _bare_title(self) -> str:
        return _NUMBERED.sub("", self._title, count=1)


_RANKS: Mapping[Kind, int] = {
    "proposed": 0,
    "definition": 0,
    "heading": 0,
    "how": 1,
    "statement": 2,
    "setting": 2,
    "term": 3,
    "row": 3,
}


def spread_out(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Order the questions of a document so that the first few are of several kinds and sections, the earlier first."""
    sections: Counter[str] = Counter()
    kinds: Counter[Kind] = Counter()
    left = list(enumerate(candidates[:MOST_CANDIDATES]))
    ordered: list[Candidate] = []
    while left:
        best = min(
            left,
            key=lambda each: (sections[each[1].section], kinds[each[1].kind], _RANKS[each[1].kind], each[0]),
        )
        left.remove(best)
        sections[best[1].section] += 1
        kinds[best[1].kind] += 1
        ordered.append(best[1])
    return ordered


def _of_heading(heading: str, forms: _Forms) -> tuple[str, Kind] | None:
    """Return the question that a heading is, or the one of a heading that names a task."""
    shown = _PLAIN.sub("", _NUMBERED.sub("", heading, count=1)).strip()
    if shown.endswith(("?", "？")):
        return shown, "heading"
    if forms.verb.match(shown) and len(shown) <= LONGEST_TERM and not _SEVERAL.search(shown):
        rest = shown[0].lower() + shown[1:]
        return (
            (forms.how.format(rest=rest.rstrip(".。:：")), "how")
            if len(rest.split()) > 1 or not rest.isascii()
            else None
        )
    return None


def _is_vague(np: str, asks: str) -> bool:
    """Whether a subject could be anything, such as "a process", or is several things where one is asked for."""
    article, _, noun = np.partition(" ")
    if article in ("a", "an", "the") and " " not in noun and noun.islower() and not _CODE.fullmatch(noun):
        return True
    if article in ("a", "an") and asks.startswith(("When", "Where", "Who")):
        return True
    head = np.split(" of ")[0].split(" ")[-1]
    return " does {np} " in asks and head.islower() and _SEVERAL_THINGS.search(head) is not None


def _sentence(question: str) -> str:
    """Return a question with a capital first letter, but for the name of code."""
    first = question.split(" ")[0]
    return (
        question
        if first.isascii() and not question.isascii() and _CODE.match(first)
        else question[0].upper() + question[1:]
    )
