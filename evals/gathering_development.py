"""The development set as the reader is fitted on it: what a search brings, with the answer there and without it."""

from collections import defaultdict
from collections.abc import Iterable

from evals.cases import Case, DataSet, Sentence
from evals.gathering import Asked, StoredSpan, searched
from evals.removal import without_documents
from evals.stored import StoredDataSet, stored_data_set
from graph.evidence import Identity
from tools.resources import Library


async def gather_development(library: Library, data: DataSet) -> list[Asked]:
    """Search for every question that is asked of the whole library and by itself.

    Questions with an unanswerable twin are searched for once more without the documents that they need.
    """
    cases = [case for case in data.cases if not case.before and not case.pages]
    twins: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for case in cases:
        if case.removal:
            twins[case.removal].append(case)
    async with stored_data_set(library, data) as (stored, identity):
        asked = [await _asked(library, identity, stored, case, case.expected == "answered") for case in cases]
        for names, without in twins.items():
            async with without_documents(library, identity, stored.to_store(names)):
                asked += [await _asked(library, identity, stored, case, False) for case in without]
    return asked


async def _asked(library: Library, identity: Identity, stored: StoredDataSet, case: Case, answerable: bool) -> Asked:
    evidence = frozenset(sentence for chosen in case.evidence for sentence in chosen) if answerable else frozenset()
    # Questions about one document share a fold, so that none is judged by weights that have seen its document.
    documents = sorted(sentence.document for chosen in case.evidence for sentence in chosen)
    return Asked(
        data_set=f"development-{case.tags['language']}",
        group=documents[0] if documents else case.case_id,
        text=case.question,
        hits=await searched(library, identity, case.question),
        gold=stored.ids[documents[0]] if answerable else None,
        evidence=_spans(stored, evidence),
        accepted=_spans(stored, case.accepted),
    )


def _spans(stored: StoredDataSet, sentences: Iterable[Sentence]) -> frozenset[StoredSpan]:
    return frozenset(
        StoredSpan(stored.ids[each.document], *stored.data.by_name[each.document].spans[each.index])
        for each in sentences
    )
