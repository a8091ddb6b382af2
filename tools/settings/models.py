"""The models that are asked: chat models, embeddings, the judge, and the reranker."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from tools.settings.section import VERSIONED, BaseUrl, Key, Section, Unset, WebAddress

EXTRACTIVE = "extractive"

# Of hosted models, whose makers say what they take. More than the largest would cost more than it answers.
_KNOWN = (
    (128_000, r"glm-[45](?:\.\d)?-(?:plus|air|flash|flashx|turbo)"),
    (128_000, r"(?:chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-5|o[134]|claude|gemini|grok|kimi-k2)\b.*"),
    (128_000, r"qwen-(?:plus|turbo|flash)\b.*|qwen3-max\b.*"),
    (64_000, r"deepseek-(?:chat|reasoner)"),
    (16_385, r"gpt-3\.5-turbo\b.*"),
    (8_192, r"gpt-4(?:-\d+)?"),
)
_CONTEXT_NAMED = re.compile(r"(?<![a-z\d])(\d{1,3})k(?![a-z\d])")  # as in moonshot-v1-32k
HOSTED_CONTEXT = 32_768
USUAL_CONTEXT = 8_192


def usual_context(model: str, base_url: str) -> int:
    """Return how many tokens of context a model takes by its name, of an unknown one how many are tried.

    A hosted endpoint refuses a request that is too long, and is then asked with less. A server of one's own, which is
    asked over http, may cut it in silence instead.
    """
    name = model.casefold().rpartition("/")[2]
    for tokens, pattern in _KNOWN:
        if re.fullmatch(pattern, name):
            return tokens
    if not base_url.casefold().startswith("https:"):
        return USUAL_CONTEXT
    named = _CONTEXT_NAMED.search(name)
    return max(1024, min(128_000, int(named[1]) * 1000)) if named else HOSTED_CONTEXT


class ModelSettings(Section):
    """A chat model behind an OpenAI-compatible endpoint; requests select it by ``name``.

    Without ``context_tokens`` it has those of ``usual_context``.
    """

    name: Annotated[str, Field(max_length=100, pattern=r"^[\w.:/-]+$")]
    label: str = ""
    base_url: BaseUrl
    api_key: SecretStr = SecretStr("")
    model: str
    thinking_model: str | None = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 60.0
    context_tokens: Annotated[int, Field(ge=1024)] = USUAL_CONTEXT

    @model_validator(mode="before")
    @classmethod
    def _with_usual_context(cls, values: Any) -> Any:
        if not isinstance(values, dict) or "context_tokens" in values:
            return values
        usual = usual_context(str(values.get("model", "")), str(values.get("base_url", "")))
        return {**values, "context_tokens": usual}


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


JUDGE_KINDS = ("chat", "minicheck", "entailment", "off")


class JudgeSettings(Section):
    """The model that judges the claims which code leaves open; without ``base_url``, the model that writes.

    ``kind`` is the request that the endpoint takes: ``chat`` for any chat model, ``minicheck`` for a model that answers
    MiniCheck's document-and-claim prompt with yes or no, ``entailment`` for a text-classification endpoint, or the name
    of an installed judge. ``off`` leaves these claims unverified. With ``exam: auto`` a judge without a result takes
    the exam in the background of the first question that needs it; with ``manual`` only ``citewell judge exam`` starts
    it.
    """

    kind: Annotated[str, Field(max_length=100, pattern=r"^[\w.:-]+$")] = "chat"
    base_url: Annotated[WebAddress | None, Unset] = None
    api_key: Key = SecretStr("")
    model: str = ""
    exam: Literal["auto", "manual"] = "auto"

    @model_validator(mode="after")
    def _complete(self) -> "JudgeSettings":
        if self.kind in ("minicheck", "entailment") and self.base_url is None:
            raise ValueError(f"judge.base_url is required for the kind {self.kind!r}")
        if self.base_url is not None and self.kind in JUDGE_KINDS and self.kind != "off" and not self.model:
            raise ValueError("judge.model is required with judge.base_url: verdicts and the exam name it")
        return self


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
        return self.base_url is not None or self.kind == "onnx"

    @property
    def url(self) -> str:
        """The address of its requests; a base URL that ends in a version, such as ``/v1``, keeps it."""
        stem = self.base_url or ""
        version = {"cohere": "/v2", "jina": "/v1"}.get(self.kind, "")
        return f"{stem}/rerank" if VERSIONED.search(stem) else f"{stem}{version}/rerank"
