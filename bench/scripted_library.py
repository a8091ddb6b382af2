"""Citewell with the scripted writer in the place of its family's own; all else is what a deployment has.

A run's ``model`` names the script; retrieval, grading and checking are those of the extractive family.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from bench.scripted_writer import SCRIPTS, writer
from graph.errors import UnknownModel
from graph.ports import Families, Family
from tools.library.library import Library, open_library
from tools.settings import Settings


@asynccontextmanager
async def open_scripted_library(settings: Settings) -> AsyncIterator[Library]:
    """Open the library of the settings with the scripted families.

    Raises ConfigurationError, DatabaseUnavailable, EmbeddingMismatch.
    """
    async with open_library(settings) as library:
        yield replace(library, families=scripted(library.families))


def scripted(families: Families) -> Families:
    """Give the default family with the writer that a model name means."""
    default = families("")

    def by_script(model: str, *, thinking: bool = False) -> Family:
        if model not in SCRIPTS:
            raise UnknownModel(f"model: no script is named {model!r}.")
        return replace(default, model=model or "instant", writer=writer(model))

    return by_script
