"""Short texts of a model that stand beside an answer: titles, reasons and queries, without links and marks of its own.

They are shown, stored and sent to search engines, and a model that obeys a planted instruction may write them, so that
what holds for an answer holds for them. A link that the asker wrote may stay.
"""

from collections.abc import Iterable

from answers.links import links_of_sources, without_foreign_links
from text.inline_spans import READS_AS_A_MARK

# An invisible character that separates characters which clients would otherwise parse together.
JOINER = "\u2060"


def without_links(text: str, known: Iterable[str] = ()) -> str:
    """Remove the links and images from a text that no known text contains; their words stay."""
    return without_foreign_links(text, links_of_sources(known))[0]


def without_marks(text: str) -> str:
    """Keep what reads as a citation mark from being one."""
    return READS_AS_A_MARK.sub(lambda found: f"{found['open']}{JOINER}{found[0][len(found['open']) :]}", text)
