"""Title a conversation by rule: its first question, or the beginning of it."""

from graph.spending import Meter
from tools.extractive.small_talk import small_talk
from tools.sentences import sentences
from tools.session_rows import DEFAULT_TITLE
from tools.title_text import title_of


class ExtractiveTitler:
    """Titler without a model."""

    async def title(self, question: str, *, language: str, meter: Meter) -> str:
        """Take the first sentence that is no small talk, at most 60 characters of it."""
        said = (title_of(question[start:end]) for start, end in sentences(question))
        telling = next((each for each in said if each and small_talk(each) is None), "")
        return telling or title_of(question) or DEFAULT_TITLE
