"""The slots of a question: which words of the last question a new phrase replaces.

A new phrase replaces one of its kind: a setting a setting, a number a number, a name a name, "on Windows" what the
last question said with "on", "the second logical partition" what began and ended like it. Times are linear in texts
of at most a few hundred characters, which callers see to.
"""

import re

from text.language import language, stop_words
from text.words import is_bigrammed
from tools.rules.follow_up_patterns import any_language, kinds_of_words
from tools.rules.question_terms import (
    FEW,
    GENERAL,
    TOKEN,
    Term,
    end_of_phrase,
    marked,
    noun_phrase,
    without_article,
    without_preposition,
)

_FIXED = frozenset({"default", "order", "general", "fact", "advance", "example", "hand", "least", "most", "once"})
# How alike names are to be, on the scale of ``_likeness``; the second where the new one's preposition has no place.
_ALIKE_NAME, _ALIKE_WITHOUT_PLACE = 1.3, 2
_MOST_PHRASES = 4
# Kinds that replace each other, beside their own.
_RELATED = frozenset({frozenset({"key", "code"}), frozenset({"option", "code"})})


def replaced(before: str, new: str) -> str | None:
    """Return a question with what a new phrase replaces in it; None if nothing in it is of the phrase's kind."""
    return _phrases_replaced(before, new) or _term_replaced(before, new) or _alike_replaced(before, new)


def _phrases_replaced(before: str, new: str) -> str | None:
    """Replace the objects of the new phrase's prepositions ("from A to B"); None if the question lacks the first."""
    pieces = list(re.finditer(rf"(?<!\w)({any_language('preposition')})\s+", new, re.IGNORECASE))
    if not pieces or pieces[0].start() != 0:
        return None
    # What a preposition that the question lacks says belongs to the object before it: "on a disk of 2 GB".
    first, *others = pieces[:_MOST_PHRASES]
    cuts = [first, *(each for each in others if _object_of(before, each[1], "") is not None)]
    result = before
    for each, edge in zip(cuts, [*(cut.start() for cut in cuts[1:]), len(new)], strict=True):
        said = new[each.end() : edge].strip()
        place = _object_of(result, each[1], said)
        if place is None:
            return None
        result = f"{result[: place[0]]}{said}{result[place[1] :]}"
    return result


def _object_of(before: str, preposition: str, new: str) -> tuple[int, int] | None:
    """Return the place of a preposition's object that is of the kind of the new one, the last such place.

    Where both have a term that stands out, it ends with the term, or with the noun that the term qualifies.
    """
    found = None
    for each in re.finditer(rf"(?<!\w){re.escape(preposition)}\s+(?=\S)", before, re.IGNORECASE):
        end = each.end() + len(before[each.end() : end_of_phrase(before, each.end())].rstrip(" ?？"))
        old = before[each.end() : end]
        if old and old.casefold() not in _FIXED and (not new or _same_kind(old, new)):
            terms = marked(f" {old}") if marked(f" {new}") else []
            qualified = (
                re.match(r"\s+\w+", old[terms[-1].end - 1 :]) if terms and noun_phrase("the|an?").match(old) else None
            )
            kept = terms[-1].end - 1 + (qualified.end() if qualified else 0) if terms else len(old)
            found = (each.end(), each.end() + kept)
    return found


def _same_kind(old: str, new: str) -> bool:
    """Whether two phrases have terms or words of one kind, or neither has a term that stands out."""
    old_kinds, new_kinds = ({each.kind for each in marked(f" {text}")} for text in (old, new))
    shared = kinds_of_words(old) & kinds_of_words(new)
    return bool(shared) or bool(old_kinds & new_kinds) or (not old_kinds and not new_kinds)


