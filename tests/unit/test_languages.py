"""The language of a question: each is answered, and refused, in the language in which it is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from text.language import language

QUESTIONS = {
    "en": """
        What does the ticket cost?|reset password|opening hours|max_connections default|How do I renew a loan?
        Who was Anna Berg?|Is die casting covered?|Can I come in as a guest?|Do I pay per month or per year?
        Where is Müller's office?|El Niño effects|La Niña years|Das Boot running time|Café opening hours
        Was it a no or a yes?|no refunds|What is the port of São Paulo?|Is there a per diem?|Come as you are
        And for children?|vacation days|sum insured per person|Which data centre is in Köln?|pro rata fees
        How much is the en suite room?|What is a de facto standard?|Does the a la carte menu change?|on call rota
        Who signs the memo?|bus line 5 timetable|How long are minutes kept?|Is man power rented?|over time pay
        When does the son of Ben visit?|I am late, what now?|du command options|What does the es locale set?
        """,
    "de": """
        Was kostet die Karte?|Wie lange ist das Museum geöffnet?|Wo finde ich den Schlüssel?|Wer ist zuständig?
        Welcher Port wird benutzt?|Wann schließt der Pool?|Wie viele Tage Urlaub gibt es?|Darf ich Hunde mitbringen?
        Muss ich eine Gebühr zahlen?|Gibt es einen Rabatt für Kinder?|Wie setze ich mein Passwort zurück?
        Was ist work_mem?|Kann man den Vertrag kündigen?|Warum startet der Dienst nicht?
        """,
    "fr": """
        Combien coûte le billet ?|Quand ferme la piscine ?|Où est la clé ?|Qui est responsable du service ?
        Comment réinitialiser mon mot de passe ?|Quel port est utilisé ?|Pourquoi le service ne démarre pas ?
        Y a-t-il une réduction pour les enfants ?|Quelle est la valeur par défaut de work_mem ?
        Est-ce que le musée ouvre le lundi ?
        Peut-on résilier le contrat ?|Quels sont les horaires ?
        """,
    "es": """
        ¿Cuánto cuesta la entrada?|¿Cuándo cierra la piscina?|¿Dónde está la llave?|¿Quién es responsable?
        ¿Cómo restablezco mi contraseña?|¿Qué puerto se usa?|Por qué no arranca el servicio|¿Hay descuento para niños?
        ¿Cuál es el valor de work_mem?|¿Se puede cancelar el contrato?|Cuántos días de vacaciones tengo
        ¿Horario?
        """,
    "pt": """
        Quanto custa o bilhete?|Quando fecha a piscina?|Onde está a chave?|Quem é o responsável?
        Como redefinir a minha senha?|Qual é a porta usada?|Por que o serviço não inicia?|Há desconto para crianças?
        Qual o valor padrão de work_mem?|Posso cancelar o contrato?|Quantos dias de férias tenho?
        Não consigo entrar, o que faço?
        """,
    "it": """
        Quanto costa il biglietto?|Quando chiude la piscina?|Dove si trova la chiave?|Chi è il responsabile?
        Come reimposto la mia password?|Qual è la porta usata?|Perché il servizio non parte?
        C'è uno sconto per i bambini?
        Quanti giorni di ferie ho?|Si può disdire il contratto?|Quali sono gli orari del museo?
        """,
    "ja": "チケットはいくらですか。|プールは何時に閉まりますか？|work_mem のデフォルトは？|鍵はどこにありますか",
    "ko": "입장료는 얼마입니까?|수영장은 언제 닫습니까?|work_mem의 기본값은?|열쇠는 어디에 있나요",
    "ru": "Сколько стоит билет?|Когда закрывается бассейн?|Что такое work_mem?|Где ключ?",
    "zh": "门票多少钱？|泳池几点关门？|work_mem 的默认值是多少？",
    "vi": "Giá vé là bao nhiêu?|Hồ bơi đóng cửa lúc mấy giờ?|ve vao cua gia bao nhieu",
}
ASKED = [
    (code, question.strip())
    for code, text in QUESTIONS.items()
    for line in text.splitlines()
    for question in line.split("|")
]


def asked_in(code: str) -> list[str]:
    """List the questions of a language."""
    return [question for asked, question in ASKED if asked == code and question]


@pytest.mark.parametrize("code", QUESTIONS)
def test_the_language_of_a_question(code: str) -> None:
    assert [question for question in asked_in(code) if language(question) != code] == []


@pytest.mark.parametrize("name", ["work_mem", "Müller", "São Paulo", "--depth", "2025", "Łódź"])
def test_english_stays_english_with_names_in_it(name: str) -> None:
    assert [question for question in asked_in("en") if language(f"{question} And {name}?") != "en"] == []


@given(
    st.sampled_from([each for each in ASKED if each[1] and each[0] not in ("zh", "ja")]),
    st.sampled_from(["work_mem", "A3", "8300"]),
)
def test_a_name_beside_it_does_not_change_a_language(asked: tuple[str, str], name: str) -> None:
    assert language(f"{asked[1]} {name}") == asked[0]
