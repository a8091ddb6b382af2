"""Find what a sentence may begin with that adds nothing to what it claims."""

import re

_NOUN = (
    r"(?:handbook|manual|document|documentation|text|passage|article|source|report|policy|page|section|paper|guide|context"
    r"|author|paragraph|excerpt|material|evidence|information|data|study|record|file|summary|book)s?"
)
_SAYS = (
    r"(?:states?|says?|notes?|mentions?|reports?|explains?|indicates?|shows?|describes?|tells us|confirms?|records?)"
)
_SAID = r"(?:stated|noted|mentioned|described|reported|explained|shown|said|written|recorded)"
_ENGLISH = (
    rf"(?:according to|as {_SAID} (?:in|by)|as per|per|based on) "
    rf"(?:the|this|these|our|its|a)? ?(?:[\w-]+ ){{0,3}}?{_NOUN}"
    r"(?: (?:above|below|provided|given))?,? ",
    rf"as (?:the|this|our) (?:[\w-]+ ){{0,2}}?{_NOUN} (?:{_SAYS}|puts it|makes clear), ",
    rf"(?:the|this|these|our) (?:[\w-]+ ){{0,2}}?{_NOUN} {_SAYS} that ",
    rf"(?:it is|it was|it's) (?:{_SAID}|known|the case|true|a fact) that ",
    r"(?:the fact is that|in fact|indeed|note that|notably|as a matter of fact),? ",
)
_ZH_NOUN = "(?:手册|文件|文档|文章|资料|原文|报告|文本|段落|材料|记载|文中所述|来源|内容|信息|政策|说明|本文|该文|文)"
_CHINESE = (
    f"(?:根据|依据|按照|据)(?:本|该|这份|这篇|上述|所给)?{_ZH_NOUN}(?:的记载|所述|显示|所示|记载|介绍)?[,，]?",
    f"{_ZH_NOUN}中?(?:提到|指出|表示|说|写道|称|记载|显示|说明|表明)[,，:]?",
    "(?:事实上|实际上|据悉|据了解|据记载|据介绍|众所周知)[,，]?",
)
_VI_NOUN = (
    "(?:tài liệu|văn bản|sổ tay|bài viết|bài báo|đoạn văn|nguồn tin|nguồn"
    "|báo cáo|chính sách|bài|thông tin|nội dung|ngữ liệu)"
)
_VIETNAMESE = (
    "(?:theo|dựa theo|dựa vào|căn cứ vào) "
    f"(?:như )?(?:nội dung |thông tin )?{_VI_NOUN}(?: (?:này|trên|đã cho|gốc|đó))?,? ",
    f"{_VI_NOUN}(?: (?:này|trên))? (?:cho biết|nêu|nói|ghi|ghi nhận|ghi lại|viết|cho thấy|khẳng định|mô tả|chỉ ra)"
    "(?: rõ)?(?: rằng| là)?,? ",
    "(?:thực tế là|thật vậy|trên thực tế|thực tế),? ",
)
_FRAME = re.compile(rf"\s*(?:{'|'.join((*_ENGLISH, *_CHINESE, *_VIETNAMESE))})", re.IGNORECASE)
_OPENER = re.compile(
    r"\s*(?:"
    r"(?:however|moreover|furthermore|additionally|in addition|also|besides|thus|therefore|hence|consequently"
    r"|as a result|nevertheless|nonetheless|meanwhile|finally|indeed|in fact|similarly|likewise|in contrast"
    r"|on the other hand|and|but|so|then|overall),? "
    r"|(?:但是|然而|不过|此外|另外|因此|所以|同时|而且|于是|同样|而|但|最后|事实上|总之)[,，]?"
    r"|(?:tuy nhiên|ngoài ra|hơn nữa|do đó|vì vậy|vì thế|đồng thời|bên cạnh đó|thêm vào đó|cuối cùng|và|nhưng"
    r"|tương tự),? "
    r")",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*(?:[-*+>]\s+|\(?\d{1,3}[.)]\s+|#{1,6}\s+)")


def frame_end(folded: str) -> int:
    """Give where a claim begins behind a bullet and what only says where it is from ("According to the handbook,")."""
    bullet = _BULLET.match(folded)
    at = bullet.end() if bullet else 0
    found = _FRAME.match(folded, at)
    return found.end() if found else at


def opener_end(folded: str, at: int = 0) -> int:
    """Give where a sentence begins behind a word that only joins it to the one before ("However,")."""
    found = _OPENER.match(folded, at)
    return found.end() if found else at
