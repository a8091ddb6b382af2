"""Sentences of known truth, planted in the answers of any writer, to see which of them get a mark."""

from dataclasses import replace

from evals.cases import DataSet
from evals.gate.injected_faults import AlteringWriter, Fault, in_families
from graph.errors import InvalidRequest
from graph.ports import DraftClosed, DraftOpened, Drafts, DraftText


def planting(data: DataSet) -> Fault:
    """Return what makes every family's writer plant the sentences of a set. Raises InvalidRequest if it has none.

    They end the answer, each as a section of its own under all the ids that the answer cites; one that cites nothing is
    left as it is. What fails its check is revised as any section is.
    """
    planted = {case.question: [each.text for each in case.planted] for case in data.cases if case.planted}
    if not planted:
        raise InvalidRequest(
            f"--planted: no question of {data.name} has sentences to plant.",
            suggestion='Give questions `"planted": [{"text": "...", "faithful": false}]`.',
        )

    async def plant(question: str, drafts: Drafts) -> Drafts:
        cited: dict[str, None] = {}
        async for draft in drafts:
            yield draft
            if isinstance(draft, DraftClosed):
                cited.update(dict.fromkeys(draft.source_ids))
        sentences = next((planted[asked] for asked in planted if asked in question), [])
        for sentence in sentences if cited else ():
            yield DraftOpened(source_ids=tuple(cited))
            yield DraftText(sentence)
            yield DraftClosed(sentence, tuple(cited))

    return in_families(lambda family: replace(family, writer=AlteringWriter(family.writer, plant)))
