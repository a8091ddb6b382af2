"""The models of a deployment as OpenAI lists them: the built-in family, and each that the settings name."""

from typing import Literal

from pydantic import BaseModel

from graph.errors import NotFound
from tools.settings import EXTRACTIVE, Settings

DEPLOYMENT_DEFAULT = ("", "citewell")
OWNER = "citewell"
CREATED = 1_795_305_600  # OpenAI wants a date, and a name in the settings has none: the day this dialect was made


class Model(BaseModel):
    """A model that a request may name. ``created`` is in seconds since 1970, the same for all.

    ``thinking`` is ours: whether a question may ask it to think.
    """

    id: str
    object: Literal["model"] = "model"
    created: int = CREATED
    owned_by: str = OWNER
    name: str
    thinking: bool = False


class ModelList(BaseModel):
    """All models, the deployment's default first."""

    object: Literal["list"] = "list"
    data: list[Model]


def models_of(settings: Settings) -> list[Model]:
    """List the models of a deployment, its default first; the others stand as the settings have them."""
    models = [
        Model(id=model.name, name=model.label or model.name, thinking=can_think(settings, model.name))
        for model in settings.models
    ]
    models.append(Model(id=EXTRACTIVE, name="Extractive (quotes, no model)"))
    return sorted(models, key=lambda model: model.id != settings.default_model)


def named(settings: Settings, name: str) -> str:
    """Give the model that a request names; an empty name or ``citewell`` is the deployment's default.

    Raises NotFound.
    """
    known = [model.id for model in models_of(settings)]
    if name in known:
        return name
    if name in DEPLOYMENT_DEFAULT:
        return settings.default_model
    raise NotFound(
        f"model: there is no model {name!r}; there are: {', '.join(known)}.",
        suggestion="GET /v1/models lists them; leave the model out for the first.",
    )


def can_think(settings: Settings, name: str) -> bool:
    """Tell whether a model has a thinking model beside it."""
    return any(model.name == name and model.thinking_model for model in settings.models)
