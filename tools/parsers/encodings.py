"""Encodings of texts that name none: a guess with charset-normalizer, made only where its warning is heard.

A wrong guess puts words into quotes that nobody wrote. So nothing is guessed where the bytes are what a byte order
mark or the file itself says, or are UTF-8. A guess is best if the letters of the decoded text are those of a language,
and no other encoding in use gives another text of which that is true. Where none stands out, as in a short text, the
encoding is taken in which the fewest letters look wrong. Only what looks wrong in all of them is refused.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from text.late_patterns import LatePattern

_SAMPLE = 200_000  # bytes that are compared; the whole is decoded with what they show
_LEAST_OTHERS = 2  # letters beyond ASCII: a single one tells too little
_LEAST_TEXT = 20  # characters
_MOST_MESS = 0.1
_CLEARLY = 0.03  # by how much the mess of other readings is greater, where letters alone do not decide
_MORE_COHERENT = 0.3  # or by how much the letters are more often those that its languages use
_NULS_OF_UTF_16 = 0.3  # share of the high bytes; text of Latin letters has nearly all
# Those of texts without a declaration that are found in practice; EBCDIC and the like are a wrong guess far more often.
_USUAL = (
    "cp1252", "cp1250", "cp1254", "cp1257", "cp1251", "koi8_r", "cp866", "cp1253", "cp1255", "cp1256", "cp874",
    "gb18030", "big5", "cp932", "euc_jp", "cp949",
)  # fmt: skip
_LATIN = frozenset({"cp1252", "cp1250", "cp1254", "cp1257", "mac_roman", "cp850"})
_SELDOM = ("mac_roman", "cp850")  # of old machines, tried last
_MOST_WRONG = 0.5  # of the letters beyond ASCII, or nothing is read
_ALPHABETS = tuple(
    frozenset(letters + letters.upper().replace("SS", ""))
    for letters in (
        "àâæçèéêëîïôœùûüÿ", "äöüß", "áéíñóúüªº", "áàâãçéêíóôõúüªº", "àèéìíîòóùúªº", "áéíóúëïöüèê", "åäöé", "æøåéòóôü",
        "áðéíóúýþæö", "àçèéíïòóúü", "ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž",
        "âăîşţ", "çğıiöşüâî", "ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž",
    )
)  # fmt: skip
_ASCII_LETTERS = frozenset("İ")  # the capital of the Turkish i, which upper() does not give
_SCRIPTS = {
    "cp1251": r"\u0400-\u04ff", "koi8_r": r"\u0400-\u04ff", "cp866": r"\u0400-\u04ff", "cp1253": r"\u0370-\u03ff",
    "cp1255": r"\u0590-\u05ff", "cp1256": r"\u0600-\u06ff", "cp874": r"\u0e00-\u0e7f",
    "gb18030": r"\u3000-\u303f\u4e00-\u9fff\uff00-\uffef", "big5": r"\u3000-\u303f\u4e00-\u9fff\uff00-\uffef",
    "cp932": r"\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef", "euc_jp": r"\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef",
    "cp949": r"\u3000-\u303f\uac00-\ud7a3\uff00-\uffef",
}  # fmt: skip
_SIGNS = "\u00a0«»“”„‘’‚–—…•·¿¡€£§°©®™×÷±²³µ½¼¾№"
_OTHER_LETTERS = {encoding: LatePattern(rf"[^\x00-\x7f{_SIGNS}{script}]") for encoding, script in _SCRIPTS.items()}
_TORN = re.compile(
    rf"[^\W\d_](?![’·])[{_SIGNS}][a-zà-ÿ]|[a-zà-ÿ][A-ZÀ-Þ][a-zà-ÿ]|[A-ZÀ-Þ][À-Þ][a-zà-ÿ]"
)  # as in "Stra§e" and "fŸr"
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ufffe\uffff\ue000-\uf8ff]")
# Lead bytes of the characters in daily use; the wrong one of the two finds rare ones.
_FREQUENT = {"gb18030": (0xB0, 0xD7), "big5": (0xA4, 0xC6)}
_MOSTLY = 0.9
_HAN = re.compile(r"[\u4e00-\u9fff]")
_OUT_OF_PLACE = re.compile(  # letters of another script within a word of ASCII, capitals behind small letters
    r"(?<=[A-Za-z])[^\W\d_A-Za-z]|[^\W\d_A-Za-z](?=[A-Za-z])|(?<=[α-ωа-я])[Α-ΩА-Я]|[^\x00-\x7f](?=[a-z])"
)
# As no word in Latin letters is.
_WITHOUT_ASCII = re.compile(r"[^\s\x00-\x7f]{4,}|(?<!\w)[^\W\d_\x00-\x7f]{2,}(?!\w)")
_SELDOM_CYRILLIC = re.compile(r"[\u0400-\u04ff](?<![А-яЁёЄІЇҐЎєіїґў])")
_KANA = re.compile(r"[\u3041-\u30ff]")

_NAMES = {"cp932": "shift_jis", "cp949": "euc-kr", "cp866": "ibm866", "cp850": "ibm850"}

_HEARD: ContextVar[list[str] | None] = ContextVar("heard", default=None)


@contextmanager
def guesses_heard() -> Iterator[list[str]]:
    """Let encodings be guessed within; the list is filled with the names of those that were."""
    heard: list[str] = []
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)


def guessed(data: bytes) -> str | None:
    """Decode bytes that name no encoding and are not UTF-8, if one stands out and the guess is heard."""
    heard = _HEARD.get()
    if heard is None:
        return None
    encoding = _utf_16(data) if b"\x00" in data else _of_language(data)
    text = _decoded(data, encoding) if encoding else ""
    if b"\x00" not in data and not (encoding and _is_language(text, encoding)):  # what follows the sample is to agree
        encoding = "utf-8" if _is_broken_utf_8(data) else _likeliest(data)
        text = data.decode(encoding, "replace" if encoding == "utf-8" else "strict") if encoding else ""
    if encoding and text:
        heard.append(_name_of(encoding))
    return text or None


def _decoded(data: bytes, encoding: str) -> str:
    """Return the text of bytes; "" where they are not in the encoding, or hold controls in it."""
    try:
        text = data.decode(encoding)
    except UnicodeError:
        return ""
    return "" if _CONTROLS.search(text) else text


def _is_broken_utf_8(data: bytes) -> bool:
    text = data.decode("utf-8", "replace")
    return 0 < 2 * text.count("\ufffd") < _beyond_ascii(text)


def _beyond_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _likeliest(data: bytes) -> str | None:
    """Return the encoding in which the fewest letters look wrong, the commonest of several; None if too many do."""
    sample = _sample(data)
    read = [(_wrong(text, name), name) for name in (*_USUAL, *_SELDOM) if (text := _decoded(sample, name))]
    fit = (name for share, name in sorted(read, key=lambda each: each[0]) if share <= _MOST_WRONG)
    return next((name for name in fit if _decoded(data, name)), None)


def _wrong(text: str, encoding: str) -> float:
    """Return the share of the letters beyond ASCII that a text in this encoding would hardly have."""
    others = [letter for letter in text if letter > "\x7f"]
    letters = [letter for letter in others if letter not in _SIGNS]
    if encoding in _LATIN:
        wrong = min(sum(letter not in alphabet for letter in letters) for alphabet in _ALPHABETS)
        wrong += sum(len(run) for run in _WITHOUT_ASCII.findall(text)) + len(_TORN.findall(text))
    else:
        wrong = sum(len(kind.findall(text)) for kind in (_OTHER_LETTERS[encoding], _OUT_OF_PLACE, _SELDOM_CYRILLIC))
        if not _in_daily_use(text, encoding):
            wrong += len(_HAN.findall(text))
    return wrong / max(1, len(others))


def warnings_of(heard: list[str]) -> tuple[str, ...]:
    """Return what is said of encodings that were guessed."""
    return tuple(
        f"The file does not say how its text is encoded, or not rightly. It was read as {name}, which is a guess: "
        "check that accented and special letters are right, or save the file as UTF-8 and ingest it again."
        for name in dict.fromkeys(heard)
    )


def _name_of(encoding: str) -> str:
    return _NAMES.get(encoding) or re.sub("^cp", "windows-", encoding).replace("_", "-")


def _utf_16(data: bytes) -> str | None:
    """Return the byte order of UTF-16 without its mark, by where the zeros of Latin letters and line ends stand."""
    sample = data[: _SAMPLE & ~1]
    if len(data) % 2:
        return None
    first, second = sample[::2].count(0), sample[1::2].count(0)
    least = _NULS_OF_UTF_16 * len(sample) / 2
    if second > least and not first:
        return "utf-16-le"
    return "utf-16-be" if first > least and not second else None


def _of_language(data: bytes) -> str | None:
    from charset_normalizer import from_bytes  # only here: it takes a while to load

    sample = _sample(data)
    readings: dict[str, tuple[float, float, str]] = {}
    for match in from_bytes(sample, cp_isolation=list(_USUAL), enable_fallback=False, preemptive_behaviour=False):
        alike = set(match.could_be_from_charset)
        encoding = next((name for name in _USUAL if name in alike), "")
        text = sample.decode(encoding) if encoding and match.chaos <= _MOST_MESS else ""
        if text and _is_language(text, encoding):
            readings.setdefault(text, (match.chaos, -match.coherence, encoding))
    best = sorted(readings.values())
    if len(best) > 1 and best[1][0] - best[0][0] < _CLEARLY and best[1][1] - best[0][1] < _MORE_COHERENT:
        return next((name for _, _, name in best if name == "cp1252"), best[0][2])
    return best[0][2] if best else None


def _sample(data: bytes) -> bytes:
    """Return the first bytes up to the end of a line, where no encoding is within a letter."""
    return data if len(data) <= _SAMPLE else data[: data.rfind(b"\n", 0, _SAMPLE) + 1 or _SAMPLE]


def _is_language(text: str, encoding: str) -> bool:
    if len(text) < _LEAST_TEXT or _CONTROLS.search(text):
        return False
    if encoding in _LATIN:
        others = {letter for letter in set(text) if letter > "\x7f" and letter not in _SIGNS} - _ASCII_LETTERS
        known = not others or any(others <= alphabet for alphabet in _ALPHABETS)
        return known and _beyond_ascii(text) >= _LEAST_OTHERS and not _TORN.search(text)
    return (
        _beyond_ascii(text) >= _LEAST_OTHERS
        and not _OTHER_LETTERS[encoding].search(text)
        and _in_daily_use(text, encoding)
    )


def _in_daily_use(text: str, encoding: str) -> bool:
    if encoding in ("cp932", "euc_jp"):
        return _KANA.search(text) is not None
    if encoding not in _FREQUENT:
        return True
    least, most = _FREQUENT[encoding]
    leads = [letter.encode(encoding)[0] for letter in text if "\u4e00" <= letter <= "\u9fff"]
    return sum(least <= lead <= most for lead in leads) > _MOSTLY * len(leads)
