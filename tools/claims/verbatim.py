"""Find the whole source sentences that a claim repeats but for notation, where nothing around denies them.

Notation is the kind of quotes and dashes, white space, the capital of the first word, the last stop, contractions, and
numbers below a thousand in words. A sign, a comma, a unit's case or a separator within a number is none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from graph.evidence import Segment
from text.normal_forms import unify_signs
from text.numbers import EN_SCALES, EN_TENS, EN_UNITS, VI_SCALES, read_chinese, read_english, read_vietnamese, spell
from tools.claims.claim_tokens import COUNTED, LETTER, NO_NUMBER, UNSPACED
from tools.claims.lexicon import lists
from tools.claims.source_sentences import Sources, SourceSentence

SentencePlace = tuple[int, int, int]  # segment, start, end

_WIDE: Mapping[int, int] = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_CLAIM_BULLET = re.compile(r"\A\s*[-*•]\s+(?=\D)")
_SOURCE_BULLET = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)]|#{1,6})\s+(?=\D)")
_LAST_MARK = re.compile(r"\s*\[(?:\^?\d{1,4}|\^\w{1,20}|ref:\d{1,4})\]\s*(?=[.。]?\s*\Z)")
_QUOTED = re.compile(r'\A\s*"([^"]*)"([.。]?)\s*\Z')
_EMPHASIS = re.compile(r"`|(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)")
_HYPHENED = re.compile(rf"\b({'|'.join(EN_TENS)})-(?=(?:{'|'.join(EN_UNITS)})\b)", re.IGNORECASE)
_NUMERAL = "零〇一二三四五六七八九十百千两"
_TOKEN = re.compile(
    rf"百分之(?P<share>[{_NUMERAL}\d.]+)"
    r"|(?P<grouped>\d{1,3}(?P<sep>[.,])\d{3}(?:(?P=sep)\d{3})+(?![\d.,]*\d))"
    r"|(?P<ordinal>\d+)(?:st|nd|rd|th)\b"
    r"|(?P<digits>\d+(?:[.,]\d+)*)"
    rf"|(?P<numerals>[{_NUMERAL}]+)"
    rf"|(?P<word>{LETTER}+(?:'{LETTER}+)*)"
    rf"|(?P<sign>[{UNSPACED}]|\S)"
)
_BIG = frozenset(word for word, value in (*EN_SCALES.items(), *VI_SCALES.items()) if value >= 1000)
_PERCENT = (("percent",), ("per", "cent"), ("phần", "trăm"))
_OPENED = {"can't": ("cannot",), "won't": ("will", "not"), "shan't": ("shall", "not")}


@dataclass(frozen=True, slots=True)
class VerbatimMatch:
    """The whole sentences that a claim repeats, and whether the text around them denies or conditions them."""

    places: tuple[SentencePlace, ...]
    denied: bool


def find_verbatim(claim: str, sources: Sources) -> VerbatimMatch | None:
    """Return the first sentences that say, one after the other, just what the claim says; denied ones if no others."""
    said = _CLAIM_BULLET.sub("", claim, count=1)
    bare = _QUOTED.sub(r"\1\2", unify_signs(_LAST_MARK.sub("", said)))
    denied = None
    for at, text in enumerate(sources.texts):
        segment = sources.segments[at]
        for first, last in _equal_runs(exact_form(said), exact_form(bare), segment.text, text.sentences):
            places = tuple((at, each.start, each.end) for each in text.sentences[first : last + 1])
            if not is_denied(segment, text.sentences, first, last):
                return VerbatimMatch(places, denied=False)
            denied = denied or VerbatimMatch(places, denied=True)
    return denied


def _equal_runs(
    said: Sequence[str], bare: Sequence[str], text: str, sentences: Sequence[SourceSentence]
) -> Iterator[tuple[int, int]]:
    """Find what a claim repeats as it is, or without its own quotes and mark; a mark of the source alone may go too."""
    begins = {said[:1], bare[:1]}
    for first, begin in enumerate(sentences):
        starts = (begin.start, _behind_bullet(text, begin.start))
        if begins.isdisjoint(exact_form(text[start : begin.end])[:1] for start in starts):
            continue
        for last in range(first, len(sentences)):
            forms = [exact_form(text[start : sentences[last].end]) for start in starts]
            unmarked = exact_form(_LAST_MARK.sub("", text[starts[-1] : sentences[last].end]))
            if said in (*forms, unmarked) or bare in forms:
                yield first, last
            if len(unmarked) > len(said):
                break


def _behind_bullet(text: str, start: int) -> int:
    bullet = _SOURCE_BULLET.match(text, start)
    return bullet.end() if bullet else start


@lru_cache(maxsize=16384)
def exact_form(text: str) -> tuple[str, ...]:
    """Return the tokens of a sentence, the same for two notations of it and for nothing else."""
    text = _HYPHENED.sub(r"\1 ", _EMPHASIS.sub("", unify_signs(text).translate(_WIDE))).strip()
    keys = [key for match in _TOKEN.finditer(text) for key in _keys(match, text)]
    keys = list(_with_numbers(keys))
    if keys and (len(keys[0]) == 1 or keys[0][1:].islower()):
        keys[0] = keys[0].casefold()
    return tuple(keys[:-1] if len(keys) > 1 and keys[-1] in (".", "。") else keys)


def _keys(match: re.Match[str], text: str) -> tuple[str, ...]:
    if match["share"] is not None:
        return (_chinese(match["share"]) or match["share"], "%")
    if match["grouped"] is not None:
        return (match[0].replace(match["sep"], ""),)
    if match["ordinal"] is not None:
        return (match["ordinal"] + "th",)
    if match["numerals"] is not None:
        return _numerals(match, text)
    if match["word"] is not None:
        return _word(match[0])
    return (match[0],)


def _word(word: str) -> tuple[str, ...]:
    lower = word.casefold()
    if lower in _OPENED:
        return (word[0] + _OPENED[lower][0][1:], *_OPENED[lower][1:])
    return (word[:-3], "not") if lower.endswith("n't") and len(word) > 3 else (word,)


def _numerals(match: re.Match[str], text: str) -> tuple[str, ...]:
    """Read Chinese numerals where they count something; others are letters of a word."""
    piece, after = match[0], text[match.end() : match.end() + 2].lstrip()
    counts = len(piece) > 1 or after[:1] in (*COUNTED, "万", "亿") or text[match.start() - 1 : match.start()] == "第"
    value = _chinese(piece) if counts and not (piece + after).startswith(NO_NUMBER) else None
    return tuple(piece) if value is None else (value,)


def _chinese(piece: str) -> str | None:
    """Read a number; digits without a scale only where four make a year, since 七八 is seven or eight."""
    bare = not set(piece) & set("十百千")
    if any(sign not in _NUMERAL for sign in piece) or (bare and 1 < len(piece) < 4) or _approximate(piece):
        return None
    value = read_chinese(piece)
    return None if value is None else spell(value)


def _approximate(piece: str) -> bool:
    """Whether two digits precede a scale, which means an approximate number: 三五百."""
    digits = [sign in "一二三四五六七八九两" for sign in piece]
    return not set(piece).isdisjoint("十百千") and any(a and b for a, b in pairwise(digits))


def _with_numbers(keys: Sequence[str]) -> Iterator[str]:
    words = [key.casefold() if at == 0 or key.islower() else "" for at, key in enumerate(keys)]
    words = ["" if word in _BIG else word for word in words]
    at = 0
    while at < len(keys):
        if length := next((len(form) for form in _PERCENT if tuple(words[at : at + len(form)]) == form), 0):
            yield "%"
        elif found := read_vietnamese(words, at):
            value, length = found
            yield spell(value)
        elif words[at] not in ("", "one") and (read := read_english(words, at)) is not None:
            value, length, ordinal = read
            yield spell(value) + ("th" if ordinal else "")
        else:
            length = 1
            yield keys[at]
        at += length


FARTHEST = 12  # sentences before and after that may speak of a sentence
SHORT = 4  # words, at most, of a sentence that says only what the one beside it is


def is_denied(segment: Segment, sentences: Sequence[SourceSentence], first: int, last: int) -> bool:
    """Whether the text around some sentences denies them, sets a condition, or quotes them as another's words."""
    text, start = segment.text, sentences[first].start
    before = sentences[max(0, first - FARTHEST) : first]
    after = sentences[last + 1 : last + 1 + FARTHEST]
    if _holds(_flat(segment.heading), "false") or _is_quoted(text, start):
        return True
    if any(_holds(_flat_sentence(each), "here") and _limits(each) for each in before):
        return True
    if any(_holds(_flat_sentence(each), "ahead") and _limits(each, "forbids", "conditions") for each in before):
        return True
    if any(_holds(_flat_sentence(each), "back") and _limits(each, "true") for each in after):
        return True
    if before and _is_short(before[-1]) and _holds(_flat_sentence(before[-1]), "conditions"):
        return True
    if any(_is_short(each) and _holds(_flat_sentence(each), "false") for each in after):
        return True
    lead_in = _lead_in(text, sentences, first)
    return lead_in is not None and _limits(lead_in)


