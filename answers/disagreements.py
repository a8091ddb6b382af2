"""Sections that quote two sources which contradict each other on a claim of the answer."""

from collections.abc import Callable

import prompts
from answers.checking import CheckedAnswer
from answers.citations import build_citation
from answers.drafting import emit_removed, filter_links
from graph.events import AnyEvent, SectionChecked, SectionFinished, SectionStarted, SourcesDisagree, TextDelta
from graph.evidence import Disagreement, Proof, Section

MOST_DISAGREEMENTS = 2
BOTH_QUOTED = "both sources are quoted word for word"


def add_disagreements(answer: CheckedAnswer, language: str, emit: Callable[[AnyEvent], None]) -> list[Disagreement]:
    """Add a section for each pair of passages that contradict each other on a claim of the answer, two at most."""
    added: dict[frozenset[str], Disagreement] = {}
    for row in answer.disputes:
        ids = list(dict.fromkeys([row["own"]["segment_id"], row["other"]["segment_id"]]))
        pair = frozenset(ids)
        one, other = _quoted(answer, row["own"], language), _quoted(answer, row["other"], language)
        if len(added) == MOST_DISAGREEMENTS or pair in added or not (one and other):
            continue
        added[pair] = Disagreement(segment_ids=ids, reason=row["reason"])
        emit(SourcesDisagree(segment_ids=ids, reason=row["reason"]))
        # A title can be a link that neither passage contains.
        sentence = prompts.lines(language).disagree.format(one=one, other=other)
        text, removed = filter_links(sentence, ids, answer.segments)
        index = answer.add(Section(text=text, source_ids=ids), (row["own"], row["other"]), "supported", BOTH_QUOTED)
        emit(SectionStarted(section_index=index))
        emit(TextDelta(section_index=index, delta=text))
        emit_removed(removed, index, emit)
        emit(SectionFinished(section_index=index, text=text, source_ids=ids))
        emit(SectionChecked(section_index=index, claims=answer.cited_claims(index)))
    return list(added.values())


def _quoted(answer: CheckedAnswer, proof: Proof, language: str) -> str:
    segment = answer.segments.get(proof["segment_id"])
    found = build_citation(proof, segment, source_index=0, section_index=0, verdict="supported")
    if found is None or segment is None:
        return ""
    return prompts.lines(language).quoted.format(quote=" ".join(found["quote"].split()), title=segment.title)
