"""What governs an entry: what denies, repeals, doubts or conditions it, says whose words it is, or sets a frame.

It may be a lead-in, a heading, a label, the header of a column, or a sentence near it. Only what stands outside of a
sentence governs it. Governors are entries of the same segment, or slices that its blocks hang on, so they are exact
slices of the canonical text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, takewhile

from answers.entry import Entry
from answers.overtaking import Correction, by_stages, has_values_before, is_overtaken, outdated
from answers.reach import (
    FURTHEST,
    NEAR,
    NEVER_GOVERNED,
    below_in_section,
    corrected,
    dreamt,
    goes_on,
    in_part,
    introduced,
    meant,
    named_part,
    rest_of_block,
    spoken,
)
from answers.subjects import namesakes
from graph.evidence import BlockKind, ContextRole, ContextSlice, Governance, nearest_heading
from text.denials import (
    Wording,
    about_part,
    announces,
    calls_a_liar,
    corrects,
    denies_column,
    ends_a_part,
    falls_asleep,
    frames,
    has_clause,
    has_trigger,
    lead_in,
    mark,
    names_nobody,
    outdates,
    said_back,
)

_PROSE = frozenset[BlockKind]({"paragraph", "list_item", "quote", "footnote"})
_MARKING = frozenset[ContextRole]({"heading", "label", "caption"})
_CELL = " | "
_SHORT_MARK = 48  # characters of a sentence that is only a mark, such as "A stubborn myth."
_SHORT_HAN_MARK = 14
_MOST_GOVERNORS = 4


def govern(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Add to each entry's context what governs it. Entries are those of one segment, in order.

    Takes time linear in the text, since a governor reaches a bounded number of entries.
    """
    found = _Found(entries)
    _by_context(entries, found)
    _by_namesakes(entries, found)
    _by_columns(entries, found)
    _by_sentences(entries, found)
    for older, newer in by_stages(entries, _is_news):
        found.add_all([older], newer, "overtakes")
    return [found.governed(at) for at in range(len(entries))]


@dataclass(slots=True)
class _Found:
    """The entries of a segment, and the governors found for each, by its place."""

    entries: Sequence[Entry]
    governors: dict[int, dict[tuple[int, int], ContextSlice]] = field(default_factory=dict)

    def add(self, at: int, governor: "ContextSlice | Entry", kind: Governance) -> None:
        entry = self.entries[at]
        apart = governor.end <= entry.start or governor.start >= entry.end
        if apart and entry.kind not in NEVER_GOVERNED:
            known = self.governors.setdefault(at, {})
            span = governor.start, governor.end
            if len(known) < _MOST_GOVERNORS and span not in known:
                known[span] = ContextSlice("governs", *span, governor.text, kind)

    def governed(self, at: int) -> Entry:
        """Return an entry with its governors, without those stored with its block that are not about it."""
        entry, known = self.entries[at], self.governors.get(at, {})
        if not known and all(each.role != "governs" for each in entry.context):
            return entry
        kept = (each for each in entry.context if each.role != "governs")
        return entry._replace(context=(*kept, *known.values()))

    def add_all(self, places: Iterable[int], by: int, kind: Governance) -> None:
        for at in islice(places, FURTHEST):
            self.add(at, self.entries[by], kind)


# --- what entries hang on ---------------------------------------------------------------------------------------------


def _by_context(entries: Sequence[Entry], found: _Found) -> None:
    for at, entry in enumerate(entries):
        for each in entry.context:
            kind = None
            if each.role in _MARKING:
                kind = _marked(each.text)
            elif each.role == "lead":
                kind = _led(each.text)
            elif each.role == "governs" and _is_meant(entry, each):  # found in another segment as it was stored
                kind = each.kind
            if kind is not None:
                found.add(at, each, kind)


@lru_cache(maxsize=4096)
def _marked(text: str) -> Governance | None:
    return mark(Wording.of(text))


@lru_cache(maxsize=4096)
def _led(text: str) -> Governance | None:
    return lead_in(Wording.of(text))


def _is_meant(entry: Entry, governor: ContextSlice) -> bool:
    """Whether a governor stored with a block is about this sentence of it: a newer state or a correction may not be."""
    if governor.kind == "overtakes":
        return is_overtaken(entry.text, governor.text)
    if governor.kind == "repeals" and corrects(Wording.of(governor.text)):
        return Correction.of(governor.text).is_about(entry.text)
    return True


def _by_namesakes(entries: Sequence[Entry], found: _Found) -> None:
    """Let headings govern what stands under others that are named alike, such as "H30" and "H30 Max"."""
    headings = {each.text: each for entry in entries for each in entry.context if each.role == "heading"}
    names = namesakes(headings, "\n".join(each.text for each in entries)) if len(headings) > 1 else {}
    if not names:
        return
    for at, entry in enumerate(entries):
        for other in names.get(nearest_heading(entry.context), ()):
            found.add(at, headings[other], "narrows")


