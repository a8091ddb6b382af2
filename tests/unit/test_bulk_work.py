"""Bulk work where Ray is not installed, and which address of a cluster is refused."""

import sys

import pytest

from graph.errors import ConfigurationError
from tools.bulk.cluster import cluster_address, opened_cluster


async def test_without_ray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigurationError) as caught:
        async with opened_cluster():
            pass
    assert "citewell[ray]" in caught.value.advice


def test_rays_own_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    assert cluster_address() == "head:6379"
    monkeypatch.setenv("RAY_ADDRESS", "local")
    assert cluster_address() == ""
    monkeypatch.setenv("RAY_ADDRESS", "ray://head:10001")
    with pytest.raises(ConfigurationError) as caught:
        cluster_address()
    assert "host:6379" in caught.value.advice
