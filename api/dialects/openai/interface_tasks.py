"""Answers by rule to what chat interfaces ask of a model about a chat, such as its title.

Open WebUI sends these prompts as questions of the user, to the model of the chat. The library has no answer to them, so
no run is spent on them: a title is cut from the chat's first question, as those of sessions are; the search query of a
chat is its last question; of tags, follow-up questions, completions and prompts for images there are none.
"""

import json
import re

from tools.rules.question_rules import DEFAULT_TITLE
from tools.sessions.titles import best_title

_TASK = "### Task:"
_HISTORY = ("<chat_history>", "</chat_history>")
_SPEAKER = re.compile(r"^(USER|ASSISTANT|SYSTEM): ?", re.MULTILINE)
_FORM = re.compile(r'JSON format:[\s`]*\{\s*"(title|tags|follow_ups|queries|prompt|text)"\s*:')
_FIRST_WORDS = (  # of templates that ask for plain text
    (re.compile(r"generate a concise, [^\n]{0,40}title", re.IGNORECASE), "title"),
    (re.compile(r"suggest [^\n]{0,40}follow-up questions", re.IGNORECASE), "follow_ups"),
    (re.compile(r"generate [^\n]{0,40}tags", re.IGNORECASE), "tags"),
)
# Open WebUI's question over its own passages begins with "### Task:" as well, and is one for the library.
_QUESTION = re.compile(r"respond to the user", re.IGNORECASE)


async def answer_to_task(prompt: str) -> str | None:
    """Return the reply to an interface's prompt, in the form that it asks for; None for any other question.

    A prompt is one that begins with ``### Task:`` and asks for something that is known here.
    """
    begun = prompt.lstrip()
    if not begun.startswith(_TASK):
        return None
    task = begun.removeprefix(_TASK).lstrip()
    if _QUESTION.match(task):
        return None
    instructions, history = _without_history(task)
    form = _FORM.search(instructions)
    kind = form[1] if form else next((name for known, name in _FIRST_WORDS if known.match(task)), None)
    if kind is None:
        return None
    questions = _questions(history)
    if kind == "title":
        title = (await best_title(None, questions[0]))[0] if questions else DEFAULT_TITLE
        return json.dumps({"title": title}, ensure_ascii=False) if form else title
    if kind == "queries":
        return json.dumps({"queries": questions[-1:]}, ensure_ascii=False)
    return json.dumps({kind: "" if kind in ("prompt", "text") else []})


def _without_history(task: str) -> tuple[str, str]:
    """Return what stands before the chat in a prompt, and the chat; all of it and nothing where there is no chat."""
    opening, closing = _HISTORY
    start = task.find(opening)
    end = task.find(closing, start + len(opening)) if start >= 0 else -1
    return (task, "") if end < 0 else (task[:start], task[start + len(opening) : end])


def _questions(history: str) -> list[str]:
    """Return what the user says in a chat that is written as ``USER: ...`` and ``ASSISTANT: ...`` paragraphs."""
    parts = _SPEAKER.split(history)
    said = zip(parts[1::2], parts[2::2], strict=True)
    return [text.strip() for speaker, text in said if speaker == "USER" and text.strip()]
