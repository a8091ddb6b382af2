"""Take the power out of text that would speak to a model in our voice, or in its chat template's.

Only what the model reads is changed; quotes and offsets come from storage. Replacements stay legible, so that a
document about such tags can still be asked about.
"""

import re

INVISIBLE = "\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
_GAP = f"[{INVISIBLE}]*"
TAG = re.compile(
    rf"(?:[\[［【〔〚⟦][\s{INVISIBLE}]{{0,8}})?(?<!\w)"
    rf"[SsＳｓſ]{_GAP}[EeＥｅ]{_GAP}[GgＧｇ][\s{INVISIBLE}]*[=＝][=＝{INVISIBLE}]*"
)
SPECIAL_TOKEN = re.compile(r"<(?=\s*[|｜])|(?<=[|｜])>")
CONTROL_TAG = re.compile(
    r"<{1,2}\s*(/?)\s*(s|bos|eos|sys|system|user|assistant|think|thinking|segments|question|conversation|tool_call|"
    r"tool_response|(?:start|end)_of_turn|(?:begin|end)_of_text)\s*/?\s*>{1,2}",
    re.IGNORECASE,
)
INSTRUCTION = re.compile(r"\[\s*(/?INST)\s*\]", re.IGNORECASE)
ROLE = re.compile(
    r"^([\s>#*_]*(?:system|assistant|user|human|developer|tool|系统|助手|用户|hệ thống|trợ lý)[ \t*_]*)[:：]",
    re.IGNORECASE | re.MULTILINE,
)
ANSWER_KEY = re.compile(
    r'\\?["“”＂](sections|source_ids|standalone_question|needs_retrieval|relevant)\\?["“”＂](?=\s*[:：])'
)


def neutralise(text: str) -> str:
    """Rewrite what looks like a segment tag, a role marker, a template's token or a key of our replies."""
    text = TAG.sub(" (seg ", text)
    text = SPECIAL_TOKEN.sub(" ", text)
    text = CONTROL_TAG.sub(r"(\1\2)", text)
    text = INSTRUCTION.sub(r"(\1)", text)
    text = ROLE.sub(r"\1 -", text)
    return ANSWER_KEY.sub(r"'\1'", text)


def one_line(text: str) -> str:
    """Neutralise a title or heading and bring it to a single line of at most 200 characters."""
    return neutralise(" ".join(text.split()))[:200]
