"""Sanitize text shown to a model: invisible or confusable characters, segment tags, role markers, template tokens."""

import html
import re
import unicodedata

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
# Joiners and presentation selectors belong to scripts and emoji; between ASCII characters they can only hide.
_KEPT_IN_SCRIPTS = "\u200c\u200d\ufe0e\ufe0f"
_NEVER_SEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)
_AMONG_ASCII = re.compile(f"(?<![^\\x00-\\x7f])[{_KEPT_IN_SCRIPTS}]+|[\u200c\u200d]+(?![^\\x00-\\x7f])")
_LOOK_ALIKE = {
    "a": "аαɑᴀ", "b": "Ьʙ", "c": "сϲᴄ", "d": "ԁᴅ", "e": "еєҽᴇ℮", "g": "ɡԍցɢ", "h": "һհʜ", "i": "іıɩιɪ", "j": "јϳᴊ",
    "k": "κкᴋ", "l": "ӏℓʟ", "m": "мᴍ", "n": "ոηɴ", "o": "оοօσᴏ", "p": "рρᴘ", "r": "гᴦʀ", "s": "ѕꜱ", "t": "тτᴛ",
    "u": "υսᴜ", "v": "νѵᴠ", "w": "ԝѡᴡ", "x": "хχ", "y": "уүγʏ", "z": "ᴢ",
    "A": "АΑᎪꓮ", "B": "ВΒᏴꓐ", "C": "СϹᏟꓚ", "E": "ЕΕᎬꓰ⋿", "G": "ԌᏀꓖ", "H": "НΗꓧ", "I": "ІΙӀꓲ", "K": "КΚꓗ",
    "M": "МΜꓟ", "N": "Νꓠ", "O": "ОΟꓳ", "P": "РΡꓑ", "R": "ꓣᎡ", "S": "ЅՏᏚꓢ", "T": "ТΤꓔ", "U": "ꓴՍ", "X": "ХΧꓫ",
    "Y": "ҮΥꓬ", "Z": "Ζꓜ",
    "=": "꞊᐀﹦═⹀⩵", "[": "【〔〚⟦❲﹝⁅⦋〖", "]": "】〕〛⟧❳﹞⁆⦌〗", "<": "‹〈❮⟨﹤˂", ">": "›〉❯⟩﹥˃", "|": "∣│┃￨ǀ❘⏐",
    ":": "։׃∶ː꞉︓﹕", "/": "⁄∕⧸", "_": "﹍﹎﹏ˍ", '"': "″〃ˮ",
}  # fmt: skip
_LETTERS = [*range(0x2100, 0x2150), *range(0x2460, 0x2500), *range(0x1D400, 0x1D800), *range(0x1F110, 0x1F18A)]
_COMPATIBLE = {c: unicodedata.normalize("NFKC", chr(c)) for c in [*_LETTERS, *range(0xFF01, 0xFF5F)]}
_PLAIN = {c: plain for c, plain in _COMPATIBLE.items() if len(plain) == 1 and plain.isascii()}
_PLAIN |= {c: chr(65 + (c - 0x1F110) % 32) for c in range(0x1F110, 0x1F18A) if (c - 0x1F110) % 32 < 26}
_PLAIN |= {ord(looks): plain for plain, row in _LOOK_ALIKE.items() for looks in row}


def without_invisible(text: str) -> str:
    """Drop what cannot be seen; joiners stay between characters beyond ASCII, where scripts and emoji need them."""
    return text if text.isascii() else _AMONG_ASCII.sub("", _NEVER_SEEN.sub("", text))


def plain_letters(text: str) -> str:
    """Put ASCII in the place of what looks like it, and of ``\\uXXXX`` escapes that spell it."""
    text = re.sub(r"\\u00([2-7][0-9a-fA-F])", lambda code: chr(int(code[1], 16)), text)
    return text.translate(_PLAIN)


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
    """Rewrite what looks like a segment tag, a role marker, a template's token or a key of our replies.

    A line in which such a thing hides behind entities, or behind letters that look like others, is read as it looks.
    """
    text = without_invisible(text)
    if not text.isascii() or "&" in text or "\\u" in text:
        text = "\n".join(_unmasked(line) for line in text.split("\n"))
    return _rewritten(text)[0]


def one_line(text: str) -> str:
    """Neutralise a title or heading and bring it to a single line of at most 200 characters."""
    return " ".join(sanitize(" ".join(text.split())).split())[:200]


def _unmasked(line: str) -> str:
    read = plain_letters(html.unescape(line))
    return read if read != line and _rewritten(read)[1] > _rewritten(line)[1] else line


def _rewritten(text: str) -> tuple[str, int]:
    count = 0
    for pattern, replacement in REPLACEMENTS:
        text, found = pattern.subn(replacement, text)
        count += found
    return text, count
