"""Public data sets, read from a path; the project does not include their text.

``register`` adds them to the sets that ``evals`` knows by name.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from evals.cases import Case, DataSet, Document, Sentence
from evals.sets import LOADERS, Loader
from graph.errors import InvalidRequest
from research.sets.clapnq import clapnq_open_set, clapnq_set
from research.sets.financebench import financebench_set
from research.sets.hotpotqa import hotpotqa_set
from research.sets.rgb import rgb_set
from research.sets.wice import wice_set
from research.sets.xquad import xquad_set

PARTS: Mapping[str, Loader] = {
    "clapnq": clapnq_open_set,
    "financebench": financebench_set,
    "hotpotqa": hotpotqa_set,
    "rgb": rgb_set,
    "wice": wice_set,
    "xquad": xquad_set,
}


def union_set(folder: Path) -> DataSet:
    """Read the sets in a folder, each in the subfolder of its name, as one library.

    Document names and case ids start with the set's name; the tag ``set`` is the set and the language, such as
    "xquad-vi". Everything is searched, including selected pages. No question has an unanswerable twin, since one set's
    documents may answer another's questions. Raises InvalidRequest if there is no set, and what the loaders raise.
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


PUBLIC: Mapping[str, Loader] = {**PARTS, "clapnq": clapnq_set, "clapnq-open": clapnq_open_set, "union": union_set}


def register() -> None:
    """Let ``load_data_set`` load the public sets by their names too."""
    LOADERS.update(PUBLIC)
