"""Settings of a deployment, read once from the environment and ``.env`` when the process starts.

``CITEWELL_`` names win. The names that the first users' stacks already set (``OPENAI_COMPATIBLE_*``,
``SERPER_API_KEY``) are the fallback. ``citewell doctor`` shows which name each value came from.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, tzinfo
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    BaseModel,
    Field,
    HttpUrl,
    PrivateAttr,
    SecretStr,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from graph.errors import ConfigurationError
from graph.evidence import AnswerFrom, Effort, Release
from tools.storage.data_folder import default_data_dir

EXTRACTIVE = "extractive"
# Names that other stacks set, in the environment or in .env; they fill what no CITEWELL_ name does.
ALIASES = (
    "OPENAI_COMPATIBLE_BASE_URL",
    "OPENAI_COMPATIBLE_API_KEY",
    "OPENAI_COMPATIBLE_COMPLETION_MODEL",
    "OPENAI_COMPATIBLE_EMBEDDING_MODEL",
    "SERPER_API_KEY",
)
CHAT_MODEL = "OPENAI_COMPATIBLE_COMPLETION_MODEL"
EMBEDDING_MODEL = "OPENAI_COMPATIBLE_EMBEDDING_MODEL"
STATIC = "static"  # the bundled embedding model
# Names of other stacks that mean nothing here, with the reason.
UNUSED = {
    "AI_DRIVER": "every model is reached through an OpenAI-compatible endpoint",
    "SERPER_DEBUG": "CITEWELL_LOG_LEVEL says how much is logged",
}


VERSIONED = re.compile(r"/v\d+\Z")
HEADER = r"^[A-Za-z0-9-]{1,100}$"  # an underscore is taken for a hyphen by some proxies


def normal_base_url(url: str) -> str:
    """Normalize an endpoint's base URL: it ends in a version such as ``/v1``, without a trailing slash.

    Raises ValueError if it is not an http or https URL.
    """
    TypeAdapter(HttpUrl).validate_python(url)
    stem = url.rstrip("/")
    for tail in ("/chat/completions", "/embeddings"):
        stem = stem.removesuffix(tail)
    return stem if VERSIONED.search(stem) else f"{stem}/v1"


def sendable_key(value: SecretStr) -> SecretStr:
    """Return a key without spaces around it. Raises ValueError where it can't be sent in a header."""
    key = value.get_secret_value().strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError("a key may only contain printable ASCII characters")
    return SecretStr(key)


class _Section(BaseModel, extra="forbid", defer_build=True):
    """A part of the settings, which takes no unknown name; its validator is built within that of ``Settings``."""

    @classmethod
    def unset(cls) -> Self:
        """Return the part with its defaults alone, unchecked: to check them would take a validator of its own."""
        return cls.model_construct()


class ModelSettings(_Section):
    """A chat model behind an OpenAI-compatible endpoint; requests select it by ``name``."""

    name: Annotated[str, Field(max_length=100, pattern=r"^[\w.:/-]+$")]
    label: str = ""
    base_url: str
    api_key: SecretStr = SecretStr("")
    model: str
    thinking_model: str | None = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 60.0
    context_tokens: Annotated[int, Field(ge=1024)] = 8192

    @field_validator("base_url")
    @classmethod
    def _normal(cls, value: str) -> str:
        return normal_base_url(value)


class EmbeddingSettings(_Section):
    """The embedding model: ``static`` is bundled; any other name is a model of an endpoint.

    Without ``dimension`` it is that of the model, asked of its endpoint where it is not known.
    """

    model: str = STATIC
    base_url: str | None = None
    api_key: SecretStr = SecretStr("")
    dimension: Annotated[int | None, Field(ge=8, le=4000)] = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 10.0

    @field_validator("base_url")
    @classmethod
    def _normal(cls, value: str | None) -> str | None:
        return normal_base_url(value) if value else None

    @model_validator(mode="after")
    def _complete(self) -> "EmbeddingSettings":
        if self.model != STATIC and self.base_url is None:
            raise ValueError("embedding.base_url is required for an embedding model other than 'static'")
        return self


class WebSettings(_Section):
    """The web search endpoint, which is off without a key, and how its results are stored.

    Result pages are fetched only with ``fetch_pages``; otherwise only the search snippets are stored.
    """

    api_key: SecretStr = SecretStr("")
    base_url: str = "https://google.serper.dev"
    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 10.0
    results: Annotated[int, Field(ge=1, le=20)] = 5
    fetch_pages: bool = False
    max_page_bytes: Annotated[int, Field(ge=1024, le=20_000_000)] = 2_000_000
    keep_days: Annotated[int, Field(ge=1, le=3650)] = 30

    @field_validator("base_url")
    @classmethod
    def _normal(cls, value: str) -> str:
        TypeAdapter(HttpUrl).validate_python(value)
        return value.rstrip("/")

    @field_validator("api_key")
    @classmethod
    def _sendable(cls, value: SecretStr) -> SecretStr:
        return sendable_key(value)