def _term_replaced(before: str, new: str) -> str | None:
    """Replace the term that is most like one of the new phrase, with the words around it that both have."""
    bare = without_preposition(new)
    if len(bare.split()) > 2 * FEW:
        return None
    news = [Term(each.kind, each.text, each.start - 1, each.end - 1) for each in marked(f" {bare}")]
    olds = marked(before)
    best: tuple[float, int, Term, Term] | None = None
    for at, old in enumerate(olds):
        for each in news:
            score = _likeness(before, old, bare, each)
            if score > 0 and old.text.casefold() != each.text.casefold() and (best is None or (score, at) > best[:2]):
                best = (score, at, old, each)
    if best is None:
        return None
    _, _, old, each = best
    start, end = old.start, old.end
    if old.kind == each.kind == "key" and "+" in old.text and "+" not in each.text:
        start = old.start + old.text.rindex("+") + 1  # "PageDown" after "Ctrl+PageUp"
    left = _alike_before(before[:start], bare[: each.start])
    right = _alike_after(before[end:], bare[each.end :])
    # "In Germany?" after "What is a segment?" narrows the question; after "... in France" it replaces the place.
    placed = re.search(rf"(?:{any_language('preposition')})\s+(?:\w+\s+)?$", before[:start], re.IGNORECASE)
    if each.kind == "name" and (
        best[0] < _ALIKE_NAME or (bare != new and best[0] < _ALIKE_WITHOUT_PLACE and not placed)
    ):
        return None
    return _put(before, start - left, end + right, bare)


def _likeness(before: str, old: Term, new_text: str, new: Term) -> float:
    """Return how alike two terms are, 0 if they are of other kinds: kind, shape, common letters, the word before."""
    if old.kind != new.kind and frozenset({old.kind, new.kind}) not in _RELATED:
        return 0.0
    score = 1.0 if old.kind == new.kind else 0.5
    score += 0.5 * (_shape(old.text) == _shape(new.text))
    score += _common(old.text.casefold(), new.text.casefold())
    word_before = [text[:start].rsplit(None, 1)[-1:] for text, start in ((before, old.start), (new_text, new.start))]
    return (
        score
        + 0.75 * (word_before[0] == word_before[1] != [])
        + 2 * bool(kinds_of_words(old.text) & kinds_of_words(new.text))
    )


def _shape(text: str) -> str:
    """Return the shape of a term, such as "Aa0": runs of capitals, small letters and digits, and its signs."""
    letters = ["0" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in text]
    return "".join(c for c, previous in zip(letters, ["", *letters], strict=False) if c != previous)


def _common(old: str, new: str) -> float:
    """Return the share of the longer word that both words begin or end with, 0 to 1."""
    shortest = min(len(old), len(new))
    begins = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    ends = next((at for at in range(shortest - begins) if old[-1 - at] != new[-1 - at]), shortest - begins)
    return (begins + ends) / max(len(old), len(new), 1)


def _alike_before(old: str, new: str) -> int:
    """Return how many characters of the old text, at its end, the new phrase has too before its term."""
    words = {word.casefold() for word in new.split()} if not is_bigrammed(new[-1:]) else set()
    kept = 0
    for count, each in enumerate(reversed(list(re.finditer(r"\S+\s*", old)))):
        if count == FEW:
            break
        if each[0].strip().casefold() in words:
            kept = len(old) - each.start()
    if not kept and is_bigrammed(new[-1:]):
        while kept < len(new) and old[-1 - kept :][:1] == new[-1 - kept]:
            kept += 1
    return kept


def _alike_after(old: str, new: str) -> int:
    """Return how many characters of the old text, at its start, the new phrase has too after its term."""
    if not new.strip():
        return 0
    words = [word.casefold() for word in new.split()]
    if is_bigrammed(new.strip()[:1]):
        blank = len(old) - len(old.lstrip())
        kept = next(
            (at for at, (a, b) in enumerate(zip(old.strip(), new.strip(), strict=False)) if a != b),
            min(len(old.strip()), len(new.strip())),
        )
        return blank + kept if kept else 0
    following = list(re.finditer(r"\s*\S+", old))[:FEW]
    return max((each.end() for each in following if each[0].strip().casefold() in words), default=0)


