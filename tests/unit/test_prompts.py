"""Prompts and fixed lines are what their code expects."""

import string
from dataclasses import fields
from importlib.resources import files

import pytest

import prompts


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


@pytest.mark.parametrize("language", ["en", "zh", "vi"])
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
