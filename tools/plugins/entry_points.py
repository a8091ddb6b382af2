"""Load what installed distributions add under a group of entry points; an error names the one to repair."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from graph.errors import ConfigurationError

DIALECTS = "citewell.dialects"
PARSERS = "citewell.parsers"
BACKENDS = "citewell.backends"
OURSELVES = "Citewell itself"

Added = TypeVar("Added")


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """An entry point with the distribution that brings it."""

    entry_point: EntryPoint

    @property
    def name(self) -> str:
        """The name under which the distribution lists it."""
        return self.entry_point.name

    @property
    def distribution(self) -> str:
        """The distribution's name."""
        return self.entry_point.dist.name if self.entry_point.dist else "an unnamed distribution"

    @property
    def version(self) -> str:
        """The distribution's version."""
        return self.entry_point.dist.version if self.entry_point.dist else ""

    def __str__(self) -> str:
        return f"{self.name} of {self.distribution} {self.version}".rstrip()

    def refusal(self, problem: str, fix: str) -> ConfigurationError:
        """Make the error that says what is wrong with this entry point and how to go on."""
        named = f"The entry point {self.name} = {self.entry_point.value} in {self.entry_point.group}"
        advice = f"{fix} Or uninstall {self.distribution}."
        return ConfigurationError(f"{named}, of {self.distribution} {self.version}, {problem}", suggestion=advice)


@dataclass(frozen=True, slots=True)
class Plugin(Generic[Added]):
    """What an entry point adds."""

    entry: PluginEntry
    value: Added


def find_plugins(group: str) -> list[PluginEntry]:
    """List the entry points of a group by name and distribution, without importing anything."""
    return sorted(map(PluginEntry, entry_points(group=group)), key=str)


def load_plugins(group: str, kind: type[Added]) -> list[Plugin[Added]]:
    """Load the entry points of a group, each of which has to be a ``kind``.

    Raises ConfigurationError.
    """
    return [Plugin(entry, _load(entry, kind)) for entry in find_plugins(group)]


def _load(entry: PluginEntry, kind: type[Added]) -> Added:
    try:
        value = entry.entry_point.load()
    except Exception as error:  # whatever the import of foreign code raises
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
    """The names of one registry, each of which is given once: first those that are there, then those of plugins."""

    def __init__(self, what: str, taken: Iterable[str], owner: str = OURSELVES) -> None:
        self._what = what
        self._owners = dict.fromkeys(taken, owner)

    def take(self, name: str, plugin: Plugin[Any]) -> None:
        """Record that a plugin has a name.

        Raises ConfigurationError where it is taken.
        """
        owner = self._owners.setdefault(name, str(plugin.entry))
        if owner != str(plugin.entry):
            raise plugin.entry.refusal(
                f"claims the {self._what} {name!r}, which {owner} has.", f"Choose another {self._what}."
            )
