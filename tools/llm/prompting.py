"""Prompts as chat messages: token estimates, the conversation, and the context of tagged segments.

The part before a prompt's first ``---`` line is the system message, the rest the user message.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from graph.evidence import Segment
from graph.state import Turn
from prompts import Prompt
from tools.llm.sanitizing import one_line, sanitize

ASCII_PER_TOKEN = 3.6


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a text, rather too high than too low.

    ASCII text counts one token per 3.6 characters; every other character counts as one token (CJK, accented letters).
    """
    ascii_length = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_length / ASCII_PER_TOKEN) + len(text) - ascii_length


def cut_to_tokens(text: str, tokens: int) -> str:
    """Truncate a text at a space so that its estimate is at most ``tokens``; "…" marks the cut."""
    if estimate_tokens(text) <= tokens:
        return text
    shortest, longest = 0, len(text)
    while shortest < longest:
        middle = (shortest + longest + 1) // 2
        if estimate_tokens(text[:middle]) < tokens:
            shortest = middle
        else:
            longest = middle - 1
    whole_words = text[:shortest].rsplit(None, 1)[0] if " " in text[shortest // 2 : shortest] else text[:shortest]
    return whole_words + "…"


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
    """Fill in a prompt and split it at the divider. Text of documents and users may only be below the divider."""
    system, user = prompt.format(**fields).split(DIVIDER, 1)
    return [("system", system.strip()), ("user", user.strip())]


def language_name(language: str) -> str:
    """Return the English name of a language (ISO 639-1) for a prompt."""
    return LANGUAGES.get(language, "the language of the question")


def conversation(turns: Sequence[Turn], *, max_tokens: int) -> str:
    """Format the last turns that fit in ``max_tokens``, oldest first, each answer cut to 120 tokens."""
    lines: list[str] = []
    for turn in reversed(turns):
        answer = cut_to_tokens(" ".join(turn["answer"].split()), 120)
        question = " ".join(turn["standalone_question"].split())
        formatted = f"Q: {sanitize(question)}\nA: {sanitize(answer)}"
        max_tokens -= estimate_tokens(formatted)
        if max_tokens < 0:
            break
        lines.append(formatted)
    return "\n".join(reversed(lines)) or "(none)"


@dataclass(frozen=True, slots=True)
class SegmentContext:
    """The context as text, and the ids of its segments, in the order in which the segments were passed."""

    text: str
    segment_ids: tuple[str, ...]


def place_line(segment: Segment) -> str:
    """Return a segment's title, heading path and page as one sanitized line."""
    parts = [one_line(segment.title), *(one_line(h) for h in segment.heading.split(" > "))]
    path = " > ".join(dict.fromkeys(part for part in parts if part))
    page = "" if segment.page_idx is None else f"page {segment.page_idx + 1}"
    return ", ".join(part for part in (path, page) if part) or "Untitled"


def segment_context(segments: Sequence[Segment], *, max_tokens: int) -> SegmentContext:
    """Format segments for a model within ``max_tokens`` (estimated).

    Pass segments best first: whole segments are taken up to the first that no longer fits; the first one is cut at a
    word if it alone is too long. They are grouped by document, in reading order.
    """
    taken: dict[str, tuple[Segment, str]] = {}
    left = max_tokens
    for segment in segments:
        if segment.segment_id in taken:
            continue
        heading = estimate_tokens(place_line(segment)) + 4
        text = sanitize(segment.text).strip()
        tokens = heading + estimate_tokens(_line(segment, text))
        if tokens > left:
            if taken:
                break
            text = cut_to_tokens(text, max(1, left - heading - estimate_tokens(_line(segment, ""))))
        taken[segment.segment_id] = (segment, text)
        left -= tokens
    return SegmentContext(_layout(list(taken.values())), tuple(taken))


def _layout(taken: list[tuple[Segment, str]]) -> str:
    documents = list(dict.fromkeys(segment.document_id for segment, _ in taken))
    in_order = sorted(taken, key=lambda row: (documents.index(row[0].document_id), row[0].segment_index))
    lines: list[str] = []
    above: tuple[str, str] | None = None
    for segment, text in in_order:
        here = (segment.document_id, place_line(segment))
        if here != above:
            lines.append(f"\n# {here[1]}")
            above = here
        lines.append(_line(segment, text))
    return "\n".join(lines).strip()


def _line(segment: Segment, text: str) -> str:
    return f"[SEG={segment.segment_id}] {text}"
