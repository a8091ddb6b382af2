"""Which passages are shown: the likeliest, of different places, each part of a question in turn."""

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.entries import entries_of
from answers.passage_markdown import shown_text
from answers.surroundings import Around
from graph.evidence import Hit, Segment
from tools.embeddings.embedder import count_tokens
from tools.extractive.quoted_passages import MOST_PASSAGES, PAYS, QuotedPassage, choose_passages
from tools.extractive.reader import RankedSentences, rank_by_part
from tools.parsers import parse
from tools.retrieval.segmenting import SegmentSize, segment
from tools.rules.candidate_sentences import candidate_sentences

NEVER = -30.0  # log odds of what nobody believes in


def hits_of(text: str, document_id: str = "d", *, name: str = "page.md", size: int = 300) -> list[Hit]:
    """Return all segments of a document as a search returns them, joined with their neighbours."""
    parsed = parse(text.encode(), name=name)
    segments = [
        Segment(document_id, at, each.start, each.end, parsed.text[each.start : each.end], blocks=each.blocks)
        for at, each in enumerate(segment(parsed, SegmentSize(size), count_tokens))
    ]
    known = {each.segment_id: each for each in segments}
    return [Hit(each, 0.9, around=Around(known, known)) for each in segments]


def reading(hits: Sequence[Hit], beliefs: dict[str, float]) -> RankedSentences:
    """Return a reading that believes in the entries which begin with some words, and in no others."""
    pool = candidate_sentences([hit.segment for hit in hits])
    scores = [next((log(b) for words, b in beliefs.items() if one.text.startswith(words)), NEVER) for one in pool]
    ranked = sorted(zip(scores, pool, strict=True), key=lambda pair: -pair[0])
    return RankedSentences(tuple(one for _, one in ranked), tuple(score for score, _ in ranked), 0.9)


def highlighted(passage: QuotedPassage, hits: Sequence[Hit]) -> str:
    span = passage.proof["highlight"]
    segment = next(hit.wide for hit in hits if hit.segment_id == passage.segment_id)
    return segment.text[span["start"] - segment.start : span["end"] - segment.start]


SENTENCE = st.sampled_from(
    ["The pier is open.", "Dogs are welcome.", "What is it?", "It costs ten euros.", "As follows:"]
)
BLOCK = st.one_of(
    st.lists(SENTENCE, min_size=1, max_size=5).map(" ".join),
    SENTENCE.map(lambda text: f"## {text[:-1]}"),
    st.lists(SENTENCE, min_size=1, max_size=20).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(SENTENCE, min_size=1, max_size=20).map(
        lambda rows: "| What | Says |\n|---|---|\n" + "\n".join(f"| {at} | {row} |" for at, row in enumerate(rows))
    ),
)
DOCUMENT = st.lists(BLOCK, min_size=1, max_size=8).map("\n\n".join)


@given(DOCUMENT, DOCUMENT, st.lists(st.floats(-6, 0), min_size=1, max_size=12), st.sampled_from([40, 300]))
def test_what_is_shown_of_any_documents(one: str, other: str, odds: list[float], size: int) -> None:
    hits = [*hits_of(one, "a", size=size), *hits_of(other, "b", size=size)]
    pool = candidate_sentences([hit.segment for hit in hits])
    scores = sorted((odds[at % len(odds)] for at in range(len(pool))), reverse=True)
    chosen = choose_passages([RankedSentences(tuple(pool), tuple(scores), 0.9)], hits)

    assert len(chosen) <= MOST_PASSAGES
    beliefs = [passage.belief for passage in chosen]
    assert beliefs == sorted(beliefs, reverse=True)
    assert all(PAYS <= belief <= 1.0 for belief in beliefs[1:])
    around = {hit.segment_id: hit.wide for hit in hits}
    for at, passage in enumerate(chosen):
        proof, own = passage.proof, around[passage.segment_id]
        assert own.start <= proof["start"] <= proof["highlight"]["start"]
        assert proof["highlight"]["end"] <= proof["end"] <= own.end
        assert passage.text == shown_text(own, proof)  # whole entries, and a check finds the same words
        assert not any(passage.repeats(before, frozenset()) for before in chosen[:at])


