"""The kit that every SegmentSearcher passes. A test class takes it over and provides the fixture ``searcher``.

The searcher holds ``LIBRARY``, each entry a document of one or more segments in the workspace "default".
"""

from dataclasses import replace
from random import Random

import pytest

from graph.evidence import Identity, Space
from graph.ports import SearchQuery, SegmentSearcher
from tools.library.ingestion import NewDocument

ME, YOU, ELSEWHERE = Identity(user="me"), Identity(user="you"), Identity(workspace="elsewhere", user="me")
LIGHTHOUSE = "0b7e5f0e-0000-4000-8000-000000000001"
DIARY = "0b7e5f0e-0000-4000-8000-000000000002"
VIETNAMESE = "0b7e5f0e-0000-4000-8000-000000000003"
CHINESE = "0b7e5f0e-0000-4000-8000-000000000004"
LONG = "0b7e5f0e-0000-4000-8000-000000000005"
PILOT = "0b7e5f0e-0000-4000-8000-000000000006"
SHIP = "0b7e5f0e-0000-4000-8000-000000000007"
CAPTAIN = "0b7e5f0e-0000-4000-8000-000000000008"
SECURITY = "0b7e5f0e-0000-4000-8000-000000000009"
CHINESE_PILOT = "0b7e5f0e-0000-4000-8000-00000000000a"
CHINESE_SHIP = "0b7e5f0e-0000-4000-8000-00000000000b"
HARBOUR: Space = {"id": "sp-1", "slug": "harbour"}

LONG_TEXT = "\n\n".join(
    f"Chapter {n} is about {subject}. "
    + f"It describes the {subject} of the old town at length, year after year. " * 12
    for n, subject in enumerate(["bakery", "brewery", "cooperage", "dovecote", "embankment", "foundry", "granary"])
)


def document(
    document_id: str, title: str, text: str, owner: str | None = None, space: Space | None = None
) -> NewDocument:
    """Make a plain text document."""
    return NewDocument(
        data=text.encode(), name=f"{title}.txt", document_id=document_id, title=title, owner=owner, space=space
    )


LIBRARY = [
    document(
        LIGHTHOUSE,
        "Lighthouse manual",
        "The lamp of the lighthouse turns once in twelve seconds. Its keeper oils the gears every Tuesday.",
        space=HARBOUR,
    ),
    document(DIARY, "Diary", "The keeper dreamt that the lamp of the lighthouse turned into a pumpkin.", owner="me"),
    document(VIETNAMESE, "Sổ tay", "Ngọn hải đăng được xây dựng vào năm 1898 trên đảo Kê Gà."),
    document(CHINESE, "手册", "这座灯塔的灯每十二秒旋转一次，守塔人每星期二给齿轮上油。"),
    document(LONG, "Chronicle", LONG_TEXT),
    document(
        PILOT,
        "Pilots",
        "The pilot of the inner basin serves aboard the Amphitrite. Security is no concern of his: Captain Nemo sees to"
        " the security of the basin.",
    ),
    document(SHIP, "Amphitrite (ship)", "Launched at Leith in 1911, she displaces nine hundred tonnes."),
    document(CAPTAIN, "Captain Nemo", "Born in Bundelkhand, he went to school in Europe.", owner="me"),
    document(SECURITY, "Security", "Every gate has a guard and a lock of its own."),
    document(CHINESE_PILOT, "引水员名册", "内港池的引水员在安菲特里忒号上服役。"),
    document(CHINESE_SHIP, "安菲特里忒号", "一九一一年下水，排水量九百吨。"),
]


def chinese_pages(count: int, seed: int = 7) -> tuple[list[NewDocument], list[str]]:
    """Make documents of Chinese characters, some common and most rare, and a question out of each."""
    random = Random(seed)
    characters = [chr(0x4E00 + place) for place in range(400)]
    weights = [1 / (1 + place) for place in range(400)]
    texts = ["".join(random.choices(characters, weights, k=random.randint(30, 900))) for _ in range(count)]
    pages = [document(f"{LIGHTHOUSE[:-4]}{0xF000 + n:04x}", f"Page {n}", f"{text}。") for n, text in enumerate(texts)]
    return pages, [text[10:24] for text in texts]


