"""Which passages to show: those that a reading believes in most, of different places, as many as pay."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from answers.document_dates import age_of
from answers.entries import entries_of
from answers.entry import Entry
from answers.passage_markdown import as_markdown
from answers.passages import Passages, is_whole
from graph.evidence import Hit, Proof, Span
from text.words import ComparableText, comparable_text
from tools.extractive.reader import RankedSentences
from tools.extractive.table_keys import naming

MOST_PASSAGES = 3
CONSIDERED = 16  # best entries whose passages are compared
PAYS = 0.01  # least belief in a further passage: one with less is shown for nothing
COPIED = 0.85  # share of the words of the longer of two passages, from which on one is a copy of the other


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """A passage of a segment as Markdown, its proof, and the reader's belief in [0, 1] that it answers.

    ``dated`` orders copies by age, and ``copies`` are the ids of those that a search has left out.
    """

    text: str
    proof: Proof
    belief: float
    wording: ComparableText
    dated: tuple[int, str, str]
    copies: tuple[str, ...] = ()

    @property
    def segment_id(self) -> str:
        return self.proof["segment_id"]

    @property
    def document_id(self) -> str:
        return self.segment_id.rpartition(":")[0]

    def repeats(self, other: "QuotedPassage", asked: frozenset[str]) -> bool:
        """Whether both show some of the same text, or one is a copy of the other.

        Two that differ in a word of those ``asked`` for are about two things, as what one template says of two offices.
        """
        if self.document_id == other.document_id:
            return self.proof["start"] < other.proof["end"] and other.proof["start"] < self.proof["end"]
        own, others = self.wording.vocabulary, other.wording.vocabulary
        return not (own ^ others) & asked and len(own & others) >= COPIED * max(1, len(own), len(others))


def choose_passages(readings: Sequence[RankedSentences], sources: Sequence[Hit]) -> list[QuotedPassage]:
    """Return the passages to show, likeliest first and none twice; each part of a question gets its best one first."""
    chosen: list[QuotedPassage] = []
    asked = frozenset[str]().union(*(comparable_text(reading.question).vocabulary for reading in readings))
    for row in zip_longest(*(_worthwhile(reading, sources) for reading in readings)):
        for passage in row:
            is_new = passage is not None and not any(passage.repeats(each, asked) for each in chosen)
            if passage is not None and is_new and len(chosen) < MOST_PASSAGES:
                chosen.append(passage)
    return chosen


def _worthwhile(reading: RankedSentences, sources: Sequence[Hit]) -> list[QuotedPassage]:
    found = list(islice(ranked_passages(reading, sources), MOST_PASSAGES))
    return [passage for at, passage in enumerate(found) if at == 0 or passage.belief >= PAYS]


def ranked_passages(reading: RankedSentences, sources: Sequence[Hit]) -> Iterator[QuotedPassage]:
    """Yield the passages of a reading, likeliest first and none that repeats another."""
    found: dict[tuple[str, int, int], QuotedPassage] = {}
    beliefs: dict[str, list[tuple[int, float]]] = {}
    for one, share in zip(reading.candidates, reading.shares, strict=True):
        if one.entry.quotable:
            document_id = sources[one.segment].segment.document_id
            beliefs.setdefault(document_id, []).append((one.entry.start, share))
    quotable = (each for each in reading.candidates if each.entry.quotable)
    of_segments: dict[int, Passages] = {}
    for candidate in islice(quotable, CONSIDERED):
        hit = sources[candidate.segment]
        segment = hit.wide
        if candidate.segment not in of_segments:
            of_segments[candidate.segment] = Passages(entries_of(segment))
        passages = of_segments[candidate.segment]
        entries = passages.entries
        at = max(0, bisect_right(entries, candidate.entry.start, key=lambda entry: entry.start) - 1)
        if not entries[at].quotable:
            continue  # a cut between segments has torn the candidate from what makes it a heading
        shown = passages.of(at)
        key = segment.document_id, entries[shown[0]].start, entries[shown[-1]].end
        if key not in found and is_whole(entries, shown):
            own = entries[shown.start : shown.stop]
            best = _named_row(reading.question, own, entries[at]) if entries[at].kind == "table_row" else entries[at]
            found[key] = _passage(reading.question, hit, own, best, beliefs[segment.document_id])
    told: list[QuotedPassage] = []
    asked = comparable_text(reading.question).vocabulary
    ranked = list(found.values()) if reading.in_order else sorted(found.values(), key=lambda each: -each.belief)
    for passage in ranked:
        if not any(passage.repeats(each, asked) for each in told):
            told.append(_newest(passage, ranked, asked))
            yield told[-1]


def _newest(passage: QuotedPassage, ranked: Sequence[QuotedPassage], asked: frozenset[str]) -> QuotedPassage:
    """Return the newest copy of a passage, with the belief in it and the ids of the others."""
    copies = {passage.document_id: passage}
    for each in ranked:
        if each.repeats(passage, asked):
            copies.setdefault(each.document_id, each)
    newest, *older = sorted(copies.values(), key=lambda each: each.dated, reverse=True)
    proof = Proof(**newest.proof)
    others = [*newest.copies, *(found for each in older for found in (each.segment_id, *each.copies))]
    if others:
        proof["copies"] = others
    return replace(newest, proof=proof, belief=passage.belief)


def _named_row(question: str, entries: Sequence[Entry], best: Entry) -> Entry:
    """Return the row that a question names, of those of a passage; the best entry where it names no other more."""
    rows = (each for each in entries if each.kind == "table_row" and each.quotable)
    return max(best, *rows, key=lambda row: naming(question, row))


def _passage(
    question: str, hit: Hit, entries: Sequence[Entry], best: Entry, beliefs: Sequence[tuple[int, float]]
) -> QuotedPassage:
    """Return a passage grown from an entry; the likeliest entry in it that is no question is highlighted.

    ``beliefs`` are those of its document, with the offsets of the entries.
    """
    held = {start: belief for start, belief in beliefs if entries[0].start <= start < entries[-1].end}
    if best.asks or best.leads:
        told = [each for each in entries if each.quotable and not (each.asks or each.leads)]
        best = max(told, key=lambda each: held.get(each.start, 0.0), default=best)
    segment = hit.wide
    text = as_markdown(segment, entries)
    proof = Proof(
        segment_id=segment.segment_id,
        start=entries[0].start,
        end=entries[-1].end,
        origin="cited",
        highlight=Span(start=best.start, end=best.end),
    )
    inside = min(proof["end"], hit.segment.end) - max(proof["start"], hit.segment.start)
    return QuotedPassage(
        text,
        proof,
        min(1.0, sum(held.values())),
        comparable_text(text),
        age_of(segment, question),
        hit.copies if inside >= COPIED * (proof["end"] - proof["start"]) else (),
    )
