"""Prepare a question, rewrite it as a search query and title its conversation by rule, without a model."""

import re
from collections.abc import Sequence

from graph.evidence import SearchMode
from graph.ports import Preparation, Rewriting
from graph.reasons import Reason
from graph.rows import Turn
from graph.usage import Meter
from text.language import DEFAULT
from text.language import language as detect
from text.late_patterns import late_pattern
from text.scripts import LATIN_CAPITAL
from text.sentences import sentences
from text.words import cut_near, cuts_word, without_framing
from tools.rules.follow_ups import own_question, standalone
from tools.rules.requests import BEYOND_QUOTES, request_of
from tools.rules.small_talk_rules import small_talk, without_courtesies
from tools.rules.wrapped_questions import asked_part


class RulePreparer:
    """A QuestionPreparer by phrases and pronouns, without a model."""

    async def prepare(
        self,
        question: str,
        turns: Sequence[Turn],
        *,
        search: SearchMode,
        has_pages: bool,
        general_knowledge: bool = False,
        search_languages: Sequence[str] = (),
        meter: Meter,
    ) -> Preparation:
        """Detect small talk and make follow-ups standalone; ``search`` overrides the decision to retrieve.

        A rule can't tell what is ``general_knowledge``, so such questions are searched for, and it words no search in
        ``search_languages``. It can tell what asks for more than quotes. Of a prompt that wraps its
        question, that is what is asked, and the whole is searched for beside it.
        """
        talk = small_talk(question)
        asked = asked_part(question)
        paragraphs = question.strip().split("\n\n")
        if asked != question and (_is_work(paragraphs[0]) or _is_work(paragraphs[-1])):
            asked = question  # where a text is to be summed up or translated, what it asks is not what is asked
        request = request_of(asked)
        spoken = request.language if request else detect(turns[-1]["question"]) if turns else DEFAULT
        detected = detect(asked, default=spoken)
        if talk and search != "always":
            return Preparation(question, False, Reason("small_talk", talk), "small_talk", detected)
        rewritten = standalone(asked, turns)
        if search == "off" and not has_pages:
            return Preparation(rewritten.question, False, Reason("search_off"), "content_query", detected)
        reason = Reason("follow_up" if rewritten.changed else "for_library")
        if has_pages and search == "off":
            reason = Reason("for_pages")
        beyond = BEYOND_QUOTES if _is_work(asked) else None
        whole = () if asked == question else (without_courtesies(question),)
        beside = (*filter(None, (rewritten.beside,)), *whole)
        return Preparation(
            rewritten.question,
            True,
            reason,
            "content_query",
            detected,
            search_queries={detected: beside} if beside else {},
            beyond_quotes=beyond,
        )


def _is_work(paragraph: str) -> bool:
    request = request_of(paragraph)
    return request is not None and request.kind == "work"


REWRITING_REASON = Reason("telling_words")
NEUTRAL_REASON = Reason("neutral_words")
# What is written alike in every language: code, options, paths, numbers and versions, and names.
_MARKED = (
    r"(?<![\w./-])(?:--?[A-Za-z][\w-]*|/?[A-Za-z_]\w*(?:[._/:-]\w+)+(?:\(\))?|\w*(?:\d|_)[\w.]*|\w+\(\)"
    r"|\w*[a-z][A-Z]\w*|[A-Z]{2,}\w*)(?![\w])"
)
_CODE = late_pattern(_MARKED)
_NEUTRAL = late_pattern(rf"{_MARKED}|(?<!^)(?<![.?!:]\s)\b[{LATIN_CAPITAL}][\w’'-]*")
_LATIN_RUN = re.compile(r"[A-Za-z0-9][\w./:-]*(?:\(\))?", re.ASCII)


def neutral_words(question: str) -> str:
    """Return the words of a question that a text in another language may share: names, numbers and code; or "".

    In a script of other letters, every run of Latin ones is one. In German, every noun has a capital.
    """
    detected = detect(question)
    pattern = _LATIN_RUN if detected in _OTHER_SCRIPTS else _CODE if detected == "de" else _NEUTRAL
    return " ".join(dict.fromkeys(found[0].strip(".:/-") or found[0] for found in pattern.finditer(question)))


_OTHER_SCRIPTS = frozenset({"zh", "ja", "ko", "ru", "ar", "th", "hi", "el", "he"})


class RuleRewriter:
    """A QueryRewriter without a model."""

    async def rewrite(
        self, question: str, tried: Sequence[str], *, languages: Sequence[str], meter: Meter
    ) -> Rewriting:
        """Return the content words as the query; an empty query if they were already tried.

        Of a question in another language than the search is to be, those that are written alike in both. Beside all
        words of a follow-up its own are searched for: it may be about something else.
        """
        known = {" ".join(each.casefold().split()) for each in tried}
        if detect(question, default=languages[0]) != languages[0]:
            query = neutral_words(question)
            if query and query.casefold() not in known:
                return Rewriting(query, NEUTRAL_REASON)
        query = without_framing(question)
        own = without_framing(own_question(question))
        return Rewriting("" if query in known else query, REWRITING_REASON, beside=(own,) if own else ())


DEFAULT_TITLE = "New Chat"
LONGEST_TITLE = 60  # characters
_QUOTES = dict.fromkeys(map(ord, '"“”„‟«»「」『』〝〞＂'))
_EDGES = " \t'‘’`*_#>-–—:;,.、，。…"


def title_of(text: str) -> str:
    """Make a title from a text: one line without quotation marks, at most 60 characters; empty if nothing is left.

    A longer line is cut between words, or between letters of a script without spaces, and ends with "…".
    """
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).translate(_QUOTES).split())
    line = line.strip(_EDGES)
    if len(line) <= LONGEST_TITLE:
        return line
    return line[: _cut(line)].rstrip(_EDGES) + "…"


def _cut(line: str) -> int:
    """Return the last word boundary that leaves room for the "…", or a cut inside a word if the word is too long."""
    longest = cut_near(line, LONGEST_TITLE - 1)
    for at in range(longest, longest // 2, -1):
        if not cuts_word(line, at) and cut_near(line, at) == at:
            return at
    return longest


def rule_title(question: str) -> str:
    """Return the first sentence of a question that is not small talk, at most 60 characters of it."""
    titles = (title_of(question[start:end]) for start, end in sentences(question))
    title = next((each for each in titles if each and small_talk(each) is None), "")
    return title or title_of(question) or DEFAULT_TITLE


class RuleTitler:
    """A Titler without a model."""

    async def title(self, question: str, *, language: str, meter: Meter) -> str:
        """Return ``rule_title``."""
        return rule_title(question)
