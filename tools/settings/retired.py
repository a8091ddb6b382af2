"""Names that were settings once, also as fields of a group that is set as a JSON object.

Those in ``RETIRED`` are constants, beside each of which a comment says why: they are told where they are set, and
change nothing. What those in ``MOVED`` said is said by another name now. They are refused, since a deployment that went
on without what they say could let people in, or keep what it must not.
"""

from collections.abc import Collection, Mapping
from typing import Any

from graph.errors import ConfigurationError

RETIRED: Mapping[str, str] = {
    "disk_reserve_megabytes": "500", "vector_memory_megabytes": "256", "index_build_workers": "2",
    "own_tables_above": "2,000", "part_segments": "1,000,000", "ocr_seconds": "CITEWELL_JOBS__FILE_SECONDS",
    "page_tokens": "what the model's context_tokens has room for",
    "index_build_megabytes": "1,024, or the server's maintenance_work_mem where that is more",
    "assess_with_model": "off, unless a graph's context asks for it",
    "page_modules": "off, unless create_app is told", "replica.wait_seconds": "0.05", "replica.most_lag_seconds": "1",
    "embedding.timeout_seconds": "10", "reranker.timeout_seconds": "5", "judge.timeout_seconds": "30",
    "judge.context_tokens": "that of the model of the same name and endpoint, else what its name says",
    "judge.instruction": "for the chat template of the judge's server",
    "judge.labels": "what the labels of the model say by their names", "web.timeout_seconds": "10",
    "web.results": "5", "web.keep_days": "30", "web.max_page_bytes": "2,000,000", "mcp_search.timeout_seconds": "10",
    "mcp_search.top_k": "5", "mcp_search.max_bytes": "2,000,000", "sites.seconds_between": "1",
    "sites.timeout_seconds": "30", "sites.max_pages": "1,000, unless the command says",
    "sites.max_depth": "10, unless the command says", "runs.max_waiting": "four times CITEWELL_RUNS__MAX_ACTIVE",
    "runs.durability": "sync", "runs.lease_seconds": "30", "jobs.file_megabytes": "1,024", "jobs.max_pages": "10,000",
    "jobs.max_characters": "20,000,000", "jobs.wait_seconds": "10, unless the request says",
    "jobs.max_waiting": "10,000", "jobs.max_waiting_bytes": "2,000,000,000", "jobs.lease_seconds": "30",
    "jobs.keep_days": "7", "milvus.vector_type": "float32", "milvus.vector_index": "hnsw",
    "milvus.deadline_seconds": "0.5", "milvus.least_segments": "40,000", "ray.object_store_megabytes": "256",
    "spending.keep_days": "730", "tracing.workspace": "off", "auth.scope_claim": "citewell_scopes",
    "auth.space_claim": "citewell_spaces", "auth_proxy.secret_header": "X-Proxy-Secret", "http.head_bytes": "131,072",
    "http.headers": "100", "http.head_seconds": "20", "http.body_seconds": "30", "http.body_bytes_per_second": "500",
    "versions.days": "30", "links.groups_hours": "168", "shares.a_minute_by_address": "60",
}  # fmt: skip
_NOW = {
    "CITEWELL_AUTH__USER_CLAIM": ["oidc.user_claim"],
    "CITEWELL_AUTH__WORKSPACE_CLAIM": ["oidc.workspace_claim"],
    "CITEWELL_AUTH__GROUPS_CLAIM": ["oidc.groups_claim"],
    "CITEWELL_AUTH__DEFAULT_WORKSPACE": ["oidc.default_workspace", "auth_proxy.default_workspace"],
    "CITEWELL_HTTP__TRUSTED_PROXIES": ["auth_proxy.trusted"],
    "CITEWELL_AUDIT__KEEP_DAYS": ["audit.enabled"],
    "CITEWELL_OCR_LANGUAGES": ["ocr"],
    "CITEWELL_SESSION_DAYS": ["session_days_by_dialect"],
    "CITEWELL_METRICS__LISTEN": ["metrics.serve", "metrics.host", "metrics.port"],
    "CITEWELL_TRACING": ["tracing.enabled", "tracing.text"],
    "CITEWELL_MILVUS__URL": ["milvus.token", "milvus.prefix"],
    "RAY_ADDRESS": ["ray.address"],
    "the option --tasks": ["ray.tasks"],
    "the option --shared-paths": ["ray.shared_paths"],
}
MOVED = {old: now for now, names in _NOW.items() for old in names}


def retired_in(names: Collection[str], values: Mapping[str, Any]) -> dict[str, str]:
    """Return what is so now of each retired setting among lower-case variables, or in the values read from them."""
    return {path: now for path, now in RETIRED.items() if _is_set(path, names, values)}


def refuse_moved(names: Collection[str], values: Mapping[str, Any]) -> None:
    """Raise ConfigurationError where what is set by an old name has another now."""
    if moved := {_variable(path): now for path, now in MOVED.items() if _is_set(path, names, values)}:
        raise ConfigurationError(
            f"No longer settings: {', '.join(moved)}.",
            suggestion="; ".join(f"Instead of {old} set {now}" for old, now in moved.items()) + ".",
        )


def drop_retired(values: Mapping[str, Any]) -> None:
    """Take the retired fields out of groups, and of lists of them, which would refuse a name that they don't have."""
    for path in RETIRED:
        for part, field in _parts(path, values):
            part.pop(field, None)


def _is_set(path: str, names: Collection[str], values: Mapping[str, Any]) -> bool:
    own = _variable(path).lower()
    named = any(name == own or name.startswith(f"{own}__") for name in names)
    return named or any(field in part for part, field in _parts(path, values))


def _variable(path: str) -> str:
    return f"CITEWELL_{path.replace('.', '__')}".upper()


def _parts(path: str, values: Mapping[str, Any]) -> list[tuple[dict[str, Any], str]]:
    group, _, field = path.partition(".")
    held = values.get(group)
    return [(part, field) for part in (held if isinstance(held, list) else [held]) if field and isinstance(part, dict)]
