"""Read numbers as people write them: digits, English and Vietnamese words, Chinese numerals."""

import re
from collections.abc import Mapping, Sequence

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


def read_digits(text: str) -> float:
    """Read digits with either notation of thousands and decimals: "1,345.5", "1.345.595", "28,5", "5 000".

    A single separator before exactly three digits is taken for thousands, since both notations occur in one library.
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


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdigit())


def spell(value: float) -> str:
    """Give the key of a number: the same for every notation of one value."""
    return str(int(value)) if value == int(value) and abs(value) < 1e18 else f"{value:.10g}"


def read_english(words: Sequence[str], at: int) -> tuple[float, int, bool] | None:
    """Read a number in English words that begins at a word: its value, how many words, and whether it is an ordinal.

    A word alone is read too; "one" and "second" alone are left, being more often something else.
    """
    total, current, end, seen = 0.0, 0.0, at, ""
    if list(words[at : at + 1]) == ["second"]:
        return None
    while end < len(words):
        word = words[end]
        if word == "and" and seen in ("hundred", "thousand", "million") and _small(words, end + 1):
            end += 1
            continue
        if word in EN_UNITS and seen != "unit" and (seen != "tens" or 0 < EN_UNITS[word] < 10):
            current += EN_UNITS[word]
            seen = "unit"
        elif word in EN_TENS and seen not in ("unit", "tens"):
            current += EN_TENS[word]
            seen = "tens"
        elif word == "hundred" and seen == "unit":
            current *= 100
            seen = word
        elif word in EN_SCALES and seen and EN_SCALES[word] >= 1000:
            total += current * EN_SCALES[word]
            current = 0.0
            seen = word
        elif word in EN_ORDINALS and seen != "unit" and not (seen == "tens" and EN_ORDINALS[word] > 9):
            return total + current + EN_ORDINALS[word], end + 1 - at, True
        else:
            break
        end += 1
    nothing = end == at or (end - at == 1 and words[at] == "one")
    return None if nothing else (total + current, end - at, False)


def _small(words: Sequence[str], at: int) -> bool:
    return at < len(words) and (words[at] in EN_UNITS or words[at] in EN_TENS or words[at] in EN_ORDINALS)


def read_vietnamese(words: Sequence[str], at: int) -> tuple[float, int] | None:
    """Read a number in Vietnamese words that begins at a word: its value and how many words it takes.

    "một", "năm", "không" and "tư" alone are left, being more often an article, a year, a negation or "private".
    """
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
        elif word in ("lẻ", "linh") and seen == "trăm" and VI_UNITS.keys() & set(words[end + 1 : end + 2]):
            pass
        elif word in VI_UNITS and seen != "unit" and _is_unit(words, end, seen):
            current += VI_UNITS[word]
            seen = "unit"
        elif word == "trăm" and seen == "unit":
            current = current - current % 10 + (current % 10) * 100
            seen = word
        elif word in VI_SCALES and seen and word != "trăm":
            total += current * VI_SCALES[word]
            current = 0.0
            seen = word
        elif word == "rưỡi" and seen in VI_SCALES:
            total += VI_SCALES[seen] / 2
            return total + current, end + 1 - at
        else:
            break
        end += 1
    nothing = end == at or (end - at == 1 and words[at] in ("một", "chục"))
    return None if nothing else (total + current, end - at)


def _is_unit(words: Sequence[str], at: int, seen: str) -> bool:
    """Tell a digit's word from the same word meaning something else: several only mean one behind "mươi"."""
    if words[at] in ("lăm", "nhăm", "mốt", "tư"):
        return seen == "tens"
    return words[at] != "không" and (words[at] != "năm" or _is_five(words, at))


def _is_five(words: Sequence[str], at: int) -> bool:
    """Tell the number "năm" from the year: it is followed by a scale, or fills a gap ("một trăm lẻ năm")."""
    following = words[at + 1] if at + 1 < len(words) else ""
    return following in VI_SCALES or following == "mươi" or (at > 0 and words[at - 1] in ("lẻ", "linh"))


def read_chinese(text: str) -> float | None:
    """Read a run of Chinese numerals, digit by digit ("二〇二〇") or with scales ("三亿二千万"); None if it is none."""
    if all(sign in ZH_DIGITS for sign in text):
        return float("".join(str(ZH_DIGITS[sign]) for sign in text))
    total, section, digit = 0, 0, 0
    last = 10**16
    for sign in text:
        if sign in ZH_DIGITS:
            digit = ZH_DIGITS[sign]
            continue
        scale = ZH_SCALES[sign]
        if scale < 10**4:
            section += (digit or 1) * scale
        else:
            if not section and not digit and not total:
                digit = 1
            total = (total + section + digit) * scale if scale > last else total + (section + digit) * scale
            section = 0
            last = scale
        digit = 0
    return float(total + section + digit)
