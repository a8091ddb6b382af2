"""Features of an entry from what it hangs on and from its place."""

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from answers.entries import entries_in
from graph.evidence import ContextRole, ContextSlice, Segment, SegmentBlock, nearest_heading
from text.normal_forms import fold_case
from text.terms import code_names
from text.words import QuestionTerms, comparable_text
from tools.extractive.similarity import Bools, Floats, cover, presence
from tools.rules.candidate_sentences import SHAPES, CandidateSentence

ENTRY_FEATURES = (
    "lead",  # share of the question's term weight in the lead-in, caption and header row
    "path",  # the same in the path of headings
    "section_terms",  # the same in all that was read under the entry's heading
    "block_terms",  # the same in its block
    "missing_rare",  # share of the weight of the question's terms that stand neither in the entry nor around it
    "code_here",  # share of the question's names of code in the entry, in its term, and around it
    "code_in_term",
    "code_around",
    "opens_block",  # the place and kind of the entry
    "code",
    "length",  # log of the characters
    "short",
    "foreign",  # no letter beyond ASCII where the question has some
    "repeats_title",  # share of the entry's words that are in the title or heading
)


TRAITS = ("opens_block", "code", "length", "ascii")
_LEADS: tuple[ContextRole, ...] = ("lead", "caption", "header", "label")


T = TypeVar("T", bound=Hashable)


class EntryTable(NamedTuple):
    """What no question changes of a segment's entries; an array has an element for each, in their order."""

    terms: tuple[str, ...]  # the term that each defines, and its lead-in, caption and header row; "" where it has none
    leads: tuple[str, ...]
    heads: tuple[str, ...]  # the distinct nearest headings, and the place of each entry's among them
    head: NDArray[np.intp]
    blocks: int  # the number of blocks with entries, and the place of each entry's among them
    block: NDArray[np.intp]
    traits: Floats  # (TRAITS, entries)


class _Hung(NamedTuple):
    """What an entry hangs on: its term, its lead-in, caption and header row, and its nearest heading."""

    term: str
    lead: str
    heading: str

    @classmethod
    def on(cls, context: Sequence[ContextSlice]) -> "_Hung":
        return cls(
            " ".join([each.text for each in context if each.role == "term"]),
            " ".join([each.text for each in context if each.role in _LEADS]),
            nearest_heading(context),
        )


@lru_cache(maxsize=256)  # some 4 KB each
def _entry_table(text: str, start: int, blocks: tuple[SegmentBlock, ...], heading: str) -> EntryTable:
    entries = entries_in(text, start, blocks)
    # The sentences of a block hang on the same slices, which are read once.
    known = {id(each.context): _Hung.on(each.context) for each in entries}
    hung = [known[id(each.context)] for each in entries]
    outer = heading.rpartition(" > ")[2]
    heads, head = _numbered([each.heading or outer for each in hung])
    numbers, block = _numbered([each.block for each in entries])
    traits = {
        "opens_block": [each.first for each in entries],
        "code": [SHAPES[each.kind] == "code" for each in entries],
        "length": [len(each.text) for each in entries],
        "ascii": [each.text.isascii() for each in entries],
    }
    return EntryTable(
        tuple(each.term for each in hung),
        tuple(each.lead for each in hung),
        tuple(heads),
        head,
        len(numbers),
        block,
        np.array([traits[name] for name in TRAITS], dtype=np.float64),
    )


