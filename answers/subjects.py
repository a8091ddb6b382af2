"""Whether an entry is about another thing than the one that a question names: another lab, model, version or year.

Names are compared that stand with the same noun, such as "the Ostwin lab" and "the Ilmar lab", or that begin alike,
such as "H30" and "H30 Max". A question without a name is about whatever an entry is about.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from answers.entry import Entry
from graph.evidence import nearest_heading
from text.language import FUNCTION_WORDS, STOP_WORDS, word_set
from text.late_patterns import LatePattern
from text.words import stem

_TOKEN = re.compile(r"[^\W_](?:[\w’'-]*\w)?(?:\.\d+)*|[^\s\w]")
_NO_HEAD = FUNCTION_WORDS | STOP_WORDS["en"] | STOP_WORDS["vi"] | word_set("first last new old next")
_NOT_NAMES = word_set("i i'm i’m monday tuesday wednesday thursday friday saturday sunday") | _NO_HEAD
_MONTHS = word_set("january february march april may june july august september october november december")
_BOUNDS = word_set("since from until before after above below older newer later earlier over under than prior up")
_SCOPES = ("heading", "term", "label", "caption", "before")
_YEAR = re.compile(r"(?<![\d.-])(?:19|20)\d\d(?![\d.-])")
_NUMBERED = word_set(
    """
    no number route room bus line gate version chapter section phase level model building floor unit platform pier house
    flat type class grade lot block track terminal window hall ward zone area district stage season part volume article
    paragraph rule step table figure form memo
    số phòng tuyến tầng khoa lớp quận cổng tòa bản điều mục chương phần đợt ca bến
    """
)
_OPPOSITES = (
    "north south east west northern southern eastern western",
    "upper lower middle",
    "left right",
    "front back rear",
    "morning afternoon evening night",
    "summer winter spring autumn",
    "men women ladies gentlemen boys girls",
    "adult child children's",
    "inner outer",
    "internal external",
    "minimum maximum",
    "weekly monthly yearly annual daily quarterly",
    "full-time part-time",
    "basic standard premium professional enterprise family student free",
    "small medium large big",
    "first second third fourth fifth",
    "junior senior",
    "red green blue yellow black white grey",
    "old new",
    "single double triple",
    "inbound outbound",
    "domestic international",
)
_VIETNAMESE_OPPOSITES = (
    "bắc nam đông tây",
    "trên dưới giữa",
    "trái phải",
    "trước sau",
    "sáng trưa chiều tối đêm",
    "hè đông xuân thu",
    "nam nữ",
    "đơn đôi ba",
    "nhỏ vừa lớn",
    "đỏ xanh vàng đen trắng",
    "cũ mới",
    "thường vip",
)
_GROUP_OF = {word: at for at, words in enumerate(_OPPOSITES) for word in words.split()}
_VIETNAMESE_GROUP_OF = {word: -1 - at for at, words in enumerate(_VIETNAMESE_OPPOSITES) for word in words.split()}
_HAN_HEADS = (
    "公司|集团|学校|中学|小学|大学|学院|医院|诊所|图书馆|博物馆|体育馆|展览馆|书店|书屋|酒店|宾馆|饭店|餐厅|客栈|银行|工厂|实验室|研究所|"
    "宿舍|食堂|车站|码头|机场|公园|剧院|社区|小区|俱乐部|协会|车间|仓库|号楼|号线|号门|路|街|镇|村|县|队|版"
)
_HAN_NAME = LatePattern(rf"([\u4e00-\u9fff]{{2}}|[A-Za-z0-9.]+|[一二三四五六七八九十]+)(?={_HAN_HEADS})({_HAN_HEADS})")
_HAN_FUNCTION = LatePattern("[的了是在和与及或被把从到对于为以有这那其之也都而并中所去住去每各本该此个哪几多]")
_SPLITS = re.compile(r"[,，、/]| and | or | và | hoặc |和|与|及")


@dataclass(frozen=True, slots=True)
class Name:
    """A name, in lower case, and the stems of the nouns that it stands with: before it and after it, "" for none."""

    words: tuple[str, ...]
    before: str
    after: str
    bounded: bool = False  # "since version 9"


@lru_cache(maxsize=2048)
def named_things(text: str) -> tuple[Name, ...]:
    """Return the names in a text of a spaced language: words with a capital or a digit, in a row.

    A number after a noun is a name too, of that noun: "12" in "Route 12".
    """
    tokens = _TOKEN.findall(text)
    names = []
    at = 0
    while at < len(tokens):
        end = at
        while end < len(tokens) and _is_name(tokens, end):
            end += 1
        if end == at:
            at += 1
            continue
        words = tuple(token.lower().removesuffix("'s").removesuffix("’s") for token in tokens[at:end])
        near = {token.lower() for token in (*tokens[max(0, at - 4) : at], *tokens[end : end + 3])}
        bounded = not _BOUNDS.isdisjoint(near) or "+" in near
        before, after = _head(tokens, at - 1), _head(tokens, end)
        if not words[-1].replace(".", "").isdigit():
            names.append(Name(words, before, after, bounded))
        elif len(words) > 1:
            names.append(Name(words[-1:], stem(words[-2]), "", bounded))
        elif at > 0:
            names.append(Name(words, stem(tokens[at - 1].lower()), "", bounded))
        at = end
    return tuple(names)


def _is_name(tokens: list[str], at: int) -> bool:
    token = tokens[at]
    if not (token[0].isupper() or any(map(str.isdigit, token))):
        return False
    if token.lower() in _NOT_NAMES or token.lower() in _MONTHS:
        return False
    following = tokens[at + 1] if at + 1 < len(tokens) else ""
    if token[0].isdigit() and token.replace(".", "").isdigit():
        numbered = at > 0 and (tokens[at - 1].lower() in _NUMBERED or tokens[at - 1][0].isupper())
        return numbered and (following[:1].islower() is False or tokens[at - 1].lower() in _NUMBERED)
    opens = at == 0 or tokens[at - 1] in '.!?:;-*•"“|('
    return not opens or any(map(str.isdigit, token)) or following[:1].isupper() or following[:1].isdigit()


def _head(tokens: list[str], at: int) -> str:
    """Return the stem of a noun next to a name; "" for a function word, a sign or another name."""
    if not 0 <= at < len(tokens):
        return ""
    word = tokens[at]
    if not word[0].isalpha() or word.lower() in _NO_HEAD or (word[0].isupper() and at > 0):
        return ""
    return stem(word.lower())


def is_about_another_thing(entry: Entry, question: str) -> bool:
    """Whether an entry, or what it hangs on, names another thing of the kind that the question names."""
    scopes = [entry.text, *(each.text for each in reversed(entry.context) if each.role in _SCOPES)]
    around = f"{entry.text}\n{entry.surroundings}"
    return (
        _names_another(scopes, around, question)
        or _names_another_in_chinese(scopes, around, question)
        or _is_opposite(scopes, around, question)
        or _is_another_row(entry, question)
        or _is_longer_name(entry, around, question)
        or _is_of_another_year(entry, around, question)
    )


def _names_another(scopes: list[str], around: str, question: str) -> bool:
    known = frozenset(each.lower() for each in _TOKEN.findall(around))
    return any(
        _conflicts(asked, scopes)
        for asked in named_things(question)
        if not asked.bounded and not known.issuperset(asked.words)
    )


def _conflicts(asked: Name, scopes: list[str]) -> bool:
    """Whether a scope names another thing with the same noun, or by a name that is partly the same."""
    own = frozenset(asked.words)
    for scope in scopes:
        for other in named_things(scope):
            if other.bounded or own.issuperset(other.words) or own.issubset(other.words):
                continue
            if asked.words[0][0].isdigit() != other.words[0][0].isdigit():
                continue
            if (asked.after and asked.after == other.after) or (asked.before and asked.before == other.before):
                return True
            if len(own) > 1 and len(asked.words) == len(other.words) and _differ_at_an_end(asked.words, other.words):
                return True
    return False


def _differ_at_an_end(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two names differ in their last word alone, as "Hotel Anker" and "Hotel Krone", or in their first."""
    return one[:-1] == other[:-1] or one[1:] == other[1:]


