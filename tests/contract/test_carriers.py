"""Notifications by LISTEN and NOTIFY; tests/engines has those by NATS."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from pydantic import SecretStr, ValidationError

from graph.errors import ConfigurationError
from tests.contract.carrier_kit import CarrierContract, Outage
from tools.process.engines import carriers_of
from tools.runs.notifications import PostgresCarrier
from tools.settings import RunSettings

ENDED = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND (query LIKE 'LISTEN %' OR query LIKE '%pg_notify(%')
"""


class TestPostgres(CarrierContract):
    @pytest.fixture
    def carrier(self, database_url: str) -> PostgresCarrier:
        return PostgresCarrier(database_url)

    @pytest.fixture
    def outage(self, database_url: str) -> Outage:
        @asynccontextmanager
        async def connections_ended() -> AsyncIterator[None]:
            yield
            async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
                while True:
                    row = await (await connection.execute(ENDED)).fetchone()
                    if row is not None and row[0]:
                        return
                    await asyncio.sleep(0.01)

        return connections_ended


@pytest.mark.parametrize("address", ["127.0.0.1:4222", "http://127.0.0.1:4222"])
def test_an_address_of_another_kind_is_refused_without_being_repeated(address: str) -> None:
    with pytest.raises(ValidationError, match="nats://") as refused:
        RunSettings(nats_url=SecretStr(address))
    assert address not in str(refused.value)
    assert RunSettings(nats_url=SecretStr("")).nats_url is None


def test_a_server_of_nats_needs_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nats", None)
    with pytest.raises(ConfigurationError) as refused:
        carriers_of(RunSettings(nats_url=SecretStr("nats://127.0.0.1:4222")))
    assert "citewell[nats]" in refused.value.advice
