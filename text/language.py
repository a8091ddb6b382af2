"""Detect the language of a short text from its script and its commonest words."""

import re
from collections.abc import Mapping

from text.normal_forms import fold_case
from text.scripts import (
    ARABIC,
    CYRILLIC,
    DEVANAGARI,
    GREEK,
    HAN,
    HANGUL,
    HANGUL_JAMO,
    HEBREW,
    KANA,
    LATIN_SMALL,
    THAI,
    VIETNAMESE,
)
from text.stop_words import word_set

DEFAULT = "en"

# The first match wins, so Japanese, which uses Han letters too, comes before Chinese.
_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ja", re.compile(f"[{KANA}]")),
    ("ko", re.compile(f"[{HANGUL}{HANGUL_JAMO}]")),
    ("zh", re.compile(f"[{HAN}]")),
    ("ru", re.compile(f"[{CYRILLIC}]")),
    ("ar", re.compile(f"[{ARABIC}]")),
    ("th", re.compile(f"[{THAI}]")),
    ("hi", re.compile(f"[{DEVANAGARI}]")),
    ("el", re.compile(f"[{GREEK}]")),
    ("he", re.compile(f"[{HEBREW}]")),
)
_LATIN_WORD = re.compile(f"[{LATIN_SMALL}]+")
_VIETNAMESE = re.compile(f"[{VIETNAMESE}]")


# Function words identify the language of a text in Latin letters; a word of several languages counts for each.
_COMMON: Mapping[str, frozenset[str]] = {
    "en": word_set(
        """
        the of and to in is are was were what which who whom whose when where why how does do did can could would should
        for with from this that these it its on at by be been have has had not you i my we they there about a an as
        """
    ),
    "vi": word_set(
        """
        là của và có không được các những một cho với trong này đó gì nào ai bạn tôi
        khong duoc cua nhung cac nhu nao bao nhieu gi la ban toi cho voi trong chao cam tai sao the duoi dau nam
        """
    ),
    "de": word_set(
        """
        der die das den dem des ein eine und oder ist sind war wie was wer wo wann warum welche welcher nicht für von zu
        mit auf im ich du sie wir kann haben hat wird werden
        """
    ),
    "fr": word_set(
        """
        le la les un une des du de et ou est sont était que qui quoi quel quelle où quand comment pourquoi combien dans
        sur par pour avec ce cette je tu il elle nous vous ne pas au aux
        """
    ),
    "es": word_set(
        """
        el la los las un una de y o es son era fue que qué quién cuál dónde cuándo cómo por para con en del al se su no
        cuántos está están lo
        """
    ),
    "pt": word_set(
        """
        o a os as um uma de do da dos das e é são foi que quem qual onde quando como por para com em no na não se seu
        quantos está você
        """
    ),
    "it": word_set(
        """
        il lo la gli le un una di del della dei e o è sono era che chi quale dove quando come perché per con in nel non
        si quanti
        """
    ),
    "nl": word_set(
        "de het een en of is zijn was wat wie waar wanneer waarom hoe welke van voor met op in niet ik je wij"
    ),
}
# Words that identify their language alone; any other single word could be a name.
_DISTINCTIVE: Mapping[str, frozenset[str]] = {
    "vi": word_set("xin khong duoc cua nhieu nhung biet"),
    "de": word_set("hallo danke tschüss guten bitte"),
    "fr": word_set("bonjour merci bonsoir salut revoir"),
    "es": word_set("hola gracias adiós buenos buenas"),
    "pt": word_set("olá obrigado obrigada tchau"),
    "it": word_set("ciao grazie buongiorno arrivederci"),
    "nl": word_set("hoi dank bedankt"),
}


def language(text: str, *, default: str = DEFAULT) -> str:
    """Return the ISO 639-1 code of a text's language, or ``default`` where it can't be detected."""
    folded = fold_case(text)
    words = _LATIN_WORD.findall(folded)
    for code, letters in _SCRIPTS:
        found = len(letters.findall(folded))
        # A foreign word in a sentence of Latin letters does not change the sentence's language.
        if found and found * 2 > _common(words, "en") * 2 + len(words) // 2:
            return code
    if _VIETNAMESE.search(folded):
        return "vi"
    counts = {code: _common(words, code) for code in _COMMON}
    best = max(counts.values())
    if best and counts[DEFAULT] == best:
        return DEFAULT
    if best < 2:
        return default
    return next(code for code, count in counts.items() if count == best)


def _common(words: list[str], code: str) -> int:
    """Count the words that are common in a language; distinctive ones count twice."""
    distinctive = _DISTINCTIVE.get(code, frozenset())
    return sum(2 if word in distinctive else word in _COMMON[code] for word in words)
