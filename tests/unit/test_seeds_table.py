"""What docs/seeds.md says of the first users' requests: each row that holds names a test that there is."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+) \| (.+) \| ([YPND]) \| (.+) \|$", re.MULTILINE)
TEST = re.compile(r"`(\w+/test_\w+\.py)::(\w+)`")
COUNTED = re.compile(r"(\d+) of (\d+) hold, (\d+) are declined, (\d+) hold in part, (\d+) do not")


def test_each_row_that_holds_names_a_test_that_there_is() -> None:
    assert [row[0] for row in ROW.findall(PAGE) if row[2] == "Y" and not TEST.search(row[3])] == []
    for file, name in TEST.findall(PAGE):
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert re.search(rf"def {name}\b", source), (file, name)


def test_rows_are_counted_as_they_are() -> None:
    tables = re.split(r"(?=^\| 1 \|)", PAGE, flags=re.MULTILINE)[1:]
    held = [Counter(row[2] for row in ROW.findall(table)) for table in tables]
    grouped = [held[0] + held[1] + held[2], *held[3:]]
    told = [tuple(map(int, found)) for found in COUNTED.findall(PAGE)]
    assert told == [(each["Y"], each.total(), each["D"], each["P"], each["N"]) for each in grouped]
