"""Loaders of data sets, each by a path; the text of public sets is not kept in the project.

``LOADERS`` names those that run through the graph. Each brings its set to the one form of ``evals.cases``.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from evals.cases import DataSet
from evals.sets.clapnq import clapnq_open_set, clapnq_set
from evals.sets.financebench import financebench_set
from evals.sets.hotpotqa import hotpotqa_set
from evals.sets.own import load_own
from evals.sets.rgb import rgb_set
from evals.sets.union import union_set
from evals.sets.wice import wice_set
from evals.sets.xquad import xquad_set
from graph.errors import InvalidRequest

Loader = Callable[[Path], DataSet]

LOADERS: Mapping[str, Loader] = {
    "clapnq": clapnq_set,
    "clapnq-open": clapnq_open_set,
    "financebench": financebench_set,
    "hotpotqa": hotpotqa_set,
    "own": load_own,
    "rgb": rgb_set,
    "union": union_set,
    "wice": wice_set,
    "xquad": xquad_set,
}


def load_data_set(name: str, path: Path | None) -> DataSet:
    """Load a data set by name: ``golden`` is our own and needs no path, any other is read from one.

    Raises InvalidRequest for a name that no loader has, a path that is missing or of no use, and what a loader refuses.
    """
    if name == "golden":
        from evals.golden import load_golden

        if path is not None:
            raise InvalidRequest("golden is read from no path; `own` is the set of questions of your own.")
        return load_golden()
    if name not in LOADERS:
        raise InvalidRequest(f"There is no data set {name!r}; there are {', '.join(sorted([*LOADERS, 'golden']))}.")
    if path is None:
        raise InvalidRequest(f"{name} is read from a path: give --path.")
    return LOADERS[name](path)
