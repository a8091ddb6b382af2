"""What a title may be: a short line of text, cut where a reader would not mind."""

from tools.graphemes import cut_near
from tools.word_edges import cuts_word

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
