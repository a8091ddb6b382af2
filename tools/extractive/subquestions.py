"""The parts of a question that joins several."""

import re
from functools import lru_cache

from tools.rules.follow_ups import depends
from tools.rules.question_terms import count_content

_MARKS = "?？؟"
_END = re.compile(rf"(?<=[{_MARKS}])\s*")
_MOST = 3
_LONGEST = 500


@lru_cache(maxsize=256)
def split_question(question: str) -> tuple[str, ...]:
    """Return the questions that stand one behind another, at most three; the whole one where there are none.

    Each has its mark and its own subject of two words or more. Questions joined by a word are left whole.
    """
    parts = [part.strip() for part in _END.split(question) if part.strip()]
    apart = 1 < len(parts) <= _MOST and len(question) <= _LONGEST and all(_stands_alone(part) for part in parts)
    return tuple(parts) if apart else (question,)


def _stands_alone(part: str) -> bool:
    return part[-1] in _MARKS and count_content(part) >= 2 and not depends(part)
