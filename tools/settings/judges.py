"""The judge of ``tools/judges``."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr, model_validator

from tools.settings.section import Key, Section, Unset, WebAddress

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
