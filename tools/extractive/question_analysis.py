"""Analysis of what a question asks for: a quantity, named things, a definition, or a whole page."""

import re
import unicodedata
from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from text.late_patterns import LatePattern
from text.normal_forms import flatten, fold_case
from text.numbers import without_page_references
from text.scripts import CJK
from text.words import stem, without_framing

_FREQUENCY = (
    r"how often|how many times|bao lâu một lần|(?:mấy|bao nhiêu) lần|bao lâu .{0,30}lần|多久.{0,6}一次|几次|多少次",
    r"\bevery\b|\beach\b|\bper\b|\bonce\b|\btwice\b|\b(?:daily|weekly|monthly|yearly|annually|times)\b"
    r"|\ba (?:day|week|month|year)\b|mỗi|lần|hằng|hàng (?:ngày|tuần|tháng|năm)|每|次",
)
_MONEY = (
    r"\b(?:costs?|prices?|fees?|pay|pays|paying|paid|charged?|charges|fares?|rent|fined?|deposit)\b"
    r"|how much (?:is|are|was|does|do|did|money)|bao nhiêu tiền|\b(?:giá|phí|tốn|tiền)\b"
    r"|多少钱|费用|价|收费|几块|多少元|租金|押金|罚",
    r"[€$£¥]\s?\d|\d[\d.,]*\s?(?:euros?|dollars?|pounds?|cents?|crowns?|usd|eur|đồng|vnđ|vnd|đ\b|nghìn|triệu|元|块|角|万)"
    r"|\bfree\b|miễn phí|免费",
)
_COUNT = (
    r"(?:\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|half an?"
    r"|an?)\b|\b(?:một|hai|ba|bốn|năm|sáu|bảy|tám|chín|mười)\b|[一二三四五六七八九十两半]+)"
)
_DURATION = (
    r"how long|how many (?:seconds|minutes|hours|days|weeks|months|years|nights)|how (?:quickly|soon|fast)|bao lâu"
    r"|(?:bao nhiêu|mấy) (?:giây|phút|tiếng|ngày|tuần|tháng|năm)|(?:bao nhiêu|mất mấy|trong mấy|sau mấy) giờ"
    r"|多久|多长时间"
    r"|(?:几|多少)(?:分钟|小时|天|日|周|个月|年)",
    _COUNT
    + r"[\s-]?(?:(?:working|calendar|full|whole) )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|nights?"
    r"|giây|phút|giờ|tiếng|ngày|tuần|tháng|năm|秒|分钟|小时|天|日|周|个月|年|个工作日)",
)
_TIME_OF_DAY = (
    r"what time|how (?:late|early)|\bwhen\b.*\b(?:opens?|closes?|leaves?|starts?|begins?|ends?|arrives?|departs?"
    r"|runs?)\b|mấy giờ|giờ nào|lúc nào|khi nào|几点|什么时间|什么时候",
    r"\d{1,2}[:h]\d{2}|\b\d{1,2}\s?(?:am|pm|giờ|h\b|点)|\bnoon\b|\bmidnight\b|[一二三四五六七八九十]点",
)


class Quantity(NamedTuple):
    """The patterns of a quantity in questions and in answers."""

    asks: re.Pattern[str]
    gives: LatePattern


# The first match counts: "how often" before "how long", a price before the duration it is paid for.
_QUANTITIES = tuple(
    Quantity(re.compile(asks, re.IGNORECASE), LatePattern(gives, re.IGNORECASE))
    for asks, gives in (_FREQUENCY, _MONEY, _DURATION, _TIME_OF_DAY)
)


@lru_cache(maxsize=256)
def asked_quantity(question: str) -> Quantity | None:
    """Return the quantity that a question asks for, or None."""
    return next((quantity for quantity in _QUANTITIES if quantity.asks.search(question)), None)


def quantities_in(text: str, quantity: Quantity, question: str) -> list[tuple[int, int]]:
    """Return the spans of a quantity in a text, without those that the question itself contains."""
    folded = question.casefold()
    return [span for span in _quantity_spans(text, quantity) if text[slice(*span)].casefold() not in folded]


@lru_cache(maxsize=1024)
def _quantity_spans(text: str, quantity: Quantity) -> tuple[tuple[int, int], ...]:
    return tuple(found.span() for found in quantity.gives.finditer(text))


