"""Swaps that make a Chinese sentence false.

Those of ``FRESH`` were written after the claim checker, whose author has not seen which of them it misses.

Words have no boundaries, so most patterns need look-arounds against longer words with the same characters.
"""

from research.mutations.swaps import Into, among, not_after, other_digits, other_year, swap, table, within

DIGITS = "一二三四五六七八九"
_MEASURES = "个名位次座家种支条所场届岁项艘枚件只篇首部张台辆栋层倍年月天周世"
BOUNDED = not_after("超过 至少 不到 少于 多于 高达 大约 接近 近 约 达 最多 不足 将近 低于 高于 到 至 或", spaced=False)


def _another(digits: str) -> Into:
    """Return a replacement of a numeral by another of ``digits``."""
    return lambda match, random: random.choice([digit for digit in digits if digit != match[0]])


_HAS = (
    "(?<![所拥具没只还含占私国享持仅均都设固原独特稀])有"
    "(?![理关限效时些人利机趣名力一很着可助益不没别毒两三四五序所意必能线])"
)

MUTATIONS = {
    "number": (
        swap(
            BOUNDED + r"(?<![A-Za-z\d.,，/:：–+$£€\[-])(?:\d{1,3}(?:[,，]\d{3})+|\d+)(?:\.\d+)?"
            r"(?![\dA-Za-z年月日号.,:/–½-]|世纪|[年]代|[ ]?[年月日])",
            other_digits,
        ),
        swap(
            BOUNDED + rf"(?<![第十百千万{DIGITS}两数几多每之周星期成])[二两三四五六七八九](?=[{_MEASURES}])"
            r"(?!月[的份，以])(?!世纪|世[，。的])",
            _another("三四五六七八九"),
        ),
        swap(
            r"(?<=[二三四五六七八九]分之)[一二](?!十)",
            _another("一二"),
        ),
        swap(
            r"(?<=第)[二三四五六七八九](?![十百\d])",
            _another("三四五六七八九"),
        ),
    ),
    "scale": (
        among("万 亿 千", before=r"(?<=[\d.])", spaced=False),
        among("百万 千万 十亿", before=rf"(?<=[{DIGITS}\d数])", spaced=False),
        among("数十 数百 数千 数万", spaced=False, after=r"(?![万亿百千])"),
        among("成百上千 成千上万", spaced=False),
    ),
    "unit": (
        among("公里 英里 海里", before="(?<![脑大人公英])", spaced=False),
        among("米 英尺 码", before=rf"(?<=[\d{DIGITS}十百千万])", spaced=False),
        among("公斤 磅 吨", before=rf"(?<=[\d{DIGITS}十百千万])", spaced=False),
        among("美元 英镑 欧元 日元", spaced=False),
        among("平方公里 平方英里 公顷 英亩", spaced=False),
        among("分钟 小时", before=rf"(?<=[\d{DIGITS}十半个])", spaced=False),
        among("天 周", before=r"(?<=[\d两三四五六七八九十])", after="(?!岁|内瓦)", spaced=False),
        among("个月 天", before=r"(?<=[\d两三四五六七八九十])", spaced=False),
        among("摄氏度 华氏度", spaced=False),
        among("厘米 毫米 英寸", before=rf"(?<=[\d{DIGITS}十百])", spaced=False),
    ),
    "date": (
        swap(r"(?<!\d)(?:1\d{3}|20[01]\d)(?= ?年(?!代))", other_year),
        swap(r"(?<!\d)1[0-2](?=月)|(?<!\d)[1-9](?=月)", within(1, 12)),
        swap(r"(?<=月)\d{1,2}(?=日)", within(2, 28)),
        swap(r"(?<!\d)\d{1,2}(?=世纪)", within(5, 20)),
        swap(r"(?<!\d)[1-9](?=0年代)", within(1, 9)),
        swap(
            r"(?<=世纪)[二三四五六七八九](?=十年代)",
            _another("三四五六七八"),
        ),
        among("星期一 星期二 星期三 星期四 星期五 星期六 星期日", spaced=False),
        among("十五世纪 十六世纪 十七世纪 十八世纪 十九世纪 二十世纪", spaced=False),
    ),
    "negation": table(
        rf"""
(?<=[^但于还就总而不凡若其别正即算便都也老可要只或却倒真])是(?!否|不是|由于|因为|，|的|非|指|说) > 不是 | 并不是
(?<!不)(?<!才)可以(?!说) > 不可以 | 无法
(?<!不)(?<!只)(?<!才)能够 > 不能够 | 无法
(?<=[们它他她人者国军队])(?:将|就)?会(?=[^议员社长谈面]) > 不会
{_HAS} > 没有
(?<=[^着])包括 > 不包括
(?<![没不正都会能可])被(?!称|认为|视|誉|告|动) > 没有被 | 未被
(?<=[他她它])(?=[出建创发写赢获加]) > 从未
不是 > 是
(?<!并)没有被 > 被
没有(?=[任一什显明足]) > 有
没有(?=[^被任一什显明足，。]) > 有
并不 > 确实
并非 > 正是
不能(?!不) > 能
不会 > 会
不再 > 仍然
无法 > 能够
从未 > 一直
尚未 > 已经
(?<=[，们者人])未(?=[能被]) > 已
""",
        spaced=False,
    ),
    "polarity": table(
        r"""
增加 <> 减少
上升 <> 下降
增长 > 萎缩
提高 <> 降低
扩大 <> 缩小
(?<!生命)支持(?!者|系) > 反对
反对(?!者) > 支持
同意 > 拒绝
(?<!直)接受 > 拒绝
拒绝 > 接受
允许 > 禁止
禁止 > 允许
(?<!不)成功(?!地|制) > 失败
失败 > 成功
胜利 <> 失利
获胜 > 落败
击败 > 输给
开始(?!于) > 停止
(?<!非)合法(?!性) > 非法
(?<!不)非法 > 合法
赢得 > 失去
失去 > 获得
强大 > 弱小
(?<=[^著])富裕 > 贫穷
贫穷 > 富裕
进口 <> 出口
积极 <> 消极
容易(?=[，。的]) > 困难
困难(?=[，。]) > 容易
常见 > 罕见
东部 <> 西部
南部 <> 北部
东北 > 西南
内部 <> 外部
公开 > 秘密
古代 > 现代
私立 <> 公立
上游 <> 下游
""",
        spaced=False,
    ),
    "quantifier": table(
        r"""
所有(?!权|者|人的) > 少数 | 极少数
全部 > 一小部分
(?<!绝)大多数 > 少数
大部分 > 小部分
绝大多数 > 极少数
许多 > 极少数
很多(?=[^，。]) > 很少
一些 > 所有
有些(?![仍还在是为]) > 所有
(?<!大)(?<!小)部分(?=[的人地国学科]) > 全部
每个 > 没有一个
多数(?!派) > 少数
少数(?!派|民族) > 多数
超过 > 不到
不到 > 超过
至少 > 至多
最多 > 最少
多于 > 少于
少于 > 多于
高于 <> 低于
大于 <> 小于
(?<=[年月日战争纪后期])之前 > 之后
(?<=[年月日战争纪期])之后 > 之前
(?<=[年月日])以前 > 以后
(?<=[年月日])以后 > 以前
最大 > 最小
最高 > 最低
最低 > 最高
最长 > 最短
最早 > 最晚
最后 > 最初
最初 > 最后
最多 > 最少
最古老 > 最新
第一(?!次世界)(?=[次个位座所支届任部批条]) > 最后一
首次 > 最后一次
更多 <> 更少
更大 <> 更小
更高 <> 更低
更快 > 更慢
更强 > 更弱
较大 <> 较小
较高 <> 较低
总是 > 从不
经常 > 极少
通常(?!，|做法|情况) > 很少
几乎所有 > 极少数
""",
        spaced=False,
    ),
}

