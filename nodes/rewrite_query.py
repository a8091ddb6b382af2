"""Write another search query, for a question that found nothing or for the claims that failed."""

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from answers.checking import has_failed
from answers.links import without_links, without_marks
from graph.context import Context
from graph.events import QueryRewritten
from graph.evidence import Failure
from graph.ports import LibraryLanguages, QueryRewriter
from graph.reasons import Reason, why
from graph.state import State
from graph.usage import Meter
from text.language import language

LONGEST = 600  # characters of claims that one search takes
MOST_LANGUAGES = 5  # of the library, in which a query is worded


class RewriteQueryUpdate(TypedDict, total=False):
    """The next query, empty where there is nothing new to try."""

    query: str
    beside: list[str]
    tried: list[str]
    rewrites: int
    repairs: int
    fallback: Failure | None


async def rewrite_query(
    state: State,
    runtime: Runtime[Context],
    *,
    rewriter: QueryRewriter,
    languages: LibraryLanguages | None,
    meter: Meter,
) -> RewriteQueryUpdate:
    """Rewrite the query; for a repair, use the failed claims themselves as the query, without a model.

    It is worded in the languages of the library, the most common first, and in the question's own beside them.
    """
    if state.repairing:
        query = failed_claims(state)
        repair = Reason("repair", *(index + 1 for index in state.repairing))
        runtime.stream_writer(
            QueryRewritten(query=without_marks(query), reason=str(repair), attempt=state.repairs + 1, why=why(repair))
        )
        # Not added to ``tried``: a refusal that lists it would repeat claims that failed.
        return {"query": query, "beside": [], "repairs": state.repairs + 1}
    held = await languages(runtime.context.identity) if languages is not None else ()
    own = language(state.standalone_question, default="") if held else state.language
    wanted = [each for each in dict.fromkeys([*held[:MOST_LANGUAGES], own]) if each]
    rewriting = await rewriter.rewrite(state.standalone_question, state.tried, languages=wanted, meter=meter)
    query, attempt = without_links(rewriting.query, (state.standalone_question,)), state.rewrites + 1
    # A rule has the same words, in which the writer found no answer; it may have no call left for another writing.
    if not query or query in state.tried or (state.read and rewriting.fallback):
        # No event for a query that is not searched: the refusal says why there is none.
        return {"query": "", "beside": [], "rewrites": attempt, "fallback": rewriting.fallback}
    others = (without_links(each, (state.standalone_question,)) for each in rewriting.beside)
    beside = [each for each in dict.fromkeys(others) if each and each not in (query, *state.tried)]
    reason = rewriting.reason
    if not isinstance(reason, Reason):
        reason = without_marks(without_links(reason))
    runtime.stream_writer(
        QueryRewritten(
            query=without_marks(query),
            reason=str(reason),
            attempt=attempt,
            why=why(reason),
            fallback=rewriting.fallback,
        )
    )
    return {
        "query": query,
        "beside": beside,
        "tried": [*state.tried, query, *beside],
        "rewrites": attempt,
    }


def failed_claims(state: State) -> str:
    """Return the failed claims of the sections under repair, joined and cut to a length that a search can use."""
    texts = [
        state.sections[row["section_index"]]["text"][row["start"] : row["end"]]
        for row in state.claims
        if row["section_index"] in state.repairing and has_failed(row)
    ]
    return " ".join(" ".join(texts).split())[:LONGEST]
