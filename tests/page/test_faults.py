"""The table of faults in docs/page.md: each test that it names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`([\w./]+\.(?:py|mjs))(?:::(\w+))?`")


def test_every_test_that_the_table_names_is_there() -> None:
    manual = (ROOT / "docs" / "page.md").read_text("utf-8")
    table = manual.partition("## Faults of the review, by number")[2]
    named = NAMED.findall(table)
    assert named
    missing = []
    for path, name in named:
        file = ROOT / "tests" / "page" / path
        if not file.is_file() or (name and f"def {name}(" not in file.read_text("utf-8")):
            missing.append(f"{path}::{name}")
    assert missing == []
