"""Answer types: what a question asks for (date, person, reason, ...), and where a sentence contains it."""

import re
from functools import lru_cache
from typing import Literal

from text.late_patterns import LatePattern
from text.scripts import HAN, LATIN_CAPITAL

AnswerType = Literal["number", "date", "person", "place", "reason", "other"]

_ASKS: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    (
        "date",
        re.compile(
            r"\bwhen\b|\b(?:what|which)\b(?: \w+){0,2} (?:year|years|date|day|month|decade|century)\b"
            r"|什么时候|何时|哪(?:一)?年|哪(?:一)?天|几月|几年|哪个(?:世纪|年代|月)|什么(?:日期|年份|时间)|いつ"
            r"|khi nào|năm nào|ngày nào|tháng nào|thế kỷ nào|thập niên nào|bao giờ|năm bao nhiêu|ngày bao nhiêu"
            r"|\bwann\b|\bquand\b|\bcuándo\b"
        ),
    ),
    (
        "number",
        re.compile(
            r"\bhow (?:many|much|long|old|far|tall|large|big|high|often|fast|deep|wide|heavy|few)\b"
            r"|\bwhat\b(?: \w+){0,3} (?:percentage|percent|number|amount|size|population|rate|score|average|total|cost"
            r"|price|limit|port|temperature|distance|length|speed)\b"
            r"|多少|几|多[大长高远久快深]|百分之几|百分比|数量|bao nhiêu|\bmấy\b|bao lâu|bao xa|tỷ lệ|tỉ lệ|số lượng"
            r"|\bwie viele?\b|\bcombien\b|\bcuánt[oa]s?\b"
        ),
    ),
    (
        "person",
        re.compile(r"\bwho\b|\bwhom\b|\bwhose\b|谁|何人|哪位|什么人|誰|\bai\b|người nào|\bwer\b|\bquién(?:es)?\b"),
    ),
    (
        "place",
        re.compile(
            r"\bwhere\b|\b(?:what|which)\b(?: \w+){0,2} (?:country|city|state|place|region|continent|town|river|area"
            r"|location)\b"
            r"|哪里|哪儿|何处|何地|在哪|哪个(?:国家|城市|地区|州|省|地方|大学)|什么(?:地方|城市|国家)|どこ"
            r"|ở đâu|nơi nào|đâu|nước nào|quốc gia nào|thành phố nào|vùng nào|\bwo\b|\bdónde\b"
        ),
    ),
    ("reason", re.compile(r"\bwhy\b|为什么|为何|原因|なぜ|tại sao|vì sao|\bwarum\b|\bpourquoi\b|por qué")),
)

_NUMBER = (
    r"\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fifteen|twenty|thirty|forty"
    r"|fifty|sixty|hundred|thousand|million|billion|half|third|quarter|dozen|twice|once|first|second)s?\b"
    r"|[零〇一二两三四五六七八九十百千万亿半]+(?=[个名位人年月日天次家座所种项条支队场分米公吨岁倍层艘架辆本部万亿成])"
    r"|\b(?:hai|ba|bốn|năm|sáu|bảy|tám|chín|mười|trăm|nghìn|ngàn|triệu|tỷ|nửa|chục)\b"
)
_DATE = (
    r"\b1\d{3}s?\b|\b20\d\ds?\b|\d{3,4}年|\d+世纪|\d+月|[一二三四五六七八九十]+世纪"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b|\b\w+th century\b"
    r"|\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b|\btháng \w+|\bnăm \d+|\bthế kỷ \w+|\bngày \d+"
)
_CAPITALISED = rf"[{LATIN_CAPITAL}][\w'’-]+"
_FURTHER = rf"\s[{LATIN_CAPITAL}][\w.'’-]+"
_NAME = rf"(?<![.!?:;\"“‘(]\s)(?<!^)(?<!\w){_CAPITALISED}(?:{_FURTHER})*"
_PERSON = rf"[{HAN}]{{1,6}}[·・‧•][{HAN}·・‧•]{{1,12}}|(?<!\w){_CAPITALISED}(?:{_FURTHER})+"
_PLACE = (
    rf"\b(?:in|at|near|from|to|of|tại|ở|đến|từ)\s(?:the\s)?{_CAPITALISED}"
    rf"|在[{HAN}]{{2,8}}|[{HAN}]{{1,6}}[市省州国县岛河湖山区洲镇城港]"
)
_REASON = (
    r"\bbecause\b|\bdue to\b|\bsince\b|\bin order to\b|\bso that\b|因为|由于|所以|为了|因此|\bvì\b|\bdo\b|bởi|nhằm|để"
)
_FINDS: dict[AnswerType, LatePattern] = {
    "number": LatePattern(_NUMBER, re.IGNORECASE),
    "date": LatePattern(_DATE, re.IGNORECASE),
    "person": LatePattern(f"{_PERSON}|{_NAME}"),
    "place": LatePattern(f"{_PLACE}|{_NAME}"),
    "reason": LatePattern(_REASON, re.IGNORECASE),
}


@lru_cache(maxsize=256)
def asked_type(question: str) -> AnswerType:
    """Return the answer type of a question: the first whose pattern matches."""
    folded = question.casefold()
    return next((kind for kind, pattern in _ASKS if pattern.search(folded)), "other")


# Every match in an ASCII text contains one of these; most sentences contain none, and looking for them is quick.
_ASCII_CUES: dict[AnswerType, tuple[str, ...]] = {
    "date": (
        *("1", "20", "day", "century"),
        *("uary", "march", "april", "june", "july", "august", "ember", "october"),
    ),
    "reason": ("because", "due to", "since", "order to", "so that", "do"),
}


@lru_cache(maxsize=4096)
def answer_spans(kind: AnswerType, sentence: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of a sentence that match an answer type; none for ``other``."""
    pattern = _FINDS.get(kind)
    cues = _ASCII_CUES.get(kind)
    if pattern is None or (cues and sentence.isascii() and not any(map(sentence.lower().__contains__, cues))):
        return ()
    return tuple(found.span() for found in pattern.finditer(sentence))
