"""Decide the verdict on a claim from its sources, behind lead-ins such as "According to the handbook,"."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from graph.evidence import Verdict
from text.language import language
from text.stop_words import FUNCTION_WORDS
from tools.claims.proper_names import is_roman
from tools.claims.sentence_comparison import Comparison, Finding, compare
from tools.claims.sentence_parsing import ParsedSentence, parse_sentence
from tools.claims.source_sentences import Sources, SourceSentence, lookup_keys, terms_of

_NOUN = (
    r"(?:handbook|manual|document|documentation|text|passage|article|source|report|policy|page|section|paper|guide|context"
    r"|author|paragraph|excerpt|material|evidence|information|data|study|record|file|summary|book)s?"
)
_SAYS = (
    r"(?:states?|says?|notes?|mentions?|reports?|explains?|indicates?|shows?|describes?|tells us|confirms?|records?)"
)
_SAID = r"(?:stated|noted|mentioned|described|reported|explained|shown|said|written|recorded)"
_ENGLISH = (
    rf"(?:according to|as {_SAID} (?:in|by)|as per|per|based on) "
    rf"(?:the|this|these|our|its|a)? ?(?:[\w-]+ ){{0,3}}?{_NOUN}"
    r"(?: (?:above|below|provided|given))?,? ",
    rf"as (?:the|this|our) (?:[\w-]+ ){{0,2}}?{_NOUN} (?:{_SAYS}|puts it|makes clear), ",
    rf"(?:the|this|these|our) (?:[\w-]+ ){{0,2}}?{_NOUN} {_SAYS} that ",
    rf"(?:it is|it was|it's) (?:{_SAID}|known|the case|true|a fact) that ",
    r"(?:the fact is that|in fact|indeed|note that|notably|as a matter of fact),? ",
)
_ZH_NOUN = "(?:手册|文件|文档|文章|资料|原文|报告|文本|段落|材料|记载|文中所述|来源|内容|信息|政策|说明|本文|该文|文)"
_CHINESE = (
    f"(?:根据|依据|按照|据)(?:本|该|这份|这篇|上述|所给)?{_ZH_NOUN}(?:的记载|所述|显示|所示|记载|介绍)?[,，]?",
    f"{_ZH_NOUN}中?(?:提到|指出|表示|说|写道|称|记载|显示|说明|表明)[,，:]?",
    "(?:事实上|实际上|据悉|据了解|据记载|据介绍|众所周知)[,，]?",
)
_VI_NOUN = (
    "(?:tài liệu|văn bản|sổ tay|bài viết|bài báo|đoạn văn|nguồn tin|nguồn"
    "|báo cáo|chính sách|bài|thông tin|nội dung|ngữ liệu)"
)
_VIETNAMESE = (
    "(?:theo|dựa theo|dựa vào|căn cứ vào) "
    f"(?:như )?(?:nội dung |thông tin )?{_VI_NOUN}(?: (?:này|trên|đã cho|gốc|đó))?,? ",
    f"{_VI_NOUN}(?: (?:này|trên))? (?:cho biết|nêu|nói|ghi|ghi nhận|ghi lại|viết|cho thấy|khẳng định|mô tả|chỉ ra)"
    "(?: rõ)?(?: rằng| là)?,? ",
    "(?:thực tế là|thật vậy|trên thực tế|thực tế),? ",
)
_FRAME = re.compile(rf"\s*(?:{'|'.join((*_ENGLISH, *_CHINESE, *_VIETNAMESE))})", re.IGNORECASE)
_OPENER = re.compile(
    r"\s*(?:"
    r"(?:however|moreover|furthermore|additionally|in addition|also|besides|thus|therefore|hence|consequently"
    r"|as a result|nevertheless|nonetheless|meanwhile|finally|indeed|in fact|similarly|likewise|in contrast"
    r"|on the other hand|and|but|so|then|overall),? "
    r"|(?:但是|然而|不过|此外|另外|因此|所以|同时|而且|于是|同样|而|但|最后|事实上|总之)[,，]?"
    r"|(?:tuy nhiên|ngoài ra|hơn nữa|do đó|vì vậy|vì thế|đồng thời|bên cạnh đó|thêm vào đó|cuối cùng|và|nhưng"
    r"|tương tự),? "
    r")",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*(?:[-*+>]\s+|\(?\d{1,3}[.)]\s+|#{1,6}\s+)")


def frame_end(folded: str) -> int:
    """Give where a claim begins behind a bullet and what only says where it is from ("According to the handbook,")."""
    bullet = _BULLET.match(folded)
    at = bullet.end() if bullet else 0
    found = _FRAME.match(folded, at)
    return found.end() if found else at


def opener_end(folded: str, at: int = 0) -> int:
    """Give where a sentence begins behind a word that only joins it to the one before ("However,")."""
    found = _OPENER.match(folded, at)
    return found.end() if found else at


CLOSEST = 4  # sentences that a claim is compared with
LEAST_COVER = 0.5  # share of a claim's terms that must stand in its sources for it to be more than unsupported
LEAST_LETTER_COVER = 0.4  # the same of pairs of letters, which a paraphrase breaks more easily
SLACK = 0.3  # how far two sentences joined may differ in length from a claim that says both
PART = "it is a part of a longer source sentence"
ORDER = "the same words stand in another order in the source"
UNSAID = "no sentence of the cited sources says this"
FOREIGN = "it is in another language than its sources"

_WHOLE: Mapping[Finding, tuple[str, ...]] = {"same": (), "part": (PART,), "order": (ORDER,)}

SentencePlace = tuple[int, int, int]  # segment, start, end


@dataclass(frozen=True, slots=True)
class ClaimJudgement:
    """A verdict with its reasons and the source sentences it rests on, the closest first."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    places: tuple[SentencePlace, ...] = ()
    near: float = 0.0


