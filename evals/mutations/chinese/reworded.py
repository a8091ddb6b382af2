"""Rewordings that leave a Chinese sentence true."""

import re
from random import Random

from evals.mutations.chinese.wrong import BOUNDED, DIGITS
from evals.mutations.swaps import gone, swap, table


def _in_characters(match: re.Match[str], random: Random) -> str | None:
    number = int(match[0])
    if not 2 < number < 100:
        return None
    tens, ones = divmod(number, 10)
    head = "" if not tens else ("十" if tens == 1 else DIGITS[tens - 1] + "十")
    return head + (DIGITS[ones - 1] if ones else "")


def _in_digits(match: re.Match[str], random: Random) -> str:
    return str(DIGITS.index(match[0].replace("两", "二")) + 1)


def _plain_number(match: re.Match[str], random: Random) -> str:
    zeros = 4 if match[2] == "万" else 8
    whole, _, part = match[1].partition(".")
    return f"{int(whole + part.ljust(zeros, '0')):,}"


PARAPHRASES = {
    "particle": (
        swap(r"(?<=[们他她它人者国])(?:也|还|则|便)(?=[^许原])", gone),
        swap(r"(?<=[^目真标众有似])的(?=[一-鿿]{2}[一-鿿，])(?!话|是|时候)", gone),
        swap(r"^(?:此外|另外|然而|因此|不过|同时|例如)，", gone),
    ),
    "number_notation": (
        swap(BOUNDED + r"(?<![\w.,/:–+$£€％%-])\d{1,2}(?= ?[个名位次座家种支条所岁项人])", _in_characters),
        swap(
            rf"(?<![第十百千万{DIGITS}两数几多每之周星期成])[两三四五六七八九](?=[个名位次座家种支条所项])", _in_digits
        ),
        swap(r"(?<![\d.,到至–-])(\d{1,4}(?:\.\d{1,2})?)([万亿])(?![万亿])", _plain_number),
        swap(r"(?<![\d.,-])(\d{1,2}(?:\.\d+)?)%", lambda match, random: f"百分之{match[1]}"),
        swap(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d)", lambda match, random: match[0].replace(",", "")),
    ),
    "date_notation": (
        swap(r"(?<=月)(\d{1,2})日", lambda match, random: f"{match[1]}号"),
        swap(
            r"(?<![\d–-])(?:1[5-9]\d\d|20[01]\d)(?=年(?!代))",
            lambda match, random: "".join("〇一二三四五六七八九"[int(digit)] for digit in match[0]),
        ),
        swap(
            r"(?<!\d)(1[5-9]|20)世纪",
            lambda match, random: (
                {"15": "十五", "16": "十六", "17": "十七", "18": "十八", "19": "十九", "20": "二十"}[match[1]] + "世纪"
            ),
        ),
    ),
    "synonym": table(
        r"""
但是 > 但 | 不过
因为 > 由于
由于(?=[^于]) > 因为
目前 > 现在
大约 > 约
(?<=[^纽大约])约(?=\d) > 大约
建立(?!者) > 创建
位于 > 地处
著名 > 知名
许多 > 很多
以及 > 和
使用 > 采用
如果 > 假如
然而 > 可是
因此 > 所以
例如 > 比如
包括 > 包含
居住 > 生活
称为 > 叫做
认为 > 觉得
成立(?!于) > 建立
迅速 > 快速
同时 > 与此同时
拥有 > 具有
非常 > 十分
已经 > 已
""",
        spaced=False,
    ),
    "clause_order": (
        swap(
            r"^在?((?:\d{4}年(?:\d{1,2}月(?:\d{1,2}日)?)?)|\d{2}世纪)，([们他她它一-鿿]{2,12}?)(?=[在被于成出建开])([^，。；：]{6,})。$",
            lambda match, random: f"{match[2]}于{match[1]}{match[3]}。" if match[3][0] not in "在于" else None,
        ),
        swap(
            r"^(因为|由于)([^，。；：]{4,30})，(?:所以|因此)?([^，。；：]{6,40})。$",
            lambda match, random: f"{match[3]}，这是因为{match[2]}。",
        ),
    ),
}
