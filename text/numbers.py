"""Numbers in digits, words or Chinese numerals, and the page numbers that a question names."""

import re
from collections.abc import Mapping, Sequence

from text.late_patterns import LatePattern
from text.normal_forms import compose

_SEPARATED = re.compile(r"\d{1,3}(?:([.,' \u00a0\u202f])\d{3})(?:\1\d{3})*(?:[.,]\d+)?\Z")


def _in_order(text: str) -> list[str]:
    return text.split()


EN_UNITS: Mapping[str, int] = {
    word: value
    for value, word in enumerate(
        _in_order(
            """
        zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen
        """
        )
    )
}
EN_TENS: Mapping[str, int] = {
    word: 10 * value
    for value, word in enumerate(_in_order("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)
}
EN_SCALES: Mapping[str, int] = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "bn": 10**9,
    "mn": 10**6,
}
EN_ORDINALS: Mapping[str, int] = {
    **{
        word: value
        for value, word in enumerate(
            _in_order(
                """
        first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
        fifteenth sixteenth seventeenth eighteenth nineteenth
        """
            ),
            start=1,
        )
    },
    **{
        word: 10 * value
        for value, word in enumerate(
            _in_order("twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"),
            start=2,
        )
    },
    "hundredth": 100,
    "thousandth": 1000,
}
VI_UNITS: Mapping[str, int] = {
    "không": 0,
    "một": 1,
    "mốt": 1,
    "hai": 2,
    "ba": 3,
    "bốn": 4,
    "tư": 4,
    "năm": 5,
    "lăm": 5,
    "nhăm": 5,
    "sáu": 6,
    "bảy": 7,
    "bẩy": 7,
    "tám": 8,
    "chín": 9,
}
VI_SCALES: Mapping[str, int] = {
    "trăm": 100,
    "nghìn": 1000,
    "ngàn": 1000,
    "vạn": 10**4,
    "triệu": 10**6,
    "tỷ": 10**9,
    "tỉ": 10**9,
}
ZH_DIGITS: Mapping[str, int] = {
    **{digit: value for value, digit in enumerate("零一二三四五六七八九")},
    **{digit: value for value, digit in enumerate("〇壹贰叁肆伍陆柒捌玖")},
    "○": 0,
    "两": 2,
    "兩": 2,
}
ZH_SCALES: Mapping[str, int] = {
    "十": 10,
    "拾": 10,
    "百": 100,
    "佰": 100,
    "千": 1000,
    "仟": 1000,
    "万": 10**4,
    "萬": 10**4,
    "亿": 10**8,
    "億": 10**8,
}


# Most words begin no number, and each word of each sentence is asked for.
BEGINS_ENGLISH = frozenset((*EN_UNITS, *EN_TENS, *EN_ORDINALS)) - {"second"}
BEGINS_VIETNAMESE = frozenset((*VI_UNITS, "mười", "chục"))


def read_digits(text: str) -> float:
    """Read digits with either notation of thousands and decimals: "1,345.5", "1.345.595", "28,5", "5 000".

    A single separator before exactly three digits counts as thousands, since both notations occur in one library.
    """
    if _SEPARATED.match(text) and text[0] != "0":
        separators = [sign for sign in text if not sign.isdigit()]
        if len(set(separators)) > 1:
            whole, _, fraction = text.rpartition(separators[-1])
            return float(_digits(whole) + "." + fraction)
        return float(_digits(text))
    plain = text.replace("'", "").replace(" ", "")
    plain = plain.replace(",", "." if plain.count(",") == 1 and "." not in plain else "")
    return float(plain) if plain.count(".") <= 1 else float(_digits(plain))


_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}\Z")


def read_as_decimal(text: str) -> float | None:
    """Read digits whose one separator may mark decimals as well as thousands, "1.250", as a decimal; else None."""
    return float(text.replace(",", ".")) if _EITHER.match(text) else None


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdigit())


