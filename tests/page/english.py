"""What the page says in English, by the key of its tables of words: tests hold while a sentence is worded anew."""

import re
from functools import cache
from pathlib import Path

WORDS = Path(__file__).parents[2] / "api" / "page" / "words"


@cache
def english(path: str) -> str:
    """Return the text of a key, the first where it has several: ``answer.stopReasons.error``, ``shelf/notes.same``."""
    folder, _, keys = path.rpartition("/")
    files = [WORDS / folder / name for name in ("en.js", "labels.js", "index.js")]
    tables, at = "".join(file.read_text("utf-8") for file in files if file.is_file()), 0
    *outer, last = keys.split(".")
    for pattern in (*(rf"\b{key}(?::| =) \{{" for key in outer), rf'\b{last}: \[?"([^"]*)"'):
        found = re.compile(pattern).search(tables, at)
        assert found is not None, f"the page has no words for {path}"
        at, text = found.end(), found[found.re.groups]
    return text
