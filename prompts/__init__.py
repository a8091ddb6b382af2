"""Prompts, one Markdown file each, and the fixed lines of every language in one TOML file."""

import hashlib
import string
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

UNSPACED = ("zh", "ja")  # languages without a space between sentences


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt template."""

    name: str
    text: str

    def format(self, **fields: str) -> str:
        return self.text.format(**fields)


@cache
def load(name: str, *placeholders: str) -> Prompt:
    """Load ``prompts/<name>.md`` and check that it has exactly the placeholders that its code fills.

    Raises ValueError where they differ, so that a prompt edited without its code fails at import.
    """
    text = files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
    found = {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
    if found != set(placeholders):
        raise ValueError(f"prompts/{name}.md has placeholders {sorted(found)}, its code fills {sorted(placeholders)}")
    return Prompt(name, text)


def hashes() -> dict[str, str]:
    """Return the short hash of every prompt by name, as evals record it."""
    found = (file for file in files(__name__).iterdir() if file.name.endswith(".md"))
    texts = {file.name.removesuffix(".md"): file.read_text(encoding="utf-8").strip() for file in found}
    return {name: hashlib.sha256(text.encode()).hexdigest()[:12] for name, text in sorted(texts.items())}


@dataclass(frozen=True, slots=True)
class Lines:
    """The fixed lines of one language."""

    greeting: str
    thanks: str
    goodbye: str
    about: str
    acknowledgement: str
    only_library: str
    quotes_only: str
    comes_nearest: str
    add_model: str
    nothing_found: str
    nothing_on_web: str
    web_failed: str
    not_from_library: str
    not_in_library: str
    no_page: str
    no_page_in: str
    pages_cut: str
    nearest: str
    searched: str
    disagree: str
    disagree_dated: str
    quoted: str
    quoted_dated: str
    quoted_stored: str
    withdrawn: str
    corrected: str
    one_document: str
    documents: str
    catalogue_empty: str
    fill_library: str
    catalogue_no_format: str
    catalogue_holds: str
    catalogue_of_format: str
    catalogue_found: str
    catalogue_mentions: str
    catalogue_changed: str
    catalogue_unchanged: str
    catalogue_line: str
    catalogue_line_added: str
    catalogue_pages: str
    catalogue_line_changed: str
    catalogue_more: str
    read_only: str
    written_in: str
    comma: str
    both: str
    languages: Mapping[str, str]  # their names, by ISO 639-1 code


@cache
def lines(language: str) -> Lines:
    """Return the fixed lines of a language (ISO 639-1), or the English ones where it has none."""
    return _all_lines().get(language) or _all_lines()["en"]


def is_refusal(text: str) -> bool:
    """Whether a text begins as a refusal does, in any language."""
    return text.startswith(_refusals())


@cache
def _refusals() -> tuple[str, ...]:
    return tuple(
        line
        for each in _all_lines().values()
        for line in (
            each.not_in_library,
            each.nothing_found,
            each.nothing_on_web,
            each.web_failed,
            each.only_library,
            each.no_page.partition("{")[0],
        )
    )


def join_lines(language: str, texts: Iterable[str]) -> str:
    """Join fixed lines of a language to one paragraph."""
    return ("" if language in UNSPACED else " ").join(texts)


@cache
def _all_lines() -> dict[str, Lines]:
    tables = tomllib.loads(files(__name__).joinpath("lines.toml").read_text(encoding="utf-8"))
    return {language: Lines(**table) for language, table in tables.items()}