LARGEST = 1e30  # what is larger is no quantity that anybody means
_LONGEST_DIGITS = 15  # Chinese digits without a scale; a float holds no more exactly
_LONGEST_NUMERALS = 20
_LARGEST_HUNDREDS = 10**4  # "one hundred one hundred one ..." is no number


def spell(value: float) -> str:
    """Return the one spelling of a number, whatever notation it was written in."""
    return str(int(value)) if abs(value) < 1e18 and value == int(value) else f"{value:.10g}"


def read_english(words: Sequence[str], at: int) -> tuple[float, int, bool] | None:
    """Read the number in English words that begins at a word; return value, word count and whether it is an ordinal.

    A single word is read too, except "one" and "second", which more often mean something else. None where no number
    begins there.
    """
    if at >= len(words) or words[at] not in BEGINS_ENGLISH:
        return None
    total, current, end, seen = 0.0, 0.0, at, ""
    while end < len(words):
        word = words[end]
        if word == "and" and seen in ("hundred", "thousand", "million") and _is_rest(words, end + 1, seen):
            end += 1
            continue
        if word in EN_UNITS and seen != "unit" and (seen != "tens" or 0 < EN_UNITS[word] < 10):
            current += EN_UNITS[word]
            seen = "unit"
        elif word in EN_TENS and seen not in ("unit", "tens"):
            current += EN_TENS[word]
            seen = "tens"
        elif word == "hundred" and seen == "unit" and current < _LARGEST_HUNDREDS:
            current *= 100
            seen = word
        elif word in EN_SCALES and seen and EN_SCALES[word] >= 1000:
            total = _multiplied(total, current, EN_SCALES[word])
            current = 0.0
            seen = word
        elif word in EN_ORDINALS and seen != "unit" and not (seen == "tens" and EN_ORDINALS[word] > 9):
            return total + current + EN_ORDINALS[word], end + 1 - at, True
        else:
            break
        end += 1
    nothing = end == at or (end - at == 1 and words[at] == "one")
    return None if nothing else (total + current, end - at, False)


def _multiplied(total: float, current: float, scale: int) -> float:
    """Add some of a scale to a total; right behind another scale it multiplies that: "two thousand million"."""
    return total + current * scale if current or total > LARGEST else total * scale


def _is_rest(words: Sequence[str], at: int, scale: str) -> bool:
    """Whether what follows "five hundred and" is a part of that number, and no "six hundred" of its own."""
    end = at
    while end < len(words) and (words[end] in EN_UNITS or words[end] in EN_TENS):
        end += 1
    if end < len(words) and words[end] == scale:
        return False
    return end > at or (at < len(words) and words[at] in EN_ORDINALS)


def read_vietnamese(words: Sequence[str], at: int) -> tuple[float | None, int] | None:
    """Read the number in Vietnamese words that begins at a word; return its value and its word count.

    A last digit right behind a scale counts tenths of it: "một trăm hai" is 120, "hai triệu ba" 2,300,000. The value is
    None where that is not sure: "ba trăm một" is 310, or 300 for one.

    "một", "năm", "không" and "tư" alone are not read, since they more often mean an article, a year, a negation or
    "private". None where no number begins there.
    """
    if at >= len(words) or words[at] not in BEGINS_VIETNAMESE:
        return None
    return _read_short_form(words, at) or _read_vietnamese(words, at)


def _read_short_form(words: Sequence[str], at: int) -> tuple[float | None, int] | None:
    """Read a number of which a word is left out, such as the "mươi" of "ba lăm"; None where none begins here."""
    if at and words[at - 1] in VI_SCALES and words[at] != "mười" and _after(words, at) not in VI_SCALES:
        return None, 1  # "trăm hai" is 120
    if _names_two(words, at):
        return None, _end_of_numerals(words, at + 2) - at
    if VI_UNITS.get(words[at], 0) > 1 and _after(words, at) in _BEHIND_TENS[: 2 if words[at] == "năm" else 3]:
        return 10.0 * VI_UNITS[words[at]] + VI_UNITS[words[at + 1]], 2  # "ba lăm" is 35
    return None


