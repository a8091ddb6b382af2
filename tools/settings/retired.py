"""Names that were settings once: what each is now, since nobody had a reason to set it.

They are told where they are set and change nothing, also as a field of a group that is set as a JSON object. The
comment beside each constant says why it has that value.
"""

from collections.abc import Collection, Mapping
from typing import Any

RETIRED: Mapping[str, str] = {
    "replica.wait_seconds": "0.05",
    "replica.most_lag_seconds": "1",
    "disk_reserve_megabytes": "500",
    "vector_memory_megabytes": "256",
    "index_build_workers": "2",
    "own_tables_above": "2,000",
    "part_segments": "1,000,000",
    "ocr_seconds": "CITEWELL_JOBS__FILE_SECONDS",
    "page_tokens": "what the model's context_tokens has room for",
    "judge.timeout_seconds": "30",
    "web.timeout_seconds": "10",
    "web.results": "5",
    "web.max_page_bytes": "2,000,000",
    "mcp_search.timeout_seconds": "10",
    "mcp_search.top_k": "5",
    "mcp_search.max_bytes": "2,000,000",
    "sites.timeout_seconds": "30",
    "sites.max_pages": "1,000, unless the command says",
    "sites.max_depth": "10, unless the command says",
    "runs.lease_seconds": "30",
    "jobs.max_pages": "10,000",
    "jobs.max_characters": "20,000,000",
    "jobs.wait_seconds": "10, unless the request says",
    "jobs.max_waiting": "10,000",
    "jobs.max_waiting_bytes": "2,000,000,000",
    "jobs.lease_seconds": "30",
    "jobs.keep_days": "7",
    "milvus.vector_type": "float32",
    "milvus.vector_index": "hnsw",
    "milvus.deadline_seconds": "0.5",
    "milvus.least_segments": "40,000",
    "ray.object_store_megabytes": "256",
    "spending.keep_days": "730",
    "auth.scope_claim": "citewell_scopes",
    "auth.space_claim": "citewell_spaces",
    "auth_proxy.secret_header": "X-Proxy-Secret",
    "http.head_bytes": "131,072",
    "http.headers": "100",
    "http.head_seconds": "20",
    "http.body_seconds": "30",
    "http.body_bytes_per_second": "500",
    "versions.days": "30",
    "links.groups_hours": "168",
    "shares.a_minute_by_address": "60",
}


def retired_in(names: Collection[str], values: Mapping[str, Any]) -> dict[str, str]:
    """Return what is so now of each retired setting among lower-case variables, or in the values read from them."""
    return {
        path: now
        for path, now in RETIRED.items()
        if f"citewell_{path.replace('.', '__')}" in names or any(field in part for part, field in _parts(path, values))
    }


def drop_retired(values: Mapping[str, Any]) -> None:
    """Take the retired fields out of groups, and of lists of them, which would refuse a name that they don't have."""
    for path in RETIRED:
        for part, field in _parts(path, values):
            part.pop(field, None)


def _parts(path: str, values: Mapping[str, Any]) -> list[tuple[dict[str, Any], str]]:
    group, _, field = path.partition(".")
    held = values.get(group)
    return [(part, field) for part in (held if isinstance(held, list) else [held]) if field and isinstance(part, dict)]