class SearcherContract:
    async def test_finds_what_bears_on_the_question_first(self, searcher: SegmentSearcher) -> None:
        found = await searcher.search(SearchQuery("How often does the lamp of the lighthouse turn?", YOU))
        assert found.hits[0].segment.document_id == LIGHTHOUSE
        assert found.hits[0].score > 0.5
        assert found.hits[0].own_score == found.hits[0].score
        assert found.degraded is None

    @pytest.mark.parametrize(
        ("question", "document_id"),
        [
            ("Ngọn hải đăng được xây năm nào?", VIETNAMESE),
            ("ngon hai dang duoc xay dung nam nao", VIETNAMESE),
            ("守塔人什么时候给齿轮上油？", CHINESE),
            ("WHO OILS THE GEARS?", LIGHTHOUSE),
            ("ｗｈｏ ｏｉｌｓ ｔｈｅ ｇｅａｒｓ", LIGHTHOUSE),
        ],
    )
    async def test_any_language_and_spelling(self, searcher: SegmentSearcher, question: str, document_id: str) -> None:
        found = await searcher.search(SearchQuery(question, YOU))
        assert found.hits[0].segment.document_id == document_id

    async def test_scores_fall_and_none_is_below_the_least(self, searcher: SegmentSearcher) -> None:
        for least in (0.0, 0.3, 0.6):
            found = await searcher.search(SearchQuery("the old town lighthouse keeper", ME, min_score=least))
            scores = [hit.score for hit in found.hits]
            assert scores == sorted(scores, reverse=True)
            assert all(least <= score <= 1 for score in scores)

    async def test_at_most_top_k_are_found_and_none_twice(self, searcher: SegmentSearcher) -> None:
        query = SearchQuery("the old town year after year", ME, min_score=0.0, expand=0)
        for top_k in (1, 2, 4):
            found = await searcher.search(replace(query, top_k=top_k))
            ids = [hit.segment.segment_id for hit in found.hits]
            assert len(ids) == len(set(ids)) == top_k

    async def test_neighbours_come_along_within_their_document(self, searcher: SegmentSearcher) -> None:
        query = SearchQuery("What does the chapter about the dovecote describe?", YOU, top_k=1, min_score=0.0, expand=0)
        [alone] = (await searcher.search(query)).hits
        widened = (await searcher.search(replace(query, expand=1))).hits
        index = alone.segment.segment_index
        assert widened[0].segment == alone.segment
        assert {hit.segment.document_id for hit in widened} == {LONG}
        assert {hit.segment.segment_index for hit in widened} == {index - 1, index, index + 1}

    async def test_a_private_document_is_its_owners_alone(self, searcher: SegmentSearcher) -> None:
        query = SearchQuery("the keeper dreamt of a pumpkin", ME, min_score=0.0)
        assert (await searcher.search(query)).hits[0].segment.document_id == DIARY
        theirs = await searcher.search(replace(query, identity=YOU))
        assert DIARY not in {hit.segment.document_id for hit in theirs.hits}
        named = await searcher.search(replace(query, identity=YOU, document_ids=(DIARY,)))
        assert named.hits == ()

    async def test_another_workspace_sees_nothing(self, searcher: SegmentSearcher) -> None:
        query = SearchQuery("the lamp of the lighthouse", ELSEWHERE, min_score=0.0)
        assert (await searcher.search(query)).hits == ()
        assert (await searcher.search(replace(query, document_ids=(LIGHTHOUSE,)))).hits == ()
        assert (await searcher.search(replace(query, spaces=("harbour",)))).hits == ()

    async def test_filters_hold(self, searcher: SegmentSearcher) -> None:
        query = SearchQuery("lighthouse", ME, min_score=0.0)
        for spaces in (("harbour",), ("sp-1",), ("nowhere", "harbour")):
            found = await searcher.search(replace(query, spaces=spaces))
            assert {hit.segment.document_id for hit in found.hits} == {LIGHTHOUSE}
        assert (await searcher.search(replace(query, spaces=("nowhere",)))).hits == ()
        named = await searcher.search(replace(query, document_ids=(DIARY, "no uuid")))
        assert {hit.segment.document_id for hit in named.hits} == {DIARY}
        assert (await searcher.search(replace(query, document_ids=("no uuid",)))).hits == ()

    async def test_a_document_named_is_searched_whole_however_little_matches(self, searcher: SegmentSearcher) -> None:
        query = SearchQuery("the lamp of the lighthouse", ME, min_score=0.0, document_ids=(LONG,), expand=0)
        assert {hit.segment.document_id for hit in (await searcher.search(query)).hits} == {LONG}

    @pytest.mark.parametrize(
        "text",
        ["", "?!", "  ", "🙂", "zyxwv qponm", "' OR 1=1 --", "%s {} \\", "\x00lamp", "The \x00Captain Nemo\x00 x"],
    )
    async def test_odd_questions_do_no_harm(self, searcher: SegmentSearcher, text: str) -> None:
        found = await searcher.search(SearchQuery(text, ME))
        assert all(0 <= hit.score <= 1 for hit in found.hits)

    @pytest.mark.parametrize(
        "question",
        [
            "What is the capital of Mongolia?",
            "Who won the world cup in 1998?",
            "How do I reset my password?",
            "蒙古的首都是哪里？",
        ],
    )
    async def test_what_the_library_cannot_tell_scores_low(self, searcher: SegmentSearcher, question: str) -> None:
        assert (await searcher.search(SearchQuery(question, YOU, min_score=0.3))).hits == ()

    async def test_segments_tell_their_place(self, searcher: SegmentSearcher) -> None:
        found = await searcher.search(SearchQuery("the chapter about the foundry", ME))
        segment = found.hits[0].segment
        assert LONG_TEXT[segment.start : segment.end] == segment.text
        assert (segment.title, segment.document_id) == ("Chronicle", LONG)
        assert segment.tokens > 0

    async def test_a_document_that_the_best_hit_names_comes_after_it(self, searcher: SegmentSearcher) -> None:
        question = "Where was the vessel of the inner basin's pilot built?"
        found = await searcher.search(SearchQuery(question, ME, min_score=0.1))
        best, *others = [hit.segment.document_id for hit in found.hits]
        assert best == PILOT
        assert {SHIP, CAPTAIN} <= set(others)

    async def test_a_document_that_the_question_names_is_found(self, searcher: SegmentSearcher) -> None:
        for question in ("What does Captain Nemo see to?", "what does captain nemo see to?"):
            found = await searcher.search(SearchQuery(question, ME))
            assert CAPTAIN in {hit.segment.document_id for hit in found.hits}

    async def test_a_name_leads_nobody_to_what_is_out_of_reach(self, searcher: SegmentSearcher) -> None:
        query = SearchQuery("Where was the vessel of the inner basin's pilot built?", YOU, min_score=0.0)
        assert CAPTAIN not in {hit.segment.document_id for hit in (await searcher.search(query)).hits}
        named = replace(query, identity=ME, document_ids=(PILOT, LIGHTHOUSE))
        assert {hit.segment.document_id for hit in (await searcher.search(named)).hits} <= {PILOT, LIGHTHOUSE}
        inside = replace(query, identity=ME, spaces=("harbour",))
        assert {hit.segment.document_id for hit in (await searcher.search(inside)).hits} == {LIGHTHOUSE}

    async def test_an_ordinary_word_is_no_name(self, searcher: SegmentSearcher) -> None:
        found = await searcher.search(SearchQuery("Where was the vessel of the inner basin's pilot built?", ME))
        assert SECURITY not in {hit.segment.document_id for hit in found.hits}

    async def test_a_name_in_a_script_without_spaces_is_followed(self, searcher: SegmentSearcher) -> None:
        found = await searcher.search(SearchQuery("内港池的引水员的船是哪里造的？", YOU))
        documents = [hit.segment.document_id for hit in found.hits]
        assert documents[0] == CHINESE_PILOT
        assert CHINESE_SHIP in documents