def _is_opposite(scopes: list[str], around: str, question: str) -> bool:
    """Whether a scope has the opposite of a word of the question with the same noun: "south gate" and "north gate"."""
    asked = _opposed(question)
    if not asked:
        return False
    known = _opposed(around)
    return any(
        (group, other, noun) != each and (group, noun) == (each[0], each[2]) and each not in known
        for each in asked
        for scope in scopes
        for group, other, noun in _opposed(scope)
    )


@lru_cache(maxsize=2048)
def _opposed(text: str) -> frozenset[tuple[int, str, str]]:
    """Return words of a text that exclude others, with their group and the noun that they stand with."""
    found = set()
    lowered = text.lower()
    tokens = _TOKEN.findall(lowered)
    for word, after in pairwise(tokens):
        if word in _GROUP_OF and after[0].isalpha():
            found.add((_GROUP_OF[word], word, stem(after)))
    if not text.isascii():
        for before, word in pairwise(tokens):
            if word in _VIETNAMESE_GROUP_OF and before[0].isalpha():
                found.add((_VIETNAMESE_GROUP_OF[word], word, before))
    return frozenset(found)


def _is_another_row(entry: Entry, question: str) -> bool:
    """Whether a row is headed by another thing: the row "Ilmar | 4712" under "Lab | Code", for "the Ostwin lab"."""
    header = next((each.text for each in entry.context if each.role == "header"), "")
    if entry.kind != "table_row" or not header:
        return False
    kind, first = header.partition(" | ")[0].strip().lower(), entry.text.partition(" | ")[0].strip()
    words = {each.lower() for each in _TOKEN.findall(entry.text)}
    return any(
        stem(kind) in (asked.before, asked.after) and words.isdisjoint(asked.words) and first[:1].isupper()
        for asked in named_things(question)
    )


