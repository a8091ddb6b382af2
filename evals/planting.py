"""Sentences of known truth, planted in the answers of any writer, to see which of them get a mark."""

from collections.abc import AsyncIterator
from dataclasses import replace

from evals.cases import DataSet
from evals.gate.injected_faults import AlteringWriter, Fault, in_families
from graph.errors import InvalidRequest
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText


def planting(data: DataSet) -> Fault:
    """Return what makes every family's writer plant the sentences of a set. Raises InvalidRequest if it has none.

    They come after the first section that cites anything, each as a section of its own under the same ids. What fails
    its check is revised as any section is.
    """
    planted = {case.question: [each.text for each in case.planted] for case in data.cases if case.planted}
    if not planted:
        raise InvalidRequest(
            f"--planted: no question of {data.name} has sentences to plant.",
            suggestion='Give questions `"planted": [{"text": "...", "faithful": false}]`.',
        )

    async def plant(question: str, drafts: AsyncIterator[Draft]) -> AsyncIterator[Draft]:
        left = next((sentences for asked, sentences in planted.items() if asked in question), [])
        async for draft in drafts:
            yield draft
            if left and isinstance(draft, DraftClosed) and draft.source_ids and draft.notice is None:
                for sentence in left:
                    yield DraftOpened(source_ids=draft.source_ids)
                    yield DraftText(sentence)
                    yield DraftClosed(sentence, draft.source_ids)
                left = []

    return in_families(lambda family: replace(family, writer=AlteringWriter(family.writer, plant)))
