"""Claim sets made from paragraphs: verbatim, reworded and falsified claims."""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from graph.errors import InvalidRequest
from research.mutations.chinese import CHINESE
from research.mutations.english import ENGLISH
from research.mutations.swaps import Language, Name, chance, edits
from research.mutations.vietnamese import VIETNAMESE
from text.sentences import sentences, trimmed

VERBATIM = "verbatim"


@dataclass(frozen=True, slots=True)
class ClaimCase:
    """A claim, its evidence, and whether it follows from it. ``kind`` is how it was made, ``lang`` is ISO 639-1.

    A supported case of the kind ``verbatim`` occurs in its evidence word for word; any other supported one is a
    paraphrase.
    """

    evidence: str
    claim: str
    lang: str
    kind: str
    supported: bool


_FIELDS: tuple[tuple[str, type], ...] = (
    ("evidence", str),
    ("claim", str),
    ("lang", str),
    ("kind", str),
    ("supported", bool),
)


def load_cases(path: Path) -> list[ClaimCase]:
    """Load a set of cases; blank lines and unknown fields are ignored.

    Raises InvalidRequest where the file cannot be read or holds no case, naming the faulty line and field.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"--path: {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"--path: {path} is not UTF-8 text.") from error
    # Only "\n" ends a row: a claim's text may contain the other line ends that splitlines() knows.
    cases = [_case(path, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not cases:
        raise InvalidRequest(f"--path: {path} holds no claim.")
    return cases


def write_cases(path: Path, cases: Iterable[ClaimCase]) -> None:
    """Write cases as JSON lines. Raises InvalidRequest where the file can't be written."""
    rows = "".join(json.dumps(asdict(case), ensure_ascii=False) + "\n" for case in cases)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(rows, encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"--write: {path} cannot be written: {error.strerror}.") from error


def _case(path: Path, number: int, line: str) -> ClaimCase:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InvalidRequest(f"--path: {path}, line {number}: not JSON: {error}.") from error
    if not isinstance(row, dict):
        raise InvalidRequest(f"--path: {path}, line {number}: not a JSON object.")
    return ClaimCase(**{name: _field(row, name, kind, f"{path}, line {number}") for name, kind in _FIELDS})


def _field(row: Mapping[str, Any], name: str, kind: type, where: str) -> Any:
    if name not in row:
        raise InvalidRequest(f"--path: {where}: the field {name!r} is missing.")
    value = row[name]
    if not isinstance(value, kind):
        wanted = "true or false" if kind is bool else "text"
        raise InvalidRequest(f"--path: {where}: the field {name!r} must be {wanted}.")
    if isinstance(value, str) and not value.strip():
        raise InvalidRequest(f"--path: {where}: the field {name!r} is empty.")
    return value


LANGUAGES = (ENGLISH, CHINESE, VIETNAMESE)

RELATION = "relation"
FRESH = "_fresh"  # suffix of the kinds whose cues the checker's author has not seen
_QUANTITIES = ("number", "scale", "unit", "date")
_PAIRED = tuple(map(tuple, ("()", "[]", "“”", "«»", "（）", "《》", "「」", "【】")))
_LONGEST = 700
_MARKER = re.compile(r"(?:\d{1,2}|[A-Z])\. ")  # of a list item, or the second half of a name with initials
_EACH = {"scale": 4, "unit": 3, "number": 2, "date": 2}  # the rarer a kind's cues, the more cases each sentence yields


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph used as evidence, and the page it comes from."""

    text: str
    page: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A complete sentence of a paragraph: as written, and with its spacing tidied."""

    original: str
    text: str
    paragraph: Paragraph
    others: frozenset[str]  # the paragraph's sentences, bare


def make_cases(paragraphs: Sequence[Paragraph], language: Language) -> list[ClaimCase]:
    """Make the cases of one language: a few of each kind per sentence, where its rules find something to change.

    Questions, fragments and sentences with unpaired brackets are skipped, and so is a mutant that the paragraph states
    elsewhere. The same paragraphs always produce the same cases.
    """
    whole = [sentence for paragraph in paragraphs for sentence in _whole_sentences(paragraph, language)]
    pages = _names_by_page(whole, language)
    cases: list[ClaimCase] = []
    for sentence in whole:
        made = [
            (VERBATIM, sentence.original, True),
            *((kind, claim, True) for kind, claim in _paraphrases(sentence, language)),
            *((kind, claim, False) for kind, claim in _mutants(sentence, language)),
            *((kind, claim, False) for kind, claim in _renamed(sentence, language, pages)),
        ]
        cases += [ClaimCase(sentence.paragraph.text, claim, language.code, kind, holds) for kind, claim, holds in made]
    return cases


def _whole_sentences(paragraph: Paragraph, language: Language) -> Iterator[_Sentence]:
    spans = [trimmed(paragraph.text, *span) for span in sentences(paragraph.text)]
    originals = [paragraph.text[start:end] for start, end in spans]
    others = frozenset(_bare(text) for text in originals)
    for text in originals:
        tidied = language.tidy(unicodedata.normalize("NFC", text))
        length = len(tidied.split()) if language.spaced else len(tidied)
        if length >= language.shortest and len(tidied) <= _LONGEST and _whole(tidied):
            yield _Sentence(text, tidied, paragraph, others)


