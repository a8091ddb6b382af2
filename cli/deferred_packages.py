"""Packages of dependencies whose contents are imported when something first asks for them.

LangGraph imports its SDK for one type, and LangSmith its generated schemas for one literal; each import runs an
``__init__`` that loads two hundred modules which no run uses. The package is there at once, so that its submodules can
be imported; its own code runs at the first look at one of its names, and from then on it is like any other.

No import of our own can be put off instead: it is ``langgraph.runtime`` and ``langsmith.run_trees`` that import them,
and every way to a graph leads through both. ``importlib.util.LazyLoader`` runs a package as soon as one of its
submodules is imported, which is what they do.
"""

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

DEFERRED = frozenset({"langgraph_sdk", "langsmith.types"})
_lock = RLock()
_running: set[str] = set()


class _DeferredPackage(ModuleType):
    """A package whose code has not run yet."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__all__", "__version__"):
            raise AttributeError(name)  # what introspection asks any module for, such as `__wrapped__`
        with _lock:  # another thread waits until all names are there
            if type(self) is _DeferredPackage and self.__name__ not in _running:
                self._run()
        return ModuleType.__getattribute__(self, name)

    def _run(self) -> None:
        _running.add(self.__name__)
        try:
            if self.__spec__ is not None and self.__spec__.loader is not None:
                self.__spec__.loader.exec_module(self)
            object.__setattr__(self, "__class__", ModuleType)
        finally:
            _running.remove(self.__name__)


class _DeferringLoader(Loader):
    """Loads a package without running its code, which is left to the package's own loader."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _DeferredPackage(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader


class _DeferringFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in DEFERRED:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _DeferringLoader(spec.loader)
        return spec


def defer_packages() -> None:
    """Defer the packages that are not imported yet. A second call does nothing."""
    if not any(isinstance(finder, _DeferringFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _DeferringFinder())
