"""What runs cost: exact to the last digit, unknown where no price is set, and never made up."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graph.evidence import ModelUse
from tools.settings import SpendingSettings
from tools.settings.spending import plain

PRICES = [
    {"model": "small", "input": "0.15", "cached_input": "0.075", "output": "0.6"},
    {"model": "large-*", "input": "2.5", "output": "10"},
]
TOKENS = st.integers(0, 10**9)
PRICE = st.integers(0, 10**9).map(lambda micro: f"{micro // 10**6}.{micro % 10**6:06}")


def use(prompt: int, written: int, *, cached: int = 0, estimated: int = 0) -> ModelUse:
    return ModelUse(
        calls=1, input_tokens=prompt, cached_tokens=cached, output_tokens=written, estimated_calls=estimated
    )


def prices(*table: dict[str, str]) -> SpendingSettings:
    return SpendingSettings.model_validate({"currency": "USD", "prices": list(table)})


def test_tokens_of_the_prompt_cache_have_their_own_price() -> None:
    assert prices(*PRICES).total_cost({"small": use(1_000_000, 500_000, cached=400_000)}) == {
        "amount": "0.42",  # 0.6 * 0.15 + 0.4 * 0.075 + 0.5 * 0.6
        "currency": "USD",
        "unpriced": [],
        "estimated": False,
    }


def test_without_a_price_for_cached_tokens_they_cost_what_others_do() -> None:
    known = prices(*PRICES)
    assert known.cost("large-2", use(1000, 0, cached=900)) == known.cost("large-2", use(1000, 0))


def test_a_pattern_stands_for_many_models_and_the_first_that_matches_counts() -> None:
    known = prices({"model": "large-2", "input": "1", "output": "1"}, *PRICES)
    assert plain(known.cost("LARGE-2", use(10**6, 0)) or 0) == "1"
    assert plain(known.cost("large-3", use(10**6, 0)) or 0) == "2.5"


def test_a_model_without_a_price_is_named_and_not_counted_as_free() -> None:
    both = prices(*PRICES).total_cost({"small": use(0, 10), "other": use(5, 5, estimated=1)})
    assert both == {"amount": "0.000006", "currency": "USD", "unpriced": ["other"], "estimated": True}
    assert prices(*PRICES).total_cost({"other": use(5, 5)}) is None
    assert prices(*PRICES).total_cost({}) is None
    assert SpendingSettings().total_cost({"small": use(5, 5)}) is None


@given(PRICE, PRICE, PRICE, TOKENS, TOKENS, TOKENS)
def test_costs_are_exact(
    input_price: str, cached: str, output: str, prompt: int, from_cache: int, written: int
) -> None:
    from_cache = min(from_cache, prompt)
    known = prices({"model": "*", "input": input_price, "cached_input": cached, "output": output})
    found = known.total_cost({"any": use(prompt, written, cached=from_cache)})
    assert found is not None
    rest = (prompt - from_cache) * Fraction(input_price) + from_cache * Fraction(cached)
    assert Fraction(found["amount"]) == (rest + written * Fraction(output)) / 10**6


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"prices": PRICES}, "spending.currency"),
        ({"user": {"cost": "5"}}, "spending.prices"),
        ({"workspaces": {"acme": {"user": {"cost": "5"}}}}, "spending.prices"),
        ({"currency": "dollars"}, "currency"),
        ({"currency": "USD", "prices": [{"model": "x", "input": "0.0000001", "output": "1"}]}, "input"),
        ({"currency": "USD", "prices": [{"model": "x", "input": "-1", "output": "1"}]}, "input"),
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
        ({"user": {"tokens": -1}}, "user.tokens"),
        ({"workspaces": {"acme": {"users": {}}}}, "users"),
    ],
    ids=str,
)
def test_settings_that_can_not_work_are_refused(settings: dict[str, object], named: str) -> None:
    with pytest.raises(ValidationError) as raised:
        SpendingSettings.model_validate(settings)
    assert named in str(raised.value)


def test_what_is_set_for_a_workspace_replaces_the_limit_of_all() -> None:
    settings = SpendingSettings.model_validate(
        {
            "user": {"runs": 10, "tokens": 500},
            "workspaces": {"acme": {"user": {"runs": None}, "workspace": {"tokens": 9}}},
        }
    )
    acme, others = settings.limits_of("acme"), settings.limits_of("others")
    assert (acme.user.runs, acme.user.tokens, acme.workspace.tokens) == (None, 500, 9)
    assert (others.user.runs, others.user.tokens, others.workspace.tokens) == (10, 500, None)