_FRESH_QUANTIFIERS = """
很少(?=[^，。]) > 很多
完全(?=[^，。性]) > 部分地
始终 > 偶尔
有时(?!间|候) > 总是
往往 > 很少
每年 > 每月
唯一 > 众多
起初 > 后来
(?<=[，。])后来 > 起初
随后 > 此前
早期 > 晚期
年代末 > 年代初
年代初 > 年代末
年初 > 年末
年末 > 年初
(?<=[争会来举])前(?=[，是]) > 后
较小 > 较大
较早 > 较晚
较长 > 较短
最好 > 最差
"""
_FRESH_POLARITY = """
鼓励 > 阻止
阻止 > 鼓励
加入 > 退出
破坏 > 保护
保护 > 破坏
(?<=[人队军])攻击(?!性) > 保卫
创建 > 解散
建立(?!者) > 废除
废除 > 建立
优势 > 劣势
富有(?!想) > 贫困
独立(?=[于发的]) > 附属
相信 > 怀疑
到达 > 离开
抵达 > 离开
重要 > 次要
(?<![直间])直接 > 间接
男户主 > 女户主
升高 > 下降
关闭 > 开放
打开 > 关闭
快速 > 缓慢
迅速 > 缓慢
"""
FRESH = {
    "polarity_fresh": table(_FRESH_POLARITY, spaced=False),
    "quantifier_fresh": table(_FRESH_QUANTIFIERS, spaced=False),
}
