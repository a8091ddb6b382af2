"""Requests for work on the texts are told from questions that a passage may answer, in each language claimed."""

import pytest

from tools.rules.requests import request_of

WORK = {
    "en": (
        "Give me the gist of the handbook",
        "Could you translate this clause?",
        "rewrite this section in plain words",
    ),
    "vi": ("tóm tắt giúp tôi trang này", "Theo bạn thì gói nào hợp hơn?", "soạn giúp mình một thông báo"),
    "zh": ("帮我总结一下这个页面", "把这一段翻译成英文", "你觉得新规定怎么样？"),
    "de": ("Fasse dieses Dokument zusammen", "Übersetze diesen Absatz", "Was hältst du von der Regelung?"),
    "fr": ("Résume ce document", "Peux-tu rédiger une annonce ?", "Traduis ce paragraphe"),
    "es": ("Resume este documento", "¿Puedes redactar un aviso?", "Traduce este párrafo al inglés"),
    "ja": ("このページを要約してください", "この段落を英語に訳して"),
}
OPEN = {
    "en": ("How many meetings were there altogether?", "Compare both contracts"),
    "vi": ("Tổng cộng có bao nhiêu cuộc họp?", "So sánh hai hợp đồng này"),
    "zh": ("今年一共开了多少次会?", "比较一下两份合同"),
    "de": ("Wie viele Sitzungen gab es insgesamt?", "Vergleiche bitte die beiden Verträge"),
    "ja": ("今年は全部で何回会議がありましたか?", "新規程と旧規程を比較して"),
}
QUESTIONS = (
    "How do I translate the user interface?",
    "Where can I find the summary of benefits?",
    "Who approves travel expenses?",
    "How do I write a unit test?",
    "Làm thế nào để dịch giao diện sang ngôn ngữ khác?",
    "Ai duyệt chi phí công tác?",
    "怎么把界面翻译成其他语言?",
    "谁批准差旅费?",
    "Wo finde ich die Zusammenfassung der Leistungen?",
    "Comment traduire l'interface dans une autre langue ?",
    "¿Cómo traduzco la interfaz a otro idioma?",
    "画面を他の言語に翻訳する方法は?",
)


@pytest.mark.parametrize(("language", "asked"), [(code, each) for code, several in WORK.items() for each in several])
def test_a_request_for_work_is_one_in_its_language(language: str, asked: str) -> None:
    request = request_of(asked)
    assert request is not None
    assert (request.kind, request.language) == ("work", language)


@pytest.mark.parametrize(("language", "asked"), [(code, each) for code, several in OPEN.items() for each in several])
def test_a_total_or_a_comparison_may_be_said_as_it_stands(language: str, asked: str) -> None:
    request = request_of(asked)
    assert request is not None
    assert (request.kind, request.language) == ("open", language)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_about_such_work_is_no_request(question: str) -> None:
    assert request_of(question) is None


def test_a_question_that_repeats_a_polite_word_takes_no_longer_than_it_is_long() -> None:
    assert request_of("把" * 2_000) is None
