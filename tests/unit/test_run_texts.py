"""A run reads a segment's text once, and nobody is given what storage gave another."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from graph.evidence import Identity, Page, Segment
from graph.ports import Resources, SearchQuery
from tests.fakes import MemoryLibrary, MemoryWeb, ScriptedFamily, resources, segment
from tools.retrieval.segment_store import RunTexts, resources_of_run

ME, OTHER = Identity(), Identity(user="other")
LEAVE = segment("handbook", 0, "Staff get 25 days of annual leave.")
PAY = segment("handbook", 1, "Pay comes on the last day of a month.")
PRIVATE = segment("diary", 0, "My leave begins in May.")


@dataclass
class Shelves(MemoryLibrary):
    """A library that notes what is read by id, and keeps the diary from everybody but its owner."""

    read: list[list[str]] = field(default_factory=list)

    async def read_segments(self, segment_ids: Sequence[str], identity: Identity) -> list[Segment]:
        self.read.append(list(segment_ids))
        found = await super().read_segments(segment_ids, identity)
        return [each for each in found if each.document_id != "diary" or identity == ME]


def run_over(library: Shelves, **ports: object) -> Resources:
    return resources_of_run(replace(resources(library, ScriptedFamily()), **ports))


async def test_what_a_search_brought_is_not_read_again() -> None:
    library = Shelves([LEAVE, PAY])
    run = run_over(library)
    await run.searcher.search(SearchQuery("annual leave", ME))
    assert await run.reader.read_segments([LEAVE.segment_id], ME) == [LEAVE]
    assert library.read == []


async def test_pages_and_the_web_are_not_read_again() -> None:
    library = Shelves([LEAVE, PAY])
    page = segment("web", 0, "Penguins are paid in fish.")
    run = run_over(library, web=MemoryWeb(library, [page]))
    assert await run.reader.read_pages(["handbook"], ME) == [Page("handbook", "handbook", (LEAVE, PAY))]
    assert run.web is not None
    await run.web.search_web("penguins", ME, top_k=1, min_score=0.0, seconds=None)
    wanted = [page.segment_id, PAY.segment_id, LEAVE.segment_id]
    assert await run.reader.read_segments(wanted, ME) == [page, PAY, LEAVE]
    assert library.read == []


async def test_what_was_let_go_is_read_again_and_nothing_else() -> None:
    library = Shelves([LEAVE, PAY])
    texts = RunTexts(resources(library, ScriptedFamily()))
    await texts.read_segments([LEAVE.segment_id, PAY.segment_id], ME)
    texts.let_go({PAY.segment_id})
    assert await texts.read_segments([LEAVE.segment_id, PAY.segment_id], ME) == [LEAVE, PAY]
    assert library.read == [[LEAVE.segment_id, PAY.segment_id], [PAY.segment_id]]


async def test_only_what_is_missing_is_read_and_in_the_order_asked() -> None:
    library = Shelves([LEAVE, PAY])
    run = run_over(library)
    await run.reader.read_segments([PAY.segment_id], ME)
    assert await run.reader.read_segments([LEAVE.segment_id, "gone:0", PAY.segment_id], ME) == [LEAVE, PAY]
    assert library.read == [[PAY.segment_id], [LEAVE.segment_id, "gone:0"]]


async def test_what_is_not_stored_is_asked_for_once_and_told_once_a_search_brings_it() -> None:
    library = Shelves([LEAVE])
    run = run_over(library)
    for _ in range(2):
        assert await run.reader.read_segments([LEAVE.segment_id, PAY.segment_id], ME) == [LEAVE]
    assert len(library.read) == 1
    library.segments = [LEAVE, PAY]
    await run.searcher.search(SearchQuery("pay day", ME))
    assert await run.reader.read_segments([PAY.segment_id], ME) == [PAY]
    assert len(library.read) == 1


async def test_a_text_stays_for_a_run_as_it_was_read() -> None:
    library = Shelves([LEAVE])
    run = run_over(library)
    await run.reader.read_segments([LEAVE.segment_id], ME)
    library.segments = [replace(LEAVE, text="Staff get 30 days of annual leave.")]
    await run.searcher.search(SearchQuery("annual leave", ME))
    assert await run.reader.read_segments([LEAVE.segment_id], ME) == [LEAVE]
    assert await run_over(library).reader.read_segments([LEAVE.segment_id], ME) == list(library.segments)


async def test_nobody_is_given_what_another_may_read() -> None:
    library = Shelves([PRIVATE])
    run = run_over(library)
    assert await run.reader.read_segments([PRIVATE.segment_id], ME) == [PRIVATE]
    assert await run.reader.read_segments([PRIVATE.segment_id], OTHER) == []


async def test_a_run_without_the_web_has_none_and_asks_for_its_family_once() -> None:
    made: list[str] = []
    of = resources(MemoryLibrary([LEAVE]), ScriptedFamily())

    def families(model: str, *, thinking: bool = False) -> object:
        made.append(model)
        return of.families(model, thinking=thinking)

    run = resources_of_run(replace(of, families=families))
    assert run.web is None
    assert run.passages is None
    assert run.families("", thinking=False) is run.families("", thinking=False)
    assert made == [""]


async def test_runs_that_read_the_same_hold_it_once_and_each_what_storage_gave_it() -> None:
    library = Shelves([replace(LEAVE), PAY])
    (first,) = await RunTexts(resources(library, ScriptedFamily())).read_segments([LEAVE.segment_id], ME)
    library.segments = [replace(LEAVE), PAY]
    (second,) = await RunTexts(resources(library, ScriptedFamily())).read_segments([LEAVE.segment_id], OTHER)
    assert second is first
    library.segments = [changed := replace(LEAVE, text="Staff get 30 days of annual leave.")]
    (third,) = await RunTexts(resources(library, ScriptedFamily())).read_segments([LEAVE.segment_id], ME)
    assert third == changed
    assert first.text == LEAVE.text
