"""Detection of sentences that address a machine rather than people, such as planted instructions.

They often repeat the words of a question in order to be quoted as its answer. They may still be quoted where nothing
else answers: a page on prompt injection is about such sentences.
"""

import re
from functools import lru_cache

_FORGED = r"\[SEG=[\w-]+:\d+\]|^\W*(?-i:SYSTEM|ASSISTANT|DEVELOPER)(?: \w+)?\s*:|^\W*system (?:note|message|prompt)\s*:"

# Text for people also says what to ignore, as an earlier letter, or what an assistant must do, as wear gloves.
# Text for a machine says to ignore its instructions, or what to answer.
_MACHINE = (
    r"(?:ai|automat(?:ed|ic)|virtual|language)\s+(?:assistants?|agents?|models?|systems?)"
    r"|(?:the|an|any|all|every)\s+assistants?|chat\s?bots?|llms?"
)
_TOLD = r"(?:instructions?|rules?|prompts?|directions|directives?|guidelines|documents?|contexts?|polic(?:y|ies))"
_ENGLISH = (
    r"(?<!not )(?<!n't )(?<!n’t )(?<!never )\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}?"
    rf"(?:(?:previous|prior|preceding|earlier|above|your|system)\s+(?:\w+\s+)?{_TOLD}\b|{_TOLD}\s+(?:above|before)\b"
    rf"|the\s+above(?:\s*[,;:.]|\s+and\s)|(?:all|every|any)\s+(?:the\s+)?{_TOLD}\b)"
    rf"|\b(?:{_MACHINE})\b.{{0,60}}\b(?:must|should|shall|has\s+to|have\s+to|(?:is|are)\s+to)\s+(?:\w+\s+){{0,2}}?"
    r"(?:answer|say|reply|respond|state|tell|claim)\b(?:\s+\w+){0,3}?(?:\s+(?:that|with|only)\b|\s*[:\"“])"
    rf"|\b(?:{_MACHINE})\s+(?:that\s+|which\s+)?(?:reads?|reading|processing|reviewing|summari[sz]ing)\s+th(?:is|ese)\b"
    rf"|\b(?:note|notice|message|important)\s+(?:to|for)\s+(?:(?:any|all|every|the)\s+)?(?:{_MACHINE})\b"
    rf"|\bif\s+you\s+are\s+(?:an?\s+)?(?:{_MACHINE})\b"
)
_VIETNAMESE = (
    r"(?<!không )(?<!đừng )(?<!được )\b(?:bỏ qua|phớt lờ|quên|lờ)\s+(?:\w+\s+){0,3}?"
    r"(?:hướng dẫn|chỉ dẫn|chỉ thị|quy định|tài liệu|yêu cầu|câu lệnh)"
    r"\s+(?:ở trên|bên trên|phía trên|trước đó|trước đây)\b"
    r"|\b(?:trợ lý|chatbot|mô hình ngôn ngữ)\b.{0,60}\b(?:phải|hãy|chỉ được)\s+(?:\w+\s+){0,2}?"
    r"(?:trả lời|nói|đáp)\b(?:\s+\w+){0,3}?(?:\s+(?:rằng|là)\b|\s*[:\"“])"
)
_CHINESE = (
    r"(?<!不要)(?<!不得)(?<!不可)(?<!勿)(?:忽略|无视|忘记|忘掉)[^，。；]{0,6}(?:上面|上述|以上|之前|先前|前面|所有|全部)"
    r"[^，。；]{0,6}(?:指令|指示|规则|规定|文档|提示|内容|要求)"
    r"|(?:助手|机器人|语言模型|大模型|人工智能).{0,30}(?:必须|应当|应|须|请|一律|只能|只)(?:回答|回复|答复|答|说|声称)"
)
_SPEAKS_TO_MACHINES = re.compile("|".join((_FORGED, _ENGLISH, _VIETNAMESE, _CHINESE)), re.IGNORECASE | re.DOTALL)


# Every match contains one of these; most sentences contain none, and looking for them is ten times as fast.
_CUES = (
    *("[seg=", "system", "developer", "ignore", "disregard", "forget", "override", "assistant", "agent", "model"),
    *("bot", "llm", "bỏ qua", "lờ", "quên", "trợ lý", "mô hình"),
    *("忽略", "无视", "忘记", "忘掉", "助手", "机器人", "模型", "人工智能"),
)


_ASCII_CUES = tuple(filter(str.isascii, _CUES))


@lru_cache(maxsize=4096)
def speaks_to_machines(sentence: str) -> bool:
    """Whether a sentence gives instructions to an assistant."""
    folded = sentence.casefold()
    cues = _ASCII_CUES if folded.isascii() else _CUES
    return any(map(folded.__contains__, cues)) and _SPEAKS_TO_MACHINES.search(sentence) is not None
