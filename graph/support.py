"""How far the claims of an answer hold, and when a section written again is better than what it replaces."""

from collections.abc import Iterable, Sequence

from graph.evidence import Verdict
from graph.state import ClaimRow

# An unverified claim has its words in the source and no conflict with it: half proven.
WEIGHTS: dict[Verdict, float] = {"supported": 1.0, "unverified": 0.5, "contradicted": 0.0, "unsupported": 0.0}
FAILED: frozenset[Verdict] = frozenset({"contradicted", "unsupported"})


def support(claims: Sequence[ClaimRow]) -> float:
    """Give the mean weight of the verdicts, in [0, 1]; 0 where there is no claim."""
    return sum(WEIGHTS[row["verdict"]] for row in claims) / len(claims) if claims else 0.0


def count(claims: Iterable[ClaimRow]) -> dict[Verdict, int]:
    """Count the claims of each verdict, all four of them named."""
    counted: dict[Verdict, int] = dict.fromkeys(WEIGHTS, 0)
    for row in claims:
        counted[row["verdict"]] += 1
    return counted


def has_failed(row: ClaimRow) -> bool:
    """Tell whether a claim is to be repaired; an unverified one stands, with its verdict."""
    return row["verdict"] in FAILED


def failed_sections(claims: Iterable[ClaimRow]) -> list[int]:
    """List the sections that hold a failed claim, in order."""
    return sorted({row["section_index"] for row in claims if has_failed(row)})


def without(claims: Sequence[ClaimRow], section_index: int) -> list[ClaimRow]:
    """Leave out the claims of one section."""
    return [row for row in claims if row["section_index"] != section_index]


def raises_support(claims: Sequence[ClaimRow], section_index: int, revised: Sequence[ClaimRow]) -> bool:
    """Tell whether a section written again is to take the place of the old one.

    It is where fewer of its claims fail, no fewer are supported, and neither its own support nor the whole answer's
    falls; the own support has to rise.
    """
    old = [row for row in claims if row["section_index"] == section_index]
    before, after = count(old), count(revised)
    rest = without(claims, section_index)
    return (
        sum(map(has_failed, revised)) < sum(map(has_failed, old))
        and after["supported"] >= before["supported"]
        and support(revised) > support(old)
        and support([*rest, *revised]) >= support(claims)
    )
