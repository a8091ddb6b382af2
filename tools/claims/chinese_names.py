"""Tell which runs of Chinese letters look like names, which no capital marks."""

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