def test_the_likeliest_passage_comes_first_though_another_has_the_likeliest_entry() -> None:
    hits = hits_of("# Fares\n\nA ticket costs six euros.\n\n# Dogs\n\nDogs pay two euros. Small dogs pay one.")
    chosen = choose_passages([reading(hits, {"A ticket": 0.4, "Dogs pay": 0.35, "Small dogs": 0.25})], hits)
    assert [passage.text for passage in chosen] == [
        "Dogs pay two euros. Small dogs pay one.",
        "A ticket costs six euros.",
    ]
    assert [highlighted(passage, hits) for passage in chosen] == ["Dogs pay two euros.", "A ticket costs six euros."]


@pytest.mark.parametrize(("belief", "is_shown"), [(2 * PAYS, True), (PAYS / 2, False)])
def test_a_further_passage_is_shown_where_it_pays(belief: float, is_shown: bool) -> None:
    hits = hits_of("# Fares\n\nA ticket costs six euros.\n\n# Dogs\n\nDogs pay two euros.")
    chosen = choose_passages([reading(hits, {"A ticket": 1.0 - belief, "Dogs pay": belief})], hits)
    assert [passage.text for passage in chosen][1:] == ["Dogs pay two euros."] * is_shown


def test_no_more_than_three_are_shown() -> None:
    hits = hits_of("\n\n".join(f"# Part {at}\n\nFare {at} is {at} euros." for at in range(1, 6)))
    chosen = choose_passages([reading(hits, {f"Fare {at}": 0.3 - at / 20 for at in range(1, 6)})], hits)
    assert [passage.text[:6] for passage in chosen] == ["Fare 1", "Fare 2", "Fare 3"]


def test_a_passage_is_shown_once_though_several_of_its_entries_are_likely() -> None:
    hits = hits_of("# Ferry\n\nThe ferry leaves at eight. It leaves at noon. It takes an hour.\n\n# Inn\n\nIt is shut.")
    [ferry, _] = choose_passages(
        [reading(hits, {"The ferry": 0.3, "It leaves": 0.3, "It takes": 0.3, "It is": 0.1})], hits
    )
    assert ferry.text == "The ferry leaves at eight. It leaves at noon. It takes an hour."


RULE = "A member who leaves the club gives back the key of the boat house within ten days of the last outing"


@pytest.mark.parametrize(
    ("other", "shown"), [("", 1), (" and tells the office", 1), (" or by post. Guests have no key", 2)]
)
def test_near_copies_in_other_documents_are_shown_once(other: str, shown: int) -> None:
    hits = [*hits_of(f"# Old rules\n\n{RULE}.", "old"), *hits_of(f"# Rules\n\n{RULE}{other}.", "new")]
    chosen = choose_passages([reading(hits, {"A member": 0.5, "Guests": 0.01})], hits)
    assert len(chosen) == shown


def dated(hits: Sequence[Hit], title: str, **fields: Any) -> list[Hit]:
    """Return hits of a document with this title, and what else tells its date."""
    told = [(replace(hit.segment, title=title, **fields), hit.wide) for hit in hits]
    return [Hit(own, 0.9, around={own.segment_id: replace(around, title=title, **fields)}) for own, around in told]


NEWER = "2025-06-01T08:00:00Z"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ("Rules", {"metadata": {"date": "2026-01-01"}}),
            ("Rules", {"metadata": {"date": "2025-01-01"}, "updated_at": NEWER}),
        ),
        (("Rules 2026", {}), ("Rules 2025", {"updated_at": NEWER})),
        (("Rules", {"updated_at": NEWER}), ("Old rules", {"updated_at": "2024-06-01T08:00:00Z"})),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_the_newest_copy_is_shown_and_names_the_older_ones(one: Any, other: Any, order: int) -> None:
    newer, older = (
        dated(hits_of(f"# Rules\n\n{RULE}.", name), title, **fields)
        for name, (title, fields) in (("new", one), ("old", other))
    )
    hits = [*newer, *older][::order]
    [passage] = choose_passages([reading(hits, {"A member": 0.5})], hits)
    assert passage.document_id == "new"
    assert passage.proof["copies"] == ["old:0"]


def test_the_newest_document_is_shown_where_an_older_one_says_another_number() -> None:
    pages = [hits_of(f"# Rules\n\n{RULE} {days}. Ask at the office.", name) for name, days in (("a", 30), ("b", 20))]
    hits = [*dated(pages[0], "Rules 2025"), *dated(pages[1], "Rules 2026")]
    [passage] = choose_passages([reading(hits, {"A member": 0.5})], hits)
    assert passage.document_id == "b"
    assert passage.proof["copies"] == ["a:0"]


