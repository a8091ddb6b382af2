"""Names that were settings in a release, also as fields of a group that is set as a JSON object.

They are constants now, beside each of which a comment says why: they are told where they are set, and change nothing.
"""

from collections.abc import Collection, Mapping
from typing import Any

RETIRED: Mapping[str, str] = {
    "page_tokens": "what the model's context_tokens has room for",
    "assess_with_model": "off, unless a graph's context asks for it",
    "check_with_model": "on wherever there is a judge",
    "embedding.timeout_seconds": "10",
    "web.timeout_seconds": "10",
    "web.results": "5",
    "web.keep_days": "30",
    "web.max_page_bytes": "2,000,000",
    "runs.max_waiting": "four times CITEWELL_RUNS__MAX_ACTIVE",
    "runs.durability": "sync",
    "runs.lease_seconds": "30",
}


def retired_in(names: Collection[str], values: Mapping[str, Any]) -> dict[str, str]:
    """Return what is so now of each retired setting among lower-case variables, or in the values read from them."""
    return {
        path: now
        for path, now in RETIRED.items()
        if f"citewell_{path.replace('.', '__')}" in names or any(field in part for part, field in _parts(path, values))
    }


def drop_retired(values: Mapping[str, Any]) -> None:
    """Take the retired fields out of groups, which would refuse a name that they don't have."""
    for path in RETIRED:
        for part, field in _parts(path, values):
            part.pop(field, None)


def _parts(path: str, values: Mapping[str, Any]) -> list[tuple[dict[str, Any], str]]:
    group, _, field = path.partition(".")
    part = values.get(group)
    return [(part, field)] if field and isinstance(part, dict) else []
