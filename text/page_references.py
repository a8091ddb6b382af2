"""The page numbers that a question names."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from text.han_numerals import han_number
from text.language import language
from text.late_patterns import late_pattern
from text.normal_forms import compose, without_accents
from text.words import stem, without_framing


def _numbered(words: str, *, start: int = 1, step: int = 1) -> Mapping[str, int]:
    return {word: step * value for value, word in enumerate(words.split(), start)}


_UNITS = _numbered(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = _numbered("twenty thirty forty fifty sixty seventy eighty ninety", start=2, step=10)
_ORDINALS = _numbered(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ENGLISH = {**_UNITS, **_TENS} | {
    f"{ten}{by}{unit}": tens + value
    for ten, tens in _TENS.items()
    for unit, value in _UNITS.items()
    if value < 10
    for by in ("-", " ")
}
_DIGITS = _numbered("một hai ba bốn năm sáu bảy tám chín")
_BEHIND_TEN = {**_DIGITS, "lăm": 5}
_BEHIND_TENS = {**_BEHIND_TEN, "mốt": 1, "tư": 4}
_VIETNAMESE = {**_DIGITS, "tư": 4, "bẩy": 7, "mười": 10, "đầu": 1, "đầu tiên": 1, "nhất": 1, "nhì": 2}
_VIETNAMESE |= {f"mười {unit}": 10 + value for unit, value in _BEHIND_TEN.items()}
for _ten, _tens in _DIGITS.items():
    if _tens > 1:
        _VIETNAMESE[f"{_ten} mươi"] = 10 * _tens
        _VIETNAMESE |= {f"{_ten} mươi {unit}": 10 * _tens + value for unit, value in _BEHIND_TENS.items()}
_WORDS = _ENGLISH | _VIETNAMESE


# The word for page, in languages that put it before the number. A title such as "Page 3" counts; a bare "p 3" does not.
_BEFORE = (
    r"\b(?:pages?|pgs?\.?|pp\.?|seiten?|páginas?|paginas?|pagin[ae]|págs?\.|страниц\w*|стр\.|(?:các )?trang|tr\.)\s*"
    r"(?:number\s+|no\.?\s*|nr\.?\s*|n[º°]\s*|số\s+|thứ\s+|№\s*|#\s*)?|\bp\.\s*"
)
_AGAIN = r"(?:(?:pages?|trang|seite|página|pagina|страниц\w*)\s+(?:số\s+|thứ\s+)?)?"
_THROUGH = r"\s*(?:-|–|—|~|～|\bto\b|\bthrough\b|\bthru\b|\buntil\b|\bbis\b|\bđến\b|\btới\b)\s*"
_AND = r"\s*(?:,\s*(?:and\b|or\b|và\b)?|&|\band\b|\bor\b|\bund\b|\bet\b|\by\b|\bvà\b|\bhoặc\b|\bhay\b)\s*"

_LONGEST_FIRST = "|".join(sorted(_WORDS, key=len, reverse=True))
# "trang năm 2020" is a page of the year 2020, "page 3.5" is no page.
_NUMBER = rf"(?:\d{{1,5}}(?![\d%]|\.\d)|(?:{_LONGEST_FIRST})(?!\w|\s+\d))"
_LIST = late_pattern(
    rf"(?:{_BEFORE})({_NUMBER}(?:(?:{_THROUGH}|{_AND}){_AGAIN}{_NUMBER})*)",
    re.IGNORECASE,
)
_ENDS = r"(?![A-Za-zÀ-ÿ\d'’])"
# A page that is called by letters, as those before the first are. "The page I read" is none.
_LETTERED = r"((?!I\b)(?:[IVXLC]+|[ivxlc]{2,}|[vx]|[A-Za-z]{1,2}-?\d{1,4}))" + _ENDS
# What is no doubt a label; "a landing page v2" and "Seite A4" may be something else, and stay in the question.
_SURE_LABEL = re.compile(
    rf"(?i:{_BEFORE})(?:[IVXLC]{{2,}}|[ivxlc]{{2,}}|[A-Za-z]{{1,2}}-\d{{1,4}}){_ENDS}|第\s?[IVXLCivxlc]+\s?[页頁]"
)
_LABEL = re.compile(rf"(?i:{_BEFORE}){_LETTERED}|第\s?{_LETTERED}\s?[页頁]")
_SPAN = late_pattern(rf"({_NUMBER})(?:{_THROUGH}{_AGAIN}({_NUMBER}))?", re.IGNORECASE)
_PAGE_WORD = re.compile(_BEFORE, re.IGNORECASE)  # one is in whatever the other patterns of spaced languages find
_ORDINAL_PAGE = late_pattern(rf"\b(?:({'|'.join(_ORDINALS)})|(\d{{1,5}})(?:st|nd|rd|th))\s+page\b", re.IGNORECASE)

HAN_NUMBER = r"(?:\d{1,5}|[零〇一二三四五六七八九两兩十百千]{1,7})"
_HAN_LIST = re.compile(
    rf"第\s*({HAN_NUMBER}(?:\s*(?:[页頁]?\s*[-–—~～至到、,，和与與及]\s*第?)\s*{HAN_NUMBER})*)\s*(?:[页頁]|ページ|페이지)"
)
_HAN_SPAN = re.compile(rf"({HAN_NUMBER})(?:\s*[页頁]?\s*[-–—~～至到]\s*第?\s*({HAN_NUMBER}))?")
# Japanese and Korean count "3ページ" without a prefix.
_COUNTED = re.compile(r"(\d{1,5})(?:\s*[-–—~～]\s*(\d{1,5}))?\s*(?:ページ目?|페이지|쪽)")


def page_references(question: str) -> tuple[range, ...]:
    """Return the pages that a question names, in that order.

    Pages count from 1, and both ends of a range are included: "pages 3-5" is ``range(3, 6)``.
    """
    text = compose(question)
    found: list[tuple[int, range]] = []
    if _PAGE_WORD.search(text):
        for match in _LIST.finditer(text):
            found += [(match.start(), _pages(_number(a), _number(b))) for a, b in _SPAN.findall(match[1])]
        for match in _ORDINAL_PAGE.finditer(text):
            value = _ORDINALS.get(_plain(match[1])) if match[1] else int(match[2])
            found.append((match.start(), _pages(value, None)))
    for match in _HAN_LIST.finditer(text):
        found += [
            (match.start(), _pages(han_number(a), han_number(b) if b else None)) for a, b in _HAN_SPAN.findall(match[1])
        ]
    for match in _COUNTED.finditer(text):
        found.append((match.start(), _pages(int(match[1]), int(match[2]) if match[2] else None)))
    ordered = [pages for _, pages in sorted(found, key=lambda pair: pair[0]) if pages.start > 0]
    return tuple(dict.fromkeys(ordered))


def page_labels(question: str) -> frozenset[str]:
    """Return the pages that a question names by letters, such as iv and A-3, case-folded."""
    return frozenset((before or after).casefold() for before, after in _LABEL.findall(compose(question)))


def without_page_references(question: str) -> str:
    """Remove the page references from a question, so that only what it asks about those pages is left."""
    text = _SURE_LABEL.sub(" ", compose(question))
    text = _COUNTED.sub(" ", _HAN_LIST.sub(" ", text))
    if _PAGE_WORD.search(text):
        text = _ORDINAL_PAGE.sub(" ", _LIST.sub(" ", text))
    return " ".join(text.split())


def _pages(first: int | None, last: int | None) -> range:
    if first is None:
        return range(0)
    ends = sorted((first, first if last is None else last))
    return range(ends[0], ends[1] + 1)


def _number(text: str) -> int | None:
    if not text:
        return None
    return int(text) if text.isdecimal() else _WORDS.get(_plain(text))


def _plain(words: str) -> str:
    """Fold case as patterns that ignore it do: they take a dotless or dotted "i" and a long "s" for the letter."""
    return " ".join(words.casefold().replace("ı", "i").replace("\u0307", "").split())


_ENGLISH_PAGE = """
    page pages document documents article text passage section file content contents summary summarise summarize
    summarized overview outline brief briefly short shortly main key point points idea ideas topic gist takeaway
    takeaways important mean means meaning say says said read cover covers discuss discusses deal deals
