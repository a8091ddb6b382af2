"""Bulk work where Ray is not installed, and what the settings of a cluster refuse."""

import sys

import pytest
from pydantic import ValidationError

from graph.errors import ConfigurationError
from tools.bulk.cluster import opened_cluster
from tools.settings import RaySettings


async def test_without_ray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigurationError) as caught:
        async with opened_cluster(RaySettings()):
            pass
    assert "citewell[ray]" in caught.value.advice


def test_rays_own_client_is_refused() -> None:
    with pytest.raises(ValidationError, match="host:6379"):
        RaySettings(address="ray://head:10001")