def _names_another_in_chinese(scopes: list[str], around: str, question: str) -> bool:
    if question.isascii():
        return False
    for name, head in _chinese(question):
        if name in around:
            continue
        if any(kind == head for scope in scopes for _, kind in _chinese(scope)):
            return True
    return False


@lru_cache(maxsize=2048)
def _chinese(text: str) -> tuple[tuple[str, str], ...]:
    if text.isascii():
        return ()
    return tuple((found[1], found[2]) for found in _HAN_NAME.finditer(text) if not _HAN_FUNCTION.search(found[1]))


def _is_longer_name(entry: Entry, around: str, question: str) -> bool:
    """Whether the question names a longer name than the heading: "K5 Plus" under "Brunel K5"."""
    heading = next((each.text for each in reversed(entry.context) if each.role in ("heading", "term")), "")
    if len(heading) > _LONGEST_HEADING:
        return False
    if "\u4e00" <= heading[:1] <= "\u9fff":
        longer = re.search(rf"{re.escape(heading)}[\u4e00-\u9fff]{{1,4}}[版型款]", question)
        return longer is not None and longer[0] not in around
    words = heading.lower().split()
    if not (len(words) > 1 or any(map(str.isdigit, heading))):
        return False
    tokens = _TOKEN.findall(question)
    lowered = around.lower()
    for one, other in pairwise(tokens):
        if one.lower() == words[-1] and other[0].isupper() and one[0].isupper() and other.lower() not in lowered:
            return True
    return False


_LONGEST_NAME = 5  # words
_LONGEST_HEADING = 24  # characters


def _is_of_another_year(entry: Entry, around: str, question: str) -> bool:
    """Whether an entry stands under the heading of a year and the question names another one."""
    asked = set(_YEAR.findall(question))
    if len(asked) != 1 or asked & set(_YEAR.findall(around)):
        return False
    return len(_YEAR.findall(nearest_heading(entry.context))) == 1  # that is not the asked one, which is nowhere


# --- headings that are named alike ------------------------------------------------------------------------------------

_MOST_ADDED = 3  # words by which names that are alike differ
_MOST_HAN = 5  # characters
_MOST_COMPARED = 8  # headings that begin or end with the same word
_MOST_NAMESAKES = 3  # of one heading
_NEAR = 16  # characters before a word that rule it out
_RULES_OUT = re.compile(r"\b(?:not|no|without|non|không|chưa|chẳng)\b[^,.;]*\Z|(?:不|非|无|没)[^，。]{0,4}\Z")


