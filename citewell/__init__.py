"""Citewell for Python: the names that the manual teaches.

They stay where they are when the packages behind them change. Each is imported when it is first used, so that
``import citewell`` takes milliseconds. What a plugin needs is in ``citewell.backends``, ``citewell.dialects``,
``citewell.judges`` and ``citewell.parsers``, named as the group of entry points that it belongs to.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.studio.graph_server import library_graph
    from citewell.verifying import verify
    from graph.errors import CitewellError
    from graph.evidence import Identity
    from tools.langchain.library_retriever import LibraryRetriever
    from tools.langchain.shared_library import SharedLibrary
    from tools.library.given_texts import GivenText
    from tools.library.new_documents import NewDocument
    from tools.process.library import Library, open_library
    from tools.runs.executor import Graph
    from tools.settings import Settings, load_settings

    __version__: str

__all__ = [
    "CitewellError",
    "GivenText",
    "Identity",
    "Library",
    "LibraryRetriever",
    "NewDocument",
    "Settings",
    "SharedLibrary",
    "library_graph",
    "load_settings",
    "make_graph",
    "open_library",
    "verify",
]

_PLACES = {
    "CitewellError": "graph.errors",
    "GivenText": "tools.library.given_texts",
    "Identity": "graph.evidence",
    "Library": "tools.process.library",
    "LibraryRetriever": "tools.langchain.library_retriever",
    "NewDocument": "tools.library.new_documents",
    "Settings": "tools.settings",
    "SharedLibrary": "tools.langchain.shared_library",
    "library_graph": "api.studio.graph_server",
    "load_settings": "tools.settings",
    "open_library": "tools.process.library",
    "verify": "citewell.verifying",
}


async def make_graph() -> "Graph":
    """Return the graph over this process's library, opened at the first call, for the ``graphs`` of a langgraph.json.

    LangGraph's server looks a factory up in the module's own names, so it is the one that is not imported at first use.
    """
    from api.studio import graph_server

    return await graph_server.make_graph()


if not TYPE_CHECKING:  # a type checker that saw it would take any name for one that is there

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            return version("citewell")
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_PLACES[name]), name)
        return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