def _by_columns(entries: Sequence[Entry], found: _Found) -> None:
    """Govern the rows of a table by its header, and by rows of one cell, which head the rows below them."""
    over: int | None = None
    for at, entry in enumerate(entries):
        header = next((each for each in entry.context if each.role == "header"), None)
        if entry.kind != "table_row" or header is None:
            over = None
            continue
        if _CELL not in entry.text:
            over = at
            continue
        kind = _columns(header.text)
        if kind is not None:
            found.add(at, header, kind)
        if over is not None and (_marked(entries[over].text) or denies_column(entries[over].text)):
            found.add_all([at], over, "denies")


@lru_cache(maxsize=2048)
def _columns(header: str) -> Governance | None:
    """Return "denies" if all columns of values deny, "conditions" if some do."""
    cells = header.split(_CELL)
    denying = [denies_column(cell) for cell in (cells[1:] or cells)]
    return None if not any(denying) else "denies" if all(denying) else "conditions"


# --- sentences --------------------------------------------------------------------------------------------------------


def _by_sentences(entries: Sequence[Entry], found: _Found) -> None:
    for at, entry in enumerate(entries):
        if entry.kind in _PROSE:
            leads = entry.leads or entry.text.endswith((":", "："))
            if leads or has_trigger(entry.text):
                _by_sentence(at, Wording.of(entry.text), found, leads=leads)


def _by_sentence(at: int, passage: Wording, found: _Found, *, leads: bool) -> None:
    entries = found.entries
    if leads and (kind := lead_in(passage)) is not None:
        found.add_all(introduced(entries, at), at, kind)
        return
    for rule in (
        _by_name,
        _by_mark,
        _by_part,
        _by_announcement,
        _by_correction,
        _by_reply,
        _by_liar,
        _by_frame,
        _by_news,
    ):
        kind, places = rule(entries, at, passage)
        if kind is not None:
            found.add_all(places, at, kind)
            return


Ruling = tuple[Governance | None, Iterable[int]]
_NOTHING: Ruling = (None, ())


def _by_name(entries: Sequence[Entry], at: int, passage: Wording) -> Ruling:
    """Judge a sentence that ends another part, which it names: "Memo 1 is withdrawn."."""
    named = named_part(entries, at, passage.lowered) if ends_a_part(passage) else []
    return ("repeals", named) if named else _NOTHING


def _by_mark(entries: Sequence[Entry], at: int, passage: Wording) -> Ruling:
    """Judge a sentence of a few words at the beginning of a block, such as "A stubborn myth.".

    One that tells in full what it marks, such as "Rumours say that the shop shuts.", is about itself and about what
    goes on with "it".
    """
    entry = entries[at]
    if (
        not entry.first
        or entry.text[0].islower()
        or len(entry.text) > (_SHORT_HAN_MARK if passage.han else _SHORT_MARK)
    ):
        return _NOTHING
    if has_clause(passage):
        return mark(passage), takewhile(
            lambda place: names_nobody(entries[place].text), rest_of_block(entries, at, NEAR)
        )
    alone = at + 1 == len(entries) or entries[at + 1].block != entry.block
    return mark(passage), below_in_section(entries, at) if alone else rest_of_block(entries, at, NEAR)


def _by_part(entries: Sequence[Entry], at: int, passage: Wording) -> Ruling:
    return about_part(passage), in_part(entries, at, passage.lowered)


def _by_announcement(entries: Sequence[Entry], at: int, passage: Wording) -> Ruling:
    return announces(passage), introduced(entries, at)


def _by_correction(entries: Sequence[Entry], at: int, passage: Wording) -> Ruling:
    return ("repeals", corrected(entries, at)) if corrects(passage) else _NOTHING


def _by_reply(entries: Sequence[Entry], at: int, passage: Wording) -> Ruling:
    return said_back(passage), meant(entries, at, passage.lowered)


def _by_liar(entries: Sequence[Entry], at: int, passage: Wording) -> Ruling:
    return ("doubts", spoken(entries, at)) if calls_a_liar(passage) else _NOTHING


def _by_frame(entries: Sequence[Entry], at: int, passage: Wording) -> Ruling:
    kind = frames(passage)
    if kind is None and falls_asleep(passage):
        return "imagines", dreamt(entries, at)
    return kind, goes_on(entries, at) if kind == "imagines" else rest_of_block(entries, at, 1)


def _by_news(entries: Sequence[Entry], at: int, passage: Wording) -> Ruling:
    """Judge a newer state of what a sentence before is about, such as "The hut no longer takes dogs."."""
    older = outdated(entries, at) if has_values_before(entries, at) and outdates(passage) else []
    return ("overtakes", older) if older else _NOTHING


def _is_news(text: str) -> bool:
    return has_trigger(text) and outdates(Wording.of(text))
