"""Data sets that a deployment is measured on, by name: our own, and those that a user reads from a path.

Each loader converts its set to the form of ``evals.cases``. ``LOADERS`` may be given more of them by who runs the
commands, as ``research`` does with public sets.
"""

from collections.abc import Callable
from pathlib import Path

from evals.cases import DataSet
from evals.sets.golden import load_golden
from evals.sets.governed import governed_set
from evals.sets.manuals import company_set, manuals_set
from evals.sets.own import load_own
from graph.errors import InvalidRequest

Loader = Callable[[Path], DataSet]

LOADERS: dict[str, Loader] = {
    "company": company_set,
    "governed": governed_set,
    "manuals": manuals_set,
    "own": load_own,
}


def load_data_set(name: str, path: Path | None) -> DataSet:
    """Load a data set by name, from a path. ``golden`` is our own and takes none; ``governed`` is our own without one.

    Raises InvalidRequest for an unknown name, a missing or unexpected path, or invalid data.
    """
    if name == "golden":
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
