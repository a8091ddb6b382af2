"""Split a sentence into tokens that are equal if two sentences say the same thing in another notation."""

import re
import unicodedata
from functools import lru_cache
from typing import Literal, NamedTuple

from text.language import language
from text.normal_forms import RAISED, RAISED_SIGNS, fold, fold_width
from text.numbers import (
    LARGEST,
    ZH_DIGITS,
    ZH_SCALES,
    ends_in_tenths,
    read_as_decimal,
    read_chinese,
    read_digits,
    spell,
)
from text.scripts import KANA

Kind = Literal["word", "letter", "number", "date", "unit", "symbol"]

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs of Indic and pointed Semitic scripts are marks, which \w leaves out.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0955-\u0957\u0962\u0963\u0980-\u0dff"
LETTER = f"(?:[^\\W\\d_{UNSPACED}]|[{_MARKS}])"
_ZH_NUMERALS = "".join((*ZH_DIGITS, *ZH_SCALES))
_ZH_SCALE = "".join(ZH_SCALES)
_ZH_ONES = "一二两三四五六七八九"
_NOT_TENTHS = "为员立功本长就果都熟年语分品绩份人型套对群双片形因效婚交全名家千百天堆团"
_DIGITS = (
    r"(?<![\w.,)])\.\d+(?![.\w])|"
    r"\d{1,3}(?:(?P<sep>[.,'\u00a0\u202f])\d{3})(?:(?P=sep)\d{3})*(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
)
_RAISED = f"[{RAISED_SIGNS}]?[{RAISED}]+"
_TOKEN = re.compile(
    rf"(?P<plain>[A-Za-z]{{2,}}+(?![\w'{_MARKS}]))"  # most words, found before all else is tried
    rf"|(?P<iso>(?<!\d)\d{{4}}([-/.])\d{{1,2}}\3\d{{1,2}}(?!\d))"
    rf"|(?P<slashed>(?<!\d)\d{{1,2}}([-/.])\d{{1,2}}\5\d{{4}}(?!\d))"
    r"|(?P<clock>(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d))"
    rf"|(?P<share>[{_ZH_NUMERALS}\d.]{{1,12}}分之[{_ZH_NUMERALS}\d.]{{1,12}}(?:[点點][零〇一二三四五六七八九]+)?)"
    rf"|(?P<tenths>(?<![{_ZH_NUMERALS}\d.])(?:[{_ZH_ONES}]|\d(?:\.\d)?)成(?![{_NOT_TENTHS}]))"
    rf"|(?P<scaled>(?:\d[\d,.]*\s?[{_ZH_SCALE}]+){{1,4}})"
    r"|(?P<spaced>(?<![\d.,])(?<!\d )\d{1,3}(?: \d{3})+(?![\d.,]| \d))"
    rf"|(?P<number>{_DIGITS})(?P<raised>{_RAISED})?(?P<tail>{LETTER}+)?"
    rf"|{_RAISED}"
    rf"|(?P<numerals>[{_ZH_NUMERALS}]+)"
    rf"|(?P<dotted>(?:[^\W\d_]\.){{2,}}(?:[^\W\d_](?![^\W_]))?)"
    r"|(?P<tail_alone>(?<!\w)(?:'(?:s|re|ve|ll|d|m)|n't)(?!\w))"  # as tokenised texts write them
    rf"|(?P<word>{LETTER}(?:{LETTER}|\d)*(?:'{LETTER}+)*'?)"
    rf"|(?P<letter>[{UNSPACED}])"
    r"|(?P<symbol>[^\w\s])"
)
_MINUS = re.compile(r"(?:^|[\s(\"=<>:])[-]\Z")
# After these, a single Chinese numeral counts something.
COUNTED = frozenset(
    "个個位名人岁歲年月日天周週星期小时時点點秒次届屆种種条條只隻座架辆輛艘家所间間层層章节節部本支队隊组組项項件块塊"
    "米公里千克吨噸元美欧英平立度倍成代级級世号號分码毫厘海光场場颗顆份枚张張句篇"
)
NO_NUMBER = ("百度", "十分", "千万不", "万一", "一一", "万万", "三三两两", "千千万万")
_KEPT_MARKS = frozenset("%‰°@#&<>=≤≥≠±+$§")
LONGEST_NUMBER = 20  # characters; what is longer is no quantity, and compared as it is written
_LARGEST_BASE, _LARGEST_EXPONENT = 1000, 24  # of a power that is written
_ORDINAL_TAILS = frozenset(("st", "nd", "rd", "th"))
_CONTRACTED = {"'re": "are", "'ve": "have", "'ll": "will", "'m": "am", "'d": "'d", "'s": "'s"}
_WHOLE = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "gonna": "going to"}