def _limits(sentence: SourceSentence, *also: str) -> bool:
    """Whether a sentence negates, forbids, calls false or sets a condition; ``also`` what else it must hold."""
    flat = _flat_sentence(sentence)
    if also and not _holds(flat, "false", *also):
        return False
    return any(sentence.reading.negates) or _holds(flat, "forbids", "false", "conditions")


def _lead_in(text: str, sentences: Sequence[SourceSentence], at: int) -> SourceSentence | None:
    """Return the line that ends with a colon before the items of which a sentence is one."""
    for past in range(at - 1, max(-1, at - 1 - FARTHEST), -1):
        if text[sentences[past].start : sentences[past].end].rstrip().endswith((":", "\uff1a")):
            return sentences[past]
        if not _SOURCE_BULLET.match(text, sentences[past].start):
            return None
    return None


def _is_quoted(text: str, start: int) -> bool:
    """Whether a quotation that begins before an offset, in its paragraph, is still open there."""
    paragraph = unify_signs(text[text.rfind("\n\n", 0, start) + 1 : start])
    return paragraph.count('"') % 2 == 1


def _flat_sentence(sentence: SourceSentence) -> str:
    return _flat(sentence.reading.folded)


@lru_cache(maxsize=4096)
def _flat(text: str) -> str:
    return f" {' '.join(_FLAT_WORD.findall(text.casefold()))} "


def _is_short(sentence: SourceSentence) -> bool:
    return len(_UNIT.findall(_flat_sentence(sentence))) <= SHORT


_FLAT_WORD = re.compile(r"[^\W_]+")
_UNIT = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")


@cache
def _pattern(name: str) -> re.Pattern[str]:
    phrases = sorted(lists()["denials"][name].strip().split(", "), key=len, reverse=True)
    spaced = [phrase for phrase in phrases if not re.match(f"[{UNSPACED}]", phrase)]
    letters = [phrase for phrase in phrases if phrase not in spaced]
    return re.compile(rf" (?:{'|'.join(spaced)}) |{'|'.join(letters)}")


def _holds(flat: str, *names: str) -> bool:
    return any(_pattern(name).search(flat) for name in names)