def _numbered(values: Sequence[T]) -> tuple[list[T], NDArray[np.intp]]:
    """Return the distinct values in order, and the place of each value among them."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return list(places), np.fromiter((places[value] for value in values), dtype=np.intp, count=len(values))


def entry_features(
    question: str,
    question_words: QuestionTerms,
    segments: Sequence[Segment],
    pool: Sequence[CandidateSentence],
    terms: Bools,
    weight: Floats,
) -> Mapping[str, Floats]:
    """Compute ENTRY_FEATURES of each candidate; ``terms`` of shape (terms, candidates) is where the words stand.

    ``pool`` holds every entry of the segments.
    """
    names = question_words.terms
    wanted_code = code_names(fold_case(question))
    tables = [_entry_table(each.text, each.start, each.blocks, each.heading) for each in segments]
    trait = dict(zip(TRAITS, np.concatenate([table.traits for table in tables], axis=1), strict=True))
    owner = np.repeat(np.arange(len(tables)), [len(table.terms) for table in tables])
    term_texts = [text for table in tables for text in table.terms]
    lead_texts = [text for table in tables for text in table.leads]
    # What the entries under one heading share is computed once, and taken by ``under``.
    heads = [(segment, head) for segment, table in zip(segments, tables, strict=True) for head in table.heads]
    under = _joint([table.head for table in tables], [len(table.heads) for table in tables])
    paths = [f"{segment.heading} {head}" for segment, head in heads]
    in_term, in_lead = _present(names, term_texts), _present(names, lead_texts)
    in_path = _present(names, paths)[:, under]
    in_title = _present(names, [segment.title for segment in segments])[:, owner]
    around = in_term | in_lead | in_path | in_title
    here = terms | around
    _, section = _numbered([(segment.document_id, head or segment.heading) for segment, head in heads])
    in_section = _spread(here, section[under])
    in_block = _spread(here, _joint([table.block for table in tables], [table.blocks for table in tables]))
    texts = [one.text for one in pool]
    known = [comparable_text(segment.title).vocabulary | comparable_text(head).vocabulary for segment, head in heads]
    none = np.zeros(len(pool))
    return {
        "lead": cover(weight, in_lead),
        "path": cover(weight, in_path),
        "section_terms": cover(weight, in_section),
        "block_terms": cover(weight, in_block),
        "missing_rare": _rarest_missing(weight, here),
        "code_here": _code_share(wanted_code, texts),
        "code_in_term": _code_share(wanted_code, term_texts),
        "code_around": _code_share(
            wanted_code, [f"{paths[at]} {lead}" for at, lead in zip(under.tolist(), lead_texts, strict=True)]
        )
        if wanted_code
        else none,
        "opens_block": trait["opens_block"],
        "code": trait["code"],
        "length": np.log(trait["length"]),
        "short": (trait["length"] < 30).astype(np.float64),
        "foreign": trait["ascii"] * (not question.isascii()),
        "repeats_title": np.array(
            [_share_within(one.wording.vocabulary, known[at]) for one, at in zip(pool, under.tolist(), strict=True)]
        ),
    }


def _joint(places: Sequence[NDArray[np.intp]], sizes: Sequence[int]) -> NDArray[np.intp]:
    """Join places in several sequences of these sizes to places in all of them, one behind the other."""
    before = np.cumsum([0, *sizes[:-1]])
    return np.concatenate([each + offset for each, offset in zip(places, before, strict=True)])


def _present(names: Sequence[str], texts: Sequence[str]) -> Bools:
    """Return where the terms stand in texts of which many are the same, each read once."""
    distinct, places = _numbered(texts)
    return presence(names, [comparable_text(text).spellings for text in distinct])[:, places]


def _spread(present: Bools, group: NDArray[np.intp]) -> Bools:
    """Return for each candidate where any candidate of its group has the terms; groups are numbered from 0."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(group.max() + 1))
    held: Bools = np.logical_or.reduceat(present[:, order], starts, axis=1)
    return held[:, group]


def _rarest_missing(weight: Floats, present: Bools) -> Floats:
    """Return the largest weight of a term that each candidate lacks, by the largest of all."""
    if not len(weight) or weight.max() <= 0:
        return np.zeros(present.shape[1])
    lacking = np.where(present, 0.0, weight[:, None])
    return np.asarray(lacking.max(axis=0) / weight.max(), dtype=np.float64)


def _share_within(words: frozenset[str], known: frozenset[str]) -> float:
    return len(words & known) / len(words) if words else 0.0


def _code_share(wanted: Sequence[str], texts: Sequence[str]) -> Floats:
    if not wanted:
        return np.zeros(len(texts))
    folded = [fold_case(text) if text else "" for text in texts]
    return np.array([sum(name in text for name in wanted) / len(wanted) for text in folded])
