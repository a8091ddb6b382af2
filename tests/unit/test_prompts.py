"""Prompts and fixed lines are what their code expects."""

import string
from dataclasses import fields

import pytest

import prompts


def test_a_prompt_whose_placeholders_differ_from_its_code_does_not_load() -> None:
    with pytest.raises(ValueError, match="placeholders"):
        prompts.load("generate_answer", "no_such_field")


@pytest.mark.parametrize("language", ["en", "zh", "vi"])
def test_every_language_has_every_line_and_names_places(language: str) -> None:
    said = prompts.lines(language)
    for field in fields(said):
        assert getattr(said, field.name).strip()
    named = {name for _, name, _, _ in string.Formatter().parse(said.nearest) if name}
    assert named == {"places"}


def test_a_language_without_lines_is_answered_in_english() -> None:
    assert prompts.lines("fi") == prompts.lines("en")
