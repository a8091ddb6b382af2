"""Loaders of data sets from a path; the project does not include the text of public sets.

``LOADERS`` lists those that run through the graph. Each converts its set to the form of ``evals.cases``.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from evals.cases import Case, DataSet, Document, Sentence
from evals.sets.clapnq import clapnq_open_set, clapnq_set
from evals.sets.financebench import financebench_set
from evals.sets.governed import governed_set
from evals.sets.hotpotqa import hotpotqa_set
from evals.sets.manuals import manuals_set
from evals.sets.own import load_own
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


Loader = Callable[[Path], DataSet]

LOADERS: Mapping[str, Loader] = {
    "clapnq": clapnq_set,
    "clapnq-open": clapnq_open_set,
    "financebench": financebench_set,
    "governed": governed_set,
    "hotpotqa": hotpotqa_set,
    "manuals": manuals_set,
    "own": load_own,
    "rgb": rgb_set,
    "union": union_set,
    "wice": wice_set,
    "xquad": xquad_set,
}


def load_data_set(name: str, path: Path | None) -> DataSet:
    """Load a data set by name, from a path. ``golden`` is our own and takes none; ``governed`` is our own without one.

    Raises InvalidRequest for an unknown name, a missing or unexpected path, or invalid data.
    """
    if name == "golden":
        from evals.golden import load_golden

        if path is not None:
            raise InvalidRequest("golden takes no --path; use `own` for your own questions.")
        return load_golden()
    if name not in LOADERS:
        raise InvalidRequest(f"There is no data set {name!r}; there are {', '.join(sorted([*LOADERS, 'golden']))}.")
    if path is None and name == "governed":
        return governed_set()
    if path is None:
        raise InvalidRequest(f"{name} is read from a path: add --path.")
    return LOADERS[name](path)
