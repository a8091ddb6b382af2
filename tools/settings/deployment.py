"""All settings of a deployment, collected from the sections."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    HttpUrl,
    PrivateAttr,
    SecretStr,
    TypeAdapter,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from graph.evidence import AnswerFrom, Effort, Release
from tools.folders.data_folder import default_data_dir
from tools.settings.auth import (
    AuditSettings,
    AuthProxySettings,
    AuthSettings,
    GroupName,
    LinkSettings,
    OidcSettings,
    ShareSettings,
)
from tools.settings.mcp_search import McpServerSettings
from tools.settings.models import EXTRACTIVE, EmbeddingSettings, JudgeSettings, ModelSettings, RerankerSettings
from tools.settings.process import HttpSettings, JobSettings, MetricsSettings, RunSettings, VersionSettings, WebSettings
from tools.settings.section import Unset
from tools.settings.spending import SpendingSettings
from tools.settings.storage import MilvusSettings, ReplicaSettings

ENV_FILE = ".env"
SegmentSizes = str | dict[str, str]
USUAL_SIZE = "300 tokens"
SessionDays = Annotated[int, Field(ge=1, le=3650)] | Literal["never"]
# "rules" said before that no model is asked for questions.
Suggestions = Annotated[
    Literal["documents", "model", "off"], BeforeValidator(lambda said: "documents" if said == "rules" else said)
]


class Settings(BaseSettings):
    """All settings of a deployment. Durations are in seconds, sizes in the unit that the name ends with."""

    model_config = SettingsConfigDict(
        env_prefix="CITEWELL_",
        env_nested_delimiter="__",
        env_file=ENV_FILE,
        extra="ignore",
        defer_build=True,  # what a process reads is _Deployment, whose validator is the same
    )

    database_url: SecretStr | None = None
    data_dir: Path = Field(default_factory=default_data_dir)
    replica: ReplicaSettings = ReplicaSettings.unset()
    postgres_user: str | None = None  # the account that the embedded PostgreSQL runs as when started by root
    pool_size: Annotated[int, Field(ge=2, le=100)] = 10
    pool_timeout_seconds: Annotated[float, Field(gt=0, le=30)] = 2.0

    models: list[ModelSettings] = []
    default_model: str = EXTRACTIVE
    embedding: EmbeddingSettings = EmbeddingSettings.unset()
    refuse_below: Annotated[float, Field(ge=0.0, le=1.0)] = 0.2

    segment_size: SegmentSizes = USUAL_SIZE  # of all documents, or by the wire formats that they are for
    max_document_bytes: Annotated[int, Field(ge=1024)] = 20_000_000
    originals: str = "postgresql"  # off, a folder, or s3://bucket/prefix
    # Scanned pages are read where tesseract is installed; "" for never.
    ocr_languages: Annotated[str, Field(pattern=r"^([A-Za-z_]+(\+[A-Za-z_]+)*)?$")] = "eng"
    source_roots: list[str] = []  # folders and s3:// addresses below which the API may read sources

    effort: Effort = "balanced"
    answer_from: Annotated[AnswerFrom | None, Unset] = None
    release: Release = "checked"
    judge: JudgeSettings = JudgeSettings.unset()
    reranker: RerankerSettings = RerankerSettings.unset()

    web: WebSettings = WebSettings.unset()
    mcp_search: list[McpServerSettings] = []

    runs: RunSettings = RunSettings.unset()
    jobs: JobSettings = JobSettings.unset()
    milvus: MilvusSettings = MilvusSettings.unset()
    # Of all wire formats, or by their names.
    session_days: Annotated[SessionDays | dict[str, SessionDays] | None, Unset] = None
    auto_title: bool = True
    suggestions: Suggestions = "documents"

    spending: SpendingSettings = SpendingSettings.unset()

    auth: AuthSettings = AuthSettings.unset()
    audit: AuditSettings = AuditSettings.unset()
    oidc: OidcSettings = OidcSettings.unset()
    auth_proxy: AuthProxySettings = AuthProxySettings.unset()
    http: HttpSettings = HttpSettings.unset()
    versions: VersionSettings = VersionSettings.unset()
    cors_origins: list[str] = []

    public_url: str | None = None  # where browsers reach the service, such as https://citewell.example.com
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8400
    workspace: str = "default"
    user: str = "local"
    links: LinkSettings = LinkSettings.unset()
    shares: ShareSettings = ShareSettings.unset()
    groups: list[GroupName] = []  # of the user, where nothing else names them
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"
    tracing: Literal["off", "on", "text"] = "off"  # by the OTEL_ variables; no span holds text without "text"
    metrics: MetricsSettings = MetricsSettings.unset()

    _aliases: dict[str, str] = PrivateAttr(default_factory=dict)
    _retired: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def aliases(self) -> Mapping[str, str]:
        """The settings whose value came from another stack's name, with that name."""
        return self._aliases

    @property
    def retired(self) -> Mapping[str, str]:
        """The settings of older releases that are set and change nothing any more, with what is so now."""
        return self._retired

    @field_validator("originals")
    @classmethod
    def _place(cls, value: str) -> str:
        if not value.strip():
            return "postgresql"
        if "://" in value and not re.match(r"s3://[^/\s]+", value):
            raise ValueError("must be postgresql, off, a folder, or s3://bucket/prefix")
        if "://" not in value and "/" not in value and value not in ("postgresql", "off"):
            raise ValueError("must be postgresql, off, a folder such as /srv/originals, or s3://bucket/prefix")
        return value.strip()

    @field_validator("public_url")
    @classmethod
    def _reachable(cls, value: str | None) -> str | None:
        if not value:
            return None
        url = TypeAdapter(HttpUrl).validate_python(value)
        if url.query or url.fragment or url.username or url.password:
            raise ValueError("it has a scheme, a host, and a port and a path where there are some; nothing else")
        return str(url).rstrip("/")

    @field_validator("segment_size", mode="before")
    @classmethod
    def _sized(cls, value: Any) -> Any:
        for size in value.values() if isinstance(value, dict) else [value]:
            if re.fullmatch(r"[1-9]\d{1,3} (tokens|words)|paragraph", str(size)) is None:
                raise ValueError("a number from 10 to 9999 and what it counts: 300 tokens, 200 words; or paragraph")
        return value

    @property
    def segment_sizes(self) -> dict[str, str]:
        """The size of segments by the dialect that will ask for their document; under "*" that of all others.

        A client of ID citations counts paragraphs.
        """
        said = self.segment_size if isinstance(self.segment_size, dict) else {"*": self.segment_size}
        return {"*": USUAL_SIZE, "id_citations": "paragraph", **said}

    @model_validator(mode="after")
    def _names(self) -> "Settings":
        if any(model.name == EXTRACTIVE for model in self.models):
            raise ValueError("models: the name 'extractive' is taken by the built-in family")
        if len({model.name for model in self.models}) < len(self.models):
            raise ValueError("models: two models share a name")
        if len({server.name for server in self.mcp_search}) < len(self.mcp_search):
            raise ValueError("mcp_search: two servers share a name")
        return self

    @model_validator(mode="after")
    def _identified(self) -> "Settings":
        if self.oidc.issuer and self.auth.mode not in ("keys", "jwt"):
            raise ValueError("oidc: people log in beside programs, so auth.mode has to be keys or jwt")
        if self.auth.mode == "proxy":
            if not self.http.trusted_proxies:
                raise ValueError("http.trusted_proxies is required in the mode proxy: the addresses of your proxies")
            if not self.auth_proxy.workspace_header and not self.auth.default_workspace:
                raise ValueError("auth.default_workspace is required in the mode proxy, or auth_proxy.workspace_header")
        return self

    @property
    def run_knobs(self) -> dict[str, Any]:
        """Return the fields of a run's Context that the deployment sets where the request does not.

        A wire format has its own default of ``answer_from``, which counts where the deployment sets none.
        """
        knobs: dict[str, Any] = {"effort": self.effort, "release": self.release}
        return knobs if self.answer_from is None else {**knobs, "answer_from": self.answer_from}