class Token(NamedTuple):
    """One unit of comparison. ``start`` and ``end`` are offsets into the folded sentence.

    ``key`` is what is compared; ``value`` is a number's value, and ``also`` what else it may mean, as 1.25 for "1.250";
    ``capital`` says that it was written with a capital.
    """

    key: str
    start: int
    end: int
    kind: Kind
    capital: bool = False
    value: float | None = None
    also: tuple[float, ...] = ()

    @property
    def values(self) -> tuple[float, ...]:
        """All that a number may mean."""
        return self.also if self.value is None else (self.value, *self.also)


def tokens_of(folded: str) -> list[Token]:
    """Cut a folded text into tokens; punctuation is left out, symbols that carry meaning are kept."""
    found: list[Token] = []
    for match in _TOKEN.finditer(folded):
        kind = match.lastgroup
        if kind is None:
            continue  # a mark behind a date or another notation of numbers
        if kind == "plain":
            piece = match[0]
            whole = piece.lower()
            if whole in _WHOLE:
                _add_word(found, piece, match.start())
            else:
                found.append(Token(whole, match.start(), match.end(), "word", whole != piece))
        else:
            _add(found, match, kind, folded)
    return found


def _add(found: list[Token], match: re.Match[str], kind: str, folded: str) -> None:
    start, end = match.span()
    piece = match[0]
    if kind == "word":
        _add_word(found, piece, start)
    elif kind == "tail_alone":
        found.append(Token(_CONTRACTED.get(piece.casefold(), "not"), start, end, "word"))
    elif kind == "letter":
        found.append(Token(piece, start, end, "letter"))
    elif kind in ("number", "raised", "tail"):
        _add_number(found, match, folded)
    elif kind == "symbol":
        found.extend([Token(piece, start, end, "symbol")] if _carries(piece) else [])
    elif kind == "numerals":
        _add_numerals(found, piece, start, folded)
    elif kind in ("share", "tenths"):
        _add_share(found, piece, start)
    elif kind == "dotted":
        found.append(Token(piece.replace(".", "").casefold(), start, end, "word", piece[0].isupper()))
    else:
        found.append(_written(match, start, end))


def _written(match: re.Match[str], start: int, end: int) -> Token:
    """Read a number or date that one pattern knows as a whole."""
    if match["clock"] is not None:
        return Token("#" + match[0].removeprefix("0"), start, end, "number")
    if match["scaled"] is None and match["spaced"] is None:
        return _written_date(match, start, end)
    if len(match[0]) > 2 * LONGEST_NUMBER:
        return Token("#" + match[0], start, end, "number")
    value = _scaled(match[0]) if match["scaled"] is not None else read_digits(match[0].replace(" ", ""))
    return number_token(value, match[0], start, end)


def number_token(value: float, written: str, start: int, end: int, also: tuple[float, ...] = ()) -> Token:
    """Return the token of a number; what is too large for a quantity is compared as it is written."""
    if abs(value) > LARGEST:
        return Token("#" + written, start, end, "number")
    return Token("#" + spell(value), start, end, "number", value=value, also=also)


def words_of(text: str) -> tuple[str, ...]:
    """Return the keys of a phrase, as a lexicon holds it."""
    return tuple(token.key for token in tokens_of(fold(text)))


def _carries(sign: str) -> bool:
    return sign in _KEPT_MARKS or (unicodedata.category(sign) in ("So", "Sc", "Sm") and sign not in "|~")


