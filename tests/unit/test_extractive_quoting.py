"""What is quoted: what answers, of a search; what belongs to the answer, of a page."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.entries import entries_of
from graph.evidence import Hit, Segment, SegmentBlock, SourceKind
from tools.embeddings.embedder import count_tokens
from tools.extractive.quoted_passages import (
    MOST_PAGE_QUOTES,
    MOST_QUOTED,
    MOST_QUOTES,
    as_markdown,
    best_set,
    select_quotes,
)
from tools.extractive.reader import RankedSentences, rank_by_part
from tools.parsers import parse
from tools.retrieval.segmenting import SegmentSize, segment
from tools.rules.candidate_sentences import candidate_sentences

PAGE = """# Ferry timetable

The ferry to Gull Island leaves at eight and at noon. The ferry takes forty minutes. A ticket for the ferry costs six
euros. Children travel on the ferry free of charge. Dogs may travel on the ferry on a lead. The ferry does not sail in
a storm. The ferry carries no cars. The island has one inn."""
CHANCES = st.lists(st.floats(0.01, 0.99), max_size=7)


def hit(text: str, kind: SourceKind) -> Hit:
    return Hit(Segment("d", 0, 0, len(text), text), 0.9, kind)


@given(CHANCES, st.integers(1, 7))
def test_the_best_set_is_the_best_of_all_sets(chances: list[float], most: int) -> None:
    def worth(chosen: tuple[int, ...]) -> float:
        return 2 * sum(chances[i] for i in chosen) / (len(chosen) + sum(chances))

    best = best_set(chances, most)
    assert len(set(best)) == len(best) <= most
    sets = [each for size in range(1, min(most, len(chances)) + 1) for each in combinations(range(len(chances)), size)]
    assert bool(best) == bool(sets)
    if sets:
        assert worth(tuple(best)) == pytest.approx(max(map(worth, sets)))


@pytest.mark.parametrize(("kind", "most"), [("page", MOST_PAGE_QUOTES), ("search", MOST_QUOTES)])
def test_a_page_is_quoted_at_greater_length_than_what_a_search_found(kind: SourceKind, most: int) -> None:
    source = hit(PAGE, kind)
    chosen = select_quotes(rank_by_part("What should I know about the ferry?", [source]), [source])
    assert 1 < len(chosen) <= most
    assert all(quote.text in PAGE and not quote.text.startswith("#") for quote in chosen)
    assert len({quote.text for quote in chosen}) == len(chosen)
    if kind == "page":
        assert len(chosen) > MOST_QUOTES


def test_what_answers_best_comes_first_on_a_page_too() -> None:
    source = hit(PAGE, "page")
    chosen = select_quotes(rank_by_part("How much does a ticket for the ferry cost?", [source]), [source])
    assert "six\neuros" in chosen[0].text


BEST = Segment("a", 0, 0, 22, "The ferry sails daily.", heading="Ferries")
OTHER_TEXT = "A boat sails too."


def quoted_beside(question: str, behind: float) -> bool:
    """Return whether a sentence is quoted whose score is so far behind the best one, in log odds."""
    other = replace(BEST, document_id="b", end=len(OTHER_TEXT), text=OTHER_TEXT)
    reading = RankedSentences(tuple(candidate_sentences([BEST, other])), (0.0, -behind), 0.9, question=question)
    chosen = [quote.text for quote in select_quotes([reading], [Hit(BEST, 0.9, "search"), Hit(other, 0.9, "search")])]
    assert chosen[0] == BEST.text
    return chosen[1:] == [other.text]


@pytest.mark.parametrize(
    ("question", "behind", "is_quoted"),
    [
        ("When does the ferry sail?", 0.6, True),  # half as likely: it pays if there is one place that answers
        ("When does the ferry sail?", 0.8, False),
        ("Which ferries and boats are there?", 0.8, True),  # a list has several places
        ("Which ferries and boats are there?", 1.5, False),
    ],
)
def test_a_further_passage_is_quoted_where_its_chance_pays(question: str, behind: float, is_quoted: bool) -> None:
    assert quoted_beside(question, behind) == is_quoted


MANUAL = b"""<html><body><main><h1>Broker settings</h1><dl>
<dt>pool_size (integer)</dt><dd><p>Sets the size of the pool. The default is four megabytes.</p></dd>
<dt>pool_wait (seconds)</dt><dd><p>Sets how long to wait for the pool. The default is ten seconds.</p></dd></dl>
<p>To print the settings in force, use this command:</p><pre>broker --show-settings</pre></main></body></html>"""


def quotes_of(question: str) -> list[str]:
    parsed = parse(MANUAL, name="settings.html")
    spans = segment(parsed, SegmentSize(300), count_tokens)
    hits = [
        Hit(Segment("d", 0, one.start, one.end, parsed.text[one.start : one.end], blocks=one.blocks), 0.9, "search")
        for one in spans
    ]
    return [quote.text for quote in select_quotes(rank_by_part(question, hits), hits)]


def test_a_definition_is_quoted_with_the_term_that_was_asked_for() -> None:
    [quote] = quotes_of("What is the default of pool_wait?")
    assert quote.startswith("pool_wait (seconds)")
    assert "ten seconds" in quote


NAMES = ("amber", "basalt", "cobalt", "dune", "ember", "fjord", "grove", "haze")
THEMES = [f"theme {name}, for screens that are read at night" for name in NAMES]


@pytest.mark.parametrize(("question", "is_whole"), [("Which themes are there?", True), ("What is dune for?", False)])
def test_a_list_is_quoted_whole_where_a_list_is_asked_for(question: str, is_whole: bool) -> None:
    items = "".join(f"- {theme}\n" for theme in THEMES)
    source = read_from(f"# Themes\n\nThese themes are there:\n\n{items}\nOther settings are elsewhere.\n".encode())
    quote = select_quotes(rank_by_part(question, [source]), [source])[0].text
    assert len(items) > MOST_QUOTED
    assert all(theme in quote for theme in THEMES) == is_whole
    assert "elsewhere" not in quote


SETTINGS = """# Settings

