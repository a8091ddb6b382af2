"""Detect the language of a short text from its script and its commonest words."""

import re
import unicodedata
from collections.abc import Mapping

DEFAULT = "en"

_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile("[\u3400-\u9fff\uf900-\ufaff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
)
_LATIN_WORD = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]+")
# Letters that Vietnamese has and its neighbours by script have not.
_VIETNAMESE = re.compile("[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉĩịọỏốồổỗộớờởỡợụủũứừửữựỳỵỷỹ]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Function words, by which a text of Latin letters shows its language; a word of several languages counts for each.
_COMMON: Mapping[str, frozenset[str]] = {
    "en": _words(
        """
        the of and to in is are was were what which who whom whose when where why how does do did can could would should
        for with from this that these it its on at by be been have has had not you i my we they there about a an as
        """
    ),
    "vi": _words(
        """
        là của và có không được các những một cho với trong này đó gì nào ai bạn tôi
        khong duoc cua nhung cac nhu nao bao nhieu gi la ban toi cho voi trong chao cam tai sao the duoi dau nam
        """
    ),
    "de": _words(
        """
        der die das den dem des ein eine und oder ist sind war wie was wer wo wann warum welche welcher nicht für von zu
        mit auf im ich du sie wir kann haben hat wird werden
        """
    ),
    "fr": _words(
        """
        le la les un une des du de et ou est sont était que qui quoi quel quelle où quand comment pourquoi combien dans
        sur par pour avec ce cette je tu il elle nous vous ne pas au aux
        """
    ),
    "es": _words(
        """
        el la los las un una de y o es son era fue que qué quién cuál dónde cuándo cómo por para con en del al se su no
        cuántos está están lo
        """
    ),
    "pt": _words(
        """
        o a os as um uma de do da dos das e é são foi que quem qual onde quando como por para com em no na não se seu
        quantos está você
        """
    ),
    "it": _words(
        """
        il lo la gli le un una di del della dei e o è sono era che chi quale dove quando come perché per con in nel non
        si quanti
        """
    ),
    "nl": _words(
        "de het een en of is zijn was wat wie waar wanneer waarom hoe welke van voor met op in niet ik je wij"
    ),
}
# Words that show their language alone; any other single word could be a name.
_TELLING: Mapping[str, frozenset[str]] = {
    "vi": _words("xin khong duoc cua nhieu nhung biet"),
    "de": _words("hallo danke tschüss guten bitte"),
    "fr": _words("bonjour merci bonsoir salut revoir"),
    "es": _words("hola gracias adiós buenos buenas"),
    "pt": _words("olá obrigado obrigada tchau"),
    "it": _words("ciao grazie buongiorno arrivederci"),
    "nl": _words("hoi dank bedankt"),
}


def language(text: str, *, default: str = DEFAULT) -> str:
    """Give the ISO 639-1 code of a text's language; ``default`` where nothing tells."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = _LATIN_WORD.findall(folded)
    for code, letters in _SCRIPTS:
        found = len(letters.findall(folded))
        # A foreign word inside a sentence of Latin letters does not change the sentence's language.
        if found and found * 2 > _common(words, "en") * 2 + len(words) // 2:
            return code
    composed = unicodedata.normalize("NFC", folded)
    if _VIETNAMESE.search(composed):
        return "vi"
    counts = {code: _common(words, code) for code in _COMMON}
    best = max(counts.values())
    if best and counts[DEFAULT] == best:
        return DEFAULT
    if best < 2:
        return default
    return next(code for code, count in counts.items() if count == best)


def _common(words: list[str], code: str) -> int:
    """Count the words that are common in a language; telling ones count twice."""
    telling = _TELLING.get(code, frozenset())
    return sum(2 if word in telling else word in _COMMON[code] for word in words)
