"""Sanitize text for a prompt: invisible or confusable characters, segment tags, role markers, template tokens."""

import html
import re

from text.normal_forms import plain_letters, without_invisible
from text.scripts import INVISIBLE

_GAP = f"[{INVISIBLE}*_~`]{{0,6}}"
_WIDE_GAP = rf"[\s{INVISIBLE}*_~`\\|.-]{{0,8}}"
_EQUALS = rf"[=＝﹦꞊](?:[=＝\s{INVISIBLE}])*"
TAG = re.compile(
    rf"(?:[\[［【〔〚⟦({{<]{_WIDE_GAP})?(?<!\w)[SsＳｓſ]{_GAP}[EeＥｅ]{_GAP}[GgＧｇ][\s{INVISIBLE}*_~`]{{0,8}}{_EQUALS}"
    rf"|[\[［【]{_WIDE_GAP}[SsＳｓſ]{_WIDE_GAP}[EeＥｅ]{_WIDE_GAP}[GgＧｇ]{_WIDE_GAP}(?:{_EQUALS}|[:：])"
)
SPECIAL_TOKEN = re.compile(r"[<＜](?=\s*[|｜])|(?<=[|｜])[>＞]")
_TAGS = (
    "s|bos|eos|pad|unk|sys|system|user|human|assistant|developer|tool|tools|think|thinking|thought|reasoning|scratchpad|"
    "reflection|segments?|passages?|question|conversation|context|documents?|sources?|search_results?|instructions?|"
    "prompt|system_prompt|user_query|query|answer|untrusted|message|observation|invoke|parameters?|"
    "(?:[a-z]{1,12}:)?(?:function|tool)_?(?:calls?|response|results?|use|outputs?)|function_calls|"
    "(?:im|start|end|begin)_?(?:start|end|of_(?:turn|text|image|sentence))|[a-z]{1,8}_token"
)
CONTROL_TAG = re.compile(
    rf"<{{1,2}}\s*(/?)\s*({_TAGS})((?:\s+[\w:-]+\s*=[^<>\n]{{0,200}})?)\s*/?\s*>{{1,2}}", re.IGNORECASE
)
INSTRUCTION = re.compile(
    r"\[\s*(/?(?:INST|SYS|SYSTEM|SYSTEM_PROMPT|ASSISTANT|USER|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|THINK))\s*\]",
    re.IGNORECASE,
)
_ROLES = (
    "system|assistant|user|human|developer|tool|ai|chatgpt|model|"
    "systeme|système|utilisateur|assistante|sistema|asistente|usuario|assistente|utente|usuário|"
    "benutzer|nutzer|assistent|gebruiker|пользователь|ассистент|система|kullanıcı|asistan|sistem|"
    "系统|系統|助手|用户|用戶|人类|开发者|システム|アシスタント|ユーザー|시스템|어시스턴트|사용자|"
    "hệ thống|trợ lý|người dùng|المستخدم|المساعد|النظام"
)
_OF_A_ROLE = r"(?:[ \t]+(?:note|notes|message|prompt|instructions?|override|update))?"
_LABELS = "segments|passages|conversation|last message|sections to correct|tried|[a-z' ]{0,80}, as json"
_START = r"(?:^|(?<=[\r\v\f\x85\u2028\u2029]))[ \t\u3000\xa0>#*_\-]*+"
ROLE = re.compile(
    rf"({_START}(?:(?:{_ROLES}|question){_OF_A_ROLE}[ \t*_]*+|(?<=[#* \t])(?:instructions?|response|input)[ \t*_]*+"
    rf"|(?:{_LABELS})[ \t*_]*(?=[:：][ \t\r]*$)))[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_KEYS = "sections|source_ids|standalone_question|needs_retrieval|relevant|utility|tool_calls|tool_call_id|function_call"
ANSWER_KEY = re.compile(
    rf'\\?["“”＂]({_KEYS}|role(?=\\?["“”＂]\s*[:：]\s*\\?["“”＂](?:{_ROLES})))\\?["“”＂](?=\s*[:：])', re.IGNORECASE
)
REPLACEMENTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (TAG, " (seg "),
    (SPECIAL_TOKEN, " "),
    (CONTROL_TAG, r"(\1\2\3)"),
    (INSTRUCTION, r"(\1)"),
    (ROLE, r"\1 -"),
    (ANSWER_KEY, r"'\1'"),
)


def sanitize(text: str) -> str:
    """Neutralize text that looks like a segment tag, a role marker, a template token or a key of our replies.

    Entities and look-alike letters are resolved in lines where they hide one of these.
    """
    text = without_invisible(text)
    if not text.isascii() or "&" in text or "\\u" in text:
        text = "\n".join(_unmasked(line) for line in text.split("\n"))
    return _rewritten(text)[0]


def one_line(text: str) -> str:
    """Sanitize a title or heading and return it as a single line of at most 200 characters."""
    return " ".join(sanitize(" ".join(text.split())).split())[:200]


def _unmasked(line: str) -> str:
    unmasked = plain_letters(html.unescape(line))
    return unmasked if unmasked != line and _rewritten(unmasked)[1] > _rewritten(line)[1] else line


def _rewritten(text: str) -> tuple[str, int]:
    count = 0
    for pattern, replacement in REPLACEMENTS:
        text, found = pattern.subn(replacement, text)
        count += found
    return text, count
