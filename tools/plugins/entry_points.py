"""Load plugins from the entry points of installed distributions; errors name the entry point to repair."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any, Generic, TypeVar

from graph.errors import ConfigurationError

DIALECTS = "citewell.dialects"
PARSERS = "citewell.parsers"
BACKENDS = "citewell.backends"
JUDGES = "citewell.judges"
OURSELVES = "Citewell itself"

Added = TypeVar("Added")


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """An entry point and the distribution that defines it."""

    entry_point: EntryPoint

    @property
    def name(self) -> str:
        return self.entry_point.name

    @property
    def distribution(self) -> str:
        return self.entry_point.dist.name if self.entry_point.dist else "an unnamed distribution"

    @property
    def version(self) -> str:
        return self.entry_point.dist.version if self.entry_point.dist else ""

    def __str__(self) -> str:
        return f"{self.name} of {self.distribution} {self.version}".rstrip()

    def refusal(self, problem: str, fix: str) -> ConfigurationError:
        """Return the error that names this entry point, its problem and the fix."""
        named = f"The entry point {self.name} = {self.entry_point.value} in {self.entry_point.group}"
        advice = f"{fix} Or uninstall {self.distribution}."
        return ConfigurationError(f"{named}, of {self.distribution} {self.version}, {problem}", suggestion=advice)


@dataclass(frozen=True, slots=True)
class Plugin(Generic[Added]):
    """The loaded object of an entry point."""

    entry: PluginEntry
    value: Added


@cache
def selection(path: tuple[str, ...]) -> Callable[..., EntryPoints]:
    """Return what selects among the entry points on a path: reading them takes 25 ms, and each group asks."""
    return entry_points().select


def find_plugins(group: str) -> list[PluginEntry]:
    """List the entry points of a group by name and distribution, without importing anything."""
    return sorted(map(PluginEntry, selection(tuple(sys.path))(group=group)), key=str)


def load_plugins(group: str, kind: type[Added]) -> list[Plugin[Added]]:
    """Load the entry points of a group. Raises ConfigurationError if one fails to load or is not a ``kind``."""
    return [Plugin(entry, _load(entry, kind)) for entry in find_plugins(group)]


def _load(entry: PluginEntry, kind: type[Added]) -> Added:
    try:
        value = entry.entry_point.load()
    except Exception as error:  # importing foreign code may raise anything
        raise entry.refusal(
            f"can't be loaded: {type(error).__name__}: {error}.",
            f"Repair {entry.distribution}, or install what it lacks.",
        ) from error
    if not isinstance(value, kind):
        raise entry.refusal(
            f"is a {type(value).__name__}, not a {kind.__name__}.",
            f"Point it at an instance of {kind.__module__}.{kind.__name__}.",
        )
    return value


class Names:
    """The unique names of one registry with their owners: first the built-in ones, then those of plugins."""

    def __init__(self, what: str, taken: Iterable[str], owner: str = OURSELVES) -> None:
        self._what = what
        self._owners = dict.fromkeys(taken, owner)

    def take(self, name: str, plugin: Plugin[Any]) -> None:
        """Register a plugin as the owner of a name. Raises ConfigurationError if the name is taken."""
        owner = self._owners.setdefault(name, str(plugin.entry))
        if owner != str(plugin.entry):
            raise plugin.entry.refusal(
                f"claims the {self._what} {name!r}, which {owner} has.", f"Choose another {self._what}."
            )
