"""Tell how much of a question the texts of an answer take up."""

from collections.abc import Sequence

from tools.extractive.wording import flattened, question_wording, terms_of


def question_coverage(question: str, texts: Sequence[str]) -> float:
    """Give the share of a question's telling words that stand in the texts together, in [0, 1].

    Words are compared by their stems, scripts without spaces by pairs of characters; 1 where the question has no
    telling word.
    """
    wanted = set(question_wording(question).terms)
    found = {term for text in texts for term in terms_of(flattened(text))}
    return len(wanted & found) / len(wanted) if wanted else 1.0