@dataclass(frozen=True, slots=True)
class _Match:
    comparison: Comparison
    places: tuple[SentencePlace, ...]


def judge_claim(claim: str, sources: Sources) -> ClaimJudgement:
    """Decide on one claim. Takes time linear in the sources, beside a fixed number of sentence comparisons."""
    if not sources.places:
        return ClaimJudgement("unsupported", ("the section cites no source",))
    reading = parse_sentence(claim)
    if not reading.tokens:
        return _wordless(claim, sources)
    if exact := _verbatim(reading, sources):
        return ClaimJudgement("supported", (), exact, 1.0)
    begins = _behind(reading, frame_end(reading.folded))
    found = _comparisons(reading, begins, sources)
    return _settled(found) or _unsettled(claim, reading, begins, sources, _best(found))


def _settled(found: Sequence[_Match]) -> ClaimJudgement | None:
    """Decide where one sentence says all that the claim says, or conflicts with it."""
    for finding, reason in _WHOLE.items():
        for candidate in found:
            if candidate.comparison.finding == finding:
                verdict: Verdict = "unverified" if reason else "supported"
                return ClaimJudgement(verdict, reason, candidate.places, candidate.comparison.near)
    best = _best(found)
    if best is not None and best.comparison.finding == "conflict":
        return ClaimJudgement("contradicted", best.comparison.reasons, best.places, best.comparison.near)
    return None


def _unsettled(
    claim: str, reading: ParsedSentence, begins: int, sources: Sources, best: _Match | None
) -> ClaimJudgement:
    """Tell what is not in the sources from what may be."""
    terms = terms_of(reading, begins)
    if _foreign(claim, sources, terms):
        return _across(reading, begins, sources, best)
    if best is None:
        return ClaimJudgement("unsupported", (UNSAID,))
    if missing := _missing(reading, begins, sources):
        return ClaimJudgement("unsupported", missing)
    letters = sum(token.kind == "letter" for token in reading.tokens) * 2 > len(reading.tokens)
    if sources.cover(terms) < (LEAST_LETTER_COVER if letters else LEAST_COVER):
        return ClaimJudgement("unsupported", (UNSAID,))
    if best.comparison.swapped:
        return ClaimJudgement("unsupported", (best.comparison.swapped,))
    near = best.comparison.near
    return ClaimJudgement(
        "unverified", (f"the closest source sentence has {near:.0%} of its words",), best.places, near
    )


