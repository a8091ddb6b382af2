"""Chinese cues that were written after the checker of claims, and that its author has not seen the misses of."""

from evals.mutations.swaps import table

_QUANTIFIERS = """
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
_POLARITY = """
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
    "polarity_fresh": table(_POLARITY, spaced=False),
    "quantifier_fresh": table(_QUANTIFIERS, spaced=False),
}