SECRET_REFERENCE = re.compile(r"\$\{(\w+)\}")


class McpServerSettings(_Section):
    """An MCP server whose ``tool`` searches beside the web: one at a ``url``, or one that ``command`` starts.

    ``arguments`` are those of the tool, in which ``{query}`` stands for what is searched for and ``{top_k}`` for how
    many results are wanted. In values of ``headers`` and ``env``, ``${NAME}`` stands for that variable of the
    environment. A reply, or the text of a result, larger than ``max_bytes`` is cut or left out.
    """

    # The length apart from the pattern: a count of fifty within it takes 20 ms to compile.
    name: Annotated[str, Field(max_length=50, pattern=r"^[\w.-]+$")]
    url: str | None = None
    headers: dict[str, SecretStr] = {}
    command: str | None = None
    args: list[str] = []
    env: dict[str, SecretStr] = {}
    tool: Annotated[str, Field(min_length=1, max_length=200)]
    arguments: dict[str, Any] = {"query": "{query}"}
    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 10.0
    top_k: Annotated[int, Field(ge=1, le=20)] = 5
    max_bytes: Annotated[int, Field(ge=1024, le=20_000_000)] = 2_000_000

    @field_validator("url")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if not value:
            return None
        TypeAdapter(HttpUrl).validate_python(value)
        return value

    @field_validator("headers", "env")
    @classmethod
    def _resolved(cls, values: dict[str, SecretStr]) -> dict[str, SecretStr]:
        return {name: SecretStr(_with_secrets(value.get_secret_value())) for name, value in values.items()}

    @field_validator("headers")
    @classmethod
    def _headers(cls, values: dict[str, SecretStr]) -> dict[str, SecretStr]:
        return {name: sendable_key(value) for name, value in values.items()}

    @model_validator(mode="after")
    def _one_way(self) -> "McpServerSettings":
        if (self.url is None) == (self.command is None):
            raise ValueError("an MCP server has either a url or a command")
        if self.url is not None and (self.args or self.env):
            raise ValueError("args and env are for an MCP server that a command starts")
        if self.command is not None and self.headers:
            raise ValueError("headers are for an MCP server at a url")
        return self


def _with_secrets(value: str) -> str:
    """Return a value with the environment's in the place of ``${NAME}``. Raises ValueError where there is none."""

    def resolved(reference: re.Match[str]) -> str:
        if (found := os.environ.get(reference[1])) is None:
            raise ValueError(f"the environment has no variable {reference[1]}")
        return found

    return SECRET_REFERENCE.sub(resolved, value)


class SiteSettings(_Section):
    """How pages are fetched into the library: ``seconds_between`` requests to one host, and the limits of a site.

    ``max_depth`` is how many links a page may be away from the first one.
    """

    seconds_between: Annotated[float, Field(ge=0, le=60)] = 1.0
    timeout_seconds: Annotated[float, Field(gt=0, le=300)] = 30.0
    max_pages: Annotated[int, Field(ge=1, le=100_000)] = 1000
    max_depth: Annotated[int, Field(ge=0, le=100)] = 10


Entailment = Literal["entailment", "neutral", "contradiction"]
JUDGE_KINDS = ("chat", "minicheck", "entailment", "off")


class JudgeSettings(_Section):
    """The model that judges the claims which code leaves open; without ``base_url``, the model that writes.

    ``kind`` is the request that the endpoint takes: ``chat`` for any chat model, ``minicheck`` for a model that answers
    MiniCheck's document-and-claim prompt with yes or no, ``entailment`` for a text-classification endpoint, or the name
    of an installed judge. ``off`` leaves these claims unverified. ``instruction`` is the system message for
    ``minicheck`` where its server adds none, and ``labels`` says what the labels of ``entailment`` mean where their
    names don't. With ``exam: auto`` a judge without a result takes the exam in the background of the first question
    that needs it; with ``manual`` only ``citewell judge exam`` starts it.
    """

    kind: Annotated[str, Field(max_length=100, pattern=r"^[\w.:-]+$")] = "chat"
    base_url: str | None = None
    api_key: SecretStr = SecretStr("")
    model: str = ""
    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 30.0
    context_tokens: Annotated[int, Field(ge=1024)] = 8192
    instruction: str = ""
    labels: dict[str, Entailment] = {}
    exam: Literal["auto", "manual"] = "auto"

    @field_validator("base_url")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if not value:
            return None
        TypeAdapter(HttpUrl).validate_python(value)
        return value.rstrip("/")

    @field_validator("api_key")
    @classmethod
    def _sendable(cls, value: SecretStr) -> SecretStr:
        return sendable_key(value)

    @model_validator(mode="after")
    def _complete(self) -> "JudgeSettings":
        if self.kind in ("minicheck", "entailment") and self.base_url is None:
            raise ValueError(f"judge.base_url is required for the kind {self.kind!r}")
        if self.base_url is not None and self.kind in JUDGE_KINDS and self.kind != "off" and not self.model:
            raise ValueError("judge.model is required with judge.base_url: verdicts and the exam name it")
        return self