def _read_vietnamese(words: Sequence[str], at: int) -> tuple[float | None, int] | None:
    total, current, end, seen = 0.0, 0.0, at, ""
    while end < len(words):
        word = words[end]
        if word in ("mười", "chục") and not seen.startswith(("unit", "tens")):
            current += 10
            seen = "tens"
        elif word in ("mươi", "chục") and seen == "unit":
            ones = current % 10
            current += 9 * ones
            seen = "tens"
        elif gap := _gap(words, end, seen):
            seen, end = gap
        elif word in VI_UNITS and seen != "unit" and _is_unit(words, end, seen):
            worth = _worth(words, end, VI_SCALES.get(seen, 0), at)
            if worth is None:
                return None, _end_of_numerals(words, end + 1) - at
            current += VI_UNITS[word] * worth
            seen = "unit"
        elif word in VI_SCALES and (seen == "unit" or (seen and word != "trăm")):
            total, current = _with_scale(total, current, word)
            seen = word
        elif word == "rưỡi" and seen in VI_SCALES:
            total += VI_SCALES[seen] / 2
            return total + current, end + 1 - at
        else:
            break
        end += 1
    nothing = end == at or (end - at == 1 and words[at] in ("một", "chục"))
    return None if nothing else (total + current, end - at)


def _with_scale(total: float, current: float, scale: str) -> tuple[float, float]:
    """Return what has been read, and what of it a larger scale would multiply, with a scale behind it."""
    if scale == "trăm":
        return total, current - current % 10 + (current % 10) * 100
    return _multiplied(total, current, VI_SCALES[scale]), 0.0


def _is_unit(words: Sequence[str], at: int, seen: str) -> bool:
    """Whether a word means a digit here; several digit words do only after "mươi", or right behind a scale."""
    if words[at] == "tư":
        return seen in ("tens", "lẻ", "linh") or (seen in VI_SCALES and _after(words, at) in _ENDS_FOUR)
    if words[at] in _BEHIND_TENS:
        return seen == "tens" or seen in VI_SCALES
    return words[at] != "không" and (words[at] != "năm" or _is_five(words, at))


# Before other words it more often begins one, such as "tư liệu" and "tư nhân".
_ENDS_FOUR = frozenset(("", "đồng", *".,;:!?", *VI_SCALES))
_BEHIND_BA = frozenset(("lô", "mẹ", "má", "gác"))  # backpack, parents, cart
_BEHIND_TENS = ("lăm", "nhăm", "mốt")
_NO_DIGITS = ("năm", "không")  # a year, a negation


# "phòng một trăm hai" may be room 102.
_NAMES_NUMBER = frozenset(
    _in_order("số thứ phòng trang điều khoản mục chương mã tuyến lộ tập bài câu lớp khóa kỳ năm tầng")
)


def _names_two(words: Sequence[str], at: int) -> bool:
    """Whether two digits share what follows: "hai ba trăm" is two or three hundred."""
    first, second, after = words[at], _after(words, at), _after(words, at + 1)
    digits = first in VI_UNITS and second in VI_UNITS and first not in _NO_DIGITS and second != "không"
    return digits and (after in VI_SCALES or after in ("mươi", "chục"))


def _after(words: Sequence[str], at: int) -> str:
    return words[at + 1] if at + 1 < len(words) else ""


def _gap(words: Sequence[str], at: int, seen: str) -> tuple[str, int] | None:
    """Return the scale that "linh", or "không trăm", leaves empty here, and its last word."""
    if words[at] in ("lẻ", "linh") and seen == "trăm" and VI_UNITS.keys() & set(words[at + 1 : at + 2]):
        return words[at], at
    if words[at] == "không" and _after(words, at) == "trăm" and VI_SCALES.get(seen, 0) >= 1000:
        return "trăm", at + 1  # "hai nghìn không trăm hai mươi" is 2,020
    return None


