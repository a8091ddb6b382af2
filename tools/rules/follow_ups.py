"""Rewrite a follow-up question as a standalone one, using its own words and those of earlier turns.

A question is left as it is unless it visibly depends on the last one: it has an unresolved pronoun, the opening of an
elliptical question ("what about ...", "那…呢", "còn ... thì sao"), or no subject. What it says replaces what the last
question said in its place ("And of work_mem?"); a pronoun is replaced by the last question's subject; and what has no
place in the last question stands before it. The patterns are in ``follow_ups.toml``, one table per language.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph.rows import Turn
from text.language import language
from text.late_patterns import LatePattern
from text.scripts import LATIN_CAPITAL
from text.sentences import sentences
from text.words import is_bigrammed
from tools.rules.answer_types import asked_type
from tools.rules.follow_up_patterns import any_language, elliptical, pattern
from tools.rules.question_slots import replaced
from tools.rules.question_subjects import head_noun, subject
from tools.rules.question_terms import content_words, marked, topic_words, without_article, without_preposition
from tools.rules.small_talk_rules import small_talk, without_courtesies

_CLAUSE_WORD = LatePattern(
    r"\b(?:and|if|when|after|because|but|while|which|who|once|before|how|so|whether|khi|và|nếu|sau khi)\b"
    r"|[,，；;:：]|时|后",
    re.IGNORECASE,
)
# "And on which day of the month?": what is question of has its verb in the question before.
_VERBLESS = LatePattern(
    r"(?:(?:and|or|but)\b[\s,]*)?(?:in|on|at|for|by|with|from|under|after|before|during|of|to|until|since)\s+"
    r"(?:which|what|whom)\b(?!.*\b(?:is|are|was|were|be|does|do|did|can|could|should|has|have|had|will|would|must|may)\b)",
    re.IGNORECASE,
)
# "And does twopi?": what is done has its verb in the question before.
_VERB_LEFT_OUT = LatePattern(
    r"(?:and|or|but)[\s,]+(?P<verb>do|does|did|can|could|will|would|should|is|are|has|have)\s+(?P<new>(?:the\s+)?[^\s?,]+)"
    r"(?:\s+(?:too|also|as well))?\s*\??$",
    re.IGNORECASE,
)
_OWNED = re.compile(r"(?:its|their)\s+(?P<new>[^?,]{1,40}?)[\s?]*$", re.IGNORECASE)
_INSTEAD = re.compile(r"\binstead(?!\s+of)\b|(?<!and)\sthen[\s?]*$", re.IGNORECASE)
_HAN_FRAME = re.compile("如果|要是|假如|我们?|你们?|不|想|让|把|给|要|能|可以|怎么|如何|什么|那|请问|[，,：: ]")
_NAME = LatePattern(
    rf"(?<!^)(?<!\w)(?!I\b)[{LATIN_CAPITAL}][\w'’.+-]*(?:\s+(?:of\s+|the\s+)?[{LATIN_CAPITAL}0-9][\w'’.+-]*)*"
    r"|[\"“《「`][^\"”》」`]{1,60}[\"”》」`]"
)
_FEW = 3
_MOST_LEFT_OUT = 8
# A longer question names its subject, and the patterns here are not made for long texts.
LONGEST_FOLLOW_UP = 300


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that can be understood alone; ``changed`` if it took words from earlier turns."""

    question: str
    changed: bool


def standalone(question: str, turns: Sequence[Turn]) -> Standalone:
    """Return a question that can be understood without the conversation, no longer than it and the last one."""
    question = without_courtesies(" ".join(question.split()))
    last = next((turn for turn in reversed(turns) if not small_talk(turn["question"])), None)
    if last is None or len(question) > LONGEST_FOLLOW_UP:
        return Standalone(question, False)
    before = _asked(last["standalone_question"])
    made = _standalone(question, before, last) if before else None
    return Standalone(made or question, made is not None)