"""
_VIETNAMESE_PAGE = """
    trang tài liệu bài viết văn đoạn này nội dung tóm tắt chính ý nói giải thích tổng quan khái quát ngắn gọn điểm nghĩa
    chủ đề giúp về gồm đề cập gì những
"""
_NAMES_THE_PAGE = frozenset(stem(word) for words in (_ENGLISH_PAGE, _VIETNAMESE_PAGE) for word in words.split())
_CHINESE = re.compile(
    "(?:本|此|该|页|面|文档|文章|文本|文|篇|段|章|内容|总结|概括|归纳|概述|主要|主题|主旨|讲|说|述|写|介绍|一下|下|要点|重点|大意"
    "|解释|全|摘要|关于|意思|给我|我|帮|做|个|一)+"
)


@lru_cache(maxsize=256)
def about_whole_page(question: str) -> bool:
    """Whether no word of a question names anything but a page, its number, and what to do with it."""
    return not naming_words(without_page_references(question))


def asks_for_all(rest: str, beside: Collection[str]) -> bool:
    """Whether what a question says beside a place and the words ``beside`` asks for nothing but what stands there.

    In a language whose words for "say" are not known here, one word may be that.
    """
    named = [word for word in naming_words(rest) if stem(without_accents(word)) not in beside]
    return len(named) <= (language(rest) not in ("en", "vi", "zh"))


def naming_words(rest: str) -> list[str]:
    """Return the words that name more than a page or what is done with it, flattened; of Chinese and Japanese, runs."""
    return [
        word
        for word in without_framing(rest).split()
        if not (word.isdigit() or stem(word) in _NAMES_THE_PAGE or _CHINESE.fullmatch(word))
    ]