def _worth(words: Sequence[str], at: int, scale: int, begin: int) -> int | None:
    """Return what one of a digit is worth right behind a scale, None where that can be read in two ways."""
    after = _after(words, at)
    if not scale or after in ("mươi", "chục") or 0 < VI_SCALES.get(after, 0) <= scale:
        return 1
    goes_on = after in ("phẩy", "phần") or (after in VI_UNITS and after not in _NO_DIGITS)
    another_word = words[at] == "một" or (words[at] == "ba" and after in _BEHIND_BA)
    names = begin > 0 and words[begin - 1] in _NAMES_NUMBER
    if names or another_word or goes_on or (after in VI_SCALES and scale >= 1000):
        return None
    return scale // 10


def _end_of_numerals(words: Sequence[str], end: int) -> int:
    numerals = VI_UNITS.keys() | VI_SCALES.keys() | {"mươi", "chục"}
    while end < len(words) and words[end] in numerals and words[end] not in _NO_DIGITS:
        end += 1
    return end


def _is_five(words: Sequence[str], at: int) -> bool:
    """Whether "năm" means five, not year: a scale follows it, or it fills a gap ("một trăm lẻ năm")."""
    following = _after(words, at)
    fills_gap = at > 0 and words[at - 1] in ("lẻ", "linh")
    return following in VI_SCALES or following in ("mươi", "chục", "lăm", "nhăm") or fills_gap


_ZH_HUNDREDS = "".join(sign for sign, scale in ZH_SCALES.items() if 100 <= scale < 10**4)
_ZH_MYRIADS = "".join(sign for sign, scale in ZH_SCALES.items() if scale >= 10**4)
_ZH_ONES = "".join(sign for sign, value in ZH_DIGITS.items() if value)
# 一 and 两 may belong to what follows: 五千一年 is 5,000 a year, 三百两 300 taels; so may 千: 五万千瓦 is 50,000 kW.
_ZH_TENTHS = re.compile(rf"[{_ZH_HUNDREDS}{_ZH_MYRIADS}](?![一壹两兩])[{_ZH_ONES}]\Z")
_ZH_UNSURE = re.compile(
    rf"\A[{_ZH_HUNDREDS}{_ZH_MYRIADS}][{_ZH_ONES}]\Z|[{_ZH_HUNDREDS}{_ZH_MYRIADS}](?:[一壹两兩]|[{_ZH_ONES}]{{2,}})\Z"
    rf"|[{_ZH_HUNDREDS}][{_ZH_ONES}][{_ZH_MYRIADS}]|[{_ZH_MYRIADS}]千\Z"
)


def ends_in_tenths(numerals: str) -> bool:
    """Whether the last digit of Chinese numerals counts tenths of the scale right before it: 一千五, which is 1500."""
    return _ZH_TENTHS.search(numerals) is not None


def read_chinese(text: str) -> float | None:
    """Read a run of Chinese numerals, digit by digit ("二〇二〇") or with scales ("三亿二千万").

    A last digit right behind a scale counts tenths of it: 三万五 is 35000. None where that is not sure (百五,
    一百三四), and of a run that is too long for a number.
    """
    if all(sign in ZH_DIGITS for sign in text):
        return None if len(text) > _LONGEST_DIGITS else float("".join(str(ZH_DIGITS[sign]) for sign in text))
    if len(text) > _LONGEST_NUMERALS or _ZH_UNSURE.search(text):
        return None
    total, section, digit = 0, 0, 0
    last, small = 10**16, 10**4
    for sign in text:
        if sign in ZH_DIGITS:
            digit = ZH_DIGITS[sign]
            continue
        scale = ZH_SCALES[sign]
        if scale < 10**4:
            rises = scale > small or (scale == small and not digit)  # 八十千瓦 is 80 kW
            section = (section + digit) * scale if rises else section + (digit or 1) * scale
            small = scale
        else:
            if not section and not digit and not total:
                digit = 1
            total = (total + section + digit) * scale if scale > last else total + (section + digit) * scale
            section, small = 0, 10**4
            last = scale
        digit = 0
    if ends_in_tenths(text):
        digit *= ZH_SCALES[text[-2]] // 10
    return float(total + section + digit)


