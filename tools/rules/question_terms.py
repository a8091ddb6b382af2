"""The content words of a question."""

from text.language import CJK_STOP, language, stop_words
from text.late_patterns import late_pattern
from text.scripts import HAN
from text.words import is_bigrammed

_TOKEN = late_pattern(rf"[{HAN}]+|(?:(?![{HAN}])[^\s,;:?!()，。；：？！（）「」“”])+")


def content_words(text: str) -> list[str]:
    """Return the content words of a text, in order, names of code such as "work_mem" whole.

    Question words are removed from runs of Chinese, which are cut there. A name beside a number is none of the framing:
    the month of "6 May".
    """
    framing = stop_words(language(text))
    words: list[str] = []
    tokens = [token.strip(".'\"`’") if not is_bigrammed(token) else token for token in _TOKEN.findall(text)]
    for at, word in enumerate(tokens):
        if is_bigrammed(word):
            words += [piece for piece in CJK_STOP.split(word) if piece]
        elif any(map(str.isalnum, word)):
            is_name = word[0].isupper() and any(map(str.isdecimal, (*tokens[at + 1 : at + 2], *tokens[:at][-1:])))
            if is_name or word.casefold() not in framing:
                words.append(word)
    return words


def count_content(text: str) -> float:
    """Count the content words of a text as ``length_of`` does."""
    return sum(map(length_of, content_words(text)))


def length_of(word: str) -> float:
    """Return how many words a run of letters counts for: two characters of Chinese are one."""
    return len(word) / 2 if is_bigrammed(word) else 1
