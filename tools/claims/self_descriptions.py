"""What a document says of itself, which no other document can contradict: its version, its own length or dates."""

import re

from text.late_patterns import LatePattern

_VERSIONS = r"version|edition|revision|release|issue|phiên\s+bản|ấn\s+bản|bản\s+sửa\s+đổi|版本|版次|修订版"
# A version without the name of another thing before it: "PostgreSQL version 16" is no document's own.
_HEADLESS = LatePattern(
    rf"""(?ix)
    (?:
        ^ | [,;:(–—|。，；：（] | [为是即系该本]
        | \b(?:is|was|are|as|in|of|this|a|an|the|now|currently|là|thuộc|theo|này)\b
    )
    \s* (?:{_VERSIONS}) \s* (?:number|no\.?|số)? \s* [:：]? \s* (?:is\s+|là\s+|为|是)? $
    """
)
_BEFORE_UNSPACED = re.compile(r"(?:^|[，；：（。为是即系该本])\s*第?$")
_AFTER_UNSPACED = re.compile(r"^\s*[版次稿]")
_DOCUMENTS = (
    "document|policy|guide|guideline|guidelines|handbook|manual|page|file|report|memo|leaflet|brochure|agreement|"
    "contract|edition|version|text|article|book|chapter|notice|form|list|plan|procedure|standard|paper"
)
_ITSELF = LatePattern(
    rf"""(?ix) ^ \W*
    (?:
        (?:this|the\s+present) \s+ (?:[\w-]+\s+){{0,2}}? (?:{_DOCUMENTS}) \b
        | (?:tài\s+liệu|chính\s+sách|quy\s+định|sổ\s+tay|hướng\s+dẫn|văn\s+bản|báo\s+cáo|trang) \s+ (?:\w+\s+)? này \b
        | 本(?:文件|文档|政策|指南|手册|规定|制度|办法|报告|页|协议|合同|标准)
    )
    """
)


def says_of_itself(sentence: str) -> bool:
    """Whether a sentence is about the document that it stands in: "This policy was last changed in May."."""
    return _ITSELF.match(sentence) is not None


def tells_own_version(sentence: str, value: str) -> bool:
    """Whether a value is the version of the document that a sentence stands in: "Version 7, in force since May"."""
    if not value:
        return False
    for found in re.finditer(rf"(?<!\w){re.escape(value)}(?![\d.])", sentence):
        before, after = sentence[: found.start()], sentence[found.end() :]
        if _HEADLESS.search(before):
            return True
        if _AFTER_UNSPACED.match(after) and _BEFORE_UNSPACED.search(before):
            return True
    return False
