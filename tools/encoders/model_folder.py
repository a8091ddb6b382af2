"""Read what a folder says of its encoder: the layout in which sentence encoders and cross-encoders are downloaded."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graph.errors import ConfigurationError

Pooling = Literal["mean", "cls", "last"]

MOST_TOKENS = 1024  # attention's memory grows with their square; segments have some 300
ASSUMED_TOKENS = 512
TABLE = 8  # positions beyond a multiple of this are those that RoBERTa's kin can't use
QUERY_PROMPTS = ("query", "search_query", "retrieval.query")
DOCUMENT_PROMPTS = ("document", "passage", "search_document", "retrieval.passage")
E5_PROMPTS = ("query: ", "passage: ")  # e5 was trained with them, and its folder does not say so
POOLINGS: Mapping[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last",
}
_E5 = re.compile(r"(?:^|[-_])e5(?![^-_])(?!.*instruct)", re.IGNORECASE)
_CARD_LANGUAGES = re.compile(r"^languages?:(.*(?:\n[ -].*)*)", re.MULTILINE)
_WHOLE = "Download the model's folder whole, with the small files beside its weights."


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """An encoder's files, and how texts go in and vectors come out."""

    model: Path  # the .onnx file
    tokenizer: Path
    name: str  # as its author calls it, where the folder says so
    max_tokens: int
    query_prompt: str = ""
    document_prompt: str = ""
    pooling: Pooling | None = None  # None where the folder does not say: the mean
    dense: tuple[Path, ...] = ()  # folders of linear layers behind the pooling
    languages: frozenset[str] = frozenset()  # that its card names; none where it names none or many

    def digest(self) -> str:
        """Return a digest of all that a stored vector depends on. Blocks: reads the weights."""
        files = [self.model, *_outer_weights(self.model), self.tokenizer]
        files += [path for layer in self.dense for path in sorted(layer.iterdir())]
        total = hashlib.sha256(repr((self.document_prompt, self.pooling or "mean", self.max_tokens)).encode())
        for path in files:
            with path.open("rb") as opened:
                total.update(hashlib.file_digest(opened, "sha256").digest())
        return total.hexdigest()[:16]


def read_folder(named: str, setting: str) -> ModelFolder:
    """Read a folder, or that of an ``.onnx`` file; ``setting`` names it in errors. Blocks for milliseconds.

    Raises ConfigurationError that names what is missing or can't be used.
    """
    path = Path(named).expanduser()
    if path.suffix == ".onnx":
        model, folder = path, next((each for each in path.parents[:2] if (each / "config.json").exists()), path.parent)
        if not model.is_file():
            raise fault(setting, f"there is no file {model}", "Check the path.")
    else:
        folder, model = path, _model_in(path, setting)
    config = _json(folder, "config.json", setting)
    if not (folder / "tokenizer.json").is_file():
        raise fault(setting, f"{folder} has no tokenizer.json", _WHOLE)
    name = Path(config.get("_name_or_path") or folder.resolve().name).name
    query, document = _prompts(_json(folder, "config_sentence_transformers.json", setting, optional=True))
    if not (query or document) and _E5.search(name):
        query, document = E5_PROMPTS
    pooling, dense = _layers_behind(folder, setting)
    return ModelFolder(
        model=model,
        tokenizer=folder / "tokenizer.json",
        name=name,
        max_tokens=_max_tokens(folder, config, setting),
        query_prompt=query,
        document_prompt=document,
        pooling=pooling,
        dense=dense,
        languages=_languages(folder / "README.md"),
    )


def fault(setting: str, what: str, suggestion: str) -> ConfigurationError:
    """Return the error for a folder that can't be used."""
    return ConfigurationError(f"{setting}: {what}.", suggestion=suggestion)


def _model_in(folder: Path, setting: str) -> Path:
    if not folder.is_dir():
        raise fault(setting, f"there is no folder {folder}", "Check the path.")
    for usual in (folder / "onnx" / "model.onnx", folder / "model.onnx"):
        if usual.is_file():
            return usual
    found = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if not found:
        raise fault(setting, f"{folder} has no model.onnx, nor has its folder onnx", "Download its ONNX files too.")
    if len(found) > 1:
        names = ", ".join(str(each.relative_to(folder)) for each in found)
        raise fault(setting, f"{folder} has several models: {names}", f"Name the file, such as {found[0]}.")
    return found[0]


