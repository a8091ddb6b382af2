"""Find what a sentence may begin with that adds nothing to what it claims."""

import re

_NOUNS = (
    r"(?:handbook|manual|document|documentation|text|passage|article|source|sources|report|policy|page|section|paper|guide"
    r"|context|author|paragraph|excerpt|material|evidence|information|data|study|record|records|file|summary|book)s?"
)
_FRAME = re.compile(
    r"\s*(?:"
    rf"(?:according to|as (?:stated|noted|mentioned|described|reported|explained|shown|per|written) (?:in|by)|as per|per|based on) "
    rf"(?:the|this|these|our|its|a)? ?(?:[\w-]+ ){{0,3}}?{_NOUNS}(?: (?:above|below|provided|given))?,? "
    rf"|(?:the|this|these|our) (?:[\w-]+ ){{0,2}}?{_NOUNS} (?:states?|says?|notes?|mentions?|reports?|explains?|indicates?|shows?|describes?|tells us|confirms?) that "
    r"|(?:it is|it was|it's) (?:stated|noted|mentioned|reported|said|known|the case|true|a fact|written|recorded) that "
    r"|(?:the fact is that|in fact|indeed|note that|notably|as a matter of fact),? "
    rf"|(?:根据|依据|按照|据)(?:本|该|这份|这篇|上述|所给)?(?:手册|文件|文档|文章|资料|原文|报告|文本|段落|材料|记载|文中所述|来源|内容|信息|政策|说明)(?:的记载|所述|显示|所示|记载|介绍)?[,，]?"
    r"|(?:文中|文章|文件|资料|原文|手册|报告|材料|本文|该文|文档)(?:中)?(?:提到|指出|表示|说|写道|称|记载|显示|说明|表明)[,，:]?"
    r"|(?:事实上|实际上|据悉|据了解|据记载|据介绍|众所周知)[,，]?"
    r"|(?:theo|dựa theo|dựa vào|căn cứ vào) (?:như )?(?:nội dung |thông tin )?(?:tài liệu|văn bản|sổ tay|bài viết|bài báo|đoạn văn|nguồn tin|nguồn|báo cáo|chính sách|bài|thông tin|nội dung|ngữ liệu)(?: (?:này|trên|đã cho|gốc|đó))?,? "
    r"|(?:tài liệu|văn bản|bài viết|đoạn văn|báo cáo|sổ tay)(?: này| trên)? (?:cho biết|nêu|nói|ghi|viết|cho thấy|khẳng định)(?: rõ)?(?: rằng| là)?,? "
    r"|(?:thực tế là|thật vậy|trên thực tế|thực tế),? "
    r")",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"\s*(?:"
    r"(?:however|moreover|furthermore|additionally|in addition|also|besides|thus|therefore|hence|consequently|as a result|nevertheless"
    r"|nonetheless|meanwhile|finally|indeed|in fact|similarly|likewise|in contrast|on the other hand|and|but|so|then|overall),? "
    r"|(?:但是|然而|不过|此外|另外|因此|所以|同时|而且|于是|同样|而|但|最后|事实上|总之)[,，]?"
    r"|(?:tuy nhiên|ngoài ra|hơn nữa|do đó|vì vậy|vì thế|đồng thời|bên cạnh đó|thêm vào đó|cuối cùng|và|nhưng|tương tự),? "
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
