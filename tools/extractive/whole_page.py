"""Tell a question about a page as a whole ("summarise this page") from one about something that stands in it."""

import re
from functools import lru_cache

from graph.page_references import without_page_references
from tools.extractive.wording import stem, telling_words

_ENGLISH = """
    page pages document documents article text passage section file content contents summary summarise summarize
    summarized overview outline brief briefly short shortly main key point points idea ideas topic gist takeaway
    takeaways important mean means meaning say says said read cover covers discuss discusses deal deals
"""
_VIETNAMESE = """
    trang tài liệu bài viết văn đoạn này nội dung tóm tắt chính ý nói giải thích tổng quan khái quát ngắn gọn điểm nghĩa
    chủ đề giúp về gồm đề cập gì những
"""
_NAMES_THE_PAGE = frozenset(stem(word) for words in (_ENGLISH, _VIETNAMESE) for word in words.split())
_CHINESE = re.compile(
    "(?:本|此|该|页|面|文档|文章|文本|文|篇|段|章|内容|总结|概括|归纳|概述|主要|主题|主旨|讲|说|述|写|介绍|一下|下|要点|重点|大意"
    "|解释|全|摘要|关于|意思|给我|我|帮|做|个|一)+"
)


@lru_cache(maxsize=256)
def about_whole_page(question: str) -> bool:
    """Tell whether no word of a question names anything but a page, its number, and what to do with it."""
    words = telling_words(without_page_references(question)).split()
    return all(word.isdigit() or stem(word) in _NAMES_THE_PAGE or _CHINESE.fullmatch(word) for word in words)
