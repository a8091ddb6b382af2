"""Titles by rule: one short line cut at a word boundary, from the first telling sentence of a question."""

from graph.usage import Meter
from text.sentences import sentences
from text.words import cut_near, cuts_word
from tools.rules.small_talk_rules import small_talk

DEFAULT_TITLE = "New Chat"
LONGEST_TITLE = 60  # characters
_QUOTES = dict.fromkeys(map(ord, '"“”„‟«»「」『』〝〞＂'))
_EDGES = " \t'‘’`*_#>-–—:;,.、，。…"


def title_of(text: str) -> str:
    """Make a title of a text: one line, without quotation marks, at most 60 characters; empty where nothing is left.

    What is longer is cut between words, or between letters of a script without spaces, and ends with "…".
    """
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).translate(_QUOTES).split())
    line = line.strip(_EDGES)
    if len(line) <= LONGEST_TITLE:
        return line
    return line[: _cut(line)].rstrip(_EDGES) + "…"


def _cut(line: str) -> int:
    """Find the last edge of a word that leaves room for the mark; one within a word where a word is as long as that."""
    longest = cut_near(line, LONGEST_TITLE - 1)
    for at in range(longest, longest // 2, -1):
        if not cuts_word(line, at) and cut_near(line, at) == at:
            return at
    return longest


class RuleTitler:
    """Titler without a model."""

    async def title(self, question: str, *, language: str, meter: Meter) -> str:
        """Take the first sentence that is no small talk, at most 60 characters of it."""
        said = (title_of(question[start:end]) for start, end in sentences(question))
        telling = next((each for each in said if each and small_talk(each) is None), "")
        return telling or title_of(question) or DEFAULT_TITLE
