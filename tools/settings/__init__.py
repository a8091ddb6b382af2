"""Settings of a deployment: one section a file, named for the package that it configures, and collected here."""

from tools.settings.auth import (
    AuditSettings,
    AuthProxySettings,
    AuthSettings,
    LinkSettings,
    OidcSettings,
    ShareSettings,
)
from tools.settings.deployment import Settings
from tools.settings.embeddings import STATIC, EmbeddingSettings
from tools.settings.http import HttpSettings
from tools.settings.judges import JUDGE_KINDS, JudgeSettings
from tools.settings.library import JobSettings, VersionSettings
from tools.settings.llm import EXTRACTIVE, ModelSettings
from tools.settings.loading import ALIASES, UNUSED, load_settings
from tools.settings.mcp_search import McpServerSettings
from tools.settings.milvus import MilvusSettings
from tools.settings.rerankers import RerankerSettings
from tools.settings.retired import MOVED, RETIRED
from tools.settings.runs import RunSettings
from tools.settings.spending import DailyLimits, ModelPrice, SpendingSettings
from tools.settings.storage import ReplicaSettings
from tools.settings.telemetry import MetricsSettings
from tools.settings.web import WebSettings

__all__ = [
    "ALIASES",
    "EXTRACTIVE",
    "JUDGE_KINDS",
    "MOVED",
    "RETIRED",
    "STATIC",
    "UNUSED",
    "AuditSettings",
    "AuthProxySettings",
    "AuthSettings",
    "DailyLimits",
    "EmbeddingSettings",
    "HttpSettings",
    "JobSettings",
    "JudgeSettings",
    "LinkSettings",
    "McpServerSettings",
    "MetricsSettings",
    "MilvusSettings",
    "ModelPrice",
    "ModelSettings",
    "OidcSettings",
    "ReplicaSettings",
    "RerankerSettings",
    "RunSettings",
    "Settings",
    "ShareSettings",
    "SpendingSettings",
    "VersionSettings",
    "WebSettings",
    "load_settings",
]