_LETTER = rf"[^\W{CJK}]"
_NAME = re.compile(
    rf"(?<!^)(?<![.!?:;。！？]\s)(?<!\w)(?!I\b|I'|OK\b)"
    rf"(?:[A-ZÀ-ÝĐ](?:{_LETTER}|['’-])*|{_LETTER}*\d{_LETTER}*[A-Za-z]{_LETTER}*|[A-Za-z]+\d{_LETTER}*)"
    r"|[\"“《「`]([^\"”》」`]{1,40})[\"”》」`]"
)
_LATIN_IN_CJK = LatePattern(rf"[A-Za-z](?:{_LETTER}|[.-])*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@lru_cache(maxsize=256)
def names_in(question: str) -> frozenset[str]:
    """Return a question's names, flattened: capitalised words but the first, words with digits, and quoted text.

    Among Chinese or Japanese characters every Latin word is a name.
    """
    question = unicodedata.normalize("NFKC", question)
    found = {(match[1] or match[0]).removesuffix("'s").removesuffix("’s") for match in _NAME.finditer(question)}
    if re.search(f"[{CJK}]", question):
        found |= {match[0] for match in _LATIN_IN_CJK.finditer(question)}
    flat = {flatten(name).strip() for name in found}
    return frozenset(name for name in flat if name and not name.isdigit())


_IDENTIFIER = re.compile(r"(?<![\w-])--[a-z][\w-]+|(?<![\w-])[a-z0-9]+(?:_[a-z0-9]+)+(?!\w)")


@lru_cache(maxsize=256)
def identifiers_in(question: str) -> frozenset[str]:
    """Return the names that only code has: settings such as ``work_mem``, and long options, case-folded."""
    return frozenset(_IDENTIFIER.findall(fold_case(question)))


@lru_cache(maxsize=4096)
def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers of a text as written, with full-width digits as ASCII."""
    return frozenset(_NUMBER.findall(unicodedata.normalize("NFKC", text)))


@lru_cache(maxsize=1024)
def share_missing(wanted: frozenset[str], held: frozenset[str]) -> float:
    """Return the share of a question's names or numbers that is missing; 0 where it has none.

    Of similar ones, such as two years or "A3" and "A5", one is enough: the question compares them, and its answer is in
    two places.
    """
    kinds: dict[tuple[int, bool, str], list[str]] = defaultdict(list)
    for each in wanted:
        kinds[len(each), each.isdigit(), each[:1]].append(each)
    missing = sum(held.isdisjoint(alike) for alike in kinds.values())
    return missing / len(kinds) if kinds else 0.0


_ASKS_WHAT = re.compile(
    r"(?:what|who) (?:is|are|was|were) (?:an? |the )?(?P<en>.{2,40})|(?P<vi>.{2,40}) là (?:gì|ai)"
    r"|什么是(?P<zh>.{2,20})|(?P<zh2>.{2,20})是(?:什么|谁)"
)
_SAYS_WHAT = {"en": "(?:an? |the )?{} (?:is|are|was|were) ", "vi": "(?:một )?{} là ", "zh": "{}是", "zh2": "{}是"}


@lru_cache(maxsize=256)
def _definition(question: str) -> re.Pattern[str] | None:
    match = _ASKS_WHAT.fullmatch(flatten(question).strip())
    if match is None:
        return None
    language, thing = next((name, text) for name, text in match.groupdict().items() if text)
    return re.compile(_SAYS_WHAT[language].format(re.escape(thing)))


def asks_definition(question: str) -> bool:
    """Whether a question asks only what a thing is."""
    return _definition(question) is not None


def defines(question: str, flat: str) -> bool:
    """Whether a question asks only what a thing is, and a flattened sentence begins with its definition."""
    definition = _definition(question)
    return definition is not None and definition.match(flat.strip()) is not None


_ENGLISH = """
    page pages document documents article text passage section file content contents summary summarise summarize
    summarized overview outline brief briefly short shortly main key point points idea ideas topic gist takeaway
    takeaways important mean means meaning say says said read cover covers discuss discusses deal deals
"""
_VIETNAMESE = """
    trang tài liệu bài viết văn đoạn này nội dung tóm tắt chính ý nói giải thích tổng quan khái quát ngắn gọn điểm nghĩa
    chủ đề giúp về gồm đề cập gì những
"""
_NAMES_THE_PAGE = frozenset(stem(word) for words in (_ENGLISH, _VIETNAMESE) for word in words.split())
_CHINESE = re.compile(
    "(?:本|此|该|页|面|文档|文章|文本|文|篇|段|章|内容|总结|概括|归纳|概述|主要|主题|主旨|讲|说|述|写|介绍|一下|下|要点|重点|大意"
    "|解释|全|摘要|关于|意思|给我|我|帮|做|个|一)+"
)


@lru_cache(maxsize=256)
def about_whole_page(question: str) -> bool:
    """Whether no word of a question names anything but a page, its number, and what to do with it."""
    words = without_framing(without_page_references(question)).split()
    return all(word.isdigit() or stem(word) in _NAMES_THE_PAGE or _CHINESE.fullmatch(word) for word in words)
