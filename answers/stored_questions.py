"""Questions that a document stores with their answers: in a FAQ, an interview, a chat, a mail that quotes another.

A question tells where its answer is and says nothing itself, so it is only quoted with what follows it.
"""

from collections.abc import Iterator, Sequence

from answers.entry import Entry
from graph.evidence import BlockKind
from text.shapes import is_question, label_of

ENDS_SECTION = frozenset[BlockKind]({"heading", "term", "contents"})
ASKING = frozenset[BlockKind]({"paragraph", "list_item", "quote", "footnote"})
_FEWEST_TURNS = 4  # labels that alternate strictly, such as "Q", "A", "Q", "A"


def mark_questions(entries: Sequence[Entry], begins_line: Sequence[bool]) -> Iterator[Entry]:
    """Yield entries in order, those that ask marked: by a question mark, or by a label that takes turns with another.

    An answer before the next question, such as a numbered one, is no lead-in of it. ``begins_line`` tells of each entry
    whether it begins a line.
    """
    marked = [entry.kind in ASKING and is_question(entry.text) for entry in entries]
    labelled = _labelled_questions(entries, begins_line, marked)
    unanswered = frozenset(_unanswered(entries, marked))
    answers = False
    for at, entry in enumerate(entries):
        if marked[at] or at in labelled:
            answers = True
            yield entry._replace(asks=True, unanswered=at in unanswered)
            continue
        answers = answers and entry.kind not in ENDS_SECTION
        before_question = answers and entry.leads and at + 1 < len(entries) and marked[at + 1]
        yield entry._replace(leads=False) if before_question else entry


def _labelled_questions(
    entries: Sequence[Entry], begins_line: Sequence[bool], marked: Sequence[bool]
) -> frozenset[int]:
    """Return the places of the entries whose label opens each turn, in sections where just two labels alternate."""
    found: set[int] = set()
    turns: list[tuple[int, str]] = []
    for at, entry in enumerate(entries):
        if entry.kind in ENDS_SECTION:
            found |= _openings(turns, marked)
            turns = []
        elif begins_line[at] and entry.kind in ASKING and (label := label_of(entry.text)):
            turns.append((at, label))
    return frozenset(found | _openings(turns, marked))


def _openings(turns: Sequence[tuple[int, str]], marked: Sequence[bool]) -> set[int]:
    """Return the places of the turns that ask: each first one of two, where a mark or labels of one letter say so.

    Other labels that alternate are of a list, such as what was added and what was mended.
    """
    if len(turns) < _FEWEST_TURNS:
        return set()
    (_, first), (_, second), *_ = turns
    if first == second or any(label != (second if at % 2 else first) for at, (_, label) in enumerate(turns)):
        return set()
    asking = {at for at, _ in turns[: len(turns) // 2 * 2 : 2]}  # a last one without an answer says what it says
    return asking if len(first) == len(second) == 1 or any(marked[at] for at in asking) else set()


def _unanswered(entries: Sequence[Entry], marked: Sequence[bool]) -> Iterator[int]:
    """Yield the places of the questions behind which their section has nothing but further questions."""
    is_answered = False
    for at in range(len(entries) - 1, -1, -1):
        if not marked[at]:
            is_answered = entries[at].kind not in ENDS_SECTION
        elif not is_answered:
            yield at