def _alike_replaced(before: str, new: str) -> str | None:
    """Replace an unmarked word by one of its kind or form ("mainlog" and "paniclog"), or in Chinese a phrase."""
    bare = without_article(without_preposition(new))
    if is_bigrammed(bare[:1]):
        return _chinese_replaced(before, bare)
    words = bare.split()
    if not 1 <= len(words) <= 2 * FEW:
        return None
    for each in reversed(list(TOKEN.finditer(before))):
        old = each[0].rstrip(".'\"`")
        if len(words) <= 2 and any(
            kinds_of_words(old) & kinds_of_words(word) and old.casefold() != word.casefold() for word in words
        ):
            return _put(before, each.start(), each.start() + len(old), bare)
    return _formed_alike(before, bare) or _only_one_replaced(before, without_preposition(new), bare)


def _only_one_replaced(before: str, new: str, bare: str) -> str | None:
    """Replace the only phrase with the new one's article, or the one-word subject of a question by a name or plural."""
    article = new[: len(new) - len(bare)].strip().casefold()
    if article and new.endswith(bare):
        places = list(noun_phrase("an?" if article in ("a", "an") else re.escape(article)).finditer(before))
        if len(places) != 1:
            return None
        start = places[0].end()
        while (word := re.match(r"(\w+)\s+", before[start:])) and word[1].casefold() in GENERAL:
            start += word.end()
        end = end_of_phrase(before, start)
        if len(before[start:end].split()) != 1:
            return None  # a phrase that runs on may hold the question's verb
        kept = start > places[0].end()  # "the default"
        return f"{before[:start]}{bare}{before[end:]}" if kept else _put(before, places[0].start(), end, new)
    if " " in bare:
        return None
    place = re.search(r"\b(?:do|does|did|are|is|can|will|should|has|have)\s+(?P<old>[\w-]+)\s", before)
    if place is None or place["old"] in stop_words("en"):
        return None
    alike = bare[-1] == place["old"][-1] == "s" or (marked(f" {bare}") and not marked(f" {place['old']}"))
    return f"{before[: place.start('old')]}{bare}{before[place.end('old') :]}" if alike else None


def _formed_alike(before: str, bare: str) -> str | None:
    """Replace the word that begins or ends most like the only content word of a phrase."""
    framing = stop_words(language(before))
    news = [word for word in bare.split() if word.casefold() not in framing]
    if len(news) != 1:
        return None
    new = news[0].casefold()
    best: tuple[float, int, re.Match[str]] | None = None
    for at, each in enumerate(TOKEN.finditer(before)):
        old = each[0].rstrip(".'\"`s").casefold()
        if old in framing or old == new.rstrip("s") or min(len(old), len(new)) < FEW + 1:
            continue
        share = _common(old, new)
        if share * max(len(old), len(new)) >= FEW and share >= 0.37 and (best is None or (share, at) > best[:2]):
            best = (share, at, each)
    if best is None:
        return None
    each = best[2]
    word = each[0].rstrip(".'\"`")
    return _put(before, each.start(), each.start() + len(word), news[0])


def _chinese_replaced(before: str, new: str) -> str | None:
    """Replace the phrase that begins and ends like the new one: "第一个主分区" by "第一个逻辑分区"."""
    if len(new) < 2 * FEW - 2:
        return None
    for size in range(min(len(new) - 2, 4), 1, -1):
        start = before.rfind(new[:size])
        end = before.find(new[-2:], start + size) if start >= 0 else -1
        if end >= 0 and end + 2 - start <= len(new) + 4 and before[start : end + 2] != new:
            return f"{before[:start]}{new}{before[end + 2 :]}"
    return None


def _put(before: str, start: int, end: int, new: str) -> str:
    """Put a phrase in the place of another, without a second article before it."""
    head = before[:start]
    if re.match(rf"(?:{any_language('article')})\s", new, re.IGNORECASE):
        head = re.sub(rf"(?<!\w)(?:{any_language('article')})\s+$", "", head, flags=re.IGNORECASE)
    return f"{head}{new}{before[end:]}"
