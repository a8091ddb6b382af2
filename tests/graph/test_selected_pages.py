"""Selected pages under a budget of tokens, pages that a question names, and the passage that a reader marked."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from answers.page_budget import best_fitting, fits_whole
from graph.errors import DatabaseUnavailable, EmbeddingUnavailable
from graph.evidence import Identity, Segment
from graph.state import State
from tests.fakes import MemoryLibrary, MemoryWeb, segment
from tests.graph.asking import Asked

TOKENS = 100


def document(name: str, texts: Sequence[str], *, pages: bool = False) -> list[Segment]:
    """Make a document of segments of 100 tokens each, on a page each where it has pages."""
    made: list[Segment] = []
    for index, text in enumerate(texts):
        start = made[-1].end if made else 0
        made.append(replace(segment(name, index, text, start=start), tokens=TOKENS, page_idx=index if pages else None))
    return made


def filled(name: str, count: int, **telling: str) -> list[Segment]:
    """Make a document in which nothing is telling but the segments given, as s3="annual leave"."""
    return document(name, [telling.get(f"s{index}", f"filler {name} {index}. ") for index in range(count)])


def reports(session: Asked) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]], list[str]]:
    (loaded,) = session.told("pages_loaded")
    used, cut = (
        {use["document_id"]: (use["segments"], use["of"]) for use in uses} for uses in (loaded.used, loaded.cut)
    )
    return used, cut, loaded.unused


def read(state: State) -> list[str]:
    return [row["segment_id"] for row in state.candidates if row["kind"] == "page"]


async def test_pages_that_fit_are_read_whole_each_once() -> None:
    session = Asked(MemoryLibrary([*filled("a", 2), *filled("b", 3)]))
    state = await session.ask("leave", pages=["a", "b", "a"], search="off", page_tokens=600)
    assert reports(session) == ({"a": (2, 2), "b": (3, 3)}, {}, [])
    assert read(state) == ["a:0", "a:1", "b:0", "b:1", "b:2"]
    assert session.library.queries == []


async def test_a_page_too_long_is_searched_within_and_offered_in_reading_order() -> None:
    session = Asked(MemoryLibrary(filled("long", 30, s20="annual leave ", s7="annual leave lapses ")))
    state = await session.ask("annual leave lapses", pages=["long"], search="off", page_tokens=300)
    (query,) = session.library.queries
    assert (query.document_ids, query.min_score) == (("long",), 0.0)
    assert {"long:7", "long:20"} < set(read(state))
    assert read(state) == sorted(read(state), key=lambda segment_id: int(segment_id.split(":")[1]))
    assert reports(session) == ({}, {"long": (3, 30)}, [])
    assert session.told("sources_found")[0].kind == "page"


async def test_a_short_page_beside_a_long_one_stays_whole_and_long_ones_share_the_rest() -> None:
    library = MemoryLibrary([*filled("long", 30), *filled("longer", 50), *filled("short", 2)])
    session = Asked(library)
    await session.ask("filler", pages=["long", "longer", "short"], search="off", page_tokens=1000)
    assert reports(session) == ({"short": (2, 2)}, {"long": (4, 30), "longer": (4, 50)}, [])


async def test_what_is_not_there_or_has_no_room_is_unused() -> None:
    library = MemoryLibrary([s for name in "abcdef" for s in filled(name, 9)])
    session = Asked(library)
    await session.ask("filler", pages=[*"abcdef", "gone"], search="off", page_tokens=400)
    used, cut, unused = reports(session)
    assert (used, set(cut.values()), len(cut)) == ({}, {(1, 9)}, 4)
    assert unused == [*sorted(set("abcdef") - set(cut)), "gone"]


async def test_a_search_that_fails_leaves_the_beginnings_of_long_pages() -> None:
    session = Asked(MemoryLibrary(filled("long", 9), failure=DatabaseUnavailable("gone")))
    state = await session.ask("filler", pages=["long"], search="off", page_tokens=300)
    assert (session.told("search_failed")[0].kind, read(state)) == ("page", ["long:0", "long:1", "long:2"])


async def test_a_page_named_by_its_number_is_read_before_all_else() -> None:
    book = document("book", [f"leave {page} " for page in range(9)], pages=True)
    session = Asked(MemoryLibrary([*book, *filled("notes", 30)]))
    state = await session.ask("What does page 3 say of leave?", pages=["notes", "book"], search="off", page_tokens=300)
    assert [segment_id for segment_id in read(state) if segment_id.startswith("book")] == ["book:2"]
    assert reports(session) == ({}, {"notes": (2, 30), "book": (1, 9)}, [])


async def test_the_search_brings_nothing_beside_a_page_that_is_named() -> None:
    book = document("book", [f"annual leave {page} " for page in range(4)], pages=True)
    session = Asked(MemoryLibrary([*book, *document("notes", ["annual leave "], pages=True)]))
    state = await session.ask("annual leave on page 3", pages=["book"])
    assert [row["segment_id"] for row in state.sources] == ["book:2"]


async def test_a_range_of_pages_in_other_languages() -> None:
    book = document("book", [f"leave {page} " for page in range(9)], pages=True)
    for question in ("第三至五页讲什么", "các trang 3-5 nói gì", "What is on pages three to five?"):
        state = await Asked(MemoryLibrary(book)).ask(question, pages=["book"], search="off")
        assert read(state) == ["book:2", "book:3", "book:4"], question


async def test_a_page_that_no_document_has_changes_nothing() -> None:
    book = document("book", ["leave 0 ", "leave 1 "], pages=True)
    plain = document("plain", ["leave "])
    state = await Asked(MemoryLibrary([*book, *plain])).ask("page 7?", pages=["book", "plain"], search="off")
    assert read(state) == ["book:0", "book:1", "plain:0"]


async def test_without_selected_pages_a_page_number_is_a_word_like_any_other() -> None:
    session = Asked(MemoryLibrary(document("book", ["page 3 of leave", "leave"], pages=True)))
    state = await session.ask("page 3")
    assert "load_selected_pages" not in session.steps
    assert state.outcome == "answered"


async def test_only_selected_pages_reaches_neither_the_library_nor_the_web() -> None:
    library = MemoryLibrary([*filled("a", 2, s0="annual leave "), *filled("b", 2, s0="annual leave ")])
    web = MemoryWeb(library, [segment("site", 0, "annual leave")])
    session = Asked(library, ports={"web": web})
    state = await session.ask("annual leave", pages=["a"], only_selected_pages=True, web="also")
    assert {row["segment_id"].split(":")[0] for row in state.candidates} == {"a"}
    assert [query.document_ids for query in library.queries] == [("a",)]
    assert web.queries == []


@dataclass
class Finder:
    """PassageFinder that gives what the test says."""

    segments: Sequence[Segment] = ()
    failure: Exception | None = None
    asked: list[tuple[str, list[str]]] = field(default_factory=list)

    async def find_passage(
        self, text: str, document_ids: Sequence[str], identity: Identity, *, session_id: str = ""
    ) -> list[Segment]:
        self.asked.append((text, list(document_ids)))
        if self.failure is not None:
            raise self.failure
        return list(self.segments)


def with_passage(library: list[Segment], *marked: Segment, **finder: Any) -> Asked:
    found = Finder(marked, **finder)
    return Asked(
        MemoryLibrary(list({s.segment_id: s for s in [*library, *marked]}.values())), ports={"passages": found}
    )


async def test_a_marked_passage_comes_first_and_is_counted_once() -> None:
    book = filled("book", 4)
    session = with_passage(book, book[2])
    state = await session.ask("What does this mean?", pages=["book"], selected_text="filler book 2.", search="off")
    assert read(state) == ["book:2", "book:0", "book:1", "book:3"]
    assert reports(session) == ({"book": (4, 4)}, {}, [])


async def test_a_passage_of_no_document_needs_no_page_and_is_in_no_report() -> None:
    alone = segment("selection", 0, "The canteen closes at nine.")
    session = with_passage([], alone)
    state = await session.ask("What does this mean?", selected_text=alone.text, search="off")
    assert (read(state), reports(session)) == (["selection:0"], ({}, {}, []))
    assert (state.outcome, state.sources[0]["kind"]) == ("answered", "page")


async def test_a_passage_takes_its_room_before_the_pages() -> None:
    book = filled("book", 9)
    session = with_passage(book, book[7])
    state = await session.ask("filler", pages=["book"], selected_text="filler book 7.", search="off", page_tokens=300)
    assert len(read(state)) == 3
    assert read(state)[0] == "book:7"
    assert reports(session) == ({}, {"book": (3, 9)}, [])


async def test_a_passage_that_cannot_be_kept_is_said_and_the_pages_answer() -> None:
    session = with_passage(filled("book", 2), failure=EmbeddingUnavailable("down"))
    state = await session.ask("filler", pages=["book"], selected_text="not in it", search="off")
    assert session.told("search_failed")[0].code == "embedding_unavailable"
    assert (state.outcome, read(state)) == ("answered", ["book:0", "book:1"])


SIZES = st.lists(st.integers(1, 50), max_size=8)


@given(SIZES, st.integers(0, 200))
def test_the_share_of_whole_pages_is_fair(sizes: list[int], room: int) -> None:
    whole = fits_whole(sizes, room)
    left = room - sum(size for size, fits in zip(sizes, whole, strict=True) if fits)
    assert left >= 0
    if whole.count(False):
        share = left // whole.count(False)
        assert min(size for size, fits in zip(sizes, whole, strict=True) if not fits) > share


@given(st.lists(SIZES, max_size=5), st.integers(0, 200))
def test_what_is_taken_fits_and_leaves_no_room_for_more(sizes: list[list[int]], room: int) -> None:
    ranked = [
        [replace(segment(f"d{page}", index, "x"), tokens=tokens) for index, tokens in enumerate(row)]
        for page, row in enumerate(sizes)
    ]
    taken = best_fitting(ranked, room)
    spent = sum(each.tokens for row in taken for each in row)
    assert spent <= room
    left = [each for row, chosen in zip(ranked, taken, strict=True) for each in row if each not in chosen]
    assert all(each.tokens > room - spent for each in left)
