"""What quantity a question asks for, such as a sum of money or a time of day, and where a sentence holds one.

Finer than ``answer_types``: in a price list and an opening-hours table every row holds a number, and only its unit
tells which one is asked for.
"""

import re
from functools import lru_cache
from typing import NamedTuple

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
    """How a quantity is asked for, and how it is given."""

    asks: re.Pattern[str]
    gives: re.Pattern[str]


# The first that matches counts: "how often" before "how long", a price before a duration it is paid for.
_QUANTITIES = tuple(
    Quantity(re.compile(asks, re.IGNORECASE), re.compile(gives, re.IGNORECASE))
    for asks, gives in (_FREQUENCY, _MONEY, _DURATION, _TIME_OF_DAY)
)


@lru_cache(maxsize=256)
def asked_quantity(question: str) -> Quantity | None:
    """Tell which quantity a question asks for, or None."""
    return next((quantity for quantity in _QUANTITIES if quantity.asks.search(question)), None)


def quantities_in(text: str, quantity: Quantity, question: str) -> list[tuple[int, int]]:
    """Find the spans of a quantity that the question does not itself name."""
    asked = question.casefold()
    return [span for span in _given(text, quantity) if text[slice(*span)].casefold() not in asked]


@lru_cache(maxsize=4096)
def _given(text: str, quantity: Quantity) -> tuple[tuple[int, int], ...]:
    return tuple(found.span() for found in quantity.gives.finditer(text))
