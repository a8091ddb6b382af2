"""Read text as it looks: without characters that nobody sees, and letters that look like ASCII as what they look like.

The look-alikes are those of Unicode's confusables (UTS 39) that are needed to spell our tags and the templates' words.
"""

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
