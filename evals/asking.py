"""Ask a case of a stored data set, in a session of its own."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from evals.cases import Case
from evals.following import Followed, follow
from evals.stored import StoredDataSet
from graph.context import Context
from graph.entrypoint import Citewell
from tools.runs import RunRequest


async def ask_case(
    citewell: Citewell,
    stored: StoredDataSet,
    case: Case,
    context: Context,
    *,
    under: AbstractContextManager[None] | None = None,
) -> Followed:
    """Ask a case, its earlier questions first, and follow its run to the end.

    ``under`` is what the case's own run is started within; the earlier ones are not. Raises CitewellError where a run
    can't be started or followed.
    """
    runner = citewell.runner
    session = await citewell.library.sessions.create(context.identity, ephemeral=True)
    for earlier in case.before:
        await follow(runner, session.session_id, RunRequest(earlier, context))
    pages = tuple(stored.ids[name] for name in case.pages)
    with under or nullcontext():
        return await follow(runner, session.session_id, RunRequest(case.question, context, pages))


def context_of(case: Case, context: Context) -> Context:
    """Give the knobs of a case's runs."""
    return replace(context, only_selected_pages=True) if case.only_selected_pages else context
