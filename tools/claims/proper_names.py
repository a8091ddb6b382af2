"""Detect proper names by capitals, and in Chinese by their letters; compare names, initials and adjectives."""

import re
from collections.abc import Sequence
from typing import Literal

from text.stop_words import FUNCTION_WORDS, VIETNAMESE_FUNCTION_WORDS
from tools.claims.claim_tokens import Token

_TRANSLITERATED = frozenset(
    "阿埃艾安奥巴班贝本比彼伯布查达戴丹德登迪蒂杜顿多厄恩尔法菲费芬弗福盖甘冈高戈格古哈海汉赫华霍基吉加贾杰金卡凯坎康考科克肯孔库拉莱赖兰朗劳勒雷蕾李里丽利莉林琳隆卢鲁路露伦罗洛马迈麦曼梅门蒙米密敏明莫姆穆纳娜奈南内尼宁纽努诺欧帕潘庞佩皮珀普奇契恰乔切琼热荣瑞若萨塞桑瑟森莎沙珊舍圣施史士斯丝斯思松苏索塔泰坦汤唐陶特忒提廷图托瓦万旺威韦维魏温沃乌武西希锡夏香肖歇谢辛休雅亚扬耶叶伊因英尤约泽扎詹珍朱兹佐茨黛蔓妮薇"
)
_PLACE_ENDINGS = frozenset("国州省市县区镇村山河江湖海洋岛港城堡宫寺院校馆队军党社族教会派系街路桥站人语岸")
_TITLES = frozenset("宗帝王朝族祖公侯")
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛阎段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤"
)


def looks_like_name(run: str, wide: str) -> bool:
    """Tell whether Chinese letters look like a name: transliterated, or with the ending of a place or group."""
    if not run:
        return False
    foreign = sum(letter in _TRANSLITERATED for letter in run) / len(run)
    if len(run) >= 2 and foreign >= 0.6:
        return True
    if run[-1] in _PLACE_ENDINGS or (
        len(run) <= 2 and wide.find(run) >= 0 and wide[wide.find(run) + len(run) :][:1] in _PLACE_ENDINGS
    ):
        return True
    return "·" in wide or (2 <= len(run) <= 3 and run[0] in _SURNAMES)


def letter_of_name(letter: str, after: str) -> bool:
    """Tell whether one Chinese letter, before another, looks like a part of a name."""
    return letter in _TRANSLITERATED or letter in _SURNAMES or after in _PLACE_ENDINGS or after in _TITLES


Certainty = Literal[0, 1, 2]  # no name; maybe, since a sentence begins with it; surely

_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|ein|eine|den|dem|von|mit|für|wird|sich|auf)\b")
_TITLE_CASE = 0.7  # of the words of a sentence; above it capitals tell nothing
_DEMONYMS = ("ese", "ish", "ian", "ean", "an", "ic", "i", "s", "n", "es", "'s")


def names_among(tokens: Sequence[Token], folded: str) -> list[Certainty]:
    """Say of each token how surely it is a name; a script without capitals has none."""
    words = [token for token in tokens if token.kind == "word"]
    capitals = sum(token.capital for token in words)
    if not capitals or len(_GERMAN.findall(folded)) > 2:
        return [0] * len(tokens)
    shouted = len(words) > 4 and capitals > _TITLE_CASE * len(words)
    found: list[Certainty] = []
    for at, token in enumerate(tokens):
        if token.kind != "word" or not token.capital or (_holds(token, at) and not _acronym(token, folded)):
            found.append(0)
        elif shouted:
            found.append(1)
        elif at == 0 or _begins(folded, token.start):
            following = tokens[at + 1] if at + 1 < len(tokens) else None
            joined = following is not None and following.capital and folded[token.end : following.start] in (" ", "-")
            sure = (joined and following is not None and following.key not in FUNCTION_WORDS) or _acronym(token, folded)
            found.append(2 if sure else 1)
        else:
            found.append(2)
    return found


def _holds(token: Token, at: int) -> bool:
    return token.key in FUNCTION_WORDS and (at == 0 or token.key not in VIETNAMESE_FUNCTION_WORDS)


def _begins(folded: str, start: int) -> bool:
    before = folded[max(0, start - 3) : start].rstrip()
    return not before or before[-1] in '".!?:(*-#'


def _acronym(token: Token, folded: str) -> bool:
    written = folded[token.start : token.end]
    return len(written) > 1 and any(sign.isupper() for sign in written[1:])


def one_name(these: Sequence[str], those: Sequence[str]) -> bool:
    """Tell whether two runs of words may name the same: a part of a name, its initials, its adjective."""
    if not these or not those:
        return False
    short, long = sorted((tuple(these), tuple(those)), key=len)
    if set(short) <= set(long):
        return True
    if len(short) == 1 and len(long) > 1 and short[0] == "".join(word[0] for word in long):
        return True
    if all(any(_initial(a, b) for b in long) for a in short):
        return True
    return len(short) == len(long) and all(_akin(a, b) for a, b in zip(short, long, strict=True))


def is_roman(key: str) -> bool:
    """Tell a Roman numeral of more than one sign."""
    return len(key) > 1 and not set(key) - set("ivxlcdm")


def _initial(a: str, b: str) -> bool:
    return a == b or (min(len(a), len(b)) == 1 and a[0] == b[0])


def _akin(a: str, b: str) -> bool:
    """Tell a country from its adjective, a name from its plural."""
    if a == b:
        return True
    if is_roman(a) and is_roman(b):
        return False
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] == b[shared]:
        shared += 1
    return (
        shared >= 3 and a[shared:] in ("", "y", "e", "a", *_DEMONYMS) and b[shared:] in ("", "y", "e", "a", *_DEMONYMS)
    )
