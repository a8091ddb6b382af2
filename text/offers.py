"""Sentences in which an answer's writer offers more help: they claim nothing. In English, Vietnamese and Chinese."""

import re

_LONGEST = 300
_ENGLISH = (
    r"(?:please )?(?:do )?let me know\b",
    r"(?:please )?(?:feel free|do(?: not|n['’]t) hesitate) to (?:ask(?: me)?(?: (?:if|any|for|about)\b|[.!]|$)"
    r"|let me know|reach out(?: to me| if you| any ?time)?(?:\b(?= if)|[.!]|$))",
    r"(?:would|do) you (?:like|want|need) (?:me\b|any (?:more|other|further|help)|more (?:detail|information|help)"
    r"|further|help\b|to (?:know|see|hear|learn) more)",
    r"is there anything else\b",
    r"just (?:let me know|ask me|ask away|say the word)\b",
    r"if you(?:['’]d| would| have| need| want)?\b[^.]*,? (?:just |please )?(?:let me know|feel free to ask"
    r"|ask me|just ask|I(?:['’]d be| would be|['’]m| am) (?:happy|glad)"
    r"|I (?:can|could) (?:also )?(?:help|explain|show|provide|go))\b",
    r"I hope (?:this|that|it) (?:helps|answers)\b",
    r"hope (?:this|that|it) helps\b",
    r"I(?:['’]m| am|['’]d be| would be) (?:happy|glad|here) to (?:help|assist|explain|answer|provide|go)\b",
)
_VIETNAMESE = (
    r"nếu (?:bạn|anh|chị|anh/chị|quý khách|cần)\b[^.]*(?:cho (?:tôi|mình|em) (?:biết|hay)|hỏi (?:tôi|mình|em|thêm)"
    r"|(?:tôi|mình|em) (?:sẽ|có thể|rất|luôn|sẵn))",
    r"(?:hãy|cứ|xin|vui lòng)(?: hãy| cứ)? (?:cho (?:tôi|mình|em) biết|hỏi (?:tôi|mình|em|thêm))\b",
    r"(?:tôi )?hy vọng (?:điều này|thông tin|câu trả lời|những)\b[^.]*(?:hữu ích|giúp)",
    r"(?:tôi|mình|em) (?:có thể|sẵn sàng) (?:giúp|hỗ trợ) (?:gì|thêm|bạn)\b",
)
_CHINESE = (
    r"(?:请问)?(?:您|你)?(?:还|是否)*需要我",
    r"要不要我|要我(?:帮|为|给|再|继续)",
    r"(?:如果|如|若|要是)(?:您|你)?[^。]*(?:告诉我|问我|让我知道|随时提问|我可以|我会|我很?乐意|跟我说)",
    r"(?:请|欢迎)?随时(?:告诉我|问我|提问|向我)",
    r"请(?:告诉我|让我知道)",
    r"希望(?:这|以上|上述|本)[^。]*(?:帮助|有用|帮到)",
)
_OFFER = re.compile(rf"[\s*_>\"'“]*(?:{'|'.join((*_ENGLISH, *_VIETNAMESE, *_CHINESE))})", re.IGNORECASE)


def is_offer(sentence: str) -> bool:
    """Whether a sentence only offers help to its reader, such as "Let me know if you need more."."""
    return len(sentence) <= _LONGEST and _OFFER.match(sentence) is not None
