"""Prompts as chat messages: what stands above a prompt's first ``---`` line is the system's, the rest the user's."""

from collections.abc import Sequence

from graph.state import Turn
from prompts import Prompt
from tools.llm.neutral import neutralise
from tools.llm.tokens import cut_to_tokens, estimate_tokens

Messages = Sequence[tuple[str, str]]
DIVIDER = "\n---\n"
LANGUAGES = {
    "ar": "Arabic",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "hi": "Hindi",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}


def messages(prompt: Prompt, **fields: str) -> Messages:
    """Fill a prompt and divide it. Fields above the divider must be ours, never a document's or a user's."""
    system, user = prompt.format(**fields).split(DIVIDER, 1)
    return [("system", system.strip()), ("user", user.strip())]


def language_name(language: str) -> str:
    """Name a language (ISO 639-1) in English, as prompts do."""
    return LANGUAGES.get(language, "the language of the question")


def conversation(turns: Sequence[Turn], *, max_tokens: int) -> str:
    """Write the last turns out, oldest first, each answer cut to 120 tokens, as many as fit in ``max_tokens``."""
    lines: list[str] = []
    for turn in reversed(turns):
        answer = cut_to_tokens(" ".join(turn["answer"].split()), 120)
        question = " ".join(turn["standalone_question"].split())
        written = f"Q: {neutralise(question)}\nA: {neutralise(answer)}"
        max_tokens -= estimate_tokens(written)
        if max_tokens < 0:
            break
        lines.append(written)
    return "\n".join(reversed(lines)) or "(none)"
