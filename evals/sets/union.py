"""All public sets in one library: hard for a search, since other languages and styles distract from each question."""

from dataclasses import replace
from pathlib import Path

from evals.cases import Case, DataSet, Document, Sentence
from evals.sets.clapnq import clapnq_open_set
from evals.sets.financebench import financebench_set
from evals.sets.hotpotqa import hotpotqa_set
from evals.sets.rgb import rgb_set
from evals.sets.wice import wice_set
from evals.sets.xquad import xquad_set
from graph.errors import InvalidRequest

PARTS = {
    "clapnq": clapnq_open_set,
    "financebench": financebench_set,
    "hotpotqa": hotpotqa_set,
    "rgb": rgb_set,
    "wice": wice_set,
    "xquad": xquad_set,
}


def union_set(folder: Path) -> DataSet:
    """Read the sets that lie in a folder, each in the folder of its name, as one library.

    Names and case ids begin with their set's; the tag ``set`` is that and the language, as "xquad-vi". Everything is
    searched, selected pages too. No question has an unanswerable twin, since one set's documents may answer another's.
    Raises InvalidRequest where none of the sets is there, and as their loaders do.
    """
    parts = {name: load(folder / name) for name, load in PARTS.items() if (folder / name).is_dir()}
    if not parts:
        raise InvalidRequest(f"{folder} holds none of the folders {', '.join(PARTS)}.")
    documents = [_document(name, document) for name, part in parts.items() for document in part.documents]
    cases = [_case(name, case) for name, part in parts.items() for case in part.cases]
    return DataSet("union", tuple(documents), tuple(cases))


def _document(part: str, document: Document) -> Document:
    return replace(document, name=f"{part}/{document.name}")


def _case(part: str, case: Case) -> Case:
    return replace(
        case,
        case_id=f"{part}/{case.case_id}",
        evidence=tuple(_prefixed(part, chosen) for chosen in case.evidence),
        accepted=_prefixed(part, case.accepted),
        pages=(),
        only_selected_pages=False,
        removal=(),
        tags={**case.tags, "set": f"{part}-{case.tags['language']}"},
    )


def _prefixed(part: str, sentences: frozenset[Sentence]) -> frozenset[Sentence]:
    return frozenset(replace(sentence, document=f"{part}/{sentence.document}") for sentence in sentences)
