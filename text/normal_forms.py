"""Normal forms for comparing texts, which fold notation, width, case, accents, punctuation or look-alikes."""

import re
import unicodedata
from typing import Literal

from text.late_patterns import late_pattern
from text.scripts import (
    ACCENTS,
    CJK,
    HAN_AND_KANA,
    JOINERS,
    NEVER_SEEN,
    PRESENTATION_SELECTORS,
    SURROGATES,
)

_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300c\u300d\u300e\u300f"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d"
_NOTHING = "\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f"
_DOTS = "\u30fb\u2022\u2027\u22c5\uff65"  # used in transliterated names instead of the middle dot
_TABLE = str.maketrans(
    {
        **dict.fromkeys(_QUOTES, "'"),
        **dict.fromkeys(_DOUBLE_QUOTES, '"'),
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_NOTHING, ""),
        **dict.fromkeys(_DOTS, "\u00b7"),
    }
)


def unify_signs(text: str) -> str:
    """Return a text composed (NFC), with one kind of quote and dash; it loses no sign that means something."""
    return text if text.isascii() else unicodedata.normalize("NFC", text.translate(_TABLE))


_NEXT_TO_CJK = late_pattern(rf"(?<=[{CJK}])\s+|\s+(?=[{CJK}])")
_NEXT_TO_HAN_AND_KANA = late_pattern(rf"(?<=[{HAN_AND_KANA}])\s+|\s+(?=[{HAN_AND_KANA}])")
_ACCENT = re.compile(f"[{ACCENTS}]")
_DOTTED = "\u0130"  # whose casefolding would leave the dot behind
_WITHIN_WORDS = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_NOT_WORD = re.compile(r"[\W_]+")


# No letter has so many marks, and to put them in order would take time in the square of their number.
_MANY_MARKS = re.compile(r"([^\w\s\x00-\x7f]{64,})")


def compose(text: str) -> str:
    """Write each accented letter as one character where Unicode has it (NFC)."""
    return _normalized("NFC", text)


def fold_width(text: str) -> str:
    """Compose a text and replace full-width letters, ligatures and similar forms with plain letters (NFKC)."""
    return _normalized("NFKC", text)


def _normalized(form: Literal["NFC", "NFKC"], text: str) -> str:
    if not _MANY_MARKS.search(text):
        return unicodedata.normalize(form, text)
    parts = enumerate(_MANY_MARKS.split(text))
    return "".join(part if at % 2 else unicodedata.normalize(form, part) for at, part in parts)


def fold_case(text: str) -> str:
    """Fold width and case and drop what nobody sees within a word, so that folding again changes nothing.

    Capitals among which one is the Turkish I with its dot are Turkish, and so is the one without.
    """
    if text.isascii():
        return text.lower()
    text = _WITHIN_WORDS.sub("", text)
    if _DOTTED in text and text.isupper():
        text = text.replace("I", "\u0131")
    # Case folding can undo NFKC, and NFKC of folded text can bring new capitals.
    return fold_width(fold_width(text).replace(_DOTTED, "i").casefold())


def without_accents(text: str) -> str:
    """Return lower-case text as people type it without accents."""
    if text.isascii():
        return text
    bare = _ACCENT.sub("", unicodedata.normalize("NFD", text))
    return compose(bare).replace("đ", "d")


_STROKES = str.maketrans("đøłħŧıæœ", "dolhtiao")  # letters that decomposition keeps whole


def without_marks(word: str) -> str:
    """Return a word without marks (of any script) and letter strokes; the lexical index stores such copies."""
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFD", word).translate(_STROKES)
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def without_spaces_in_chinese(text: str) -> str:
    """Remove the spaces next to Han letters and kana, where they mean nothing."""
    return _NEXT_TO_HAN_AND_KANA.sub("", text)


def without_punctuation(text: str) -> str:
    """Replace each run of characters that are neither letters nor digits with one space."""
    return _NOT_WORD.sub(" ", text)


# Of bytes, since their translation looks nothing up: a table of ``str.translate`` takes three times as long.
_LETTERS_AND_DIGITS = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))


def ascii_words(text: str) -> list[str]:
    """Split ASCII text at everything but letters and digits; ten times as fast as a pattern."""
    return text.encode("ascii").translate(_LETTERS_AND_DIGITS).decode("ascii").split()


def flatten(text: str) -> str:
    """Fold width, case, punctuation and the spaces next to CJK characters; pad with a space at both ends."""
    folded = fold_case(text)
    if folded.isascii():
        return f" {' '.join(ascii_words(folded))} "
    flat = without_punctuation(folded)
    # Where only signs were not ASCII; the search for CJK characters takes longer than all the rest.
    return f" {flat.strip()} " if flat.isascii() else f" {_NEXT_TO_CJK.sub('', flat).strip()} "


# Scripts and emoji need joiners and presentation selectors; between ASCII characters they can only hide something.
_NEVER_SEEN = re.compile(f"[{NEVER_SEEN}]+")
_HIDING_IN_ASCII = re.compile(f"(?<![^\\x00-\\x7f])[{JOINERS}{PRESENTATION_SELECTORS}]+|[{JOINERS}]+(?![^\\x00-\\x7f])")
_SURROGATE = re.compile(f"[{SURROGATES}]")
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
_COMPATIBLE = {c: fold_width(chr(c)) for c in [*_LETTERS, *range(0xFF01, 0xFF5F)]}
_PLAIN = {c: plain for c, plain in _COMPATIBLE.items() if len(plain) == 1 and plain.isascii()}
_PLAIN |= {c: chr(65 + (c - 0x1F110) % 32) for c in range(0x1F110, 0x1F18A) if (c - 0x1F110) % 32 < 26}
_PLAIN |= {ord(looks): plain for plain, row in _LOOK_ALIKE.items() for looks in row}


def without_invisible(text: str) -> str:
    """Drop invisible characters; joiners stay between non-ASCII characters, where scripts and emoji need them."""
    return text if text.isascii() else _HIDING_IN_ASCII.sub("", _NEVER_SEEN.sub("", text))


def without_surrogates(text: str) -> str:
    """Replace halves of surrogate pairs, which UTF-8 can't encode, with U+FFFD."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def plain_letters(text: str) -> str:
    """Replace ASCII look-alikes, and ``\\uXXXX`` escapes of ASCII, with the ASCII characters."""
    text = re.sub(r"\\u00([2-7][0-9a-fA-F])", lambda code: chr(int(code[1], 16)), text)
    return text.translate(_PLAIN)