def _add_word(found: list[Token], piece: str, start: int) -> None:
    capital = piece[0].isupper()
    word = piece.casefold().strip("'")
    end = start + len(piece)
    if word in _WHOLE:
        first, second = _WHOLE[word].split()
        found.append(Token(first, start, end, "word", capital))
        found.append(Token(second, start, end, "word"))
        return
    if word.endswith("n't") and len(word) > 3:
        found.append(Token({"ai": "is"}.get(word[:-3], word[:-3]), start, end, "word", capital))
        found.append(Token("not", start, end, "word"))
        return
    stem, mark, tail = word.rpartition("'")
    if mark and "'" + tail in _CONTRACTED and stem:
        found.append(Token(stem, start, end - len(tail) - 1, "word", capital))
        found.append(Token(_CONTRACTED["'" + tail], end - len(tail) - 1, end, "word"))
        return
    capital = capital or (not piece.islower() and any(sign.isupper() for sign in piece[1:]))
    found.append(Token(word or piece, start, end, "word", capital))


def _add_number(found: list[Token], match: re.Match[str], folded: str) -> None:
    start, end = match.span("number")
    if len(match["number"]) > LONGEST_NUMBER:
        found.append(Token("#" + match["number"], start, match.end(), "number"))
        return
    value = read_digits(match["number"])
    also = _also(match["number"], folded)
    if (
        match["raised"]
        and (power := _power(value, int(fold_width(match["raised"]).replace("\u2212", "-")))) is not None
    ):
        also = (*also, power)
    if _ends_years(found, match, folded):
        value += _century(found[-1])
    if _MINUS.search(folded[max(0, start - 2) : start]):
        value, start, also = -value, start - 1, tuple(-each for each in also)
    key = "#" + spell(value)
    tail = (match["tail"] or "").casefold()
    if tail == "k":
        also = (*also, value * 1000)
    if tail in _ORDINAL_TAILS:
        found.append(Token(key, start, match.end(), "number", value=value))
        return
    if tail == "s" and value >= 10:
        found.append(Token(key + "s", start, match.end(), "number", value=value))
        return
    found.append(Token(key, start, end, "number", value=value, also=also))
    if tail:
        found.append(Token(tail, match.start("tail"), match.end(), "word", match["tail"][0].isupper()))


def _also(number: str, sentence: str) -> tuple[float, ...]:
    """Return what else a number may mean whose one separator may mark its decimals."""
    decimal = read_as_decimal(number)
    return () if decimal is None or ("," in number and _groups_by_comma(sentence)) else (decimal,)


def _power(base: float, exponent: int) -> float | None:
    """Return what a number with a raised figure is if that is an exponent and no mark."""
    return base**exponent if 0 < base <= _LARGEST_BASE and 0 < abs(exponent) <= _LARGEST_EXPONENT else None


@lru_cache(maxsize=64)  # a sentence may have several such numbers
def _groups_by_comma(sentence: str) -> bool:
    """Whether a sentence is in a language that groups thousands by commas, and marks decimals by points alone."""
    if any(word in sentence for word in _ENGLISH):
        return True
    return language(sentence, default="") in ("en", "zh", "ja")


_ENGLISH = ("The ", " the ", " and ", " were ", " with ")  # found fifty times as fast as the language


def _ends_years(found: list[Token], match: re.Match[str], folded: str) -> bool:
    """Whether a number is the "19" of "2018-19"."""
    start, end = match.span("number")
    if not found or len(match["number"]) != 2 or folded[start - 1 : start] not in ("-", "/"):
        return False
    past = found[-1]
    if past.end != start - 1 or past.value is None or not 1000 <= past.value <= 2200 or folded[end : end + 1] == "-":
        return False
    return past.end - past.start == 4 and past.value % 100 < read_digits(match["number"])


def _century(year: Token) -> float:
    return (year.value or 0.0) // 100 * 100


def _add_numerals(found: list[Token], piece: str, start: int, folded: str) -> None:
    end = start + len(piece)
    after = folded[end : end + 2].lstrip()
    before = folded[max(0, start - 4) : start]
    around = piece + after
    counts = len(piece) > 1 or (after[:1] and after[0] in COUNTED) or before[-1:] in ("第", "十")
    if len(piece) > LONGEST_NUMBER:
        found.append(Token("#" + piece, start, end, "number"))
        return
    if counts and not any(around.startswith(phrase) for phrase in NO_NUMBER):
        unsure = ends_in_tenths(piece) and may_be_units(before, after, folded)
        unsure = unsure or _in_decimal(folded, start, end)
        value = None if unsure else read_chinese(piece)
        if value is not None:
            found.append(Token("#" + spell(value), start, end, "number", value=value))
            return
    found.extend(Token(sign, start + at, start + at + 1, "letter") for at, sign in enumerate(piece))


