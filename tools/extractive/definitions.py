"""Tell the sentence that says what a thing is from those that say something of it."""

import re
from functools import lru_cache

from tools.extractive.wording import flattened, worded

_ASKS_WHAT = re.compile(
    r"(?:what|who) (?:is|are|was|were) (?:an? |the )?(?P<en>.{2,40})|(?P<vi>.{2,40}) là (?:gì|ai)"
    r"|什么是(?P<zh>.{2,20})|(?P<zh2>.{2,20})是(?:什么|谁)"
)
_SAYS_WHAT = {"en": "(?:an? |the )?{} (?:is|are|was|were) ", "vi": "(?:một )?{} là ", "zh": "{}是", "zh2": "{}是"}


@lru_cache(maxsize=256)
def _definition(question: str) -> re.Pattern[str] | None:
    asked = _ASKS_WHAT.fullmatch(flattened(question).strip())
    if asked is None:
        return None
    language, thing = next((name, text) for name, text in asked.groupdict().items() if text)
    return re.compile(_SAYS_WHAT[language].format(re.escape(thing)))


def defines(question: str, sentence: str) -> bool:
    """Tell whether a question asks what a thing is, and nothing else, and a sentence opens by saying so."""
    definition = _definition(question)
    return definition is not None and definition.match(worded(sentence).flat.strip()) is not None
