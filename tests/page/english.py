"""What the page says, by the key of its catalogues of words: tests hold while a sentence is worded anew."""

import json
from functools import cache, reduce
from pathlib import Path
from typing import Any

WORDS = Path(__file__).parents[2] / "api" / "page" / "words"
LANGUAGES = ("en", "vi", "zh", "ar")


@cache
def catalogue(language: str) -> dict[str, Any]:
    """Return all that the page says in a language."""
    return dict(json.loads((WORDS / f"{language}.json").read_text("utf-8")))


def english(path: str, **places: str) -> str:
    """Return what a key such as ``answer.stopReasons.error`` says in English, with what stands in its places."""
    message = str(reduce(lambda part, key: part[key], path.split("."), catalogue("en")))
    for name, value in places.items():
        message = message.replace(f"{{{name}}}", value)
    return message
