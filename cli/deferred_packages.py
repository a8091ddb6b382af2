"""Packages of dependencies whose code runs when something first asks for one of their names.

LangGraph imports its SDK for one type, and LangSmith its generated schemas for one literal; each import runs an
``__init__`` that loads two hundred modules which no run uses. What is in ``sys.modules`` is not run when its submodules
are imported, so each of these packages is put there with a ``__getattr__`` that runs it.

No import of our own can be put off instead: it is ``langgraph.runtime`` and ``langsmith.run_trees`` that import them,
and every way to a graph leads through both. ``importlib.util.LazyLoader`` runs a package as soon as one of its
submodules is imported, which is what they do.
"""

import sys
from collections.abc import Callable
from importlib.abc import Loader
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any

DEFERRED = ("langgraph_sdk", "langsmith.types")


def defer_packages() -> None:
    """Defer the packages that are not imported yet. A second call does nothing."""
    for name in DEFERRED:
        spec = None if name in sys.modules else find_spec(name)
        if spec is None or spec.loader is None:
            continue
        package = sys.modules[name] = module_from_spec(spec)
        vars(package)["__getattr__"] = _running(package, spec.loader)
        parent, _, own_name = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own_name, package)


def _running(package: ModuleType, loader: Loader) -> Callable[[str], Any]:
    """Return a ``__getattr__`` that runs a package, and then gives what that has made of a name."""
    lock, begun = RLock(), False

    def find(name: str) -> Any:
        nonlocal begun
        if name.startswith("__") and name not in ("__all__", "__version__"):
            raise AttributeError(name)  # what introspection asks any module for, such as `__wrapped__`
        names = vars(package)
        with lock:  # another thread waits until all names are there
            if not begun:
                begun = True
                loader.exec_module(package)
                if names.get("__getattr__") is find:
                    del names["__getattr__"]
                return getattr(package, name)
        if name in names:
            return names[name]
        raise AttributeError(f"module {package.__name__!r} has no attribute {name!r}")

    return find