def _asked(last: str) -> str:
    """Return the last question, of a long one its last sentence that asks; "" if that is too long."""
    last = " ".join(last.split())
    if len(last) <= LONGEST_FOLLOW_UP:
        return last
    parts = [last[start:end].strip() for start, end in sentences(last[-4 * LONGEST_FOLLOW_UP :])]
    asked = next((part for part in reversed(parts) if part.endswith(("?", "？"))), parts[-1] if parts else "")
    return asked if len(asked) <= LONGEST_FOLLOW_UP else ""


def _standalone(question: str, before: str, last: Turn) -> str | None:
    bare = _bare(question)
    if pattern("more").match(question) or _VERBLESS.match(question):
        return f"{before} {question}"
    if pattern("onward").match(question):
        return _joined(bare, before) if len(content_words(bare)) > 1 else f"{before} {question}"
    owned = _OWNED.match(bare)
    if owned and not pattern("asking").search(owned["new"]):
        return _of_the_owner(owned["new"], before)
    verbless = _VERB_LEFT_OUT.match(question)
    if verbless and not pattern("pronoun").search(verbless["new"]):
        return _of_another(verbless["verb"], verbless["new"], before)
    new = _new_words(question)
    if new:
        return _in_frame(new, before)
    pronoun = open_pronoun(question)
    if pronoun:
        return _resolved(bare, open_pronoun(bare) or pronoun, before, last) if bare else None
    return _noun_added(bare, before)


def _bare(question: str) -> str:
    """Return a question without the words that join it to the last one."""
    opening = pattern("opening").match(question)
    return question[opening.end() :].strip() if opening else question


def _new_words(question: str) -> str | None:
    """Return what an elliptical question says, or None if the question is a complete sentence."""
    bare = _bare(question)
    for each in elliptical():
        found = each.match(bare) or each.match(question)
        if found and len(content_words(found["new"])) <= _MOST_LEFT_OUT and not _asks(found["new"]):
            new = _trimmed(found["new"])
            return _uncapitalised(new) if question.startswith(new) else new
    joined = bare != question
    words = content_words(bare)
    if not words:
        return bare.strip(" ?？") if joined else None
    if (
        joined
        and _opens("clause", bare)
        and not re.search(r"\b(?:what|which|who|how|where|why)\b|[,;]", bare, re.IGNORECASE)
    ):
        return _trimmed(bare)
    if pattern("asking").search(bare):
        return None
    narrow = _opens("preposition", bare) or _opens("article", bare)
    if joined and len(words) <= (_MOST_LEFT_OUT if narrow else _FEW + 1):
        return _trimmed(bare)
    return _trimmed(bare) if narrow and len(words) <= 2 and bare.endswith(("?", "？")) else None


def _trimmed(new: str) -> str:
    new = new.strip(" ?？,，.")
    return re.sub(rf"(?:{any_language('closing')})$", "", new, flags=re.IGNORECASE).strip(" ,，") or new


def _uncapitalised(new: str) -> str:
    """Lower the capital of a first word that opens a phrase; a lone word or a name of several keeps it."""
    return re.sub(r"^\w(?=[^\W\dA-Z]*\s+[^\WA-Z\d_])", lambda first: first[0].lower(), new)


def _asks(new: str) -> bool:
    """Whether new words ask something by themselves, after "and" or in another script."""
    return bool(re.search(r"什么|哪|谁|怎|多少|几个|\b(?:gì|nào|ai|đâu|bao nhiêu|bao lâu|mấy)\b", new, re.IGNORECASE))


def _in_frame(new: str, before: str) -> str:
    """Ask the last question of what a new one says: in place of what it replaces, after it, or before it."""
    new = re.sub(r"^(?:the )?ones? (?:for|of|in|with|from)\s+", "", new, flags=re.IGNORECASE)
    narrows = _opens("preposition", new)
    first = _opposite_replaced if narrows else _one_replaced
    made = first(before, new) or replaced(before, new) or (None if narrows else _object_replaced(before, new))
    if made and made != before:
        return made
    clause = _opens("clause", new)
    referring = pattern("pronoun").search(new)
    if narrows and referring and pattern("naming").fullmatch(referring[0]) and (thing := subject(before)):
        made = _opposite_replaced(before, f"{new[: referring.start()]}{thing}{new[referring.end() :]}")
        if made:
            return made
    if narrows or (clause and not referring) or (clause and clause[0].casefold() != "if"):
        return _narrowed(before, new, clause is not None)
    return _joined(new, before)


