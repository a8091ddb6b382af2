"""English swap tables, rewordings that keep a sentence true, and name finding."""

import re
from random import Random

from research.mutations.english_swaps import A_MONTH, DAYS, FRESH, MONTHS, MUTATIONS
from research.mutations.swaps import Language, Name, capital_names, gone, swap, table, words

_ONES = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = words("_ _ twenty thirty forty fifty sixty seventy eighty ninety")


def _in_words(match: re.Match[str], random: Random) -> str | None:
    number = int(match[0])
    before = match.string[: match.start()].split()
    if not before or not before[-1].islower() or before[-1] in {"age", "act", "chapter"}:
        return None
    if number < 20:
        return _ONES[number] if number > 1 else None
    return _TENS[number // 10] + (f"-{_ONES[number % 10]}" if number % 10 else "")


def _in_digits(match: re.Match[str], random: Random) -> str:
    return str(_ONES.index(match[0]))


def _without_commas(match: re.Match[str], random: Random) -> str:
    return match[0].replace(",", "")


def _written_out(match: re.Match[str], random: Random) -> str:
    zeros = {"thousand": 3, "million": 6, "billion": 9}[match[2]]
    whole, _, part = match[1].partition(".")
    digits = whole + part.ljust(zeros, "0")
    return f"{int(digits):,}"


_PLAIN = r"(?<![\w.,/:–+$£€½-])(?<!\b[A-Z]\w )(?<!no )"
_SYNONYMS = """
began > started
located > situated
approximately > about
about(?= \\d) > around
numerous > many
purchased > bought
in order to > to
although > though
such as > like
because(?! of) > since
(?<=; )however, > but
large(?! \\w*er) > big
while > whereas
obtained > got
required > needed
built > constructed
throughout > across
however, > still,
wrote > penned
often > frequently
famous > well-known
primarily > mainly
near > close to
received > got
nearly > almost
permitted > allowed
following(?= the) > after
within > inside
entire > whole
"""
PARAPHRASES = {
    "article": (swap(r"(?<=[a-z] )the (?=[a-z])", gone),),
    "adverb": (
        swap(
            r"(?<=[a-z] )(?:also|then|subsequently|thus|therefore|indeed|very|highly|particularly|eventually|notably"
            r"|still|actually|itself) (?=[a-z])",
            gone,
        ),
        swap(
            r"^(?:However|Moreover|Furthermore|In addition|Additionally|Thus|Therefore|Finally|Indeed|For example), "
            r"(?=[a-z])",
            gone,
        ),
    ),
    "number_notation": (
        swap(_PLAIN + r"\d{1,2}(?= [a-z]{3,})(?! (?:percent|million|billion|thousand))", _in_words),
        swap(r"(?<=[a-z] )(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?= [a-z])", _in_digits),
        swap(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w.,]\d)", _without_commas),
        swap(r"(?<![\w.,])(\d{1,3}(?:\.\d{1,2})?) (thousand|million|billion)\b", _written_out),
        swap(r"(?<=\d)%", lambda match, random: random.choice([" percent", " per cent"])),
        swap(r"(?<=\d) per ?cent\b", lambda match, random: "%"),
    ),
    "date_notation": (
        swap(rf"({A_MONTH}) (\d{{1,2}}), (\d{{4}})", lambda match, random: match.expand(r"\2 \1 \3")),
        swap(rf"(?<!\w)(\d{{1,2}}) ({A_MONTH}) (\d{{4}})", lambda match, random: match.expand(r"\2 \1, \3")),
        swap(r"(?<=[Ii]n )(?=1[5-9]\d\d[,. ])", lambda match, random: "the year "),
    ),
    "contraction": (
        *table("(is|are|was|were|has|have|had|could|would|should|did|does|do) not > \\1n't"),
        *table("cannot > can't"),
        *table("(it|he|she|that) is(?= [a-z]+) > \\1's"),
        *table("(they|we) are(?= [a-z]+) > \\1're"),
    ),
    "clause_order": (
        swap(
            r"^(In|On|During|By|Since|After|Before) ((?:the |early |late |mid-)*(?:\d{4}s?|[A-Z][a-z]+ \d{1,2}"
            r"|[A-Z][a-z]+ \d{4}|same year|\d{2}th century)), ([a-z][^,;:()]+)\.$",
            lambda match, random: f"{match[3][0].upper()}{match[3][1:]} {match[1].lower()} {match[2]}.",
        ),
        swap(
            r"^(When|While|After|Although|Because|If) ([a-z][^,;:()]{12,70}), ([a-z][^,;:()]{12,})\.$",
            lambda match, random: f"{match[3][0].upper()}{match[3][1:]} {match[1].lower()} {match[2]}.",
        ),
    ),
    "synonym": table(_SYNONYMS),
}

_DEMONYM = re.compile(r"[A-Z][a-z]+(?:ish|ese|ians?|eans?|icans?)|French|Dutch|German|Greek|Swiss|Czech|Danish|Indian")
NO_NAMES = frozenset(
    words(
        f"{MONTHS} {DAYS} The A An In On At By For From With As It Its He She They His Her Their This That These Those "
        "When While If But And Or So Since After Before During Under Over Both Other Many Most Some All One Two Three "
        "I However Although Because Not No Also Such See There Here According Another Each Every Only Then Thus"
    )
)
_PLACE = re.compile(r"\b(?:in|at|near|across|throughout|outside|through)(?: the)? $")


def _sort(text: str, before: str, paragraph: str) -> str:
    if _DEMONYM.fullmatch(text):
        return "people" if text.endswith("s") and not text.endswith("ss") else "demonym"
    if text.isupper():
        return "acronym"
    place = _PLACE.search(before) is not None
    return ("place" if place else "name") + ("s" if text.endswith("s") and " " not in text else "")


def english_names(sentence: str, paragraph: str) -> list[Name]:
    """Return runs of capitalised words; one that opens the sentence counts only if it recurs in the paragraph."""
    return capital_names(sentence, paragraph, left_out=NO_NAMES, sort=_sort, connectors="of|de|von|van|der|du")


_OPENER = re.compile(
    r"(?:The|A|An|In|On|At|By|It|Its|He|She|They|His|Her|Their|This|These|That|Those|When|While|If|Since|After|Before"
    r"|During|Under|Both|Many|Most|Some|All|For|From|With|As|Although|Because|There|Other|Such)\b(?! [A-Z])"
)

ENGLISH = Language(
    code="en",
    mutations={**MUTATIONS, **FRESH},
    paraphrases=PARAPHRASES,
    frames=(
        "According to the source, ",
        "The text says that ",
        "It is reported that ",
        "The document states that ",
        "As the passage explains, ",
    ),
    names=english_names,
    joined=re.compile(r"(?:,| and| or| &|/|–|-| \(|\)| as well as| with| to| versus| vs\.?)*\s*"),
    directed=re.compile(r" (?:by|from|over|than|under|against|[a-z]+ed|of|in|to|for|into|was|were|is|became|won) "),
    equal=re.compile(
        r"\b(?:between|differ\w*|relat\w*|similar|same|equal\w*|met|married|border\w*|combin\w*|both|near|merg\w*)\b"
    ),
    shortest=7,
    tidy=lambda text: text,
    lowers_after_frame=lambda text: _OPENER.match(text) is not None,
)