def _whole(text: str) -> bool:
    if any(text.count(opening) != text.count(closing) for opening, closing in _PAIRED) or text.count('"') % 2:
        return False
    if "?" in text or "？" in text:
        return False
    if _MARKER.match(text):
        return False
    first = text.lstrip("\"“'‘(《「")[:1]
    return text.rstrip("\"”’')）」")[-1:] in {".", "。", "!", "！"} and bool(first) and not first.islower()


def _paraphrases(sentence: _Sentence, language: Language) -> Iterator[tuple[str, str]]:
    frame = chance(sentence.text, "frame").choice(language.frames)
    if sentence.text[0] not in '"“「':
        lowered = language.lowers_after_frame(sentence.text)
        rest = sentence.text[0].lower() + sentence.text[1:] if lowered else sentence.text
        yield "frame", frame + rest
    if sentence.text != sentence.original:
        yield "spacing", sentence.text
    for kind, swaps in language.paraphrases.items():
        for edit in edits(sentence.text, swaps, chance(sentence.text, kind)):
            claim = _tidied(edit.applied(sentence.text), language)
            if _bare(claim) not in sentence.others:
                yield kind, claim
                break


def _mutants(sentence: _Sentence, language: Language) -> Iterator[tuple[str, str]]:
    for kind, swaps in language.mutations.items():
        left = _EACH.get(kind, 1)
        for edit in edits(sentence.text, swaps, chance(sentence.text, kind)):
            claim = _tidied(edit.applied(sentence.text), language)
            if not _new(claim, sentence):
                continue
            around = claim[max(0, edit.start - 1) : edit.start + len(edit.text) + 7]
            if kind in _QUANTITIES and _bare(around) in _bare(sentence.paragraph.text):
                continue  # the paragraph states this of something, perhaps of the same thing
            yield kind, claim
            left -= 1
            if not left:
                break


def _renamed(sentence: _Sentence, language: Language, pages: Mapping[str, Sequence[Name]]) -> Iterator[tuple[str, str]]:
    names = language.names(sentence.text, sentence.paragraph.text)
    evidence = sentence.paragraph.text
    random = chance(sentence.text, "names")
    random.shuffle(names)
    foreign = [name for page, known in sorted(pages.items()) if page != sentence.paragraph.page for name in known]
    near = [
        name
        for span in sentences(evidence)
        for name in language.names(language.tidy(evidence[slice(*trimmed(evidence, *span))]), evidence)
    ]
    for kind, pool, kept_out in (("name", foreign, evidence), ("name_same_paragraph", near, sentence.text)):
        for name in names:
            fitting = [
                other.text
                for other in pool
                if other.sort == name.sort
                and (other.text.count(" ") == name.text.count(" "))
                and not _shares_words(other.text, kept_out if kind == "name" else name.text, language)
                and other.text not in kept_out
            ]
            if not fitting:
                continue
            claim = _tidied(sentence.text[: name.start] + random.choice(fitting) + sentence.text[name.end :], language)
            if _new(claim, sentence):
                yield kind, claim
                break
    yield from _swapped_names(sentence, language, sorted(names, key=lambda name: name.start))


def _swapped_names(sentence: _Sentence, language: Language, names: Sequence[Name]) -> Iterator[tuple[str, str]]:
    """Yield the sentence with two names swapped across a directed verb or preposition: right words, wrong relation."""
    text = sentence.text
    for left, right in pairwise(names):
        between = text[left.end : right.start]
        if left.sort.rstrip("s") != right.sort.rstrip("s") or _shares_words(left.text, right.text, language):
            continue
        if any(mark in between for mark in '()（）《》"“”;；') or language.equal.search(text):
            continue
        if len(between) > 60 or language.joined.fullmatch(between) or not language.directed.search(between):
            continue
        claim = text[: left.start] + right.text + between + left.text + text[right.end :]
        if _new(claim, sentence):
            yield RELATION, claim
            return


def _names_by_page(whole: Sequence[_Sentence], language: Language) -> dict[str, list[Name]]:
    pages: dict[str, dict[str, Name]] = {}
    for sentence in whole:
        known = pages.setdefault(sentence.paragraph.page, {})
        for name in language.names(sentence.text, sentence.paragraph.text):
            known.setdefault(name.text, name)
    return {page: list(known.values()) for page, known in pages.items()}


def _new(claim: str, sentence: _Sentence) -> bool:
    return _bare(claim) not in sentence.others and _whole(claim)


def _shares_words(name: str, text: str, language: Language) -> bool:
    if not language.spaced:
        return name in text or text in name or any(part in text for part in name.split("·") if len(part) > 1)
    stems = {word[:5] for word in re.findall(r"\w+", text.casefold())}  # "Islam" and "Islamic" are one name
    return any(word[:5] in stems for word in re.findall(r"\w{3,}", name.casefold()))


def _tidied(claim: str, language: Language) -> str:
    """Clean up what a rule may leave behind: doubled spaces, a small first letter, "s's"."""
    if not language.spaced:
        return claim
    claim = re.sub(r"(?<=\S) {2,}(?=\S)", " ", claim).replace(" ,", ",").replace("s's ", "s' ").strip()
    return claim[:1].upper() + claim[1:]


def _bare(text: str) -> str:
    return re.sub(r"\W+", "", unicodedata.normalize("NFKC", text)).casefold()
