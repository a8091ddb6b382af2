"""Routes of notes: what somebody pins with its proof, edits, puts in order, shares in the workspace and exports."""

from typing import Annotated, Literal, Self
from uuid import UUID

from fastapi import APIRouter, Response, status
from pydantic import Field, model_validator

from api.dependencies import Asking, needs
from api.fields import Body, Cursor, Limit, LineEnds, Printable, Title
from api.problems import problems
from api.routes.export_routes import FILES, Format, Wording, exports_of, file_of
from graph.evidence import Identity
from tools.library.reading import MOST_CHARACTERS
from tools.notes.notes import MOST_ENTRIES, NoteEntry, NoteSummary
from tools.notes.pinning import MOST_QUOTED, answer_to_pin, passage_to_pin
from tools.process.library import Library

router = APIRouter(prefix="/api/notes", tags=["notes"])
Text = Literal[""] | Annotated[str, Field(min_length=1, max_length=20_000), Printable, LineEnds]
Offset = Annotated[int, Field(ge=0, le=MOST_CHARACTERS)]


class Pin(Body):
    """What to pin: an answer by its session and message, or a passage by its document and words."""

    session_id: UUID | None = None
    message_id: UUID | None = Field(default=None, description="An answer of the session.")
    section: Offset | None = Field(default=None, description="One section of the answer, by its index.")
    document_id: UUID | None = None
    quote: Annotated[str, Field(min_length=1, max_length=MOST_QUOTED), Printable, LineEnds] | None = Field(
        default=None, description="A passage of the document, in its own words."
    )
    start: Offset | None = Field(
        default=None, description="Where the claim begins in its section, or the quote in the canonical text."
    )

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        answer, passage = (self.session_id, self.message_id), (self.document_id, self.quote)
        if (None in answer) == (None in passage) or any(answer) == any(passage):
            raise ValueError("give session_id and message_id, or document_id and quote")
        if self.section is not None and self.message_id is None:
            raise ValueError("section: a passage of a document has none")
        if self.start is not None and self.message_id is not None and self.section is None:
            raise ValueError("start: a claim is named with its section")
        return self


class NewNote(Body):
    """A note, empty or with the first thing that is pinned in it, by which it is called where it has no title."""

    title: Title | None = None
    text: Text = Field(default="", description="In Markdown.")
    entry: Pin | None = None

    @model_validator(mode="after")
    def _is_named(self) -> Self:
        if self.title is None and self.entry is None:
            raise ValueError("title: give one, or an entry that the note is called by")
        return self


class NoteChange(Body):
    """Changes to a note; what is left out stays as it is."""

    title: Title | None = None
    text: Text | None = Field(default=None, description="In Markdown; empty for none.")
    shared: bool | None = Field(default=None, description="Whether everybody in the workspace may read it.")
    order: Annotated[list[UUID], Field(max_length=MOST_ENTRIES)] | None = Field(
        default=None, description="The ids of its entries as they should stand; others stand behind them."
    )


class Note(Body):
    """A note with what is pinned in it, as its reader may see it today."""

    note: NoteSummary
    entries: list[NoteEntry]


class NoteList(Body):
    """Notes of one's own and those that others share, the last changed first. ``text`` is its beginning."""

    notes: list[NoteSummary]
    next_cursor: str | None


class PinnedEntry(Body):
    """The id of an entry."""

    entry_id: str


@router.get("", responses=problems(422, 503))
@needs("ask", lists=True)
async def list_notes(by: Asking, limit: Limit = 50, cursor: Cursor = None) -> NoteList:
    """List your notes, and those that are shared in the workspace."""
    notes, following = await by.library.notes.list(by.me, limit=limit, cursor=cursor)
    return NoteList(notes=notes, next_cursor=following)


@router.post("", status_code=status.HTTP_201_CREATED, responses=problems(403, 404, 422, 503))
@needs("ask", lists=True)
async def create_note(body: NewNote, by: Asking) -> NoteSummary:
    """Begin a note."""
    pinned = None if body.entry is None else await _pinned(body.entry, by.me, by.library)
    question = "" if pinned is None else " ".join(pinned[0].split())[:255]
    return await by.library.notes.create(by.me, body.title or question, body.text, pinned=pinned)


@router.get("/{note_id}", responses=problems(404, 422, 503))
@needs("ask", lists=True)
async def get_note(note_id: UUID, by: Asking) -> Note:
    """Read a note; each quote is looked up in today's text."""
    note, entries = await by.library.notes.get(by.me, str(note_id))
    return Note(note=note, entries=[each.as_json() for each in entries])


@router.patch("/{note_id}", responses=problems(404, 422, 503))
@needs("ask", lists=True)
async def change_note(note_id: UUID, body: NoteChange, by: Asking) -> NoteSummary:
    """Change the title, the text or the order of a note of yours, or whether it is shared.

    Who may administer the workspace may end that another's is.
    """
    order = None if body.order is None else [str(each) for each in body.order]
    return await by.library.notes.change(
        by.me, str(note_id), title=body.title, text=body.text, shared=body.shared, order=order
    )


@router.delete("/{note_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 422, 503))
@needs("ask", lists=True)
async def delete_note(note_id: UUID, by: Asking) -> None:
    """Delete a note of yours, or, where you may administer the workspace, one that another shares."""
    await by.library.notes.delete(by.me, str(note_id))


@router.post("/{note_id}/entries", status_code=status.HTTP_201_CREATED, responses=problems(404, 422, 503))
@needs("ask", lists=True)
async def pin_to_note(note_id: UUID, body: Pin, by: Asking) -> PinnedEntry:
    """Pin an answer, a part of it, or a passage of a document to a note of yours."""
    question, pinned = await _pinned(body, by.me, by.library)
    return PinnedEntry(entry_id=await by.library.notes.pin(by.me, str(note_id), question, pinned))


@router.delete(
    "/{note_id}/entries/{entry_id}", status_code=status.HTTP_204_NO_CONTENT, responses=problems(404, 422, 503)
)
@needs("ask", lists=True)
async def remove_from_note(note_id: UUID, entry_id: UUID, by: Asking) -> None:
    """Take an entry out of a note of yours."""
    await by.library.notes.remove(by.me, str(note_id), str(entry_id))


@router.get("/{note_id}/export", response_class=Response, responses={**FILES, **problems(404, 422, 503)})
@needs("ask", lists=True)
async def export_note(note_id: UUID, format: Format, by: Asking, language: Wording = "en") -> Response:
    """Export a note with the proof of what is pinned; what you may not read any more is left out."""
    note, entries = await by.library.notes.get(by.me, str(note_id))
    transcript = await exports_of(by.library).note(
        by.me,
        note.title,
        note.text,
        [(each.question, each.answer) for each in entries],
        is_own=note.is_own,
        base_url=by.address,
    )
    return await file_of(transcript, format, language)


async def _pinned(pin: Pin, me: Identity, library: Library) -> tuple[str, dict[str, object]]:
    """Return the question and the body of what is to be pinned."""
    if pin.message_id is not None:
        return await answer_to_pin(
            library.sessions, me, str(pin.session_id), str(pin.message_id), section=pin.section, start=pin.start
        )
    return "", await passage_to_pin(library.reader, me, str(pin.document_id), pin.quote or "", start=pin.start)
