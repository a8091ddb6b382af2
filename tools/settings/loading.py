"""Reading settings from the environment and ``.env``, once when the process starts.

``CITEWELL_`` names win. The names that the first users' stacks already set (``OPENAI_COMPATIBLE_*``,
``SERPER_API_KEY``) are the fallback. ``citewell doctor`` shows which name each value came from.
"""

import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsError

from graph.errors import ConfigurationError
from tools.settings.deployment import Settings
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


@dataclass(slots=True)
class _Read:
    """What a process finds where it reads its settings: variables of ours, and names of other stacks and releases."""

    names: Sequence[str] = ()
    aliases: dict[str, str] = field(default_factory=dict)
    retired: dict[str, str] = field(default_factory=dict)


_READ: ContextVar[_Read] = ContextVar("_READ")


class _Deployment(Settings):
    """Settings as a process reads them: values that no ``CITEWELL_`` name sets come from the names of other stacks."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = dotenv_settings.env_vars if isinstance(dotenv_settings, EnvSettingsSource) else {}
        environment = env_settings.env_vars if isinstance(env_settings, EnvSettingsSource) else {}
        names = {name: value for name, value in {**file, **environment}.items() if value}
        _READ.get().names = [name for name in names if name.startswith("citewell_")]
        return init_settings, env_settings, dotenv_settings, file_secret_settings, _AliasSource(settings_cls, names)

    @model_validator(mode="before")
    @classmethod
    def _without_retired(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Take out what was a field of a group once, since groups refuse names that they don't have."""
        read = _READ.get()
        for path, now in RETIRED.items():
            group, _, name = path.partition(".")
            part = values.get(group)
            if isinstance(part, dict) and name in part:
                del part[name]
                read.retired[path] = now
            if f"citewell_{path.replace('.', '__')}" in read.names:
                read.retired[path] = now
        return values


class _AliasSource(PydanticBaseSettingsSource):
    """The names of other stacks, as the source that every other one overrules, a field at a time."""

    def __init__(self, settings_cls: type[BaseSettings], names: Mapping[str, str | None]) -> None:
        super().__init__(settings_cls)
        self._names = names

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        found: dict[str, tuple[str, Any]] = {}
        if key := self._name("SERPER_API_KEY"):
            found["web.api_key"] = ("SERPER_API_KEY", key)
        if base_url := self._name("OPENAI_COMPATIBLE_BASE_URL"):
            found |= {**self._chat(base_url), **self._embedding(base_url)}
        unnamed = {path: each for path, each in found.items() if not self._is_named(path)}
        _READ.get().aliases |= {path: name for path, (name, _) in unnamed.items()}
        values: dict[str, Any] = {}
        for path, (_, value) in unnamed.items():
            outer, _, inner = path.partition(".")
            if inner:
                values.setdefault(outer, {})[inner] = value
            else:
                values[outer] = value
        return values

    def _chat(self, base_url: str) -> dict[str, tuple[str, Any]]:
        chat = self._name(CHAT_MODEL)
        if not chat or "models" in self.current_state:
            return {}
        model = {"name": chat, "base_url": base_url, "api_key": self._name("OPENAI_COMPATIBLE_API_KEY"), "model": chat}
        return {"models": (CHAT_MODEL, [model]), "default_model": (CHAT_MODEL, chat)}

    def _embedding(self, base_url: str) -> dict[str, tuple[str, Any]]:
        named = self.current_state.get("embedding", {})
        model = named.get("model") or self._name(EMBEDDING_MODEL)
        if not model or model == STATIC or model.startswith(ONNX):
            return {}
        found: dict[str, tuple[str, Any]] = {
            "embedding.model": (EMBEDDING_MODEL, model),
            "embedding.base_url": ("OPENAI_COMPATIBLE_BASE_URL", base_url),
        }
        # The key is for that endpoint alone.
        if not named.get("base_url") and (key := self._name("OPENAI_COMPATIBLE_API_KEY")):
            found["embedding.api_key"] = ("OPENAI_COMPATIBLE_API_KEY", key)
        return found

    def _name(self, name: str) -> str:
        return self._names.get(name.lower()) or ""

    def _is_named(self, path: str) -> bool:
        outer, _, inner = path.partition(".")
        named = self.current_state.get(outer)
        return inner in named if inner and isinstance(named, dict) else outer in self.current_state


def load_settings(**overrides: object) -> Settings:
    """Read the settings; values that no ``CITEWELL_`` name sets come from the alias names.

    Raises ConfigurationError naming each invalid field.
    """
    read = _Read()
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
