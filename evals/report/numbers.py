"""Numbers as people read them, by their unit."""

from evals.metrics import Unit


def shown(value: float, unit: Unit) -> str:
    """Write a figure: shares with three decimals, counts with two at most, times in milliseconds or seconds."""
    if unit == "share":
        return f"{value:.3f}"
    if unit == "count":
        return f"{value:.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value / 1000:.2f} s" if value >= 1000 else f"{value:.0f} ms"


def signed(value: float, unit: Unit) -> str:
    """Write a difference with its sign; one that rounds to nothing has none."""
    text = shown(abs(value), unit)
    if not any(digit in text for digit in "123456789"):
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun, in the plural where it is not one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