def _outer_weights(model: Path) -> list[Path]:
    """Return the files beside a model that hold weights too large for it, such as ``model.onnx_data``."""
    return sorted(each for each in model.parent.iterdir() if each.name.startswith(model.name) and each != model)


def _json(folder: Path, name: str, setting: str, *, optional: bool = False) -> dict[str, Any]:
    file = folder / name
    if optional and not file.exists():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise fault(setting, f"{folder} has no {name}", _WHOLE) from None
    except (OSError, ValueError) as error:
        raise fault(setting, f"{file} can't be read: {error}", "Download it again.") from error
    if not isinstance(found, dict):
        raise fault(setting, f"{file} is no JSON object", "Download it again.")
    return found


def _max_tokens(folder: Path, config: Mapping[str, Any], setting: str) -> int:
    positions = config.get("max_position_embeddings")
    said = [
        _json(folder, "sentence_bert_config.json", setting, optional=True).get("max_seq_length"),
        _json(folder, "tokenizer_config.json", setting, optional=True).get("model_max_length"),
        positions // TABLE * TABLE if isinstance(positions, int) else None,
    ]
    limits = [int(each) for each in said if isinstance(each, int | float) and each >= TABLE]
    return min(MOST_TOKENS, *(limits or [ASSUMED_TOKENS]))


def _prompts(config: Mapping[str, Any]) -> tuple[str, str]:
    """Return what comes before a question and before a document, in the words of sentence-transformers."""
    prompts = config.get("prompts") or {}
    otherwise = prompts.get(config.get("default_prompt_name"), "")

    def prompt(names: Sequence[str]) -> str:
        return str(next((prompts[name] for name in names if name in prompts), otherwise))

    return prompt(QUERY_PROMPTS), prompt(DOCUMENT_PROMPTS)


def _layers_behind(folder: Path, setting: str) -> tuple[Pooling | None, tuple[Path, ...]]:
    """Return the pooling and the linear layers behind the encoder, from ``modules.json`` or the usual folder."""
    modules = [("Pooling", "1_Pooling")] if (folder / "1_Pooling" / "config.json").is_file() else []
    if (folder / "modules.json").is_file():
        try:
            listed = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
            modules = [(str(each["type"]).rsplit(".", 1)[-1], str(each["path"])) for each in listed]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise fault(setting, f"{folder / 'modules.json'} can't be read: {error}", "Download it again.") from error
    pooling: Pooling | None = None
    dense: list[Path] = []
    for kind, path in modules:
        if kind == "Pooling":
            pooling = _pooling(_json(folder / path, "config.json", setting), folder / path, setting)
        elif kind == "Dense":
            if not (folder / path / "model.safetensors").is_file():
                raise fault(setting, f"{folder / path} has no model.safetensors", "Convert its weights to safetensors.")
            dense.append(folder / path)
        elif kind not in ("Transformer", "Normalize"):
            raise fault(setting, f"its module {kind} is not known", "Take another model.")
    return pooling, tuple(dense)


def _pooling(config: Mapping[str, Any], folder: Path, setting: str) -> Pooling:
    named = config.get("pooling_mode")
    modes = (
        [f"pooling_mode_{named}"]
        if named
        else [n for n, on in config.items() if n.startswith("pooling") and on is True]
    )
    found = [pooling for mode in modes for name, pooling in POOLINGS.items() if mode in (name, name.rsplit("_", 1)[0])]
    if len(modes) != 1 or not found:
        raise fault(setting, f"{folder} asks for {' and '.join(modes) or 'no pooling'}", "Take another model.")
    return found[0]


def _languages(card: Path) -> frozenset[str]:
    """Return the languages in the head of a model card; none where it names none, or says that they are many."""
    try:
        with card.open(encoding="utf-8", errors="replace") as opened:
            head = opened.read(4000)
    except OSError:
        return frozenset()
    named = _CARD_LANGUAGES.search(head) if head.startswith("---") else None
    found = frozenset(re.findall(r"[a-z]+", named[1])) if named else frozenset[str]()
    return frozenset() if "multilingual" in found else found