def differing(one: str, other: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the words in which two names differ that are otherwise alike, of each; None if they are not alike.

    Both begin or end with the same words, and what differs are names: "H30" and "H30 Max", "Hotel Anker" and "Hotel
    Krone", "标准版" and "专业版".
    """
    if one == other or not one or not other:
        return None
    if "\u4e00" <= one[0] <= "\u9fff":
        return _differing_in_chinese(one, other)
    mine, others = _TOKEN.findall(_NUMBERING.sub("", one)), _TOKEN.findall(_NUMBERING.sub("", other))
    if max(len(mine), len(others)) > _LONGEST_NAME + _MOST_ADDED:
        return None
    if mine[:1] != others[:1] and mine[-1:] != others[-1:]:
        return None
    first = tuple(each for each in mine if each not in others and each.isalnum())
    second = tuple(each for each in others if each not in mine and each.isalnum())
    named = all(each[0].isupper() or each[0].isdigit() for each in (*first, *second))
    return (first, second) if named and 0 < max(len(first), len(second)) <= _MOST_ADDED else None


def _differing_in_chinese(one: str, other: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    head = _alike(one, other)
    tail = _alike(one[head:][::-1], other[head:][::-1])
    first, second = one[head : len(one) - tail], other[head : len(other) - tail]
    if max(len(first), len(second)) > _MOST_HAN or (one[-1] not in _HAN_KINDS and other[-1] not in _HAN_KINDS):
        return None
    return tuple(filter(None, (first,))), tuple(filter(None, (second,)))


def _alike(one: str, other: str) -> int:
    return next(
        (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        min(len(one), len(other)),
    )


_HAN_KINDS = "版型款号机店馆园区校院厂"


def namesakes(headings: Iterable[str], text: str) -> dict[str, list[str]]:
    """Return for headings the others of a text that are named alike. What differs is nowhere written in lower case."""
    groups: dict[str, list[str]] = {}
    for heading in dict.fromkeys(headings):
        if len(heading) <= _LONGEST_ALIKE:
            tokens = _TOKEN.findall(_NUMBERING.sub("", heading))
            for key in {*tokens[:1], *tokens[-1:], heading[:2], heading[-1:]}:
                groups.setdefault(key, []).append(heading)
    found: dict[str, list[str]] = {}
    words: _Words | None = None
    tried: set[tuple[str, str]] = set()
    for group in groups.values():
        for at, one in enumerate(group):
            for other in group[at + 1 : at + _MOST_COMPARED]:
                pair = differing(one, other)
                if pair is None or (one, other) in tried:
                    continue
                tried.add((one, other))
                words = words or _Words(text)
                if _is_named(one, other, pair, words):
                    found.setdefault(one, []).append(other)
                    found.setdefault(other, []).append(one)
    return {heading: others[:_MOST_NAMESAKES] for heading, others in found.items()}


_LONGEST_ALIKE = 60  # characters
_NUMBERING = re.compile(r"\A(?:\d+\.)+\d*\s+")
_LOWER = re.compile(r"(?<![\w-])[a-zà-ỹđ]\w+")
_FOLLOWING = re.compile(r"(?<!\w)[a-zà-ỹđ]\w*,? (?=([^\W_]\w*))")


class _Words:
    """The words of a text that are written in lower case, and those that follow one: each looked for once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.lower = frozenset(_LOWER.findall(text))
        self._following = frozenset(_FOLLOWING.findall(text))

    def has_in_prose(self, name: str) -> bool:
        """Whether a name stands with its capital after a word without one."""
        first = _TOKEN.search(name)
        if first is None or first[0] not in self._following:
            return False
        return first[0] == name or name in self._runs

    @cached_property
    def _runs(self) -> frozenset[str]:
        """The words in a row, as many as a name may have, that begin with one which has a capital or a digit."""
        tokens = list(_TOKEN.finditer(self._text))
        return frozenset(
            self._text[token.start() : last.end()]
            for at, token in enumerate(tokens)
            if not token[0].islower() and token[0] in self._following
            for last in tokens[at + 1 : at + _LONGEST_NAME + _MOST_ADDED]
        )


def _is_named(one: str, other: str, differing_words: tuple[tuple[str, ...], tuple[str, ...]], words: _Words) -> bool:
    """Whether the words that differ are names, or the shorter of two names of which one is longer."""
    both = [each for side in differing_words for each in side]
    if any(each.lower() in words.lower for each in both):
        return False
    if "\u4e00" <= one[0] <= "\u9fff":
        return True
    named = both if all(differing_words) else [_NUMBERING.sub("", min(one, other, key=len))]
    return all(any(map(str.isdigit, each)) or words.has_in_prose(each) for each in named)


def may_ask_for(question: str, own: str, other: str) -> bool:
    """Whether a question may be about a heading's name rather than about another that is named alike.

    It may not if it names what the other adds and not what the heading adds, or if it has their common name and the
    heading adds to it. A question that names neither may be about any of them.
    """
    words = differing(own, other)
    if words is None or any(_names(question, each) for each in words[0]):
        return True
    if any(_names(question, each) for each in words[1]):
        return False
    if words[1] or not words[0]:
        return True
    return not any(_names(question, each) for each in ([other] if other[0] >= "\u4e00" else _TOKEN.findall(other)))


def _names(question: str, word: str) -> bool:
    """Whether a question has a word and does not rule it out: "the H30, not the Max"."""
    before, after = ("", "") if "\u4e00" <= word[0] <= "\u9fff" else (r"(?<![^\W_])", r"(?![^\W_])")
    at = re.search(rf"{before}{re.escape(word)}{after}", question, re.IGNORECASE)
    return at is not None and _RULES_OUT.search(question[max(0, at.start() - _NEAR) : at.start()]) is None