class RerankerSettings(_Section):
    """A reranker endpoint that scores candidates for relevance; without ``base_url`` the search score decides.

    ``kind`` is the shape of its requests: ``tei`` for Text Embeddings Inference, ``cohere`` and ``jina`` for theirs.
    Candidates that it scores below ``min_score`` are dropped.
    """

    kind: Literal["tei", "cohere", "jina"] = "tei"
    base_url: str | None = None
    api_key: SecretStr = SecretStr("")
    model: str = ""
    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 5.0
    min_score: Annotated[float, Field(ge=0.0, le=1.0)] = 0.1

    @field_validator("base_url")
    @classmethod
    def _normal(cls, value: str | None) -> str | None:
        if not value:
            return None
        TypeAdapter(HttpUrl).validate_python(value)
        return value.rstrip("/").removesuffix("/rerank").rstrip("/")

    @model_validator(mode="after")
    def _complete(self) -> "RerankerSettings":
        if self.base_url and self.kind != "tei" and not self.model:
            raise ValueError(f"reranker.model is required for the kind {self.kind!r}")
        return self

    @property
    def url(self) -> str:
        """The address of its requests; a base URL that ends in a version, such as ``/v1``, keeps it."""
        stem = self.base_url or ""
        version = {"tei": "", "cohere": "/v2", "jina": "/v1"}[self.kind]
        return f"{stem}/rerank" if VERSIONED.search(stem) else f"{stem}{version}/rerank"


class ReplicaSettings(_Section):
    """A standby of the database that answers searches and readings; without ``url`` the primary does.

    A reading waits ``wait_seconds`` at most until the standby has replayed all that was acknowledged before it, and is
    the primary's then. One that is ``most_lag_seconds`` behind is not asked until it has caught up.
    """

    url: SecretStr | None = None
    wait_seconds: Annotated[float, Field(ge=0, le=5)] = 0.05
    most_lag_seconds: Annotated[float, Field(gt=0, le=3600)] = 1.0

    @field_validator("url", mode="before")
    @classmethod
    def _unset(cls, value: object) -> object:
        return None if value == "" else value


class RunSettings(_Section):
    """Limits on the runs of a process, and how another process takes over the runs of a dead one.

    A process renews its lease every third of ``lease_seconds``; other processes pick up its runs once the lease has
    expired. On shutdown it waits ``drain_seconds`` for its runs to finish before it leaves them to others. Processes
    notify each other of events by PostgreSQL, or by the NATS server at ``nats_url``.
    """

    max_active: Annotated[int, Field(ge=1, le=1000)] = 16
    max_waiting: Annotated[int, Field(ge=0, le=10_000)] = 64
    lease_seconds: Annotated[float, Field(ge=1, le=600)] = 30.0
    drain_seconds: Annotated[float, Field(ge=0, le=300)] = 5.0
    durability: Literal["sync", "async"] = "sync"
    nats_url: SecretStr | None = None

    @field_validator("nats_url")
    @classmethod
    def _nats_address(cls, value: SecretStr | None) -> SecretStr | None:
        address = "" if value is None else value.get_secret_value()
        if not address:
            return None
        if not address.startswith(("nats://", "tls://")):
            raise ValueError("the address of a NATS server begins with nats:// or tls://")
        return value


class JobSettings(_Section):
    """How files are read and stored: by how many processes, within which limits, and how many may wait.

    A server reads ``workers`` files at once, each in a process of its own; with 0 it leaves them to `citewell worker`.
    A file is refused if reading takes longer than ``file_seconds`` or more memory than ``file_megabytes``, or if it is
    larger than ``max_pages`` or ``max_characters``. The upload of one document waits ``wait_seconds`` for its end. A
    user may have ``max_waiting`` files and ``max_waiting_bytes`` waiting. Jobs that ended are kept for ``keep_days``.
    """

    workers: Annotated[int, Field(ge=0, le=64)] = 2
    file_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    file_megabytes: Annotated[int, Field(ge=256, le=1_000_000)] = 1024
    max_pages: Annotated[int, Field(ge=1)] = 10_000
    max_characters: Annotated[int, Field(ge=1000)] = 20_000_000
    wait_seconds: Annotated[float, Field(ge=0, le=60)] = 10.0
    max_waiting: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    max_waiting_bytes: Annotated[int, Field(ge=1_000_000)] = 2_000_000_000
    lease_seconds: Annotated[float, Field(ge=1, le=600)] = 30.0
    keep_days: Annotated[int, Field(ge=1, le=3650)] = 7


