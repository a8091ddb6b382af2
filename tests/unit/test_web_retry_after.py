"""Retry-After is read as seconds or as a date, and anything else is as good as none."""

import time
from email.utils import formatdate

import pytest

from tools.web.retry_after import retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), (" 0.5 ", 0.5), ("-3", 0.0), ("9" * 20, 1e20), ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0)],
)
def test_seconds_are_never_negative(value: str, seconds: float) -> None:
    assert retry_after({"retry-after": value}) == pytest.approx(seconds)


@pytest.mark.parametrize("zone", ["GMT", "-0000"])
def test_a_date_counts_from_now_and_without_a_zone_is_universal(zone: str) -> None:
    date = formatdate(time.time() + 90).replace("-0000", zone)
    assert retry_after({"retry-after": date}) == pytest.approx(90, abs=5)


@pytest.mark.parametrize("value", ["", "soon", "nan", "inf", "9" * 400, "Tue, 99 Foo 2026 00:00:00 GMT"])
def test_what_cannot_be_read_is_none(value: str) -> None:
    assert retry_after({"retry-after": value}) is None


def test_an_endpoint_that_names_no_time_is_none() -> None:
    assert retry_after({}) is None
