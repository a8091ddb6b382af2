"""Say where the sources of an answer contradict each other, quoting both."""

from collections.abc import Callable

import prompts
from graph.citations import citation
from graph.events import AnyEvent, SectionChecked, SectionFinished, SectionStarted, SourcesDisagree, TextDelta
from graph.evidence import Disagreement, Section
from graph.state import DisputeRow, ProofRow
from nodes.checking import CheckedAnswer
from nodes.drafting import guarded

MOST = 2
BOTH_QUOTED = "both sources are quoted word for word"


def say_disagreements(answer: CheckedAnswer, language: str, tell: Callable[[AnyEvent], None]) -> list[Disagreement]:
    """Add a section for each pair of passages that contradict each other on what the answer says, two at most."""
    said: dict[frozenset[str], Disagreement] = {}
    for row in answer.disputes:
        pair = frozenset((row["own"]["segment_id"], row["other"]["segment_id"]))
        if len(said) < MOST and pair not in said and (section := _section(answer, row, language)):
            said[pair] = Disagreement(segment_ids=section["source_ids"], reason=row["reason"])
            tell(SourcesDisagree(segment_ids=section["source_ids"], reason=row["reason"]))
            index = answer.add(section, (row["own"], row["other"]), "supported", BOTH_QUOTED)
            tell(SectionStarted(section_index=index))
            tell(TextDelta(section_index=index, delta=section["text"]))
            tell(SectionFinished(section_index=index, text=section["text"], source_ids=section["source_ids"]))
            tell(SectionChecked(section_index=index, claims=answer.shown(index)))
    return list(said.values())


def _section(answer: CheckedAnswer, row: DisputeRow, language: str) -> Section | None:
    quotes = [_quoted(answer, row["own"]), _quoted(answer, row["other"])]
    if not all(quotes):
        return None
    said = prompts.lines(language).disagree.format(one=quotes[0], other=quotes[1])
    ids = list(dict.fromkeys([row["own"]["segment_id"], row["other"]["segment_id"]]))
    text, _ = guarded(said, ids, answer.segments)
    return Section(text=text, source_ids=ids)


def _quoted(answer: CheckedAnswer, proof: ProofRow) -> str:
    segment = answer.segments.get(proof["segment_id"])
    found = citation(proof, segment, section_index=0, verdict="supported")
    if found is None or segment is None:
        return ""
    return f"“{' '.join(found['quote'].split())}” ({segment.title})"