def _opens(key: str, text: str) -> re.Match[str] | None:
    """Return the word of a kind of ``follow_ups.toml`` that a text opens with, or None."""
    return re.match(rf"(?:{any_language(key)})\b", text, re.IGNORECASE)


def _one_replaced(before: str, new: str) -> str | None:
    """Replace the phrase that "one" stands for ("an ephemeral one"); None without a "one" or such a phrase."""
    noun = pattern("one").search(new)
    if noun is None:
        return None
    qualifier = new[: noun.start()].strip()
    made = replaced(before, qualifier) if noun.end() == len(new) and marked(f" {qualifier}") else None
    head = head_noun(before, several=noun[0].casefold() == "ones")
    if made or head is None:
        return made
    return _noun_phrase_replaced(before, head, f"{new[: noun.start()]}{head}{new[noun.end() :]}")


def _noun_phrase_replaced(before: str, noun: str, new: str) -> str | None:
    """Replace the phrase that ends in a noun, from its article, or what follows its preposition, on."""
    place = re.search(
        rf"(?<!\w)(?:(?:the|an?|một)\s+(?:[\w-]+\s+){{0,2}}"
        rf"|(?P<kept>(?:{any_language('preposition')})\s+)(?:[\w-]+\s+){{0,2}})?{re.escape(noun)}(?!\w)",
        before,
        re.IGNORECASE,
    )
    return f"{before[: place.start()]}{place['kept'] or ''}{new}{before[place.end() :]}" if place else None


def _narrowed(before: str, new: str, clause: bool) -> str:
    """Add a phrase to the last question, or a clause in the place of the one at its end."""
    end = before.rstrip(" ?？.")
    if clause:
        old = list(re.finditer(rf"\s(?:{any_language('clause')})\s", end, re.IGNORECASE))
        if old and old[-1].start() > len(end) // 3:
            end = end[: old[-1].start()]
    return f"{end} {new}?"


def _opposite_replaced(before: str, new: str) -> str | None:
    """Replace a phrase by one of the same thing: "with --all" by "without --all"; None if there is none."""
    thing = re.escape(without_preposition(new))
    old = re.search(rf"(?<!\w)(?:{any_language('preposition')}|using)\s+{thing}(?!\w)", before, re.IGNORECASE)
    return f"{before[: old.start()]}{new}{before[old.end() :]}" if old else None


def _object_replaced(before: str, new: str) -> str | None:
    """Replace the thing that something is asked of ("the port of the server") by a name or another such phrase."""
    place = re.search(r"\b(?:of|for)\s+", before)
    if place is None or not (re.search(rf"\s(?:of|for)\s|[{LATIN_CAPITAL}_\d]", new)):
        return None
    rest = re.search(r"\s(?:in|on|at|with|from|when|if|while|is|are|does|do|can)\b|[,;?]|$", before[place.end() :])
    end = place.end() + (rest.start() if rest else 0)
    return f"{before[: place.end()]}{new}{before[end:]}"


def _joined(new: str, before: str) -> str:
    """Put what a question says before the last question."""
    return f"{new.strip(' ?？,，')}{'：' if is_bigrammed(before[-2:-1]) else ': '}{before}"


def _of_the_owner(new: str, before: str) -> str:
    """Ask for something else of the thing that the last question asked about ("its height?")."""
    head = re.search(r"([\w-]+)\s+of\s+", before)
    if head:
        return f"{before[: head.start()]}{new}{before[head.end(1) :]}"
    owner = subject(before)
    return f"{new} of {owner}?" if owner else _joined(new, before)


