"""Chinese: what makes a sentence false, what leaves it true, and where its names are."""

import re

from evals.mutations.chinese.fresh import FRESH
from evals.mutations.chinese.names import chinese_names
from evals.mutations.chinese.reworded import PARAPHRASES
from evals.mutations.chinese.wrong import MUTATIONS
from evals.mutations.language import Language

_HAN = r"[一-鿿，。、；：（）“”《》·]"


def _tidy(text: str) -> str:
    """Take the spaces out that some translations put around spans; those between two Latin words stay."""
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
