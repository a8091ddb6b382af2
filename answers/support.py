"""Support of an answer by the verdicts on its claims, and the share of the question that its texts cover.

Also decides whether a rewritten section is better than the one it would replace.
"""

from collections.abc import Iterable, Sequence

from graph.evidence import Verdict
from graph.state import ClaimRow
from text.normal_forms import flatten
from text.words import question_terms, terms_of

# An unverified claim has its words in the source and no conflict with it: half proven.
WEIGHTS: dict[Verdict, float] = {"supported": 1.0, "unverified": 0.5, "contradicted": 0.0, "unsupported": 0.0}
FAILED: frozenset[Verdict] = frozenset({"contradicted", "unsupported"})


def support_score(claims: Sequence[ClaimRow]) -> float:
    """Return the mean weight of the verdicts, in [0, 1]; 0 where there is no claim."""
    return sum(WEIGHTS[row["verdict"]] for row in claims) / len(claims) if claims else 0.0


def count_verdicts(claims: Iterable[ClaimRow]) -> dict[Verdict, int]:
    """Count the claims of each verdict, all four of them named."""
    counted: dict[Verdict, int] = dict.fromkeys(WEIGHTS, 0)
    for row in claims:
        counted[row["verdict"]] += 1
    return counted


def has_failed(row: ClaimRow) -> bool:
    """Return whether a claim is to be repaired; an unverified one stands, with its verdict."""
    return row["verdict"] in FAILED


def failed_sections(claims: Iterable[ClaimRow]) -> list[int]:
    """List the sections that hold a failed claim, in order."""
    return sorted({row["section_index"] for row in claims if has_failed(row)})


def without_section(claims: Sequence[ClaimRow], section_index: int) -> list[ClaimRow]:
    """Leave out the claims of one section."""
    return [row for row in claims if row["section_index"] != section_index]


def raises_support(claims: Sequence[ClaimRow], section_index: int, revised: Sequence[ClaimRow]) -> bool:
    """Return whether a section written again is to take the place of the old one.

    It is where fewer of its claims fail, no fewer are supported, and neither its own support nor the whole answer's
    falls; the own support has to rise.
    """
    old = [row for row in claims if row["section_index"] == section_index]
    before, after = count_verdicts(old), count_verdicts(revised)
    rest = without_section(claims, section_index)
    return (
        sum(map(has_failed, revised)) < sum(map(has_failed, old))
        and after["supported"] >= before["supported"]
        and support_score(revised) > support_score(old)
        and support_score([*rest, *revised]) >= support_score(claims)
    )


def question_coverage(question: str, texts: Sequence[str]) -> float:
    """Return the share of a question's telling words that stand in the texts together, in [0, 1].

    Words are compared by their stems, scripts without spaces by pairs of characters; 1 where the question has no
    telling word.
    """
    wanted = set(question_terms(question).terms)
    found = {term for text in texts for term in terms_of(flatten(text))}
    return len(wanted & found) / len(wanted) if wanted else 1.0
