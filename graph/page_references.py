"""Which pages a question names: "page 3", "pp. 3-5", 第三页, "trang ba", numbered as people do, from 1."""

import re
import unicodedata

# Before the number, in languages that put it there. A title such as "Page 3" counts; a bare "p 3" does not.
_BEFORE = (
    r"\b(?:pages?|pgs?\.?|pp\.?|seiten?|páginas?|paginas?|pagin[ae]|págs?\.|страниц\w*|стр\.|(?:các )?trang|tr\.)\s*"
    r"(?:number\s+|no\.?\s*|nr\.?\s*|n[º°]\s*|số\s+|thứ\s+|№\s*|#\s*)?|\bp\.\s*"
)
_AGAIN = r"(?:(?:pages?|trang|seite|página|pagina|страниц\w*)\s+(?:số\s+|thứ\s+)?)?"
_THROUGH = r"\s*(?:-|–|—|~|～|\bto\b|\bthrough\b|\bthru\b|\buntil\b|\bbis\b|\bđến\b|\btới\b)\s*"
_AND = r"\s*(?:,\s*(?:and\b|or\b|và\b)?|&|\band\b|\bor\b|\bund\b|\bet\b|\by\b|\bvà\b|\bhoặc\b|\bhay\b)\s*"


def _words(text: str) -> list[str]:
    return text.split()


_UNITS = _words(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_ENGLISH = {word: value for value, word in enumerate(_UNITS, 1)} | {
    word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)
}
_ENGLISH |= {f"{ten}{by}{unit}": _ENGLISH[ten] + _ENGLISH[unit] for ten in _TENS for unit in _UNITS[:9] for by in "- "}
_ORDINAL_WORDS = _words(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ORDINALS = {word: value for value, word in enumerate(_ORDINAL_WORDS, 1)}
_VIETNAMESE_UNITS = _words("một hai ba bốn năm sáu bảy tám chín")
_VIETNAMESE = {word: value for value, word in enumerate(_VIETNAMESE_UNITS, 1)} | {"tư": 4, "bẩy": 7, "mười": 10}
_VIETNAMESE |= {"đầu": 1, "đầu tiên": 1, "nhất": 1, "nhì": 2}
_AFTER_TEN = _VIETNAMESE | {"lăm": 5, "mốt": 1}
_VIETNAMESE |= {f"mười {unit}": 10 + _AFTER_TEN[unit] for unit in [*_VIETNAMESE_UNITS, "lăm"]}
_VIETNAMESE |= {
    f"{ten} mươi{unit and ' '}{unit}": 10 * _VIETNAMESE[ten] + (_AFTER_TEN[unit] if unit else 0)
    for ten in _VIETNAMESE_UNITS[1:]
    for unit in ["", *_VIETNAMESE_UNITS, "lăm", "mốt", "tư"]
}
_WORDS = _ENGLISH | _VIETNAMESE
_LONGEST_FIRST = "|".join(sorted(_WORDS, key=len, reverse=True))
# "trang năm 2020" is a page of the year 2020, "page 3.5" no page at all.
_NUMBER = rf"(?:\d{{1,5}}(?![\d%]|\.\d)|(?:{_LONGEST_FIRST})(?!\w|\s+\d))"
_LIST = re.compile(
    rf"(?:{_BEFORE})({_NUMBER}(?:(?:{_THROUGH}|{_AND}){_AGAIN}{_NUMBER})*)",
    re.IGNORECASE,
)
_SPAN = re.compile(rf"({_NUMBER})(?:{_THROUGH}{_AGAIN}({_NUMBER}))?", re.IGNORECASE)
_ORDINAL_PAGE = re.compile(rf"\b(?:({'|'.join(_ORDINALS)})|(\d{{1,5}})(?:st|nd|rd|th))\s+page\b", re.IGNORECASE)

_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_HAN_NUMBER = rf"(?:\d{{1,5}}|[{''.join(_HAN_DIGITS)}{''.join(_HAN_UNITS)}]{{1,7}})"
_HAN_LIST = re.compile(
    rf"第\s*({_HAN_NUMBER}(?:\s*(?:[页頁]?\s*[-–—~～至到、,，和与與及]\s*第?)\s*{_HAN_NUMBER})*)\s*(?:[页頁]|ページ|페이지)"
)
_HAN_SPAN = re.compile(rf"({_HAN_NUMBER})(?:\s*[页頁]?\s*[-–—~～至到]\s*第?\s*({_HAN_NUMBER}))?")
# Japanese and Korean count "3ページ" without a prefix.
_COUNTED = re.compile(r"(\d{1,5})(?:\s*[-–—~～]\s*(\d{1,5}))?\s*(?:ページ目?|페이지|쪽)")


def page_references(question: str) -> tuple[range, ...]:
    """Read the pages that a question names, in the order it names them; none where it names none.

    Each range counts from 1 and includes both ends of what was said: "pages 3-5" is ``range(3, 6)``.
    """
    text = unicodedata.normalize("NFC", question)
    found: list[tuple[int, range]] = []
    for match in _LIST.finditer(text):
        found += [(match.start(), _pages(_number(a), _number(b))) for a, b in _SPAN.findall(match[1])]
    for match in _ORDINAL_PAGE.finditer(text):
        value = _ORDINALS[match[1].lower()] if match[1] else int(match[2])
        found.append((match.start(), _pages(value, None)))
    for match in _HAN_LIST.finditer(text):
        found += [(match.start(), _pages(_han(a), _han(b))) for a, b in _HAN_SPAN.findall(match[1])]
    for match in _COUNTED.finditer(text):
        found.append((match.start(), _pages(int(match[1]), int(match[2]) if match[2] else None)))
    ordered = [pages for _, pages in sorted(found, key=lambda pair: pair[0]) if pages.start > 0]
    return tuple(dict.fromkeys(ordered))


def without_page_references(question: str) -> str:
    """Leave out of a question the pages that it names, so that what it asks of them is left."""
    text = unicodedata.normalize("NFC", question)
    for pattern in (_HAN_LIST, _COUNTED, _LIST, _ORDINAL_PAGE):
        text = pattern.sub(" ", text)
    return " ".join(text.split())


def names_page(references: tuple[range, ...], page_idx: int | None) -> bool:
    """Tell whether a 0-based page is among those named."""
    return page_idx is not None and any(page_idx + 1 in pages for pages in references)


def _pages(first: int | None, last: int | None) -> range:
    if first is None:
        return range(0)
    ends = sorted((first, first if last is None else last))
    return range(ends[0], ends[1] + 1)


def _number(text: str) -> int | None:
    if not text:
        return None
    return int(text) if text.isdecimal() else _WORDS[" ".join(text.lower().split())]


def _han(text: str) -> int | None:
    """Read a number in Chinese numerals below ten thousand, or in digits."""
    if not text:
        return None
    if text.isdecimal():
        return int(text)
    if not any(letter in _HAN_UNITS for letter in text):
        return int("".join(str(_HAN_DIGITS[letter]) for letter in text))
    total, digit = 0, None
    for letter in text:
        if letter in _HAN_UNITS:
            total += (1 if digit is None else digit) * _HAN_UNITS[letter]
            digit = None
        else:
            digit = _HAN_DIGITS[letter] or None
    return total + (digit or 0)
