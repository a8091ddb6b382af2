"""Features of an entry from what it hangs on, from its place, and from the kind of answer that is asked for."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from graph.evidence import ContextRole, Segment, nearest_heading
from text.normal_forms import fold_case
from text.terms import code_names
from text.words import QuestionTerms, comparable_text
from tools.extractive.asked_kinds import KINDS, asked_kinds, shows
from tools.extractive.similarity import Bools, Floats, cover, presence
from tools.rules.candidate_sentences import CandidateSentence

ENTRY_FEATURES = (
    "term",  # share of the question's term weight in the term that the entry defines
    "term_named",  # share of that term's own words that the question has
    "term_whole",  # whether it has them all
    "lead",  # share of the question's term weight in the lead-in, caption and header row
    "path",  # the same in the path of headings
    "path_named",  # share of the nearest heading's words that the question has
    "section_terms",  # the same in all that was read under the entry's heading, and of its document
    "document_terms",
    "block_terms",  # the same in its block
    "block_beyond",  # of the terms that the entry lacks, the share of weight in its block
    "missing_rare",  # share of the weight of the question's terms that stand neither in the entry nor around it
    "code_here",  # share of the question's names of code in the entry, in its term, and around it
    "code_in_term",
    "code_around",
    "has_term",  # the place and kind of the entry
    "opens_term",
    "opens_block",
    "second",
    "opens_section",
    "item",
    "code",
    "labelled",
    "points_back",
    "leads",
    "length",  # log of the characters
    "short",
    "foreign",  # no letter beyond ASCII where the question has some
    "repeats_title",  # share of the entry's words that are in the title or heading
    *(f"asks_{kind}" for kind in KINDS),  # has the signs of a kind that the question asks for
    *(f"item_for_{kind}" for kind in ("list", "steps")),
    "row_for_value",
    "opens_for_definition",
    "code_for_command",
)


def entry_features(
    question: str,
    question_words: QuestionTerms,
    segments: Sequence[Segment],
    pool: Sequence[CandidateSentence],
    terms: Bools,
    weight: Floats,
) -> Mapping[str, Floats]:
    """Compute ENTRY_FEATURES of each candidate; ``terms`` of shape (terms, candidates) is where the words stand."""
    count = len(pool)
    names = question_words.terms
    asked = frozenset(names)
    wanted_code = code_names(fold_case(question))
    term_texts = [_joined(one, ("term",)) for one in pool]
    lead_texts = [_joined(one, ("lead", "caption", "header", "label")) for one in pool]
    heads = [_nearest_heading(one, segments) for one in pool]
    paths = [f"{segments[one.segment].heading} {head}" for one, head in zip(pool, heads, strict=True)]
    in_term, in_lead, in_path = (_present(names, texts) for texts in (term_texts, lead_texts, paths))
    in_title = _present(names, [segments[one.segment].title for one in pool])
    sections: dict[tuple[str, str], list[int]] = defaultdict(list)
    blocks: dict[tuple[int, int], list[int]] = defaultdict(list)
    documents: dict[str, list[int]] = defaultdict(list)
    for index, (one, head) in enumerate(zip(pool, heads, strict=True)):
        document_id = segments[one.segment].document_id
        sections[document_id, head or segments[one.segment].heading].append(index)
        documents[document_id].append(index)
        blocks[one.segment, one.entry.block].append(index)
    around = in_term | in_lead | in_path | in_title
    in_section, in_document = (_spread(terms | around, groups.values()) for groups in (sections, documents))
    in_block = _spread(terms | around, blocks.values())
    kinds = asked_kinds(question)
    texts = [one.text for one in pool]
    has_term = np.array([bool(text) for text in term_texts], dtype=np.float64)
    first = np.array([one.entry.first for one in pool], dtype=np.float64)
    item = _flags([one.shape == "item" for one in pool])
    code = _flags([one.shape == "code" for one in pool])
    row = _flags([one.shape == "row" for one in pool])
    after_heading = _flags(
        [
            one.shape != "heading"
            and at > 0
            and pool[at - 1].entry.kind == "heading"
            and pool[at - 1].segment == one.segment
            for at, one in enumerate(pool)
        ]
    )
    second = _flags(
        [
            at > 0 and not one.entry.first and pool[at - 1].entry.first and pool[at - 1].segment == one.segment
            for at, one in enumerate(pool)
        ]
    )
    signs = {
        kind: _flags([shows(kind, text) for text in texts]) if kind in kinds else np.zeros(count) for kind in KINDS
    }
    foreign = not question.isascii()
    lengths = np.array([len(text) for text in texts], dtype=np.float64)
    return {
        "term": cover(weight, in_term),
        "term_named": np.array([_share_named(text, asked) for text in term_texts]),
        "term_whole": np.array([_share_named(text, asked) >= 1.0 for text in term_texts], dtype=np.float64),
        "lead": cover(weight, in_lead),
        "path": cover(weight, in_path),
        "path_named": np.array([_share_named(text, asked) for text in heads]),
        "section_terms": cover(weight, in_section),
        "document_terms": cover(weight, in_document),
        "block_terms": cover(weight, in_block),
        "block_beyond": cover(weight, in_block) - cover(weight, terms | around),
        "missing_rare": _rarest_missing(weight, terms | around),
        "code_here": _code_share(wanted_code, texts),
        "code_in_term": _code_share(wanted_code, term_texts),
        "code_around": _code_share(wanted_code, [f"{a} {b}" for a, b in zip(paths, lead_texts, strict=True)]),
        "has_term": has_term,
        "opens_term": has_term * first,
        "opens_block": first,
        "second": second,
        "opens_section": after_heading,
        "item": item,
        "code": code,
        "labelled": _flags([any(each.role == "label" for each in one.entry.context) for one in pool]),
        "points_back": _flags([any(each.role == "before" for each in one.entry.context) for one in pool]),
        "leads": _flags([one.entry.leads for one in pool]),
        "length": np.log(lengths),
        "short": (lengths < 30).astype(np.float64),
        "foreign": _flags([foreign and text.isascii() for text in texts]),
        "repeats_title": np.array([_share_known(one, segments, head) for one, head in zip(pool, heads, strict=True)]),
        **{f"asks_{kind}": signs[kind] for kind in KINDS},
        "item_for_list": item * ("list" in kinds),
        "item_for_steps": item * ("steps" in kinds),
        "row_for_value": row * ("value" in kinds),
        "opens_for_definition": has_term * first * ("definition" in kinds),
        "code_for_command": code * ("command" in kinds or "steps" in kinds),
    }


def _flags(values: Sequence[bool]) -> Floats:
    return np.array(values, dtype=np.float64)


def _joined(one: CandidateSentence, roles: tuple[ContextRole, ...]) -> str:
    context = one.entry.context
    return " ".join([each.text for each in context if each.role in roles]) if context else ""


def _nearest_heading(one: CandidateSentence, segments: Sequence[Segment]) -> str:
    return nearest_heading(one.entry.context) or segments[one.segment].heading.rpartition(" > ")[2]


def _present(names: Sequence[str], texts: Sequence[str]) -> Bools:
    """Return where the terms stand in texts that many candidates share, each read once."""
    distinct = {text: index for index, text in enumerate(dict.fromkeys(texts))}
    found = presence(names, [comparable_text(text).vocabulary for text in distinct])
    places = np.fromiter((distinct[text] for text in texts), dtype=np.intp, count=len(texts))
    return found[:, places]


def _spread(present: Bools, groups: Iterable[list[int]]) -> Bools:
    """Return for each candidate where any candidate of its group has the terms. No group is empty."""
    parts = list(groups)
    order = np.concatenate(parts)
    sizes = [len(part) for part in parts]
    held = np.logical_or.reduceat(present[:, order], np.cumsum([0, *sizes[:-1]]), axis=1)
    spread = np.empty_like(present)
    spread[:, order] = np.repeat(held, sizes, axis=1)
    return spread


def _rarest_missing(weight: Floats, present: Bools) -> Floats:
    """Return the largest weight of a term that each candidate lacks, by the largest of all."""
    if not len(weight) or weight.max() <= 0:
        return np.zeros(present.shape[1])
    lacking = np.where(present, 0.0, weight[:, None])
    return np.asarray(lacking.max(axis=0) / weight.max(), dtype=np.float64)


@lru_cache(maxsize=8192)
def _share_named(text: str, asked: frozenset[str]) -> float:
    words = comparable_text(text).vocabulary if text else frozenset[str]()
    return len(words & asked) / len(words) if words else 0.0


def _share_known(one: CandidateSentence, segments: Sequence[Segment], head: str) -> float:
    words = one.wording.vocabulary
    known = comparable_text(segments[one.segment].title).vocabulary | comparable_text(head).vocabulary
    return len(words & known) / len(words) if words else 0.0


def _code_share(wanted: Sequence[str], texts: Sequence[str]) -> Floats:
    if not wanted:
        return np.zeros(len(texts))
    folded = [fold_case(text) if text else "" for text in texts]
    return np.array([sum(name in text for name in wanted) / len(wanted) for text in folded])
