"""The embedding model of ``tools/embeddings``."""

from typing import Annotated

from pydantic import Field, SecretStr, model_validator

from tools.settings.section import BaseUrl, Section, Unset

STATIC = "static"  # the bundled embedding model
ONNX = "onnx:"  # before the path of a folder or file


class EmbeddingSettings(Section):
    """The embedding model: ``static`` is bundled, ``onnx:`` and a path is an encoder of a folder or file.

    Any other name is a model of an endpoint.

    Without ``dimension`` it is that of the model, asked of its endpoint where it is not known. A request holds at most
    ``batch_texts`` texts and, where set, ``batch_characters`` characters; fewer where the endpoint refuses so many.
    """

    model: str = STATIC
    base_url: Annotated[BaseUrl | None, Unset] = None
    api_key: SecretStr = SecretStr("")
    dimension: Annotated[int | None, Field(ge=8, le=4000)] = None
    batch_texts: Annotated[int, Field(ge=1, le=2048)] = 64
    batch_characters: Annotated[int | None, Field(ge=100)] = None

    @model_validator(mode="after")
    def _complete(self) -> "EmbeddingSettings":
        if self.folder is not None:
            if not self.folder:
                raise ValueError("embedding.model: a path comes behind 'onnx:'")
        elif self.model != STATIC and self.base_url is None:
            raise ValueError("embedding.base_url is required for an embedding model other than 'static' and 'onnx:...'")
        return self

    @property
    def folder(self) -> str | None:
        """The path of a model that runs here; None for the bundled one and those of endpoints."""
        return self.model.removeprefix(ONNX) if self.model.startswith(ONNX) else None
