"""Read a sentence once: its tokens with numbers, dates and units joined, and what script it is in."""

import re
from dataclasses import dataclass
from functools import lru_cache

from tools.claims.dates import join_dates
from tools.claims.folding import fold
from tools.claims.names import Certainty, names_among
from tools.claims.negation import negations
from tools.claims.quantities import join_numbers, join_units
from tools.claims.tokens import Token, tokens_of

_VIETNAMESE = re.compile("[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉĩịọỏốồổỗộớờởỡợụủũứừửữựỳỵỷỹ]", re.IGNORECASE)
_LONGEST = 20_000  # characters of one sentence that are compared; a longer one is only compared verbatim


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence as the checks compare it. Tokens hold offsets into ``folded``."""

    folded: str
    tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    names: tuple[Certainty, ...]
    negates: tuple[bool, ...]
    asks: bool = False

    def said(self, first: int, last: int) -> str:
        """Give the words of a run of tokens as they were written."""
        run = self.tokens[first:last]
        if not run:
            return ""
        return self.folded[min(token.start for token in run) : max(token.end for token in run)]


def is_vietnamese(folded: str) -> bool:
    """Tell by a letter that only Vietnamese has."""
    return _VIETNAMESE.search(folded) is not None


@lru_cache(maxsize=8192)
def read(text: str) -> Reading:
    """Read a sentence of any language. Takes time linear in the text."""
    folded = fold(text[:_LONGEST])
    tokens = tokens_of(folded)
    tokens = join_numbers(tokens, vietnamese=is_vietnamese(folded))
    tokens = join_units(join_dates(tokens))
    asks = "?" in folded[max((token.end for token in tokens), default=0) :]
    return Reading(
        folded,
        tuple(tokens),
        tuple(token.key for token in tokens),
        tuple(names_among(tokens, folded)),
        tuple(negations(folded, tokens)),
        asks,
    )
