"""The verdict on a text of several claims: that on its worst one."""

from collections.abc import Collection

from graph.evidence import Verdict

WORST_FIRST: tuple[Verdict, ...] = ("contradicted", "unsupported", "unverified", "supported")


def worst_verdict(verdicts: Collection[Verdict], *, of_none: Verdict) -> Verdict:
    """Give the worst of some verdicts, or what a text without a claim counts as."""
    return next((verdict for verdict in WORST_FIRST if verdict in verdicts), of_none)
