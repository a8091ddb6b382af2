"""How well scores tell what is so from what is not."""

from evals.minimise import Floats


def auc(yes: Floats, no: Floats) -> float:
    """Give the area under the ROC curve: the chance that one of ``yes`` scores above one of ``no``, ties half."""
    above = (yes[:, None] > no[None, :]).mean() + (yes[:, None] == no[None, :]).mean() / 2
    return round(float(above), 4)


def balanced_accuracy(yes: Floats, no: Floats, threshold: float) -> float:
    """Give the mean of the share of ``yes`` at or above a threshold and of ``no`` below it."""
    return round((float((yes >= threshold).mean()) + float((no < threshold).mean())) / 2, 4)
