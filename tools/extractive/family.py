"""The extractive family: answers in quotes, without a model, a key or a network."""

from graph.ports import ClaimChecker, Family
from tools.extractive.fitted import fitted_weights
from tools.extractive.grader import ANSWERABLE, ExtractiveGrader
from tools.extractive.preparer import ExtractivePreparer
from tools.extractive.rewriter import ExtractiveRewriter
from tools.extractive.small_talk import phrases
from tools.extractive.titler import ExtractiveTitler
from tools.extractive.writer import ExtractiveWriter

MODEL = "extractive"


def extractive_family(*, checker: ClaimChecker, refuse_below: float = ANSWERABLE) -> Family:
    """Make the family over a claim checker.

    A question whose chance of an answer among the candidates is below ``refuse_below``, in [0, 1], is refused. Raises
    ValueError where the shipped weights are not this reader's.
    """
    fitted_weights()
    phrases()  # read now, so that no run waits for it
    return Family(
        name="extractive",
        model=MODEL,
        preparer=ExtractivePreparer(),
        grader=ExtractiveGrader(refuse_below=refuse_below),
        writer=ExtractiveWriter(),
        checker=checker,
        rewriter=ExtractiveRewriter(),
        titler=ExtractiveTitler(),
    )