def _wordless(claim: str, sources: Sources) -> ClaimJudgement:
    """Decide on a claim without words or symbols, which only its very characters can prove."""
    said = "".join(claim.split())
    for at, text in enumerate(sources.texts):
        marks = ["".join(sources.segments[at].text[one.start : one.end].split()) for one in text.sentences]
        for first in range(len(marks)):
            last = first + 1
            while said.startswith(standing := "".join(marks[first:last])) and standing != said and last < len(marks):
                last += 1
            if standing == said:
                return ClaimJudgement(
                    "supported", (), tuple((at, s.start, s.end) for s in text.sentences[first:last]), 1.0
                )
    return ClaimJudgement("unsupported", (UNSAID,))


def _verbatim(claim: ParsedSentence, sources: Sources) -> tuple[SentencePlace, ...]:
    """Find consecutive whole sentences that say just what the claim says, notation aside."""
    for at, text in enumerate(sources.texts):
        for first, sentence in enumerate(text.sentences):
            keys = sentence.reading.keys
            if not keys or claim.keys[: len(keys)] != keys:
                continue
            last, said, spans = first, keys, [sentence]
            while len(said) < len(claim.keys) and last + 1 < len(text.sentences):
                last += 1
                said = said + text.sentences[last].reading.keys
                spans.append(text.sentences[last])
                if claim.keys[: len(said)] != said:
                    break
            if said == claim.keys and spans[-1].reading.asks == claim.asks:
                return tuple((at, span.start, span.end) for span in spans if span.reading.tokens)
    return ()


def _behind(reading: ParsedSentence, offset: int) -> int:
    """Give the first token that begins at an offset or later; the whole claim where nothing would be left."""
    begins = next((at for at, token in enumerate(reading.tokens) if token.start >= offset), 0)
    return begins if len(reading.tokens) - begins >= 2 else 0


def _comparisons(claim: ParsedSentence, begins: int, sources: Sources) -> list[_Match]:
    closest = sources.closest(terms_of(claim, begins), CLOSEST)
    starts = {begins, _behind(claim, opener_end(claim.folded, frame_end(claim.folded)))}
    framed = claim.folded[: frame_end(claim.folded)].casefold()
    found: list[_Match] = []
    for _, at, sentence in closest:
        place = ((at, sentence.start, sentence.end),)
        also = {0} if framed and sentence.reading.folded.casefold().startswith(framed) else set[int]()
        found.append(_Match(_compare_all(claim, starts | also, sentence.reading, sources), place))
    if not any(one.comparison.finding == "same" for one in found):
        found.extend(_pairs(claim, begins, closest[:3], sources))
    return found


def _compare_all(claim: ParsedSentence, starts: set[int], source: ParsedSentence, sources: Sources) -> Comparison:
    """Compare with and without what the claim or the source may begin with."""
    shorter = _without_opener(source)
    results = [
        compare(claim, reading, start, sources.known)
        for reading in ((source, shorter) if shorter is not None else (source,))
        for start in starts
    ]
    return min(results, key=_preference)


def _preference(result: Comparison) -> tuple[int, float]:
    findings = list(_WHOLE)
    rank = findings.index(result.finding) if result.finding in _WHOLE else len(findings)
    return rank, -result.near


def _without_opener(source: ParsedSentence) -> ParsedSentence | None:
    end = opener_end(source.folded)
    return parse_sentence(source.folded[end:]) if 0 < end < len(source.folded) else None


def _pairs(
    claim: ParsedSentence, begins: int, closest: Sequence[tuple[float, int, SourceSentence]], sources: Sources
) -> list[_Match]:
    """Compare with two sentences as one, for a claim that joins what two of them say."""
    found: list[_Match] = []
    terms = terms_of(claim, begins)
    for (_, at, one), (_, to, other) in permutations(closest, 2):
        if one is other or not (terms & one.terms) - other.terms or not (terms & other.terms) - one.terms:
            continue
        if len(terms & (one.terms | other.terms)) < 0.9 * len(terms):
            continue
        if abs(len(one.reading.keys) + len(other.reading.keys) - len(claim.keys)) > SLACK * len(claim.keys):
            continue
        joined = parse_sentence(f"{one.reading.folded.rstrip(' .。')} and {other.reading.folded}")
        places = ((at, one.start, one.end), (to, other.start, other.end))
        comparison = compare(claim, joined, begins, sources.known)
        if comparison.finding == "same":
            found.append(_Match(comparison, places))
    return found


