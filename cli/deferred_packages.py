"""Modules of dependencies that run when something first uses them.

LangGraph imports its SDK for one type; LangChain imports LangSmith and requests for a few classes
that it compares with or would raise, and asks LangSmith at each run whether to trace it; LangSmith imports its
generated schemas for one literal. That is a third of all modules of a process, and a run uses none of it. The module is
there at once, so that its submodules can be imported. It runs at the first look at one of its names, and from then on
it is like any other. The names in ``DEFERRED`` are handed out before: each stands for what the module will define.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any, Union

TRACING = ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING")


def _traced_by_environment(context: object = None) -> bool:
    """Answer for ``langsmith.utils.tracing_is_enabled`` while nothing but the environment can have turned it on."""
    return next((value for name in TRACING if (value := os.environ.get(name, "").strip())), "") == "true"


def _no_trace(context: object = None) -> dict[str, None]:
    """Answer for ``langsmith.run_helpers.get_tracing_context`` while nothing can have begun a trace."""
    names = ("parent", "project_name", "address", "tags", "metadata", "enabled", "client", "replicas")
    return dict.fromkeys((*names, "distributed_parent_id"))


# Each module, and the names that others take of it before they need it. A function answers calls until the module runs.
DEFERRED: Mapping[str, Mapping[str, Callable[..., Any] | None]] = {
    "langchain_core.tracers.langchain": {"LangChainTracer": None},
    "langchain_core.tracers.run_collector": {"RunCollectorCallbackHandler": None},
    "langchain_core.tracers.schemas": {"Run": None},
    "langgraph_sdk": {},
    "langsmith.run_helpers": {"get_tracing_context": _no_trace},
    "langsmith.types": {},
    "langsmith.utils": {"tracing_is_enabled": _traced_by_environment},
    "requests": {"HTTPError": None, "Response": None},
}
_running = RLock()


class _DeferredModule(ModuleType):
    """A module whose code has not run yet."""

    def __getattr__(self, name: str) -> Any:
        if name in DEFERRED[self.__name__]:
            return _DeferredName(self, name, DEFERRED[self.__name__][name])
        if name.startswith("__") and name not in ("__all__", "__version__"):
            raise AttributeError(name)  # what introspection asks any module for, such as `__wrapped__`
        _run(self)
        return getattr(self, name)


def _run(module: ModuleType) -> None:
    with _running:
        if type(module) is _DeferredModule:
            object.__setattr__(module, "__class__", ModuleType)
            if module.__spec__ is not None and module.__spec__.loader is not None:
                module.__spec__.loader.exec_module(module)


class _DeferredName:
    """A class or a function of a module that has not run. Nothing is an instance of a class that was not made yet."""

    def __init__(self, module: ModuleType, name: str, answer: Callable[..., Any] | None) -> None:
        self._module, self._name, self._answer = module, name, answer

    @property
    def _has_run(self) -> bool:
        return type(self._module) is not _DeferredModule

    def _found(self) -> Any:
        _run(self._module)
        return getattr(self._module, self._name)

    def __call__(self, *values: Any, **named: Any) -> Any:
        called = self._found() if self._has_run or self._answer is None else self._answer
        return called(*values, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and not self._has_run:
            raise AttributeError(name)
        return getattr(self._found(), name)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._found(),)

    def __instancecheck__(self, instance: object) -> bool:
        return self._has_run and isinstance(instance, self._found())

    def __subclasscheck__(self, subclass: type) -> bool:
        return self._has_run and issubclass(subclass, self._found())

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007 - `|` would come here again

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007


class _DeferringLoader(Loader):
    """Loads a module without running its code, which is left to the module's own loader."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _DeferredModule(spec.name)

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
    """Defer the modules that are not imported yet. A second call does nothing."""
    if not any(isinstance(finder, _DeferringFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _DeferringFinder())