class RaySettings(_Section):
    """How `--on ray` works: on the cluster at ``address``, or without one on Ray processes of this machine.

    At most ``tasks`` files are read at once, or pages embedded; without it, as many as this machine has processors. The
    object store of a local Ray has ``object_store_megabytes``. ``shared_paths`` says that every node of the cluster
    sees the files under the paths that the command names; else their bytes wait in the database.
    """

    address: Annotated[str, Field(max_length=500)] = ""
    tasks: Annotated[int | None, Field(ge=1, le=10_000)] = None
    object_store_megabytes: Annotated[int, Field(ge=100, le=1_000_000)] = 256
    shared_paths: bool = False

    @field_validator("address")
    @classmethod
    def _direct(cls, value: str) -> str:
        if value.startswith("ray://"):
            raise ValueError("Ray's client is not supported: name the head as host:6379, and run the command beside it")
        return value


Price = Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=6)]


class ModelPrice(_Section):
    """What a million tokens of a model cost; ``cached_input`` is for those that its endpoint had in its prompt cache.

    ``model`` is the name that its endpoint knows it by; ``*`` in it stands for any characters.
    """

    model: Annotated[str, Field(min_length=1, max_length=200)]
    input: Price
    cached_input: Price | None = None
    output: Price


class DailyLimits(_Section):
    """The most that may be used in a day: runs, tokens of models, and money in ``spending.currency``; null for any."""

    runs: Annotated[int | None, Field(ge=0)] = None
    tokens: Annotated[int | None, Field(ge=0)] = None
    cost: Annotated[Decimal | None, Field(ge=0)] = None

    def __str__(self) -> str:
        """Return the limits as the JSON object that sets them."""
        return self.model_dump_json(exclude_none=True)


class SpendingLimits(_Section):
    """Limits by day for a whole workspace, and for each user, API key and client address in it."""

    workspace: DailyLimits = DailyLimits.unset()
    user: DailyLimits = DailyLimits.unset()
    key: DailyLimits = DailyLimits.unset()
    address: DailyLimits = DailyLimits.unset()


class SpendingSettings(SpendingLimits):
    """Prices of models, and limits by day. Of several prices that match a model, the first counts.

    ``workspaces`` holds limits by the name of a workspace; what is set there replaces the deployment's limit. A day
    begins at midnight in ``time_zone``. What was spent is known for ``keep_days``.
    """

    currency: Annotated[str | None, Field(pattern=r"^[A-Z]{3}$")] = None
    prices: list[ModelPrice] = []
    workspaces: dict[str, SpendingLimits] = {}
    time_zone: str = "UTC"
    keep_days: Annotated[int, Field(ge=2, le=36_500)] = 730

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            zone_of(value)
        except (ValueError, OSError, ZoneInfoNotFoundError):
            raise ValueError("must be a time zone such as UTC or Europe/Berlin") from None
        return value

    @model_validator(mode="after")
    def _complete(self) -> "SpendingSettings":
        if self.prices and self.currency is None:
            raise ValueError("spending.currency is required with spending.prices, such as USD")
        limits = [self, *self.workspaces.values()]
        if not self.prices and any(
            each.cost is not None for of in limits for each in (of.workspace, of.user, of.key, of.address)
        ):
            raise ValueError("a limit of cost needs spending.prices: without them no cost is known")
        return self

    def limits_of(self, workspace: str) -> SpendingLimits:
        """Return the limits that hold in a workspace."""
        everywhere = SpendingLimits(workspace=self.workspace, user=self.user, key=self.key, address=self.address)
        own = self.workspaces.get(workspace)
        if own is None:
            return everywhere
        merged = {
            name: getattr(everywhere, name).model_copy(update=getattr(own, name).model_dump(exclude_unset=True))
            for name in SpendingLimits.model_fields
        }
        return SpendingLimits(**merged)

    @property
    def zone(self) -> tzinfo:
        """The time zone in which days begin."""
        return zone_of(self.time_zone)


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name. UTC needs no tables of the system."""
    return UTC if name == "UTC" else ZoneInfo(name)


class LinkSettings(_Section):
    """Links to documents, where requests are authenticated: how long they last, and the groups that credentials named.

    With 0 days links are not signed, and open only with credentials.
    """

    days: Annotated[int, Field(ge=0, le=3650)] = 30
    groups_hours: Annotated[int, Field(ge=0, le=87_600)] = 168


class ShareSettings(_Section):
    """Sharing of sessions and answers by links that end: how long at most, and whether anybody may open them.

    With 0 days nothing can be shared, and what was shared no longer opens.
    """

    longest_days: Annotated[int, Field(ge=0, le=365)] = 30
    public: bool = False
    a_minute_by_address: Annotated[int, Field(ge=1, le=10_000)] = 60


GroupName = Annotated[str, Field(min_length=1, max_length=200)]


class OidcSettings(_Section):
    """How people log in to the page: by an issuer of OpenID Connect, off without ``issuer``.

    Claims are read from the ID token, or else from the issuer's user info. A person without a ``workspace_claim``
    belongs to ``default_workspace``; without one they are refused. ``required_claims`` are claims that a person needs,
    each with the values of which one suffices. A login ends ``idle_seconds`` after its last request, and in any case
    after ``longest_seconds``.
    """

    issuer: str | None = None
    client_id: str = ""
    client_secret: SecretStr = SecretStr("")
    scopes: str = "openid profile email"
    user_claim: Annotated[str, Field(min_length=1)] = "sub"
    workspace_claim: Annotated[str, Field(min_length=1)] = "workspace"
    default_workspace: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    groups_claim: Annotated[str, Field(min_length=1)] = "groups"
    required_claims: dict[str, list[str]] = {}
    idle_seconds: Annotated[float, Field(ge=60, le=31_536_000)] = 28_800.0
    longest_seconds: Annotated[float, Field(ge=60, le=31_536_000)] = 86_400.0

    @model_validator(mode="after")
    def _complete(self) -> "OidcSettings":
        if self.issuer and not self.client_id:
            raise ValueError("oidc.client_id is required with oidc.issuer, which hands it out")
        if "openid" not in self.scopes.split():
            raise ValueError("oidc.scopes: one of them has to be openid, or the issuer sends no ID token")
        return self


def _networks(value: object) -> object:
    """Return a list of addresses and networks as networks; pydantic's own error names neither one nor its fault."""
    if not isinstance(value, list):
        return value
    return [ip_network(each) if isinstance(each, str) else each for each in value]


