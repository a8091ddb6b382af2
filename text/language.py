"""The language of a short text, and the words of each language that say nothing of its subject."""

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


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


STOP_WORDS: Mapping[str, frozenset[str]] = {
    "en": word_set(
        """
        a an the of in on at by for to from with without into onto about as and or but nor so than then that this these
        those there here is are was were be been being am do does did done doing have has had having will would shall
        should can could may might must what which who whom whose when where why how many much long often old it its he
        she they them him his her hers their theirs we us our ours you your yours i me my mine if while during not no
        yes s t d ll re ve m don didn doesn isn aren wasn weren please tell explain describe give show list name also
        just really any some such other type kind sort called want wants need needs look looks like get gets got let
        make makes made use uses used using way ways work works take takes give gives given happen happens happened
        """
    ),
    "vi": word_set(
        """
        ai gì nào đâu sao là có của và các những một được bị đã đang sẽ cho với trong trên dưới ở tại khi thì mà này kia
        đó ấy bao nhiêu mấy như thế từ đến về ra vào lên xuống do vì bởi để không phải cũng rằng hay hoặc nếu nhưng vậy
        ạ à nhỉ hãy xin vui lòng bạn tôi chúng ta họ nó ông bà anh chị em người việc cái con loại
        """
    ),
    "de": word_set(
        """
        der die das den dem des ein eine einen einem einer und oder ist sind war waren wird wurde wurden hat haben wie
        was wer wo wann warum welche welcher welches für von zu mit auf im in an am bei es sich nicht man
        """
    ),
    "fr": word_set(
        """
        le la les un une des du de d l et ou est sont était étaient que qui quoi quel quelle quels quelles où quand
        comment pourquoi combien dans sur par pour avec ce cette ces il elle ils elles a à au aux en y se s ne pas
        """
    ),
    "es": word_set(
        """
        el la los las un una unos unas y o es son era eran fue fueron qué que quién cuál cuáles dónde cuándo cómo cuánto
        cuántos cuántas por para con en de del al a se su sus lo no
        """
    ),
}
# Question framing in scripts without spaces; a longer form comes before a shorter one that begins it.
CJK_STOP = re.compile(
    "什么时候|什么样|什么|甚么|哪一年|哪年|哪一个|哪一|哪些|哪里|哪儿|哪个|哪种|哪位|哪|多少|多久|多长|多大|多高|几个|几|"
    "谁的|谁|如何|怎么样|怎样|怎么|为什么|为何|何时|何地|何处|是否|是不是|有没有|请问|请|吗|呢|吧|啊|"
    "的|了|是|在|和|与|及|或|被|把|从|到|对|于|为|以|有|这|那|其|之|也|都|而|并|中|所|"
    "です|ますか|ます|でした|ました|いつ|どこ|何|誰|なぜ|どの|どう|は|が|を|に|の|で|と|も|か"
)


def stop_words(language: str) -> frozenset[str]:
    """Return a language's stop words, or the English ones where none are known."""
    return STOP_WORDS.get(language, STOP_WORDS["en"])


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
_LATIN_WORD = re.compile(rf"(?<!\w)[{LATIN_SMALL}]+(?!\w)")
_VIETNAMESE = re.compile(f"[{VIETNAMESE}]")


# Function words identify the language of a text in Latin letters; a word of several languages counts for each.
_COMMON: Mapping[str, frozenset[str]] = {
    "en": word_set(
        """
        the of and to in is are was were what which who whom whose when where why how does do did can could would should
        for with from this that these it its on at by be been have has had not you i my we they there about a an as no
        or if any your our
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
        mit auf im ich du sie wir kann haben hat wird werden es einen einem einer gibt viele wieviel darf muss mein
        meine kein keine bei nach aus beim vom zum zur
        """
    ),
    "fr": word_set(
        """
        le la les un une des du de et ou est sont était que qui quoi quel quelle où quand comment pourquoi combien dans
        sur par pour avec ce cette je tu il elle nous vous ne pas au aux peut quels quelles mon mes votre vos y
        """
    ),
    "es": word_set(
        """
        el la los las un una de y o es son era fue que qué quién cuál dónde cuándo cómo por para con en del al se su no
        cuántos está están lo cuánto cuánta cuántas cuesta hay mi mis tengo puedo puede
        """
    ),
    "pt": word_set(
        """
        o a os as um uma de do da dos das e é são foi que quem qual onde quando como por para com em no na não se seu
        quantos está você quanto quais custa há posso minha meu meus minhas tenho ao à pelo pela
        """
    ),
    "it": word_set(
        """
        il lo la gli le un una di del della dei e o è sono era che chi quale qual dove quando come perché per con in nel
        non si quanti quanto quali costa mio mia posso gli alla al dal sono più ci
        """
    ),
    "nl": word_set(
        "de het een en of is zijn was wat wie waar wanneer waarom hoe welke van voor met op in niet ik je wij"
    ),
}
# Letters that tell a language, where they stand in a word that is not a name.
_LETTERS: Mapping[str, re.Pattern[str]] = {
    "de": re.compile("[äöüß]"),
    "fr": re.compile("[çêœû]"),
    "es": re.compile("ñ"),
    "pt": re.compile("[ãõç]"),
}
_NAME = re.compile(r"(?<![^\W\d_])[^\W\d_a-zà-ÿ][\w'’-]*")
_INSIDE = re.compile(r"(?<=[\w,;)\"”’] )[^\W\d_a-zà-ÿ][\w'’]* (?=[^\W\d_a-zà-ÿ])")  # "El" in "of El Niño"
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


def language(text: str, *, default: str = DEFAULT, near: str = "") -> str:
    """Return the ISO 639-1 code of a text's language, or ``default`` where it can't be detected.

    The language ``near`` it, such as that of the question of an answer, is preferred to one that a single word tells.
    """
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
    if max(counts.values()) > counts[DEFAULT] and not text.isupper():
        words = _LATIN_WORD.findall(fold_case(_INSIDE.sub(" ", text)))
        counts = {code: _common(words, code) for code in _COMMON} | {DEFAULT: counts[DEFAULT]}
    signs = _signs(text)
    counts = {code: count + signs.get(code, 0) for code, count in counts.items()}
    best = max(counts.values())
    if near and counts.get(near, 0) >= best - 1:
        return near
    if best and counts[DEFAULT] == best:
        return DEFAULT
    code = next(code for code, count in counts.items() if count == best)
    # A word that stands there twice, as "no", tells no more than once.
    return code if _common(list(dict.fromkeys(words)), code) + signs.get(code, 0) >= 2 else default


def _signs(text: str) -> dict[str, int]:
    """Count a language's own letters, in a word that is no name, as one common word, and its own signs as two."""
    plain = fold_case(_NAME.sub(" ", text))
    counts = {code: int(letters.search(plain) is not None) for code, letters in _LETTERS.items()}
    return counts | {"es": counts["es"] + 2 * ("¿" in text or "¡" in text)}


def _common(words: list[str], code: str) -> int:
    """Count the words that are common in a language; distinctive ones count twice."""
    distinctive = _DISTINCTIVE.get(code, frozenset())
    return sum(2 if word in distinctive else word in _COMMON[code] for word in words)