def test_each_part_of_a_question_has_its_best_passage_before_the_second_of_any() -> None:
    hits = hits_of("# Fares\n\nA ticket costs six euros.\n\n# Bikes\n\nBikes cost two.\n\n# Dogs\n\nDogs pay nothing.")
    fares = reading(hits, {"A ticket": 0.6, "Bikes": 0.4})
    dogs = reading(hits, {"Dogs": 0.9, "A ticket": 0.1})
    chosen = [passage.text for passage in choose_passages([fares, dogs], hits)]
    assert chosen == ["A ticket costs six euros.", "Dogs pay nothing.", "Bikes cost two."]


def test_a_passage_goes_on_in_the_next_segment() -> None:
    text = (
        "# Balcony\n\nNot allowed on the balcony:\n\n- smoking and open fire of any kind\n- cats that are not on a lead"
    )
    hits = hits_of(text, size=12)
    last = next(hit for hit in hits if "cats" in hit.segment.text)
    assert "Not allowed" not in last.segment.text
    [passage, *_] = choose_passages([reading([last], {"- cats": 1.0})], [last])
    assert "cats" in passage.text
    assert "smoking" in passage.text
    assert passage.segment_id == last.segment_id
    assert highlighted(passage, hits).startswith("- cats")


def test_a_passage_stays_on_its_page() -> None:
    texts = ["- smoking of any kind\n\n", "- cats on no lead\n", "- grills of coal\n"]
    segments: list[Segment] = []
    for at, text in enumerate(texts):
        start = segments[-1].end if segments else 0
        segments.append(Segment("d", at, start, start + len(text), text, page_idx=min(at, 1)))
    known = {each.segment_id: each for each in segments}
    assert Around(known, known)["d:1"].text == "".join(texts[1:])
    assert Around(known, known)["d:0"].text == texts[0]


def test_of_a_stored_question_the_answer_is_highlighted() -> None:
    hits = hits_of(
        "# Help\n\n**How do I cancel?**\n\nWrite to the office. It may take a week.\n\n**Who pays?**\n\nWe do."
    )
    [passage, *_] = choose_passages([reading(hits, {"How do I cancel": 0.9, "**How": 0.9, "Write": 0.05})], hits)
    assert "How do I cancel?" in passage.text
    assert "We do" not in passage.text
    assert highlighted(passage, hits) == "Write to the office."


def test_a_document_that_only_asks_shows_nothing() -> None:
    hits = hits_of("# Help\n\nHow do I cancel?\n\nHow do I pay?")
    assert choose_passages([reading(hits, {"How": 0.5})], hits) == []


def test_every_passage_shown_is_of_whole_entries_of_an_answer_found_by_the_reader() -> None:
    page = "# Settings\n\n`shared_pages` sets how many pages all sessions share. Its default is 128 MB.\n\n"
    page += "# Sorting\n\n`sort_memory` sets the memory of one sort. Its default is 4 MB.\n\n# Weather\n\nIt rains."
    hits = hits_of(page)
    for question in (
        "Compare shared_pages and sort_memory",
        "What is the difference between shared_pages and sort_memory?",
        "What is the default of shared_pages and of sort_memory?",
    ):
        chosen = choose_passages(rank_by_part(question, hits), hits)
        shown = " ".join(passage.text for passage in chosen)
        assert "128 MB" in shown
        assert "4 MB" in shown
        starts = {entry.start for entry in entries_of(hits[0].segment)}
        assert {passage.proof["start"] for passage in chosen} <= starts


def test_a_setting_that_stands_nowhere_is_not_answered_by_another() -> None:
    hits = hits_of("work_mem (integer)\n\nSets the memory of a sort. The default value is 4 MB.")
    [known] = rank_by_part("What is the default value of work_mem?", hits)
    [unknown] = rank_by_part("What is the default value of temp_buffers?", hits)
    assert known.answerable > unknown.answerable == 0.0


def test_what_one_template_says_of_the_thing_asked_for_gives_way_to_no_copy_about_another() -> None:
    said = "Employees of the {} office receive {} days of paid annual leave in every calendar year, asked for in time."
    hits = [*hits_of(said.format("Berlin", 25), "old"), *hits_of(said.format("Paris", 30), "new")]
    asked = replace(reading(hits, {"Employees of the Berlin": 0.9}), question="How much leave has the Berlin office?")
    assert "Berlin" in choose_passages([asked], hits)[0].text