_KANA = re.compile(f"[{KANA}円]")
_POINT = re.compile(r"[点點][零〇一二三四五六七八九]+(?![十分刻])")


def _in_decimal(folded: str, start: int, end: int) -> bool:
    """Whether numerals are one side of the point of a decimal: 三点五, but not 三点五十分, which is a time."""
    behind = start > 1 and folded[start - 2] in _ZH_NUMERALS and _POINT.match(folded, start - 1)
    return bool(behind or _POINT.match(folded, end))


_NUMBERED = frozenset("年号號页頁章节節回卷期届屆楼路室")
_NAMES_NUMBER = re.compile(r"(?:第|(?:[号號码碼]|房间)[是为為:：]?)\s?\Z")


def may_be_units(before: str, after: str, sentence: str) -> bool:
    """Whether 三百五 may be 305: as the number of a thing, such as a page, and in Japanese."""
    return _NAMES_NUMBER.search(before) is not None or after[:1] in _NUMBERED or _KANA.search(sentence) is not None


def _add_share(found: list[Token], piece: str, start: int) -> None:
    """Read "百分之二十五" as 25 per cent, "七成" as 70, and "三分之二" as two thirds."""
    if piece.endswith("成"):
        piece = f"百分之{10 * (_plain(piece[:-1]) or read_chinese(piece[:-1]) or 0.0):g}"
        _add_share_of(found, piece, start, start + 2)
        return
    _add_share_of(found, piece, start, start + len(piece))


def _add_share_of(found: list[Token], piece: str, start: int, end: int) -> None:
    whole, _, part = piece.partition("分之")
    values = [
        read_chinese(text) if all(sign in _ZH_NUMERALS for sign in text) else _plain(_with_point(text))
        for text in (whole, part)
    ]
    if whole == "百" and values[1] is not None:
        found.append(Token("#" + spell(values[1]), start, end, "number", value=values[1]))
        found.append(Token("u:%", start, end, "unit"))
    elif values[0] and values[1] is not None:
        value = values[1] / values[0]
        found.append(Token("#" + spell(value), start, end, "number", value=value))
    else:
        found.extend(Token(sign, start + at, start + at + 1, "letter") for at, sign in enumerate(piece))


def _with_point(text: str) -> str:
    """Return "3.5" for 三点五."""
    whole, point, decimals = text.replace("點", "点").partition("点")
    value = read_chinese(whole) if point and all(sign in _ZH_NUMERALS for sign in whole) else None
    return text if value is None else f"{value:.0f}." + "".join(str(ZH_DIGITS[sign]) for sign in decimals)


def _plain(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d+(?:\.\d+)?", text) else None


def _scaled(piece: str) -> float:
    """Read digits with Chinese scales: "3.5万", "1亿2000万"."""
    total = 0.0
    for digits, scales in re.findall(rf"(\d[\d,.]*)\s?([{_ZH_SCALE}]+)", piece):
        value = read_digits(digits.rstrip(".,"))
        for scale in scales:
            value *= ZH_SCALES[scale]
        total += value
    return total


def _written_date(match: re.Match[str], start: int, end: int) -> Token:
    parts = [int(part) for part in re.split(r"[-/.]", match[0])]
    year, month, day = parts if match["iso"] is not None else reversed(parts)
    if month > 12 >= day:
        month, day = day, month  # as Americans write it
    unsure = match["slashed"] is not None and month <= 12 and day <= 12 and month != day
    return Token(date_key(year, month, day) + ("?" if unsure else ""), start, end, "date")


def date_key(year: int | None, month: int | None, day: int | None) -> str:
    """Return the key of a date; a part that is not known is left empty, "?" says that day and month may be swapped."""
    return "@" + "-".join("" if part is None else str(part) for part in (year, month, day))
