"""Encodings of texts that name none: a guess with Mozilla's chardetng, made only where its warning is heard.

A wrong guess puts words into quotes that nobody wrote. So nothing is guessed where the bytes are what a byte order
mark or the file itself says, or are UTF-8. Which encoding of Latin letters it is, chardetng tells badly of short texts:
there the one is taken in which the fewest letters look wrong. Only what looks wrong in all of them is refused.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_SAMPLE = 200_000  # bytes that are compared; the whole is decoded with what they show
_NULS_OF_UTF_16 = 0.3  # share of the high bytes; text of Latin letters has nearly all
_LATIN = (
    "cp1252",
    "cp1250",
    "cp1254",
    "cp1257",
    "mac_roman",
    "cp850",
)  # the commonest first, those of old machines last
_OF_LATIN = re.compile(r"windows-125[02478]|iso-8859-(?:1|2|4|1[03-6])")
_WIDER = {"euc-kr": "cp949", "shift_jis": "cp932", "gbk": "gb18030"}  # as browsers read these names
_MOST_WRONG = 0.5  # of the letters beyond ASCII, or nothing is read
_ALPHABETS = tuple(
    frozenset(letters + letters.upper().replace("SS", ""))
    for letters in (
        "àâæçèéêëîïôœùûüÿ", "äöüß", "áéíñóúüªº", "áàâãçéêíóôõúüªº", "àèéìíîòóùúªº", "áéíóúëïöüèê", "åäöé", "æøåéòóôü",
        "áðéíóúýþæö", "àçèéíïòóúü", "ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž",
        "âăîşţ", "çğıiöşüâî", "ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž",
    )
)  # fmt: skip
_SIGNS = "\u00a0«»“”„‘’‚–—…•·¿¡€£§°©®™×÷±²³µ½¼¾№"
_TORN = re.compile(
    rf"[^\W\d_](?![’·])[{_SIGNS}][a-zà-ÿ]|[a-zà-ÿ][A-ZÀ-Þ][a-zà-ÿ]|[A-ZÀ-Þ][À-Þ][a-zà-ÿ]"
)  # as in "Stra§e" and "fŸr"
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ufffe\uffff\ue000-\uf8ff]")
# As no word in Latin letters is.
_WITHOUT_ASCII = re.compile(r"[^\s\x00-\x7f]{4,}|(?<!\w)[^\W\d_\x00-\x7f]{2,}(?!\w)")

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
    encoding = _utf_16(data) if b"\x00" in data else "utf-8" if _is_broken_utf_8(data) else _likeliest(data)
    text = data.decode(encoding, "replace" if encoding == "utf-8" else "strict") if encoding else ""
    if encoding and text:
        heard.append(_name_of(encoding))
    return text or None


def warnings_of(heard: list[str]) -> tuple[str, ...]:
    """Return what is said of encodings that were guessed."""
    return tuple(
        f"The file does not say how its text is encoded, or not rightly. It was read as {name}, which is a guess: "
        "check that accented and special letters are right, or save the file as UTF-8 and add it again."
        for name in dict.fromkeys(heard)
    )


def _decoded(data: bytes, encoding: str) -> str:
    """Return the text of bytes; "" where they are not in the encoding, or hold controls in it."""
    try:
        text = data.decode(encoding)
    except UnicodeError:
        return ""
    return "" if _CONTROLS.search(text) else text


def _utf_16(data: bytes) -> str | None:
    """Return the byte order of UTF-16 without its mark, by where the zeros of Latin letters and line ends stand."""
    sample = data[: _SAMPLE & ~1]
    first, second = sample[::2].count(0), sample[1::2].count(0)
    least = _NULS_OF_UTF_16 * len(sample) / 2
    found = "utf-16-le" if second > least and not first else "utf-16-be" if first > least and not second else ""
    return found if found and _decoded(data, found) else None


def _is_broken_utf_8(data: bytes) -> bool:
    text = data.decode("utf-8", "replace")
    return 0 < 2 * text.count("\ufffd") < len(text) - len(text.encode("ascii", "ignore"))


def _likeliest(data: bytes) -> str | None:
    """Return the encoding that the letters show; None if they look wrong in all."""
    from chardetng_py import EncodingDetector  # few texts need it

    sample = data if len(data) <= _SAMPLE else data[: data.rfind(b"\n", 0, _SAMPLE) + 1 or _SAMPLE]
    detector = EncodingDetector()
    detector.feed(sample, last=True)
    name = detector.guess(tld=None, allow_utf8=False).lower()
    if not _OF_LATIN.fullmatch(name):
        encoding = _WIDER.get(name, name)
        return encoding if _decoded(data, encoding) else None
    read = [(_wrong(text), encoding) for encoding in _LATIN if (text := _decoded(sample, encoding))]
    fit = (encoding for share, encoding in sorted(read, key=lambda each: each[0]) if share <= _MOST_WRONG)
    return next((encoding for encoding in fit if _decoded(data, encoding)), None)


def _wrong(text: str) -> float:
    """Return the share of the letters beyond ASCII that a text in Latin letters would hardly have."""
    others = [letter for letter in text if letter > "\x7f"]
    letters = [letter for letter in others if letter not in _SIGNS]
    wrong = min(sum(letter not in alphabet for letter in letters) for alphabet in _ALPHABETS)
    wrong += sum(len(run) for run in _WITHOUT_ASCII.findall(text)) + len(_TORN.findall(text))
    return wrong / max(1, len(others))


def _name_of(encoding: str) -> str:
    names = {"cp932": "shift_jis", "cp949": "euc-kr", "cp850": "ibm850"}
    return names.get(encoding) or re.sub("^cp", "windows-", encoding).replace("_", "-")
