"""Whether an answer answers is said alike wherever a person reads it."""

from answers.answerhood import MAY_ANSWER, SAID, answerhood_of
from tools.exports.wording import LANGUAGES, words_of
from tools.extractive.extractive_family import ANSWERABLE
from tools.settings import Settings


def test_what_is_refused_is_never_said_to_answer() -> None:
    refused = Settings.model_fields["refuse_below"].default
    assert refused == ANSWERABLE <= MAY_ANSWER
    assert answerhood_of(MAY_ANSWER) == "may_answer"
    assert answerhood_of(refused - 0.01) == "nearest"


def test_exports_say_it_in_every_language() -> None:
    said = [words_of(language)(f"answerhood_{name}") for language in LANGUAGES for name in SAID]
    assert len(set(said)) == len(LANGUAGES) * len(SAID)
