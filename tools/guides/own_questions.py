"""Questions that a document itself asks and answers: headings and terms that ask, and the questions of a FAQ.

They are found by structure alone. None is made of a statement: what nobody asked is a poor thing to begin with. Nor is
one offered that a newcomer can't judge: of names alone, or of a figure by its number. None is better.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from answers.entries import entries_of
from answers.entry import NEVER_QUOTED, Entry
from graph.evidence import Segment
from text.language import language
from text.normal_forms import fold_case
from text.scripts import QUESTION_MARKS
from text.shapes import is_question, label_of
from tools.rules.follow_ups import depends
from tools.rules.question_terms import content_words

RULES = 2  # counted up whenever other questions are offered, so that none stays which was stored before
MOST_SEGMENTS = 40  # of a document that are read for questions
SHORTEST, LONGEST = 6, 150  # characters of a question
# A FAQ has so many questions in its text, each so close to the next; others are asked in passing.
FEWEST_IN_TEXT = 4
MOST_ANSWERED = 700  # characters of one of them with its answer
_TITLES = ("heading", "term")
_NUMBER = re.compile(r"[\s*_>#•-]*(?:\(?\d{1,3}(?:\.\d{1,3})*[.)、:]?\s+)?[*_]*")
_EMPHASIS = re.compile(r"[\s*_`#]+\Z")
_MARK = re.compile(f"[{QUESTION_MARKS}]")
_COLON = re.compile(r"[:：.．]")
_PART = re.compile(r"[^\W\d_]+\.?\s?\d+(?:[.–-]\d+)*(?![\w%])")  # "Figure 7-27", "图 3"
_STOP = re.compile(r"\s*[.:：．]")
_ASIDE = re.compile(r"\s[–—|-]\s")  # "Perl – What is Perl?" is a title with its subtitle


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that a document may answer, and the span of its canonical text that should answer it."""

    question: str
    document_id: str
    start: int
    end: int


def own_questions(segments: Sequence[Segment]) -> list[Candidate]:
    """Return the questions of segments in reading order that make sense alone, each with the span up to the next."""
    entries = [(segment.document_id, entry) for segment in segments[:MOST_SEGMENTS] for entry in entries_of(segment)]
    labels = Counter(label_of(entry.text) for _, entry in entries if entry.asks)
    parts = {part for _, entry in entries if (part := _part_of(entry))}
    asking = [at for at, (_, entry) in enumerate(entries) if _asks(entry)]
    titles: list[Candidate] = []
    in_text: list[Candidate] = []
    for at, following in pairwise([*asking, len(entries)]):
        document_id, entry = entries[at]
        end = _end_of_answer(entry, [each for owner, each in entries[at + 1 : following] if owner == document_id])
        question = _bare(entry.text, labelled=labels[label_of(entry.text)] > 1)
        if not end or not _is_plain(question) or depends(question):  # on the one before it: "And on Sundays?"
            continue
        if not names_a_matter(question) or any(fold_case(part[0]) in parts for part in _PART.finditer(question)):
            continue
        candidate = Candidate(question, document_id, entry.start, end)
        if entry.kind in _TITLES:
            titles.append(candidate)
        elif end - entry.start <= MOST_ANSWERED:
            in_text.append(candidate)
    kept = [*titles, *(in_text if len(in_text) >= FEWEST_IN_TEXT else ())]
    return list({fold_case(each.question): each for each in reversed(kept)}.values())[::-1]


def _asks(entry: Entry) -> bool:
    """Whether an entry is a title that asks, or opens a block of text with a question that hangs on nothing else."""
    if entry.kind in _TITLES:
        return is_question(entry.text)
    if entry.kind == "table_row":
        return False
    return entry.asks and entry.first and not entry.unanswered and all(each.role == "heading" for each in entry.context)


def _end_of_answer(asked: Entry, following: Sequence[Entry]) -> int:
    """Return where the answer ends that follows a question, before the next heading or term; 0 where there is none."""
    stops = _TITLES if asked.kind == "term" else ("heading",)
    end = 0
    for entry in following:
        if entry.kind in stops:
            break
        end = entry.end
    return end


def _bare(text: str, *, labelled: bool) -> str:
    """Return a question without its number, its emphasis and, where it has one, the label of its turn, as in "Q: "."""
    asked = _COLON.split(text, maxsplit=1)[1] if labelled and label_of(text) else text
    number = _NUMBER.match(asked)
    return " ".join(_EMPHASIS.sub("", asked[number.end() if number else 0 :]).split())


def _is_plain(question: str) -> bool:
    """Whether it is one short question in words, no line of code or of a synopsis."""
    marks = len(_MARK.findall(question))
    return SHORTEST <= len(question) <= LONGEST and question[0].isalnum() and is_question(question) and marks <= 1


def _part_of(entry: Entry) -> str:
    """Return the number under which an entry names a part of its document, as a caption does: "" for none."""
    part = None if entry.asks else _PART.match(entry.text)
    named = part is not None and (entry.kind in NEVER_QUOTED or _STOP.match(entry.text, part.end()))
    return fold_case(part[0]) if part and named else ""


def names_a_matter(question: str) -> bool:
    """Whether a question has a content word that is no name, by its form: who reads it first knows no names.

    Where every word has a capital, or every noun, names can't be told, and two content words are wanted.
    """
    if _ASIDE.search(question):
        return False
    content = [word for word in content_words(question) if not word[0].isdigit()]
    sentence_case = language(question) != "de" and any(word[0].islower() for word in question.split()[1:])
    uncased = any(not (word[0].isupper() or word[0].islower()) for word in content)
    return any(not word[0].isupper() for word in content) if sentence_case else bool(content[1:] or uncased)
