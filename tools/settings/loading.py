"""Reading settings from the environment and ``.env``, once when the process starts.

``CITEWELL_`` names win. The names that the first users' stacks already set (``OPENAI_COMPATIBLE_*``,
``SERPER_API_KEY``) are the fallback. ``citewell doctor`` shows which name each value came from.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from dotenv import dotenv_values
from pydantic import BaseModel, ValidationError, model_validator
from pydantic_settings import SettingsError

from graph.errors import ConfigurationError
from tools.settings.deployment import ENV_FILE, Settings
from tools.settings.models import ONNX, STATIC

# Names that other stacks set, in the environment or in .env; they fill what no CITEWELL_ name does.
ALIASES = (
    "OPENAI_COMPATIBLE_BASE_URL",
    "OPENAI_COMPATIBLE_API_KEY",
    "OPENAI_COMPATIBLE_COMPLETION_MODEL",
    "OPENAI_COMPATIBLE_EMBEDDING_MODEL",
    "SERPER_API_KEY",
)

CHAT_MODEL = "OPENAI_COMPATIBLE_COMPLETION_MODEL"
EMBEDDING_MODEL = "OPENAI_COMPATIBLE_EMBEDDING_MODEL"
# Names of other stacks that mean nothing here, with the reason.
UNUSED = {
    "AI_DRIVER": "every model is reached through an OpenAI-compatible endpoint",
    "SERPER_DEBUG": "CITEWELL_LOG_LEVEL says how much is logged",
}

# What was a setting in a release, and what is so now: it is told where it is set, and changes nothing.
RETIRED: Mapping[str, str] = {
    "page_tokens": "what the model's context_tokens has room for",
    "assess_with_model": "off, unless a graph's context asks for it",
    "check_with_model": "on wherever there is a judge",
    "embedding.timeout_seconds": "10",
    "web.timeout_seconds": "10",
    "web.results": "5",
    "web.keep_days": "30",
    "web.max_page_bytes": "2,000,000",
    "runs.max_waiting": "four times CITEWELL_RUNS__MAX_ACTIVE",
    "runs.durability": "sync",
    "runs.lease_seconds": "30",
}


@dataclass(frozen=True, slots=True)
class _Read:
    """What a process finds where it reads its settings: all variables, and which are other stacks' and releases'."""

    names: Mapping[str, str]  # in lower case, without empty ones
    aliases: dict[str, str] = field(default_factory=dict)
    retired: dict[str, str] = field(default_factory=dict)


_READ: ContextVar[_Read] = ContextVar("_READ")


class _Deployment(Settings):
    """Settings as a process reads them: values that no ``CITEWELL_`` name sets come from the names of other stacks."""

    @model_validator(mode="before")
    @classmethod
    def _with_other_names(cls, values: dict[str, Any]) -> dict[str, Any]:
        read = _READ.get()
        # What was a field of a group once is taken out, since groups refuse names that they don't have.
        for path, now in RETIRED.items():
            group, _, name = path.partition(".")
            part = values.get(group)
            if isinstance(part, dict) and name in part:
                del part[name]
                read.retired[path] = now
            if f"citewell_{path.replace('.', '__')}" in read.names:
                read.retired[path] = now
        for path, (name, value) in _from_aliases(read.names, values).items():
            outer, _, inner = path.partition(".")
            part = values.setdefault(outer, {}) if inner else values
            if isinstance(part, dict) and (inner or outer) not in part:
                part[inner or outer] = value
                read.aliases[path] = name
        return values


def _from_aliases(names: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return the settings that the names of other stacks give, each with its name and value."""
    found: dict[str, tuple[str, Any]] = {}
    if key := names.get("serper_api_key"):
        found["web.api_key"] = ("SERPER_API_KEY", key)
    if not (base_url := names.get("openai_compatible_base_url")):
        return found
    key = names.get("openai_compatible_api_key", "")
    chat = names.get(CHAT_MODEL.lower())
    if chat and "models" not in values:
        model = {"name": chat, "base_url": base_url, "api_key": key, "model": chat}
        found |= {"models": (CHAT_MODEL, [model]), "default_model": (CHAT_MODEL, chat)}
    named = values.get("embedding", {})
    embedding = named.get("model") or names.get(EMBEDDING_MODEL.lower())
    if embedding and embedding != STATIC and not embedding.startswith(ONNX):
        found["embedding.model"] = (EMBEDDING_MODEL, embedding)
        found["embedding.base_url"] = ("OPENAI_COMPATIBLE_BASE_URL", base_url)
        if key and not named.get("base_url"):  # the key is for that endpoint alone
            found["embedding.api_key"] = ("OPENAI_COMPATIBLE_API_KEY", key)
    return found


def load_settings(**overrides: object) -> Settings:
    """Read the settings; values that no ``CITEWELL_`` name sets come from the alias names.

    Raises ConfigurationError naming each invalid field.
    """
    file = overrides.get("_env_file", ENV_FILE)
    variables = {**(dotenv_values(str(file)) if file else {}), **os.environ}
    read = _Read({name.lower(): value for name, value in variables.items() if value})
    token = _READ.set(read)
    try:
        settings = _Deployment(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        faults = [(error_["loc"], error_["msg"].removeprefix("Value error, ")) for error_ in error.errors()]
        raise _not_valid(faults, read.aliases) from error
    except SettingsError as error:
        raise _not_valid([((_unparsed(error),), "it is not valid JSON")], read.aliases) from error
    finally:
        _READ.reset(token)
    settings._aliases, settings._retired = read.aliases, read.retired
    return settings


def _not_valid(
    faults: Sequence[tuple[tuple[int | str, ...], str]], used_aliases: Mapping[str, str]
) -> ConfigurationError:
    """Return the error that says what is wrong, with the environment's names of the settings that it is wrong with."""
    said = []
    for place, fault in faults:
        path = ".".join(map(str, place))
        said.append(fault if not path or fault.startswith(f"{path}:") else f"{path}: {fault}")
    names = list(dict.fromkeys(_environment_name(place, used_aliases) for place, _ in faults if place))
    return ConfigurationError(
        f"Settings are not valid: {'; '.join(said)}",
        suggestion=f"Correct {', '.join(names) or 'them'} in the environment, or in the file .env.",
    )


def _environment_name(place: tuple[int | str, ...], used_aliases: Mapping[str, str]) -> str:
    """Return the environment variable that sets what is at a place of the settings."""
    outer, *inner = place
    field = Settings.model_fields.get(str(outer))
    is_group = field is not None and isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    if outer == "models" and "models" in used_aliases:
        return "OPENAI_COMPATIBLE_..."  # three names make a model
    if not is_group:
        return used_aliases.get(str(outer)) or f"CITEWELL_{outer}".upper()
    name = inner[0] if inner else "..."
    return used_aliases.get(f"{outer}.{name}") or f"CITEWELL_{outer}__{name}".upper()


def _unparsed(error: SettingsError) -> str:
    """Return the setting whose value could not be parsed, which pydantic-settings tells in words alone."""
    named = re.search(r'field "(\w+)"', str(error))
    return named[1] if named else "settings"
