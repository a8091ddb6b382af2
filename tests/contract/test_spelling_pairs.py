"""Questions find texts that spell the same otherwise: dates, versions, joined words, typos and scripts."""

from research.spelling_pairs import UNSEEN, load_pairs, rank_pairs, tabulate
from tools.process.library import open_library
from tools.settings import Settings

LEAST = 0.95  # of our pairs, .97 when they were written
LEAST_UNSEEN = 0.8


async def test_most_spellings_are_found_first(settings: Settings) -> None:
    pairs, unseen = load_pairs(), load_pairs(UNSEEN)
    async with open_library(settings) as library:
        ours = tabulate(pairs, await rank_pairs(library, pairs))
        others = tabulate(unseen, await rank_pairs(library, unseen))
    assert ours["all"]["first"] >= LEAST * len(pairs), ours["missed"]
    assert others["all"]["first"] >= LEAST_UNSEEN * len(unseen)
