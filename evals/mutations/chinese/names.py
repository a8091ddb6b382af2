"""Names in Chinese, which has nothing to mark most of them."""

import re

from evals.mutations.language import Name

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
    """Find names by what marks them off: a middle dot, book title marks, letters, sounds, or a short list of places."""
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
