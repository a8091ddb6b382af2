"""Word a question as another search query by rule: the words that tell, without those that only ask."""

from collections.abc import Sequence

from graph.ports import Rewriting
from graph.spending import Meter
from tools.extractive.wording import telling_words

REASON = "searched again by the question's telling words alone"


class ExtractiveRewriter:
    """QueryRewriter without a model."""

    async def rewrite(self, question: str, tried: Sequence[str], *, language: str, meter: Meter) -> Rewriting:
        """Keep the telling words; an empty query where those were all that was searched for before."""
        query = telling_words(question)
        known = {" ".join(each.casefold().split()) for each in tried}
        return Rewriting("" if query in known else query, REASON)
