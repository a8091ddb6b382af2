"""The reranker of ``tools/rerankers``."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from tools.settings.section import VERSIONED, Section, Unset, WebAddress


class RerankerSettings(Section):
    """A reranker that scores candidates for relevance; without one the search score decides.

    ``kind`` is the shape of an endpoint's requests: ``tei`` for Text Embeddings Inference, ``cohere`` and ``jina`` for
    theirs. With ``onnx`` there is no endpoint: ``model`` is the path of a folder or file.
    Candidates that it scores below ``min_score`` are dropped.
    """

    kind: Literal["tei", "cohere", "jina", "onnx"] = "tei"
    base_url: Annotated[WebAddress | None, Unset] = None
    api_key: SecretStr = SecretStr("")
    model: str = ""
    min_score: Annotated[float, Field(ge=0.0, le=1.0)] = 0.1

    @field_validator("base_url")
    @classmethod
    def _normal(cls, value: str | None) -> str | None:
        return value and value.removesuffix("/rerank").rstrip("/")

    @model_validator(mode="after")
    def _complete(self) -> "RerankerSettings":
        if (self.base_url or self.kind == "onnx") and self.kind != "tei" and not self.model:
            raise ValueError(f"reranker.model is required for the kind {self.kind!r}")
        if self.base_url and self.kind == "onnx":
            raise ValueError("reranker.base_url is for endpoints, and the kind 'onnx' has none")
        return self

    @property
    def is_set(self) -> bool:
        """Whether there is a reranker."""
        return self.base_url is not None or self.kind == "onnx"

    @property
    def url(self) -> str:
        """The address of its requests; a base URL that ends in a version, such as ``/v1``, keeps it."""
        stem = self.base_url or ""
        version = {"cohere": "/v2", "jina": "/v1"}.get(self.kind, "")
        return f"{stem}/rerank" if VERSIONED.search(stem) else f"{stem}{version}/rerank"
