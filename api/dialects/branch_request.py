"""Find the message that a chat client edits or regenerates.

Such clients have ids of their own for the questions, and ours for the answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tools.runs.run_request import question_id
from tools.sessions.history import StoredMessage


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """Where a run leaves the branch: the question that it takes the place of, or the answer that it gives anew."""

    edit: str | None = None
    regenerate: str | None = None


def branch_at_question(history: Sequence[StoredMessage], answers_before: Sequence[str], *, first: bool) -> BranchPoint:
    """Find the question that follows the last of ``answers_before``, the answers that a client has above it.

    ``first`` says that nothing at all is above it. A question that was never stored is simply asked: no fork.
    """
    if answers_before:
        last = answers_before[-1]
        above: set[str | None] = {last, _question_of(last)}
    elif first:
        above = {None}
    else:
        return BranchPoint()
    edited = [each.message_id for each in history if each.role == "user" and each.parent_message_id in above]
    return BranchPoint(edit=edited[-1] if edited else None)


def branch_at_answer(history: Sequence[StoredMessage], message_id: str) -> BranchPoint:
    """Find the answer of that id; where its run failed and left none, the question that it was to answer."""
    said = {each.message_id: each for each in history}
    if message_id in said and said[message_id].role == "assistant":
        return BranchPoint(regenerate=message_id)
    return BranchPoint(edit=asked) if (asked := _question_of(message_id)) in said else BranchPoint()


def as_regeneration(history: Sequence[StoredMessage], fork: BranchPoint) -> BranchPoint:
    """Turn the edit of a question into the regeneration of its answer, where it has one."""
    answers = [each.message_id for each in history if each.role == "assistant" and each.parent_message_id == fork.edit]
    return BranchPoint(regenerate=answers[-1]) if fork.edit and answers else fork


def branch_at_last_answer(history: Sequence[StoredMessage]) -> BranchPoint:
    """Return the newest answer anew, or ask the newest question again where it has none."""
    if not history:
        return BranchPoint()
    last = history[-1]
    return BranchPoint(regenerate=last.message_id) if last.role == "assistant" else BranchPoint(edit=last.message_id)


def _question_of(message_id: str) -> str | None:
    try:
        return question_id(message_id)
    except ValueError:
        return None  # it is no id of ours
