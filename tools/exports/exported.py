"""What an export holds: questions, answers with the places of their marks, and numbered notes that prove them.

The formats are written from this alone. What its reader may not see was taken out before it was made.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from answers.answerhood import Answerhood
from answers.citations import landing_url, place_of
from answers.highlighting import in_quote
from answers.marks import Grade, grade_of, mark_of
from answers.passage_markdown import cells_of
from answers.quoted_runs import continues
from graph.evidence import (
    Citation,
    CitationContext,
    Copy,
    Cost,
    DatedBy,
    Disagreement,
    Freshness,
    SectionClaim,
    Source,
    Spent,
)
from text.mark_places import mark_place

# In the order in which a run takes them; stored JSON keeps none.
_STEPS = (
    "decide_retrieval",
    "answer_directly",
    "load_selected_pages",
    "search_segments",
    "search_web",
    "search_mcp",
    "grade_segments",
    "rewrite_query",
    "generate_answer",
    "check_claims",
    "assess_quality",
    "abstain",
)
BEARS = 0.5  # the least relevance of what has a bearing on a question that it does not answer
Address = Callable[[Citation, Source | None], str]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The text right before and behind a quote in its document today; "" where that is not known."""

    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A quote that proves claims, by its number in the whole export; the quote is empty where it is ``withheld``.

    ``place`` has ``page_idx``, ``slide``, ``sheet`` or ``cell``, as a citation does; ``highlight`` is a span of the
    quote where it is a passage of several entries. ``copies`` are other documents with a copy of it, ``dated`` is the
    date of its own then, and who gave it.
    """

    number: int
    document_id: str
    title: str
    heading: str
    place: Mapping[str, Any]
    address: str
    quote: str
    context: tuple[CitationContext, ...]
    around: Surroundings
    matched: bool
    freshness: Freshness | None
    highlight: Span | None = None
    dated: tuple[str, DatedBy] = ("", "")
    copies: tuple[Copy, ...] = ()

    @property
    def withheld(self) -> bool:
        return self.freshness == "withheld"

    @property
    def rows(self) -> list[list[str]]:
        """The cells of a quote from a table under the header that it hangs on; none of another quote."""
        header = [each["text"] for each in self.context if each["role"] == "header"]
        rows = [cells_of(row) for row in (*header, *self.quote.split("\n"))]
        return rows if header and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1 else []


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands behind a claim: the numbers of the notes that its mark stands for, and what it is called."""

    at: int
    notes: tuple[int, ...]
    grade: Grade

    @property
    def is_told(self) -> bool:
        """Whether the grade is told too, since a reader could take the claim for proven."""
        return self.grade not in ("supported", "quoted")


@dataclass(frozen=True, slots=True)
class ExportedClaim:
    """A claim with the numbers of its notes."""

    claim: SectionClaim
    notes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ExportedSection:
    """A part of an answer in Markdown, and its marks by offset; ``withheld`` is without its text.

    One that only quotes has the note of its ``passage``, and the span of its ``highlight``.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    grounded: bool = True
    withheld: bool = False
    passage: Note | None = None
    highlight: Span | None = None


@dataclass(frozen=True, slots=True)
class RunAccount:
    """What a run took: its steps, the models that were asked, its times and, where models have prices, its cost."""

    run_id: str
    model: str
    spent: Mapping[str, Spent]
    cost: Cost | None
    asked_at: datetime | None
    finished_at: datetime | None

    @property
    def steps(self) -> list[tuple[str, Spent]]:
        """The steps in the order of a run; others behind them."""
        places = {name: place for place, name in enumerate(_STEPS)}
        return sorted(self.spent.items(), key=lambda step: places.get(step[0], len(_STEPS)))

    @property
    def models(self) -> dict[str, int]:
        calls: dict[str, int] = {}
        for step in self.spent.values():
            for name, use in step.get("models", {}).items():
                calls[name] = calls.get(name, 0) + use["calls"]
        return calls


@dataclass(frozen=True, slots=True)
class ExportedAnswer:
    """An answer with its claims and notes; ``account`` is None where the export leaves it out."""

    message_id: str
    outcome: str
    stop_reason: str
    family: str
    answered_at: datetime
    sections: tuple[ExportedSection, ...]
    claims: tuple[ExportedClaim, ...]
    notes: tuple[Note, ...]
    nearest: tuple[Source, ...]
    disagreements: tuple[Disagreement, ...]
    account: RunAccount | None
    answerhood: Answerhood | None = None

    @property
    def withheld(self) -> bool:
        """Whether something of it is left out, since its reader may not read the document."""
        return any(each.withheld for each in self.sections) or any(note.withheld for note in self.notes)

    @property
    def has_bearing(self) -> bool:
        """Whether something came near to a question that was refused and has a bearing on it."""
        return any(each["score"] >= BEARS for each in self.nearest)

    @property
    def judges(self) -> str:
        judges = (each.claim.get("judge") for each in self.claims)
        return ", ".join(dict.fromkeys(judge["model"] for judge in judges if judge is not None))

    def notes_of(self, section: ExportedSection | None) -> list[Note]:
        """Return the notes that a section is the first to refer to; of None those to which no section does."""
        told: set[int] = set()
        for each in self.sections:
            own = {number for mark in each.marks for number in mark.notes} - told
            if each is section:
                return [note for note in self.notes if note.number in own]
            told |= own
        return [note for note in self.notes if note.number not in told]

    def told(self) -> Iterator[tuple[ExportedSection, bool]]:
        """Yield the sections, each with whether what no source backs begins with it."""
        grounded = True
        for section in self.sections:
            yield section, grounded and not section.grounded
            grounded = section.grounded


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with its answer, None where it has none; ``asked_at`` is None where a note pins it."""

    question: str
    asked_at: datetime | None
    selected_text: str = ""
    answer: ExportedAnswer | None = None


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A document that notes quote. ``version`` is the one that was quoted, None where that is not known any more.

    ``sha256`` is the fingerprint of the current text, ``changed_at`` when it became that.
    """

    document_id: str
    title: str
    version: int | None
    current: int
    changed_at: datetime
    sha256: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session, or one answer of it, as it may be read by one reader at one moment.

    ``session_id`` is "" where its reader is not its owner, and of a note, whose own ``text`` is Markdown.
    """

    session_id: str
    title: str
    exported_at: datetime
    exchanges: tuple[Exchange, ...]
    documents: tuple[DocumentVersion, ...] = ()
    is_whole: bool = True
    text: str = ""

    @property
    def withheld(self) -> bool:
        """Whether anything is left out, since its reader may not read the document."""
        return any(each.answer is not None and each.answer.withheld for each in self.exchanges)


