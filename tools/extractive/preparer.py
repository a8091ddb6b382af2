"""Decide by code whether a message needs the library, and make it standalone."""

from collections.abc import Sequence

from graph.evidence import SearchMode
from graph.ports import Preparation
from graph.spending import Meter
from graph.state import Turn
from tools.extractive.follow_ups import standalone
from tools.extractive.small_talk import small_talk
from tools.languages import DEFAULT, language


class ExtractivePreparer:
    """QuestionPreparer by phrases and pronouns; no model."""

    async def prepare(
        self, question: str, turns: Sequence[Turn], *, search: SearchMode, has_pages: bool, meter: Meter
    ) -> Preparation:
        """Tell small talk from questions; ``search`` overrides the decision, never what kind of message it is."""
        talk = small_talk(question)
        spoken = language(question, default=language(turns[-1]["question"]) if turns else DEFAULT)
        if talk and search != "always":
            return Preparation(question, False, f"small talk: {talk}", "small_talk", spoken)
        asked = standalone(question, turns)
        if search == "off" and not has_pages:
            return Preparation(asked.question, False, "search is off", "content_query", spoken)
        reason = "a follow-up, made standalone" if asked.changed else "a question for the library"
        if has_pages and search == "off":
            reason = "a question for the selected pages"
        return Preparation(asked.question, True, reason, "content_query", spoken)