class AuthProxySettings(_Section):
    """The proxies that say who a request is from, and the headers in which they do.

    ``trusted`` holds their addresses or networks, as the socket shows them. With a ``secret`` they send it in
    ``secret_header`` too. Without ``workspace_header`` everybody is in ``default_workspace``.
    """

    trusted: list[IPv4Network | IPv6Network] = []
    user_header: Annotated[str, Field(pattern=HEADER)] = "X-Forwarded-User"
    groups_header: Annotated[str, Field(pattern=HEADER)] = "X-Forwarded-Groups"
    workspace_header: Annotated[str, Field(pattern=HEADER)] | None = None
    default_workspace: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    secret_header: Annotated[str, Field(pattern=HEADER)] = "X-Proxy-Secret"
    secret: SecretStr = SecretStr("")

    @field_validator("trusted", mode="before")
    @classmethod
    def _networks(cls, value: object) -> object:
        return _networks(value)

    @field_validator("secret")
    @classmethod
    def _sendable(cls, value: SecretStr) -> SecretStr:
        return sendable_key(value)

    def refuse_unusable(self) -> None:
        """Raise ValueError if these settings would trust everybody, or place nobody in a workspace."""
        if not self.trusted:
            raise ValueError("auth_proxy.trusted is required in the mode proxy: the addresses of your proxies")
        if any(network.prefixlen == 0 for network in self.trusted):
            raise ValueError("auth_proxy.trusted: a network of all addresses trusts everybody; list your proxies")
        if not self.workspace_header and not self.default_workspace:
            raise ValueError("auth_proxy: it needs default_workspace, or a workspace_header that names workspaces")


class MilvusSettings(_Section):
    """A Milvus server, or a file of milvus-lite, that names candidates of searches; off without ``url``.

    ``url`` is an address, or a path that ends in .db, which one process alone may use. It is asked once
    `citewell reindex --to milvus` has filled it, for workspaces of at least ``least_segments``. A search waits for it
    for ``deadline_seconds``, and then goes on without it. Names of its collections begin with ``prefix``. milvus-lite
    takes neither ``float16`` nor ``diskann``.
    """

    url: str | None = None
    token: SecretStr = SecretStr("")
    prefix: Annotated[str, Field(max_length=100, pattern=r"^[A-Za-z_]\w*$")] = "citewell"
    vector_type: Literal["float32", "float16"] = "float32"
    vector_index: Literal["hnsw", "flat", "diskann", "autoindex"] = "hnsw"
    deadline_seconds: Annotated[float, Field(gt=0, le=30)] = 0.5
    least_segments: Annotated[int, Field(ge=0)] = 40_000

    @field_validator("url")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if not value:
            return None
        if not value.startswith(("http://", "https://")) and not (value.endswith(".db") and "://" not in value):
            raise ValueError("it is an http or https address, or the path of a file that ends in .db")
        if "@" in value.partition("://")[2]:
            raise ValueError("a name and a password belong into milvus.token, as name:password")
        return value

    @field_validator("token")
    @classmethod
    def _sendable(cls, value: SecretStr) -> SecretStr:
        return sendable_key(value)