def _best(found: Sequence[_Match]) -> _Match | None:
    """Choose the nearest sentence; of two about as near, the one that does not conflict."""
    if not found:
        return None
    nearest = max(one.comparison.near for one in found)
    level = [one for one in found if one.comparison.near >= nearest - 0.02]
    return min(level, key=lambda one: (one.comparison.finding == "conflict", -one.comparison.near))


def _foreign(claim: str, sources: Sources, terms: frozenset[str]) -> bool:
    """Tell whether none of the sources is in the claim's language."""
    if sources.cover(terms) >= LEAST_COVER:
        return False
    spoken = language(claim, default="")
    return bool(spoken) and all(language(segment.text[:2000], default=spoken) != spoken for segment in sources.segments)


def _across(reading: ParsedSentence, begins: int, sources: Sources, best: _Match | None) -> ClaimJudgement:
    if missing := _missing(reading, begins, sources, only_numbers=True):
        return ClaimJudgement("unsupported", missing)
    if best is None:
        at, sentence = sources.places[0]
        return ClaimJudgement("unverified", (FOREIGN,), ((at, sentence.start, sentence.end),))
    return ClaimJudgement("unverified", (FOREIGN,), best.places, best.comparison.near)


def _missing(claim: ParsedSentence, begins: int, sources: Sources, *, only_numbers: bool = False) -> tuple[str, ...]:
    """Say which number or name of a claim stands nowhere in its sources."""
    reasons: list[str] = []
    for at in range(begins, len(claim.tokens)):
        token = claim.tokens[at]
        if (
            token.kind in ("number", "date")
            and not (lookup_keys(token.key) & sources.quantities)
            and not _spelled(claim, at)
        ):
            reasons.append(f"{claim.said(at, at + 1)} stands nowhere in the sources")
        elif (
            not only_numbers
            and claim.names[at] == 2
            and not (_mentioned(token.key, sources) or _shortened(claim, at, sources) or _spelt_out(claim, at, sources))
        ):
            reasons.append(f"the name {claim.said(at, at + 1)} stands nowhere in the sources")
    return tuple(dict.fromkeys(reasons))


def _spelled(claim: ParsedSentence, at: int) -> bool:
    """Tell a small number in words, which may be counted from the sources, from one in digits."""
    token = claim.tokens[at]
    return token.value is not None and token.value <= 10 and not any(sign.isdigit() for sign in claim.said(at, at + 1))


def _mentioned(name: str, sources: Sources) -> bool:
    return name in FUNCTION_WORDS or terms_of(parse_sentence(name)) <= sources.terms or _akin(name, sources)


def _shortened(claim: ParsedSentence, at: int, sources: Sources) -> bool:
    """Tell whether the sources hold the initials of the name that a token is a part of."""
    first, last = at, at
    while first > 0 and _joins(claim, first - 1):
        first -= 1
    while last + 1 < len(claim.tokens) and _joins(claim, last + 1):
        last += 1
    initials = "".join(claim.keys[place][0] for place in range(first, last + 1) if claim.names[place])
    return len(initials) > 1 and initials in sources.capitals


def _spelt_out(claim: ParsedSentence, at: int, sources: Sources) -> bool:
    """Tell whether the sources hold the words that the token gives the initials of."""
    said = claim.said(at, at + 1).replace(".", "")
    if not (2 <= len(said) <= 6 and said.isalpha() and said.isupper()):
        return False
    words = r"\b" + r"\w*(?:[ -](?:of|the|and|for|in))*[ -]".join(said) + r"\w"
    return any(re.search(words, segment.text) for segment in sources.segments)


def _joins(claim: ParsedSentence, at: int) -> bool:
    return claim.names[at] > 0 or claim.keys[at] in ("of", "the", "and")


def _akin(name: str, sources: Sources) -> bool:
    """Tell whether a name stands in the sources as its adjective, plural, or initials do."""
    if is_roman(name):
        return False
    stem = name[: max(4, len(name) - 3)]
    return any(term.startswith(stem) for term in sources.terms)
