"""Faults that the gate must notice, each put into the ports that the real graph runs over.

A gate that has never failed proves nothing: ``citewell eval gate --fault NAME`` shows that it fails, and by what.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from evals.gate.faulty_checkers import AlteringChecker, FuzzyMatcher, all_supported, dropped, slipped, swapped
from evals.gate.faulty_readers import OneSidedGrader, StaleReader
from evals.gate.faulty_writer import MisquotingWriter
from graph.ports import Family, Resources

Fault = Callable[[Resources], Resources]


def _in_families(change: Callable[[Family], Family]) -> Fault:
    def faulty(resources: Resources) -> Resources:
        def families(model: str, *, thinking: bool = False) -> Family:
            return change(resources.families(model, thinking=thinking))

        return replace(resources, families=families)

    return faulty


FAULTS: Mapping[str, Fault] = {
    "dropped_citations": _in_families(lambda family: replace(family, checker=AlteringChecker(family.checker, dropped))),
    "swapped_citations": _in_families(lambda family: replace(family, checker=AlteringChecker(family.checker, swapped))),
    "shifted_citations": _in_families(lambda family: replace(family, checker=AlteringChecker(family.checker, slipped))),
    "always_supported": _in_families(
        lambda family: replace(family, checker=AlteringChecker(family.checker, all_supported))
    ),
    "fuzzy_matching": _in_families(lambda family: replace(family, checker=FuzzyMatcher())),
    "wrong_ids": _in_families(lambda family: replace(family, writer=MisquotingWriter(family.writer))),
    "always_answering": _in_families(lambda family: replace(family, grader=OneSidedGrader(keeps=True))),
    "always_abstaining": _in_families(lambda family: replace(family, grader=OneSidedGrader(keeps=False))),
    "stale_offsets": lambda resources: replace(resources, reader=StaleReader(resources.reader)),
}