class VersionSettings(_Section):
    """How many replaced texts of a document are kept, and for how many days; with ``keep`` 0, none."""

    keep: Annotated[int, Field(ge=0, le=1000)] = 10
    days: Annotated[int, Field(ge=1, le=3650)] = 30


class HttpSettings(_Section):
    """Bounds on requests to the server of ``citewell serve``: how large their head may be, and how slow they may come.

    The head of a request must arrive within ``head_seconds``. Its body may take ``body_seconds`` and, on top, the time
    that its bytes take at ``body_bytes_per_second``. ``trusted_proxies`` are the addresses or networks whose
    X-Forwarded-For says where a request comes from; without any, those of FORWARDED_ALLOW_IPS, else this machine's.
    """

    head_bytes: Annotated[int, Field(ge=1024, le=1_000_000)] = 131_072
    headers: Annotated[int, Field(ge=10, le=10_000)] = 100
    head_seconds: Annotated[float, Field(gt=0, le=3600)] = 20.0
    body_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    body_bytes_per_second: Annotated[int, Field(ge=1)] = 500
    trusted_proxies: list[IPv4Network | IPv6Network] = []

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _networks(cls, value: object) -> object:
        return _networks(value)

    @field_validator("trusted_proxies")
    @classmethod
    def _not_everybody(cls, value: list[IPv4Network | IPv6Network]) -> list[IPv4Network | IPv6Network]:
        if any(network.prefixlen == 0 for network in value):
            raise ValueError("a network of all addresses lets everybody say where they come from; list your proxies")
        return value


class AuthSettings(_Section):
    """How requests are authenticated: not at all, by an API key, a JSON Web Token of a trusted issuer, or a proxy.

    A token that has no ``workspace_claim`` at all belongs to ``default_workspace``; without one it is refused. One
    without ``scope_claim`` may do all but administer, and one without ``space_claim`` works in all spaces.
    """

    mode: Literal["none", "keys", "jwt", "proxy"] = "none"
    jwt_secret: SecretStr = SecretStr("")
    jwks_url: str | None = None
    issuer: str | None = None
    audience: str | None = None
    workspace_claim: Annotated[str, Field(min_length=1)] = "workspace"
    default_workspace: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    user_claim: Annotated[str, Field(min_length=1)] = "sub"
    groups_claim: Annotated[str, Field(min_length=1)] = "groups"
    scope_claim: Annotated[str, Field(min_length=1)] = "citewell_scopes"
    space_claim: Annotated[str, Field(min_length=1)] = "citewell_spaces"

    @model_validator(mode="after")
    def _one_way(self) -> "AuthSettings":
        if self.mode == "jwt" and bool(self.jwt_secret.get_secret_value()) == bool(self.jwks_url):
            raise ValueError("auth: mode jwt needs either auth.jwt_secret (HS256) or auth.jwks_url (RS256)")
        return self


class TracingSettings(_Section):
    """OpenTelemetry traces, exported as the ``OTEL_`` variables say; they need the extra ``otel``.

    Without ``text`` no span holds a question, an answer, a passage or a prompt; without ``workspace`` none names one.
    """

    enabled: bool = False
    text: bool = False
    workspace: bool = False


class MetricsSettings(_Section):
    """Where `/metrics` is served: by the ``app`` to valid credentials, on a ``port`` of its own to anybody, or ``off``.

    `citewell worker` has no app; it serves them only on a port.
    """

    serve: Literal["app", "port", "off"] = "app"
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 9464


class AuditSettings(_Section):
    """The audit log; unless ``enabled`` says otherwise, it is kept where requests are authenticated.

    It holds no text, except questions with ``questions``. Entries are kept for ``keep_days``.
    """

    enabled: bool | None = None
    questions: bool = False
    keep_days: Annotated[int, Field(ge=1, le=3650)] = 90

    @field_validator("enabled", mode="before")
    @classmethod
    def _unset(cls, value: object) -> object:
        return None if value == "" else value


SessionDays = Annotated[int, Field(ge=1, le=3650)] | Literal["never"]


