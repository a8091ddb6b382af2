"""Read what a folder says of its encoder: the layout in which sentence encoders and cross-encoders are downloaded."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
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
        files = [*self.weights, self.tokenizer, *(path for layer in self.dense for path in sorted(layer.iterdir()))]
        total = hashlib.sha256(repr((self.document_prompt, self.pooling or "mean", self.max_tokens)).encode())
        for path in files:
            with path.open("rb") as opened:
                total.update(hashlib.file_digest(opened, "sha256").digest())
        return total.hexdigest()[:16]

    @property
    def weights(self) -> list[Path]:
        """The model's file, and those beside it that hold what is too large for it, such as ``model.onnx_data``."""
        return sorted(each for each in self.model.parent.iterdir() if each.name.startswith(self.model.name))


def read_folder(named: str, setting: str) -> ModelFolder:
    """Read a folder, or that of an ``.onnx`` file; ``setting`` names it in errors. Blocks for milliseconds.

    Raises ConfigurationError that names what is missing or can't be used.
    """
    if find_spec("onnxruntime") is None:
        raise fault(setting, "ONNX Runtime is not installed", "Run `pip install 'citewell[onnx]'`.")
    path = Path(named).expanduser()
    try:
        if path.suffix != ".onnx":
            return _read(path, _model_in(path))
        return _read(next((each for each in path.parents[:2] if (each / "config.json").exists()), path.parent), path)
    except FileNotFoundError as error:
        missing = Path(error.filename)
        what = f"{missing.parent} has no {missing.name}"
        raise fault(setting, what, "Check the path, and download the folder whole.") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise fault(setting, f"{path} can't be used: {error}", "Download it again, or take another model.") from error


def fault(setting: str, what: str, suggestion: str) -> ConfigurationError:
    """Return the error for a folder that can't be used."""
    return ConfigurationError(f"{setting}: {what}.", suggestion=suggestion)


def _read(folder: Path, model: Path) -> ModelFolder:
    tokenizer = folder / "tokenizer.json"
    model.stat(), tokenizer.stat()  # or the file that is missing is named
    config = _json(folder / "config.json")
    name = Path(config.get("_name_or_path") or folder.resolve().name).name
    said = _json(folder / "config_sentence_transformers.json", {})
    prompts = said.get("prompts") or {}
    otherwise = prompts.get(said.get("default_prompt_name"), "")
    query, document = (
        next((prompts[each] for each in names if each in prompts), otherwise)
        for names in (QUERY_PROMPTS, DOCUMENT_PROMPTS)
    )
    if not (query or document) and _E5.search(name):
        query, document = E5_PROMPTS
    positions = config.get("max_position_embeddings", 0) // TABLE * TABLE
    limits = [
        _json(folder / "sentence_bert_config.json", {}).get("max_seq_length"),
        _json(folder / "tokenizer_config.json", {}).get("model_max_length"),
        positions,
    ]
    most = min([int(each) for each in limits if each] or [ASSUMED_TOKENS])
    pooling, dense = _layers_behind(folder)
    languages = _languages(folder / "README.md")
    return ModelFolder(model, tokenizer, name, min(most, MOST_TOKENS), query, document, pooling, dense, languages)


def _model_in(folder: Path) -> Path:
    usual = folder / "onnx" / "model.onnx"
    found = [each for each in (usual, folder / "model.onnx") if each.is_file()]
    others = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if not found and len(others) > 1:
        raise ValueError(f"it has several models, of which one has to be named: {', '.join(map(str, others))}")
    return next(iter(found or others), usual)


def _json(file: Path, otherwise: Any = None) -> Any:
    """Read a file, or return ``otherwise``, if given, where it is not there."""
    if otherwise is not None and not file.exists():
        return otherwise
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file.name} is no JSON: {error}") from error


def _layers_behind(folder: Path) -> tuple[Pooling | None, tuple[Path, ...]]:
    """Return the pooling and the linear layers behind the encoder, from ``modules.json`` or the usual folder."""
    is_usual = (folder / "1_Pooling" / "config.json").is_file()
    modules = _json(folder / "modules.json", [{"type": "Pooling", "path": "1_Pooling"}] if is_usual else [])
    pooling: Pooling | None = None
    dense: list[Path] = []
    for module in modules:
        kind, path = module["type"].rsplit(".", 1)[-1], folder / module["path"]
        if kind == "Pooling":
            pooling = _pooling(_json(path / "config.json"))
        elif kind == "Dense":
            (path / "model.safetensors").stat()
            dense.append(path)
        elif kind not in ("Transformer", "Normalize"):
            raise ValueError(f"its module {kind} is not known")
    return pooling, tuple(dense)


def _pooling(config: Mapping[str, Any]) -> Pooling:
    modes = [name for name, value in config.items() if name.startswith("pooling_mode_") and value is True]
    if named := config.get("pooling_mode"):
        modes = [f"pooling_mode_{named}"]
    found = [pooling for mode in modes for name, pooling in POOLINGS.items() if mode in (name, name.rpartition("_")[0])]
    if len(modes) != 1 or not found:
        raise ValueError(f"the pooling {' and '.join(modes) or 'that it names'} is not known")
    return found[0]


def _languages(card: Path) -> frozenset[str]:
    """Return the languages in the head of a model card; none where it names none, or says that they are many."""
    head = card.read_text(encoding="utf-8", errors="replace")[:4000] if card.exists() else ""
    named = _CARD_LANGUAGES.search(head) if head.startswith("---") else None
    found = frozenset(re.findall(r"[a-z]+", named[1])) if named else frozenset[str]()
    return frozenset() if "multilingual" in found else found
