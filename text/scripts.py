"""Character ranges for regular expressions: scripts, marks and invisible characters.

A range is the inside of a character class: ``re.compile(f"[{KANA}{HAN}]")``.
"""

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA = "\u3040-\u30ff"
HANGUL = "\uac00-\ud7af"
HANGUL_JAMO = "\u1100-\u11ff"
BOPOMOFO = "\u3100-\u312f\u31a0-\u31bf"
THAI = "\u0e00-\u0e7f"
SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
GREEK = "\u0370-\u03ff"
CYRILLIC = "\u0400-\u04ff"
HEBREW = "\u0590-\u05ff"
ARABIC = "\u0600-\u06ff"
DEVANAGARI = "\u0900-\u097f"
LATIN_SMALL = "a-z\u00df-\u024f\u1e00-\u1eff"
LATIN_CAPITAL = "A-ZÀ-ÝĐ"
# Letters that Vietnamese has and other languages in Latin script lack.
VIETNAMESE = "ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉĩịọỏốồổỗộớờởỡợụủũứừửữựỳỵỷỹ"

# Compared by bigrams. Includes Hangul, though Korean uses spaces.
CJK = f"{KANA}{HAN}{HANGUL}"
# Scripts in which every letter may count as a word: Han and kana, with 々, 〆 and 〇, which occur among them.
HAN_AND_KANA = f"\u3005-\u3007{KANA}{HAN}"
# Scripts that put no spaces between words.
UNSPACED = f"{SOUTH_EAST_ASIAN}{HAN_AND_KANA}"
# Stored as bigrams in the lexical index. Stored segments were weighted with it: a change here needs a reindex.
INDEXED_BY_BIGRAMS = f"{SOUTH_EAST_ASIAN}\u3005\u3007{KANA}{BOPOMOFO}\u31f0-\u31ff{HAN}{HANGUL}"
FULL_WIDTH = "\uff00-\uffef"
# What Unicode names a question mark and ends a sentence with. The Greek one is canonically a semicolon.
QUESTION_MARKS = (
    "?\u037e\u061f\u1367\u1945\u203d\u2047-\u2049\u2753\u2754\u2cfa\u2cfb\u2e2e\u2e54\ua60f\ua6f7\ufe16\ufe56\uff1f"
    "\U00011143"
)
# Chinese and Japanese text with its punctuation, in which a line break does not mean a space.
CHINESE_AND_JAPANESE_TEXT = f"\u3000-\u303f{KANA}{HAN}{FULL_WIDTH}"

# Vowel signs of Indic and pointed Semitic scripts are marks, which \w leaves out.
VOWEL_SIGNS = (
    "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0955-\u0957\u0962\u0963\u0980-\u0dff"
)
ACCENTS = "\u0300-\u036f"

# Scripts and emoji need joiners and presentation selectors; the others are never visible.
JOINERS = "\u200c\u200d"
PRESENTATION_SELECTORS = "\ufe0e\ufe0f"
NEVER_SEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
INVISIBLE = f"{NEVER_SEEN}{JOINERS}{PRESENTATION_SELECTORS}"
# Halves of surrogate pairs are no characters: UTF-8 can't encode them and PostgreSQL refuses them.
SURROGATES = "\ud800-\udfff"
