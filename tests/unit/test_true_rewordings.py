"""True sentences in other words than their sources, in six languages: code fails none of them, whatever they say.

Clock times, words for digits, quarters, units, dates, sums, reordered lists. What code doubts among them is a number or
a short run that stands otherwise in the source, or that few of its words stand there: a question to the judge.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from graph.ports import WrittenSection
from graph.reasons import why_each
from tests.fakes import check_section, segment

ROWS = [json.loads(line) for line in Path(__file__).with_name("true_rewordings.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['lang']}-{row['kind']}-{at}" for at, row in enumerate(ROWS)])
def test_no_true_rewording_is_failed_by_code(row: dict[str, Any]) -> None:
    source = segment("doc", 0, row["evidence"][0], title=row["title"])
    (claim,) = check_section(WrittenSection(row["claim"], (source,), question=row["question"]))
    assert claim.verdict == "unverified"
    assert claim.proofs
    codes = {each["code"] for each in why_each(claim.reasons)}
    assert codes <= {"differs", "number_not_found", "closest_sentence", "other_language"}
    assert claim.doubted or codes.isdisjoint(("differs", "number_not_found"))
