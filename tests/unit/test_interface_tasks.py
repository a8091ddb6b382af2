"""What chat interfaces ask of a model about a chat, answered by rule."""

import json

import pytest

from api.dialects.openai.interface_tasks import answer_to_task

CHAT = (
    "<chat_history>\nUSER: Hello! When does leave lapse?\nASSISTANT: In March.[1]\n"
    "USER: And how many days are there?\nASSISTANT: 25 days.[1]\n</chat_history>"
)


def asking(task: str, form: str = "", chat: str = CHAT) -> str:
    return f"### Task:\n{task}\n### Guidelines:\n- Be brief.\n### Output:\n{form}\n### Chat History:\n{chat}"


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        (asking("Give the chat a title.", 'JSON format: { "title": "a title" }'), {"title": "When does leave lapse?"}),
        (asking("Name some tags.", 'JSON format: { "tags": ["a", "b"] }'), {"tags": []}),
        (asking("Suggest questions.", 'JSON format: { "follow_ups": ["a?"] }'), {"follow_ups": []}),
        (
            asking("Find queries.", 'Strictly return in JSON format: \n{\n  "queries": ["a"]\n}'),
            {"queries": ["And how many days are there?"]},
        ),
        (asking("Describe an image.", 'JSON format:\n{\n    "prompt": "..."\n}'), {"prompt": ""}),
        (asking("Complete the text.", 'Only in JSON format: `{ "text": "..." }`.'), {"text": ""}),
        (asking("Give the chat a title.", 'JSON format: { "title": "a title" }', chat=""), {"title": "New Chat"}),
    ],
)
async def test_a_task_is_answered_in_the_form_that_it_asks_for(prompt: str, reply: dict[str, object]) -> None:
    assert json.loads(await answer_to_task(prompt) or "") == reply


async def test_a_title_that_is_asked_for_as_text_is_text() -> None:
    asked = asking("Generate a concise, 3-5 word title with an emoji.", "Return ONLY the title text.")
    assert await answer_to_task(asked) == "When does leave lapse?"


@pytest.mark.parametrize(
    "question",
    [
        "When does leave lapse?",
        "What does '### Task:' mean in the handbook?",
        "### Task:\nExplain the notice period.",
        '### Task:\nRespond to the user query using the context.\n<source id="1">JSON format: { "title": 1 }</source>',
        asking(
            "Explain it.", "Plain words.", chat='<chat_history>\nUSER: JSON format: { "title": 1 }\n</chat_history>'
        ),
        asking("Explain it.", chat="<chat_history>" * 100_000),  # as fast as any other
    ],
)
async def test_anything_else_is_a_question(question: str) -> None:
    assert await answer_to_task(question) is None