@dataclass(slots=True)
class NoteBook:
    """Numbers the quotes of an export from 1; a quote that several claims of an answer share has one number."""

    addressed: Address
    surroundings: Mapping[tuple[str, int, int], Surroundings] = field(default_factory=dict)
    _written: int = 0

    def notes_of(self, citations: Sequence[Citation], sources: Sequence[Source]) -> dict[tuple[str, int, int], Note]:
        """Return the notes of an answer by their quotes, in the order in which its claims cite them."""
        by_segment = {source["segment_id"]: source for source in sources}
        by_index = {source["index"]: source for source in sources}
        notes: dict[tuple[str, int, int], Note] = {}
        for citation in citations:
            key = quote_key(citation)
            if key in notes:
                continue
            self._written += 1
            source = by_segment.get(citation["segment_id"]) or by_index.get(citation["source_index"])
            notes[key] = self._note(self._written, citation, source)
        return notes

    def _note(self, number: int, citation: Citation, source: Source | None) -> Note:
        withheld = citation.get("freshness") == "withheld"
        now: Mapping[str, Any] = citation.get("now") or {}
        place: Mapping[str, Any] = place_of(citation)
        return Note(
            number=number,
            document_id=citation["document_id"],
            title=source["title"] if source and not withheld else "",
            heading="" if withheld else _heading(citation, source),
            place={} if withheld else {"page_idx": now.get("page_idx", citation["page_idx"]), **place},
            address="" if withheld else landing_url(self.addressed(citation, source), citation.get("anchor", "")),
            quote=citation["quote"],
            context=tuple(citation.get("context", ())),
            around=Surroundings() if withheld else self.surroundings.get(quote_key(citation), Surroundings()),
            matched=citation["origin"] == "matched",
            freshness=citation.get("freshness"),
            highlight=None if withheld else in_quote(citation),
            dated=(citation.get("date", ""), citation.get("dated_by", "")),
            copies=tuple(citation.get("copies", ())),
        )


def _heading(citation: Citation, source: Source | None) -> str:
    """Return the path of headings above what a citation highlights, joined by " > "."""
    if "heading_path" in citation:
        return " > ".join(citation["heading_path"])
    return source["heading"] if source else ""


def shown_of(source: Source) -> str:
    """Return the passage of a source that came nearest, behind what it hangs on, or else its excerpt."""
    if "passage" not in source:
        return source["excerpt"]
    passage = source["passage"]
    return "\n".join([*(each["text"] for each in passage["context"]), passage["quote"]])


def quote_key(citation: Citation) -> tuple[str, int, int]:
    """Return what makes two citations the same quote."""
    return citation["document_id"], citation["start"], citation["end"]


def marked(text: str, claims: Sequence[ExportedClaim]) -> tuple[Mark, ...]:
    """Return the marks of a section in order, where they break no Markdown; claims that share a quote have one."""
    ordered = sorted(claims, key=lambda each: each.claim["end"])
    marks: list[Mark] = []
    start = 0
    for at, each in enumerate(ordered):
        following = ordered[at + 1] if at + 1 < len(ordered) else None
        if following is not None and continues(each.claim, following.claim):
            continue
        place = mark_place(text, each.claim["end"], start)
        notes = each.notes if mark_of(each.claim) == "shown" else ()
        mark = Mark(place or 0, notes, grade_of(each.claim))
        if place is not None and (notes or mark.is_told):
            marks.append(mark)
            start = place
    return tuple(marks)
