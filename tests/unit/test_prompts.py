"""Prompts and fixed lines are what their code expects."""

import string
from dataclasses import fields
from importlib.resources import files

import pytest

import prompts
from answers.checking import correction
from graph.evidence import Claim

LANGUAGES = ["en", "zh", "vi", "de", "fr", "es", "pt", "it", "ja", "ko", "ru"]


def test_a_prompt_whose_placeholders_differ_from_its_code_does_not_load() -> None:
    with pytest.raises(ValueError, match="placeholders"):
        prompts.load("generate_answer", "no_such_field")


@pytest.mark.parametrize("name", sorted(prompts.hashes()))
def test_what_changes_between_requests_stands_below_the_divider(name: str) -> None:
    text = files("prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    fixed, divider, rest = text.partition("\n---\n")
    variable = [field for _, field, _, _ in string.Formatter().parse(fixed) if field]
    if name == "revise_sections":  # goes on where the request for the answer ends
        assert (divider, fixed.index("{sections}") < fixed.index("{language}")) == ("", True)
    else:
        assert (variable, bool(rest)) == ([], True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_line_and_names_places(language: str) -> None:
    said = prompts.lines(language)
    for field in fields(said):
        held = getattr(said, field.name)
        assert all(each.strip() for each in (held.values() if field.name == "languages" else [held]))
    assert said.languages.keys() == prompts.lines("en").languages.keys()
    named = {name for _, name, _, _ in string.Formatter().parse(said.nearest) if name}
    assert named == {"places"}


def test_a_language_without_lines_is_answered_in_english() -> None:
    assert prompts.lines("fi") == prompts.lines("en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_line_has_the_same_places_in_every_language(language: str) -> None:
    said, english = prompts.lines(language), prompts.lines("en")
    assert said is not english or language == "en"
    for field in fields(said):
        if field.name != "languages":
            assert _places(getattr(said, field.name)) == _places(getattr(english, field.name)), field.name


def _places(line: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(line) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_claims_that_are_withdrawn_are_each_in_quotation_marks(language: str) -> None:
    claims = [
        Claim(start=0, end=2, text=text, verdict="unsupported", reasons=[], citations=[]) for text in ("A.", "B.")
    ]
    said = correction(claims, "A. B.", [], language)
    opening, _, rest = said.partition("A.")
    closing, _, again = rest.partition(", ")
    assert opening.endswith(again[: again.index("B.")])
    assert again[again.index("B.") + 2 :].startswith(closing)