class Settings(BaseSettings):
    """All settings of a deployment. Durations are in seconds, sizes in the unit that the name ends with."""

    model_config = SettingsConfigDict(
        env_prefix="CITEWELL_",
        env_nested_delimiter="__",
        env_file=".env",
        extra="ignore",
        defer_build=True,  # what a process reads is _Deployment, whose validator is the same
    )

    database_url: SecretStr | None = None
    data_dir: Path = Field(default_factory=default_data_dir)
    replica: ReplicaSettings = ReplicaSettings.unset()
    postgres_user: str | None = None  # the account that the embedded PostgreSQL runs as when started by root
    disk_reserve_megabytes: Annotated[int, Field(ge=0)] = 500  # that must stay free for the embedded PostgreSQL
    pool_size: Annotated[int, Field(ge=2, le=100)] = 10
    pool_timeout_seconds: Annotated[float, Field(gt=0, le=30)] = 2.0

    models: list[ModelSettings] = []
    default_model: str = EXTRACTIVE
    embedding: EmbeddingSettings = EmbeddingSettings.unset()
    vector_memory_megabytes: Annotated[int, Field(ge=0, le=1_000_000)] = 256  # of a process; 0: none are held
    index_build_megabytes: Annotated[int, Field(ge=64, le=1_000_000)] = 1024  # of the database, at most
    index_build_workers: Annotated[int, Field(ge=0, le=64)] = 2
    refuse_below: Annotated[float, Field(ge=0.0, le=1.0)] = 0.4
    assess_with_model: bool = False

    own_tables_above: Annotated[int, Field(ge=0, le=20_000)] = 2_000  # segments; smaller workspaces share tables
    part_segments: Annotated[int, Field(ge=50_000, le=1_000_000_000)] = 1_000_000  # of a large workspace's part
    segment_size: str = "300 tokens"
    max_document_bytes: Annotated[int, Field(ge=1024)] = 20_000_000
    originals: str = "postgresql"  # off, a folder, or s3://bucket/prefix
    ocr: Literal["auto", "off"] = "auto"  # auto: scanned pages are read where tesseract is installed
    ocr_languages: Annotated[str, Field(pattern=r"^[A-Za-z_]+(\+[A-Za-z_]+)*$")] = "eng"
    ocr_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0  # for all pages of a file
    page_tokens: Annotated[int | None, Field(ge=256)] = None
    source_roots: list[str] = []  # folders and s3:// addresses below which the API may read sources

    effort: Effort = "balanced"
    answer_from: AnswerFrom | None = None
    release: Release = "checked"
    judge: JudgeSettings = JudgeSettings.unset()
    reranker: RerankerSettings = RerankerSettings.unset()

    web: WebSettings = WebSettings.unset()
    mcp_search: list[McpServerSettings] = []
    sites: SiteSettings = SiteSettings.unset()

    runs: RunSettings = RunSettings.unset()
    jobs: JobSettings = JobSettings.unset()
    milvus: MilvusSettings = MilvusSettings.unset()
    ray: RaySettings = RaySettings.unset()
    session_days: SessionDays | None = None
    session_days_by_dialect: dict[str, SessionDays] = {}
    auto_title: bool = True
    suggestions: Literal["model", "rules", "off"] = "model"

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
    page_modules: bool = False  # serve the page as it is written, for whoever changes it
    log_format: Literal["text", "json"] = "text"
    tracing: TracingSettings = TracingSettings.unset()
    metrics: MetricsSettings = MetricsSettings.unset()

    _aliases: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def aliases(self) -> Mapping[str, str]:
        """The settings whose value came from another stack's name, with that name."""
        return self._aliases

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

    @field_validator("segment_size")
    @classmethod
    def _sized(cls, value: str) -> str:
        if re.fullmatch(r"[1-9]\d{1,3} (tokens|words)", value) is None:
            raise ValueError("write a number from 10 to 9999 and what it counts: 300 tokens, or 200 words")
        return value

    @field_validator("page_tokens", "answer_from", "session_days", mode="before")
    @classmethod
    def _unset(cls, value: object) -> object:
        return None if value == "" else value

    @model_validator(mode="after")
    def _names(self) -> "Settings":
        names = [model.name for model in self.models]
        if EXTRACTIVE in names:
            raise ValueError("models: the name 'extractive' is taken by the built-in family")
        if len(set(names)) < len(names):
            raise ValueError("models: two models share a name")
        servers = [server.name for server in self.mcp_search]
        if len(set(servers)) < len(servers):
            raise ValueError("mcp_search: two servers share a name")
        return self

    @model_validator(mode="after")
    def _identified(self) -> "Settings":
        if self.oidc.issuer and self.auth.mode not in ("keys", "jwt"):
            raise ValueError("oidc: people log in beside programs, so auth.mode has to be keys or jwt")
        if self.auth.mode == "proxy":
            self.auth_proxy.refuse_unusable()
        return self

    @property
    def run_knobs(self) -> dict[str, Any]:
        """Return the fields of a run's Context that the deployment sets where the request does not.

        A wire format has its own default of ``answer_from``, which counts where the deployment sets none.
        """
        knobs: dict[str, Any] = {
            "page_tokens": self.page_tokens,
            "assess_with_model": self.assess_with_model,
            "effort": self.effort,
            "release": self.release,
        }
        return knobs if self.answer_from is None else {**knobs, "answer_from": self.answer_from}


