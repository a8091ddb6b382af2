"""Chinese swap tables, rewordings that keep a sentence true, and name finding."""

import re
from random import Random

from research.mutations.chinese_swaps import BOUNDED, DIGITS, FRESH, MUTATIONS
from research.mutations.swaps import Language, Name, gone, swap, table


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

_SOUNDS = (
    "阿埃艾爱安奥巴贝比宾波博布查达戴德迪丁杜多恩法菲费弗福盖戈格古哈海汉赫胡霍基吉加杰金卡凯坎科克库拉莱兰劳勒雷里利"
    "林卢鲁伦罗洛马迈曼梅蒙米莫姆穆纳奈内尼诺帕佩皮珀普奇乔切琼若萨塞桑瑟森沙绍舍施史斯苏索塔泰汤特廷图托瓦威韦维温沃"
    "乌西希夏谢欣休亚扬耶伊因尤约扎泽詹兹朱佐蒂娜莎莉丽琳妮尔伍登肖顿思丝琴麦摩冈圭嘉诗珊蕾黛薇娅哥达佛惠腾"
)
_COUNTRIES = (
    "中国 美国 英国 法国 德国 俄罗斯 日本 意大利 西班牙 荷兰 瑞典 挪威 丹麦 波兰 奥地利 匈牙利 瑞士 比利时 希腊 土耳其 "
    "埃及 印度 伊朗 伊拉克 以色列 沙特阿拉伯 澳大利亚 加拿大 墨西哥 巴西 阿根廷 南非 肯尼亚 苏联 爱尔兰 苏格兰 英格兰 "
    "葡萄牙 越南 韩国 朝鲜 蒙古 叙利亚 科威特 新西兰"
)
_CITIES = (
    "北京 上海 伦敦 巴黎 纽约 柏林 华沙 罗马 东京 莫斯科 维也纳 悉尼 墨尔本 芝加哥 波士顿 洛杉矶 旧金山 华盛顿 休斯顿 "
    "圣地亚哥 洛桑 日内瓦 伊斯坦布尔 开罗 内罗毕 杰克逊维尔 弗雷斯诺 纽卡斯尔 南安普顿 "
    "维多利亚州 加利福尼亚州 佛罗里达州"
)
_CONTINENTS = "欧洲 亚洲 非洲 北美 南美"
_FAITHS = "天主教 新教 佛教 伊斯兰教 道教 路德宗 卫理公会"
_PEOPLES = "蒙古人 汉人 维京人 诺曼人 法兰克人"


def _any(words: str) -> str:
    return "|".join(sorted(words.split(), key=len, reverse=True))


_NAMES = re.compile(
    rf"(?P<person>[{_SOUNDS}]{{1,6}}(?:[·‧•・][{_SOUNDS}]{{1,6}})+)"
    rf"|(?P<country>{_any(_COUNTRIES)})(?![人语军裔籍])"
    rf"|(?P<city>{_any(_CITIES)})"
    rf"|(?P<continent>{_any(_CONTINENTS)})"
    rf"|(?P<faith>{_any(_FAITHS)})"
    rf"|(?P<people>{_any(_PEOPLES)})"
    r"|(?P<title>(?<=《)[^《》]{2,20}(?=》))"
    r"|(?P<latin>(?<![\w.·(（-])[A-Z][a-z]{2,}(?: [A-Z][a-z]+){0,3}(?![\w-]))"
    r"|(?P<letters>(?<![\w.+(（-])[A-Z]{2,6}(?![\w+-]))"
    rf"|(?P<sound>(?<![{_SOUNDS}·])[{_SOUNDS}]{{3,6}}(?![{_SOUNDS}·教语]))"
)


def chinese_names(sentence: str, paragraph: str) -> list[Name]:
    """Return names by what marks them: a middle dot, book title marks, letters, sounds or a short list of places."""
    return [
        Name(match.start(), match.end(), match[0], match.lastgroup or "")
        for match in _NAMES.finditer(sentence)
        if not (
            match.lastgroup == "sound"
            and re.search(
                r"以|比较|加入|森林|福利|盖泰|科学|林里|沙里|思维|马里的|恩威|加特|沙特|多达|雷达|因此|因特|比多|加多|加以",
                match[0][:2],
            )
        )
    ]


_HAN = r"[一-鿿，。、；：（）“”《》·]"


def _tidy(text: str) -> str:
    """Remove the spaces that some translations put around spans; those between two Latin words stay."""
    text = re.sub(rf"(?<={_HAN})[ \u3000]+|[ \u3000]+(?={_HAN})", "", text)
    return re.sub(r"(?<=\d) +(?=\d{0,2}[万亿%])", "", text)


CHINESE = Language(
    code="zh",
    mutations={**MUTATIONS, **FRESH},
    paraphrases=PARAPHRASES,
    frames=("据资料记载，", "文中提到，", "根据原文，", "资料显示，", "文章指出，"),
    names=chinese_names,
    joined=re.compile(r"[，、和与及或以》《（）()·及其跟同的、\s]*"),
    directed=re.compile(r"被|由|从|向|比|打败|击败|在|是|对|至|到|的|率|给|把|将|成为|来自|属于"),
    equal=re.compile(r"之间|相同|相似|不同|结婚|接壤|合并|相关|分别|同时|邻"),
    shortest=12,
    tidy=_tidy,
    lowers_after_frame=lambda text: False,
    spaced=False,
)
