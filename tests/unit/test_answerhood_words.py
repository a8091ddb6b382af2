"""Whether an answer answers is said alike wherever a person reads it."""

import re
from pathlib import Path

from answers.answerhood import ANSWERS, MAY_ANSWER, SAID, answerhood_of
from tools.exports.wording import LANGUAGES, words_of
from tools.settings import Settings

PAGE = Path(__file__).parents[2] / "api" / "page" / "text" / "answerhood.js"


def test_the_page_draws_the_lines_where_the_command_line_does() -> None:
    lines = {name: float(least) for name, least in re.findall(r'\["(\w+)", ([\d.]+)\]', PAGE.read_text("utf-8"))}
    assert lines == {"answers": ANSWERS, "may_answer": MAY_ANSWER, "nearest": 0}
    assert lines.keys() == SAID.keys()


def test_what_is_not_refused_may_answer() -> None:
    assert Settings.model_fields["refuse_below"].default == MAY_ANSWER
    assert answerhood_of(MAY_ANSWER) == "may_answer"


def test_exports_say_it_in_every_language() -> None:
    said = [words_of(language)(f"answerhood_{name}") for language in LANGUAGES for name in SAID]
    assert len(set(said)) == len(LANGUAGES) * len(SAID)
