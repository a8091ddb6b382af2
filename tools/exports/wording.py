"""What exports say in the reader's language, from ``wording.toml``."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from answers.marks import Grade, grade_of
from graph.evidence import DatedBy, Disagreement, Position, SectionClaim, Source
from tools.exports.exported import ExportedAnswer, Note, RunAccount, Transcript

Language = Literal["en", "vi", "zh"]
_WORTH: tuple[Grade, ...] = ("supported", "quoted", "checked", "unverified", "contradicted", "unsupported")
LANGUAGES: tuple[Language, ...] = get_args(Language)


class Words:
    """The words of one language."""

    def __init__(self, language: Language) -> None:
        self.language = language
        lines = files(__package__).joinpath("wording.toml").read_text("utf-8")
        self._lines: Mapping[str, str] = tomllib.loads(lines)[language]

    def __call__(self, line: str, /, **values: object) -> str:
        """Return a line with values in its places; what a value holds is never read as a place."""
        return self._lines[line].format(**values)

    def day(self, moment: datetime | None) -> str:
        """Return a moment to the minute, UTC."""
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment is not None else "–"

    def place(self, place: Mapping[str, Any]) -> str:
        """Return where a quote stands in its file, "" where the format has no parts."""
        if "cell" in place and "sheet" in place:
            return self("cell", name=place["sheet"], cell=place["cell"])
        if "sheet" in place:
            return self("sheet", name=place["sheet"])
        if "slide" in place:
            return self("slide", number=place["slide"] + 1)
        page = place.get("page_idx")
        return "" if page is None else self("page", number=place.get("page_label") or page + 1)

    def where(self, note: Note) -> str:
        """Return title, headings and place of a quote."""
        path = _path(note.title, note.heading.split(" > "))
        return ", ".join(part for part in (path, self.place(note.place)) if part)

    def source(self, source: Source) -> str:
        """Return title and place of a source that no quote is of."""
        path = source["passage"]["heading_path"] if "passage" in source else []
        return ", ".join(part for part in (_path(source["title"], path), self.place(source)) if part)

    def quoted_from(self, note: Note) -> str:
        """Return where a passage is quoted from, and which other documents hold a copy of it, all with their dates."""
        said = self("quoted_from", where=self._dated(self.where(note) or note.document_id, *note.dated))
        titles = ((each, self._dated(each["title"], each["date"], each["dated_by"])) for each in note.copies)
        copies = (self("changed_in" if each["differs"] else "also_in", title=title) for each, title in titles)
        return "; ".join((said, *copies))

    def _dated(self, title: str, day: str, dated_by: DatedBy) -> str:
        return self("stored" if dated_by == "library" else "dated", title=title, day=day) if day else title

    def giver(self, claim: SectionClaim) -> str:
        """Return who gave a claim its verdict, or who has checked it."""
        judge = claim.get("judge")
        if judge is not None and judge["exam"] is not None:
            return self("by_judge", model=judge["model"], **judge["exam"])
        if judge is not None:
            return self("by_unexamined", model=judge["model"])
        return self("by_text") if claim.get("by") == "text" else self("by_nobody")

    def state(self, answer: ExportedAnswer) -> str:
        """Return what an answer is worth: that it is none or not whole, or whether it answers and how it is proven."""
        if answer.outcome == "abstained":
            return self("not_outright" if answer.has_bearing else "refused")
        if answer.outcome == "cancelled" or answer.disagreements:
            return self("disagreements" if answer.disagreements else "cancelled")
        said = [self(f"answerhood_{answer.answerhood}")] if answer.answerhood is not None else []
        if passages := sum(each.passage is not None for each in answer.sections):
            said.append(self("worth_passages", count=passages))
        elif answer.claims:
            # Of a claim that an earlier release stored it is not known who found it supported.
            known: dict[Grade, Grade] = {} if answer.judges else {"supported": "quoted"}
            grades = Counter(known.get(grade, grade) for grade in (grade_of(each.claim) for each in answer.claims))
            parts = (self(f"worth_{each}", count=grades[each], by=answer.judges) for each in _WORTH if grades[each])
            said.append(self("worth_statements", count=len(answer.claims), parts=", ".join(parts)))
        return " ".join(said)

    def sides(self, told: Disagreement) -> list[str]:
        """Return what each source of a disagreement says and where, or in what they disagree."""
        return [f"{self.side(each)}: “{each['quote']}”" for each in told.get("positions", [])] or [told["reason"]]

    def side(self, position: Position) -> str:
        """Return where one side of a disagreement stands, with the date that its text says."""
        dated = position["date"] if position["dated_by"] == "document" else ""
        return self._dated(position["title"], dated, "document")

    def made(self, transcript: Transcript) -> str:
        """Return when a transcript was made, and of which session, where its reader may know."""
        date = self.day(transcript.exported_at)
        if not transcript.session_id:
            return self("shown", date=date)
        return self("exported", date=date, session=transcript.session_id)

    def of_note(self, note: Note) -> list[str]:
        """Return what is to be known of a quote beside its words."""
        said = [self("matched")] if note.matched and not note.withheld else []
        return [*said, *([self(note.freshness)] if note.freshness else [])]

    def paid(self, account: RunAccount) -> list[str]:
        """Return the times, models and cost of a run, a sentence each."""
        models = ", ".join(f"{name} ({calls})" for name, calls in account.models.items())
        said = [
            self("times", asked=self.day(account.asked_at), finished=self.day(account.finished_at)),
            self("models", models=models) if models else self("no_model"),
        ]
        cost = account.cost
        if cost is not None:
            unpriced = ", ".join(cost["unpriced"])
            name = "cost_partly" if unpriced else "cost"
            paid = self(name, amount=cost["amount"], currency=cost["currency"], models=unpriced)
            said.append(f"{paid} {self('estimated')}" if cost["estimated"] else paid)
        return said


def _path(title: str, headings: Iterable[str]) -> str:
    """Return a title with the headings under it, of which the first is often the title itself."""
    path = [part.strip() for part in (title, *headings) if part.strip()]
    return " › ".join(path[1:] if path[1:] and path[0].casefold() == path[1].casefold() else path)


@cache
def words_of(language: Language) -> Words:
    """Return the words of a language."""
    return Words(language)
