"""Tell a sentence that speaks to a machine reading it, such as a planted instruction, from one that speaks to people.

Such a sentence often repeats the words of a question, since it wants to be its answer. It may still be quoted where
nothing else answers: a page on prompt injection is about such sentences.
"""

import re
from functools import lru_cache

_SPEAKS_TO_MACHINES = re.compile(
    r"\[SEG=|^\s*(?:system|assistant|developer)\s*:"
    r"|\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|rules?|prompts?|documents?|above|previous|prior)\b"
    r"|\b(?:the|any|all|an?|to|dear)\s+(?:\w+\s+)?(?:assistants?|chat ?bots?|language models?|llms?|ai)\b.{0,60}"
    r"\b(?:must|should|have to|has to|answers?|say|reply|ignore|only)\b"
    r"|\b(?:bỏ qua|phớt lờ|quên đi)\b.{0,40}\b(?:hướng dẫn|quy định|chỉ dẫn|tài liệu|ở trên|phía trên)\b"
    r"|\b(?:trợ lý|chatbot|mô hình ngôn ngữ)\b.{0,60}\b(?:phải|hãy|trả lời|chỉ)\b"
    r"|(?:忽略|无视|忘记).{0,20}(?:指令|规则|上面|上述|以上|之前|文档|提示)"
    r"|(?:助手|机器人|语言模型|大模型|人工智能).{0,30}(?:必须|应当|应|请|一律|回答|只能|忽略)",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def speaks_to_machines(sentence: str) -> bool:
    """Tell whether a sentence tells an assistant what to do."""
    return _SPEAKS_TO_MACHINES.search(sentence) is not None