`shared_pages` sets how many pages all sessions share. Its default is 128 MB.

# Sorting

`sort_memory` sets the memory of one sort. Its default is 4 MB.

# Weather

It rains on most days of the year, and the wind blows from the west."""


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Compare shared_pages and sort_memory", ("all sessions share", "one sort")),
        ("What is the difference between shared_pages and sort_memory?", ("all sessions share", "one sort")),
        ("What is the default of shared_pages and of sort_memory?", ("128 MB", "4 MB")),
    ],
)
def test_each_side_of_a_comparison_is_quoted(question: str, sides: tuple[str, str]) -> None:
    source = read_from(SETTINGS.encode())
    quoted = " ".join(quote.text for quote in select_quotes(rank_by_part(question, [source]), [source]))
    assert all(side in quoted for side in sides)
    assert "rains" not in quoted


def read_from(markdown: bytes) -> Hit:
    parsed = parse(markdown, name="page.md")
    [one] = segment(parsed, SegmentSize(300), count_tokens)
    return Hit(Segment("d", 0, one.start, one.end, parsed.text[one.start : one.end], blocks=one.blocks), 0.9, "search")


def test_code_is_quoted_in_a_fence_after_the_sentence_that_introduces_it() -> None:
    quote = quotes_of("Which command prints the settings in force?")[0]
    assert quote == "To print the settings in force, use this command:\n\n```\nbroker --show-settings\n```"


def test_a_heading_is_never_quoted() -> None:
    source = hit("# Opening hours\n\nWe are open all day.", "search")
    assert [quote.text for quote in select_quotes(rank_by_part("opening hours", [source]), [source])] == [
        "We are open all day."
    ]


def test_code_that_holds_a_fence_does_not_break_out_of_its_own() -> None:
    text = "```\ninner\n```"
    segment = Segment("d", 0, 0, len(text), text, blocks=(SegmentBlock(0, len(text), "code"),))
    assert as_markdown(segment, entries_of(segment)) == f"````\n{text}\n````"


def test_a_setting_that_stands_nowhere_is_not_answered_by_another() -> None:
    source = hit("work_mem (integer)\n\nSets the memory of a sort. The default value is 4 MB.", "search")
    [known] = rank_by_part("What is the default value of work_mem?", [source])
    [unknown] = rank_by_part("What is the default value of temp_buffers?", [source])
    assert known.answerable > unknown.answerable == 0.0
