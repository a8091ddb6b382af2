"""The origin of each setting's value: the environment, the .env file, an alias, or the default."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dotenv import dotenv_values
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from graph.hidden_credentials import without_credentials
from tools.settings import ModelSettings, Settings

Origin = Literal["environment", ".env", "alias", "default"]
PREFIX = "CITEWELL_"
MASK = "********"


@dataclass(frozen=True, slots=True)
class Provenance:
    """A setting's current value and origin. ``name`` is the variable that set it, or could; secrets are masked."""

    setting: str
    value: str
    origin: Origin
    name: str


def provenance(settings: Settings) -> list[Provenance]:
    """Return each setting's value and origin, in the order of declaration."""
    environment = {name.upper(): value for name, value in os.environ.items()}
    file = {name.upper(): value for name, value in dotenv_values(Path(".env")).items() if value is not None}
    rows = []
    for setting in setting_names():
        origin: tuple[Origin, str] = _origin(setting, environment, file) or ("default", environment_name(setting))
        if setting in settings.aliases:
            origin = ("alias", settings.aliases[setting])
        rows.append(Provenance(setting, _shown(_value(settings, setting)), *origin))
    return rows


def setting_names() -> list[str]:
    """Return the dotted path of every setting; a list of models counts as one."""
    return [path for name, field in Settings.model_fields.items() for path in _paths(name, field)]


def environment_name(setting: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + setting.replace(".", "__").upper()


def _paths(name: str, field: FieldInfo) -> list[str]:
    if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
        return [f"{name}.{inner}" for inner in field.annotation.model_fields]
    return [name]


def _value(settings: Settings, setting: str) -> object:
    value: object = settings
    for part in setting.split("."):
        value = getattr(value, part)
    return value


def _origin(setting: str, environment: Mapping[str, str], file: Mapping[str, str]) -> tuple[Origin, str] | None:
    name = environment_name(setting)
    outer, _, inner = setting.partition(".")
    variables: tuple[tuple[Origin, Mapping[str, str]], ...] = (("environment", environment), (".env", file))
    for origin, values in variables:
        # Nested names set parts of a list or of an object: CITEWELL_MODELS__0__NAME.
        found = next((each for each in values if each == name or each.startswith(f"{name}__")), None)
        if found is not None:
            return origin, found
        whole = environment_name(outer)
        if inner and whole in values and _holds(values[whole], inner):
            return origin, whole
    return None


def _holds(value: str, name: str) -> bool:
    """Whether a variable that sets a group of settings as a JSON object sets this one."""
    try:
        return name in json.loads(value)
    except (ValueError, TypeError):
        return False


def _shown(value: object) -> str:
    if isinstance(value, SecretStr):
        return MASK if value.get_secret_value() else ""
    if isinstance(value, list):
        shown = ", ".join(_model(item) if isinstance(item, ModelSettings) else str(item) for item in value)
        return without_credentials(shown)
    return "" if value is None else without_credentials(str(value))


def _model(model: ModelSettings) -> str:
    return f"{model.name} ({model.model} at {model.base_url})"