def _of_another(verb: str, new: str, before: str) -> str:
    """Ask the last question of another subject ("And does twopi?")."""
    place = re.search(
        rf"(?<!\w)(?:{re.escape(verb)}|do|does)\s+(?:(?:the|an?)\s+)?(?P<old>[\w.-]+)", before, re.IGNORECASE
    )
    if place is None:
        return _joined(new, before)
    return f"{before[: place.start('old')]}{without_article(new)}{before[place.end('old') :]}"


def open_pronoun(question: str) -> re.Match[str] | None:
    """Return the first pronoun that the question itself does not resolve, or None."""
    spoken = language(question)
    pronouns = pattern("pronoun", spoken) if spoken in ("vi", "zh") else pattern("pronoun")
    for pronoun in pronouns.finditer(question):
        before = _bare(question[: pronoun.start()])
        words = content_words(before)
        if (
            pronoun[0].casefold() in ("this", "that", "these", "those")
            and words
            and before.rstrip().endswith(words[-1])
        ):
            continue  # a relative or subordinate clause
        if not _refers_back(before, words, pronoun) and not _NAME.search(before) and len(words) <= _FEW:
            return pronoun
    return None


def _refers_back(before: str, words: list[str], pronoun: re.Match[str]) -> bool:
    """Whether a pronoun refers to something that the question says before it."""
    if is_bigrammed(pronoun[0]):
        return len(_HAN_FRAME.sub("", before)) > _FEW
    owned = pattern("possessive").fullmatch(pronoun[0]) is not None
    if owned and words and before.startswith(words[0]):
        return True
    return len(words) >= 2 and (owned or _CLAUSE_WORD.search(before, 1) is not None)


def _resolved(question: str, pronoun: re.Match[str], before: str, last: Turn) -> str:
    """Replace a pronoun with what it refers to, or append the subject of the last question."""
    refers = None
    if pattern("naming").fullmatch(pronoun[0]):
        refers = _answered_person(last) if pattern("person").fullmatch(pronoun[0]) else None
        refers = refers or subject(before)
    topic = topic_words(before)
    if refers is None:
        return _with_topic(question, topic)
    owner = f"{refers}'s" if pattern("possessive").fullmatch(pronoun[0]) else refers
    made = f"{question[: pronoun.start()]}{owner}{question[pronoun.end() :]}"
    # "The directory" of "the directory in which the file browser opens" says too little of what was asked about.
    vague = not marked(f" {refers}") and 2 * len("".join(content_words(refers))) < len("".join(topic))
    if vague:
        return _with_topic(
            question if any(map(is_bigrammed, topic)) else made, topic
        )  # a run of Chinese holds it as a part
    return made


def _with_topic(question: str, topic: Sequence[str]) -> str:
    """Add what words of the last question a question lacks, in parentheses."""
    said = question.casefold()
    rest = " ".join(word for word in topic if word.casefold() not in said)
    return f"{question} ({rest})" if rest else question


def _answered_person(last: Turn) -> str | None:
    """Return the name that answered the last question if it asked for a person, else None."""
    if asked_type(last["standalone_question"]) != "person":
        return None
    names = (found[0] for found in _NAME.finditer(f" {last['answer']}"))
    return next((name for name in names if name not in last["standalone_question"] and " " in name), None)


def _noun_added(bare: str, before: str) -> str | None:
    """Give a question the noun that "one" leaves out and what "instead" is compared with; None if it needs neither."""
    noun = pattern("one").search(bare)
    if noun and len(content_words(bare[: noun.start()])) <= 2:
        head = head_noun(before, several=noun[0].casefold() == "ones")
        if head and re.search(r"\b(?:there|for|with|use|have|need|add)\s+$", bare[: noun.start()]):
            head = f"a {head}"
        made = f"{bare[: noun.start()]}{head}{bare[noun.end() :]}" if head else bare
        return _with_topic(made, topic_words(before))
    return _with_topic(bare, topic_words(before)) if _INSTEAD.search(bare) else None
