"""Scores of an answer by the verdicts on its claims, and the share of a question that texts cover.

They also decide whether a revised section replaces the old one.
"""

from collections.abc import Iterable, Sequence

from graph.evidence import Verdict
from graph.state import ClaimRow
from text.normal_forms import flatten
from text.words import question_terms, terms_of

# The source contains an unverified claim's words and does not conflict with it: half proven.
WEIGHTS: dict[Verdict, float] = {"supported": 1.0, "unverified": 0.5, "contradicted": 0.0, "unsupported": 0.0}
FAILED: frozenset[Verdict] = frozenset({"contradicted", "unsupported"})


def support_score(claims: Sequence[ClaimRow]) -> float:
    """Return the mean weight of the verdicts, in [0, 1]; 0 without claims."""
    return sum(WEIGHTS[row["verdict"]] for row in claims) / len(claims) if claims else 0.0


def count_verdicts(claims: Iterable[ClaimRow]) -> dict[Verdict, int]:
    """Count the claims of each verdict, with an entry for all four verdicts."""
    counted: dict[Verdict, int] = dict.fromkeys(WEIGHTS, 0)
    for row in claims:
        counted[row["verdict"]] += 1
    return counted


def has_failed(row: ClaimRow) -> bool:
    """Whether a claim needs repair; an unverified one does not, and keeps its verdict."""
    return row["verdict"] in FAILED


def failed_sections(claims: Iterable[ClaimRow]) -> list[int]:
    """Return the indices of the sections with a failed claim, in order."""
    return sorted({row["section_index"] for row in claims if has_failed(row)})


def without_section(claims: Sequence[ClaimRow], section_index: int) -> list[ClaimRow]:
    """Return the claims of all sections but one."""
    return [row for row in claims if row["section_index"] != section_index]


def raises_support(claims: Sequence[ClaimRow], section_index: int, revised: Sequence[ClaimRow]) -> bool:
    """Whether a revised section should replace the old one.

    It should if fewer of its claims fail, no fewer are supported, its own support rises and the whole answer's support
    does not fall.
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
    """Return the share of a question's content words that the texts together contain, in [0, 1].

    Words are compared by stems, scripts without spaces by pairs of characters; 1 where the question has no content
    word.
    """
    wanted = set(question_terms(question).terms)
    found = {term for text in texts for term in terms_of(flatten(text))}
    return len(wanted & found) / len(wanted) if wanted else 1.0
