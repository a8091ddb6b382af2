"""Title a conversation by rule: its first question, or the beginning of it."""

import re

from graph.spending import Meter
from tools.extractive.small_talk import small_talk
from tools.session_rows import DEFAULT_TITLE
from tools.title_text import title_of

LEAST_SENTENCE = 5  # characters; what is shorter is an abbreviation, which ends no sentence
_SENTENCE = re.compile(r".*?(?:[.?!](?=\s)|[。？！]|\n|$)", re.DOTALL)


class ExtractiveTitler:
    """Titler without a model."""

    async def title(self, question: str, *, language: str, meter: Meter) -> str:
        """Take the first sentence that is no small talk, at most 60 characters of it."""
        sentences = (title_of(found[0]) for found in _SENTENCE.finditer(question))
        telling = next((each for each in sentences if len(each) >= LEAST_SENTENCE and small_talk(each) is None), "")
        return telling or title_of(question) or DEFAULT_TITLE