class _Deployment(Settings):
    """Settings as a process reads them: values that no ``CITEWELL_`` name sets come from the names of other stacks."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = dotenv_settings.env_vars if isinstance(dotenv_settings, EnvSettingsSource) else {}
        environment = env_settings.env_vars if isinstance(env_settings, EnvSettingsSource) else {}
        names = {name: value for name, value in {**file, **environment}.items() if value}
        return init_settings, env_settings, dotenv_settings, file_secret_settings, _AliasSource(settings_cls, names)


class _AliasSource(PydanticBaseSettingsSource):
    """The names of other stacks, as the source that every other one overrules, a field at a time."""

    def __init__(self, settings_cls: type[BaseSettings], names: Mapping[str, str | None]) -> None:
        super().__init__(settings_cls)
        self._names = names

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        found: dict[str, tuple[str, Any]] = {}
        if key := self._name("SERPER_API_KEY"):
            found["web.api_key"] = ("SERPER_API_KEY", key)
        if base_url := self._name("OPENAI_COMPATIBLE_BASE_URL"):
            found |= {**self._chat(base_url), **self._embedding(base_url)}
        unnamed = {path: each for path, each in found.items() if not self._is_named(path)}
        _USED.get().update({path: name for path, (name, _) in unnamed.items()})
        values: dict[str, Any] = {}
        for path, (_, value) in unnamed.items():
            outer, _, inner = path.partition(".")
            if inner:
                values.setdefault(outer, {})[inner] = value
            else:
                values[outer] = value
        return values

    def _chat(self, base_url: str) -> dict[str, tuple[str, Any]]:
        chat = self._name(CHAT_MODEL)
        if not chat or "models" in self.current_state:
            return {}
        model = {"name": chat, "base_url": base_url, "api_key": self._name("OPENAI_COMPATIBLE_API_KEY"), "model": chat}
        return {"models": (CHAT_MODEL, [model]), "default_model": (CHAT_MODEL, chat)}

    def _embedding(self, base_url: str) -> dict[str, tuple[str, Any]]:
        named = self.current_state.get("embedding", {})
        model = named.get("model") or self._name(EMBEDDING_MODEL)
        if not model or model == STATIC:
            return {}
        found: dict[str, tuple[str, Any]] = {
            "embedding.model": (EMBEDDING_MODEL, model),
            "embedding.base_url": ("OPENAI_COMPATIBLE_BASE_URL", base_url),
        }
        # The key is for that endpoint alone.
        if not named.get("base_url") and (key := self._name("OPENAI_COMPATIBLE_API_KEY")):
            found["embedding.api_key"] = ("OPENAI_COMPATIBLE_API_KEY", key)
        return found

    def _name(self, name: str) -> str:
        return self._names.get(name.lower()) or ""

    def _is_named(self, path: str) -> bool:
        outer, _, inner = path.partition(".")
        named = self.current_state.get(outer)
        return inner in named if inner and isinstance(named, dict) else outer in self.current_state


_USED: ContextVar[dict[str, str]] = ContextVar("_USED")


def load_settings(**overrides: object) -> Settings:
    """Read the settings; values that no ``CITEWELL_`` name sets come from the alias names.

    Raises ConfigurationError naming each invalid field.
    """
    used: dict[str, str] = {}
    token = _USED.set(used)
    try:
        settings = _Deployment(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        faults = [(error_["loc"], error_["msg"].removeprefix("Value error, ")) for error_ in error.errors()]
        raise _not_valid(faults, used) from error
    except SettingsError as error:
        raise _not_valid([((_unparsed(error),), "it is not valid JSON")], used) from error
    finally:
        _USED.reset(token)
    settings._aliases = used
    return settings


def _not_valid(
    faults: Sequence[tuple[tuple[int | str, ...], str]], used_aliases: Mapping[str, str]
) -> ConfigurationError:
    """Return the error that says what is wrong, with the environment's names of the settings that it is wrong with."""
    said = []
    for place, fault in faults:
        path = ".".join(map(str, place))
        said.append(fault if not path or fault.startswith(f"{path}:") else f"{path}: {fault}")
    names = list(dict.fromkeys(_environment_name(place, used_aliases) for place, _ in faults if place))
    return ConfigurationError(
        f"Settings are not valid: {'; '.join(said)}",
        suggestion=f"Correct {', '.join(names) or 'them'} in the environment, or in the file .env.",
    )


def _environment_name(place: tuple[int | str, ...], used_aliases: Mapping[str, str]) -> str:
    """Return the environment variable that sets what is at a place of the settings."""
    outer, *inner = place
    field = Settings.model_fields.get(str(outer))
    is_group = field is not None and isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
    if outer == "models" and "models" in used_aliases:
        return "OPENAI_COMPATIBLE_..."  # three names make a model
    if not is_group:
        return used_aliases.get(str(outer)) or f"CITEWELL_{outer}".upper()
    name = inner[0] if inner else "..."
    return used_aliases.get(f"{outer}.{name}") or f"CITEWELL_{outer}__{name}".upper()


def _unparsed(error: SettingsError) -> str:
    """Return the setting whose value could not be parsed, which pydantic-settings tells in words alone."""
    named = re.search(r'field "(\w+)"', str(error))
    return named[1] if named else "settings"
