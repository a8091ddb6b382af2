"""Prepare a question and reword it as another search query by rule, without a model."""

from collections.abc import Sequence

from graph.evidence import SearchMode
from graph.ports import Preparation, Rewriting
from graph.state import Turn
from graph.usage import Meter
from text.language import DEFAULT, language
from text.words import telling_words
from tools.rules.follow_ups import standalone
from tools.rules.small_talk_rules import small_talk


class RulePreparer:
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


REWRITING_REASON = "searched again by the question's telling words alone"


class RuleRewriter:
    """QueryRewriter without a model."""

    async def rewrite(self, question: str, tried: Sequence[str], *, language: str, meter: Meter) -> Rewriting:
        """Keep the telling words; an empty query where those were all that was searched for before."""
        query = telling_words(question)
        known = {" ".join(each.casefold().split()) for each in tried}
        return Rewriting("" if query in known else query, REWRITING_REASON)
