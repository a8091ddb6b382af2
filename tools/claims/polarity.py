"""Tell which runs turn a statement over."""

from tools.claims.negation import accompanies
from tools.claims.runs import Run


def turns(run: Run) -> bool:
    """Tell whether a run holds a negation."""
    return any(run.reading.negates[place] for place in run.places)


def count_negations(run: Run) -> int:
    """Count the negations of a run."""
    return sum(run.reading.negates[place] for place in run.places)


def little_else(run: Run) -> bool:
    """Tell whether a run says little but "not": at most one word more, as in "did not win"."""
    return (
        sum(not run.reading.negates[place] and not accompanies(run.reading.tokens[place]) for place in run.places) <= 1
    )


def is_frame(run: Run) -> bool:
    """Tell a clause cut off before a claim ("It is not true that"), whose effect on the rest only a reader can tell."""
    return run.places[0] == 0 and len(run.places) > 3
