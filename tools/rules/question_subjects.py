"""What a question is about: what "it" or "one" refers to after it."""

import re

from text.language import language, stop_words
from text.scripts import HAN
from tools.rules.question_terms import (
    BOUNDARY,
    FEW,
    GENERAL,
    Term,
    content_words,
    end_of_phrase,
    marked,
    noun_phrase,
    without_article,
)

_MOST_OF_A_SUBJECT = 12
# "How do I turn on autovacuum?" has a verb before its object; "lệnh git stash" says what kind of thing a name is of.
_DONE = re.compile(
    r"(?:and\s+)?how (?:(?:do|can|should|would) (?:i|you|we|one)|to) \w+ (?:(?:on|off|up|down|out|in)\s)?",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"\b(?:lệnh|hàm|gói|chương trình|tham số|tùy chọn|dịch vụ)\s+(?P<name>(?:[A-Za-z][\w.-]*(?:\s|$)){1,3})",
    re.IGNORECASE | re.ASCII,
)


def subject(before: str) -> str | None:
    """Return what "it" refers to after a question; None if nothing in it is clearly its subject.

    The code name that the question names; else a thing that it introduces ("a breakpoint in a function"), a name, or
    a thing that it speaks of ("the mainlog").
    """
    if re.search(f"[{HAN}]", before):
        return _chinese_subject(before)
    terms = marked(before)
    codes = [each for each in terms if each.kind in ("code", "option")]
    if codes:
        within = re.compile(r"\b(?:in|on|from|under|into|to|at|within|trong|từ|vào)\s+$", re.IGNORECASE)
        return next((each.text for each in codes if not within.search(before[: each.start])), codes[0].text)
    called = _CALLED.search(before)
    if called:
        return called["name"].strip()
    introduced = _first_noun_phrase(before, "an?|một")
    if introduced:
        return f"the {without_article(introduced)}" if introduced[:2].casefold() in ("a ", "an") else introduced
    names = [each for each in terms if each.kind in ("name", "quoted") and not _qualifies(before, each)]
    if names:
        return names[-1].text
    done = _DONE.match(before)
    return _first_noun_phrase(before, "the") or (done and _phrase_at(before, done.end())) or None


def _phrase_at(before: str, start: int) -> str:
    return before[start : end_of_phrase(before, start)].strip(" ?")


def _first_noun_phrase(before: str, articles: str) -> str | None:
    for each in noun_phrase(articles).finditer(before):
        end = end_of_phrase(before, each.end(), longest=_MOST_OF_A_SUBJECT, through="of|in|on|at|for|with|của|trong")
        if end > each.end():
            return before[each.start() : end].strip(" ?")
    return None


def _qualifies(before: str, name: Term) -> bool:
    """Whether a name only qualifies the noun after it, as in "the Maxima debugger" and "of HS256 tokens"."""
    opened = re.search(r"\b(?:the|an?|of|in|on|for|with|to|from|by)\s+$", before[: name.start], re.IGNORECASE)
    follows = re.match(r"\s+([a-z][\w-]*)", before[name.end :])
    return bool(opened and follows) and follows is not None and follows[1] not in stop_words("en")


_CHINESE_PREDICATE = re.compile("是|叫|有|会|需要|默认|怎么|如何|怎样|什么|为什么|多少|能|可以|支持|[?？]")


def _chinese_subject(before: str) -> str | None:
    codes = [each.text for each in marked(before) if each.kind in ("code", "option", "quoted")]
    if codes:
        return codes[0]
    predicate = _CHINESE_PREDICATE.search(before)
    if predicate is None or predicate[0] in ("怎么", "如何", "怎样"):
        made = re.search(rf"(?:的|一个|一种)([{HAN}A-Za-z0-9 ]{{2,12}})[？?。\s]*$", before)
        names = [each.text for each in marked(before) if each.kind == "name"]
        return made[1].rsplit("的", 1)[-1].strip() if made else next(iter(names), None)
    head = before[: predicate.start()].rsplit("，", 1)[-1].strip()
    owner, _, owned = head.rpartition("的")
    return (owner if owner and owned else head) or None


def head_noun(before: str, *, several: bool = False) -> str | None:
    """Return the noun that "one", or with ``several`` "ones", stands for after a question, without its article."""
    if several:
        framing = stop_words(language(before))
        plural = (word for word in content_words(before) if word.casefold() not in framing and word[-1:] == "s")
        return next((word for word in reversed(list(plural)) if len(word) > FEW and word[-2:] != "ss"), None)
    found = _first_noun_phrase(before, "an?|một")
    if found is None and not BOUNDARY.match(before) and before[-1:] != "?":
        found = before[: end_of_phrase(before, 0)]
    found = found or _first_noun_phrase(before, "the")
    if found is None:
        return None
    noun = re.split(r"\s+(?:of|in|on|for|with|from|to|by|at)\s", without_article(found))[0]
    words = [word for word in noun.split() if word.casefold() not in GENERAL]
    return " ".join(words[-FEW:]) or None