# The word for page, in languages that put it before the number. A title such as "Page 3" counts; a bare "p 3" does not.
_BEFORE = (
    r"\b(?:pages?|pgs?\.?|pp\.?|seiten?|páginas?|paginas?|pagin[ae]|págs?\.|страниц\w*|стр\.|(?:các )?trang|tr\.)\s*"
    r"(?:number\s+|no\.?\s*|nr\.?\s*|n[º°]\s*|số\s+|thứ\s+|№\s*|#\s*)?|\bp\.\s*"
)
_AGAIN = r"(?:(?:pages?|trang|seite|página|pagina|страниц\w*)\s+(?:số\s+|thứ\s+)?)?"
_THROUGH = r"\s*(?:-|–|—|~|～|\bto\b|\bthrough\b|\bthru\b|\buntil\b|\bbis\b|\bđến\b|\btới\b)\s*"
_AND = r"\s*(?:,\s*(?:and\b|or\b|và\b)?|&|\band\b|\bor\b|\bund\b|\bet\b|\by\b|\bvà\b|\bhoặc\b|\bhay\b)\s*"


_ENGLISH = {word: value for word, value in EN_UNITS.items() if value} | dict(EN_TENS)
_ENGLISH |= {
    f"{ten}{by}{unit}": EN_TENS[ten] + value
    for ten in EN_TENS
    for unit, value in EN_UNITS.items()
    if 0 < value < 10
    for by in "- "
}
_ORDINALS = {word: value for word, value in EN_ORDINALS.items() if value <= 20}
_VIETNAMESE_UNITS = _in_order("một hai ba bốn năm sáu bảy tám chín")
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
# "trang năm 2020" is a page of the year 2020, "page 3.5" is no page.
_NUMBER = rf"(?:\d{{1,5}}(?![\d%]|\.\d)|(?:{_LONGEST_FIRST})(?!\w|\s+\d))"
_LIST = LatePattern(
    rf"(?:{_BEFORE})({_NUMBER}(?:(?:{_THROUGH}|{_AND}){_AGAIN}{_NUMBER})*)",
    re.IGNORECASE,
)
_SPAN = LatePattern(rf"({_NUMBER})(?:{_THROUGH}{_AGAIN}({_NUMBER}))?", re.IGNORECASE)
_PAGE_WORD = re.compile(_BEFORE, re.IGNORECASE)  # one is in whatever the other patterns of spaced languages find
_ORDINAL_PAGE = LatePattern(rf"\b(?:({'|'.join(_ORDINALS)})|(\d{{1,5}})(?:st|nd|rd|th))\s+page\b", re.IGNORECASE)

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
        found += [(match.start(), _pages(_han(a), _han(b))) for a, b in _HAN_SPAN.findall(match[1])]
    for match in _COUNTED.finditer(text):
        found.append((match.start(), _pages(int(match[1]), int(match[2]) if match[2] else None)))
    ordered = [pages for _, pages in sorted(found, key=lambda pair: pair[0]) if pages.start > 0]
    return tuple(dict.fromkeys(ordered))


def without_page_references(question: str) -> str:
    """Remove the page references from a question, so that only what it asks about those pages is left."""
    text = compose(question)
    text = _COUNTED.sub(" ", _HAN_LIST.sub(" ", text))
    if _PAGE_WORD.search(text):
        text = _ORDINAL_PAGE.sub(" ", _LIST.sub(" ", text))
    return " ".join(text.split())


def names_page(references: tuple[range, ...], page_idx: int | None) -> bool:
    """Whether a 0-based page index is among the 1-based references."""
    return page_idx is not None and any(page_idx + 1 in pages for pages in references)


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
