"""The message that a chat client edits or regenerates.

These clients have our ids for answers, but only their own ids for questions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.evidence import Identity
from tools.process.library import Library
from tools.sessions.history import StoredMessage
from tools.sessions.run_request import question_id

_PAGE = 200


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """Where a run branches off: the question that it replaces, or the answer that it regenerates; neither to append."""

    edit: str | None = None
    regenerate: str | None = None


async def whole_history(
    library: Library, identity: Identity, session_id: str, *, branch: str | None = None
) -> list[StoredMessage]:
    """Return all messages of a session's newest branch, or of the one through the message ``branch``.

    Raises NotFound.
    """
    page = await library.sessions.get(identity, session_id, limit=_PAGE, branch=branch)
    messages = page.messages
    while page.next_cursor is not None:
        page = await library.sessions.get(identity, session_id, limit=_PAGE, cursor=page.next_cursor)
        messages = [*page.messages, *messages]
    return messages


def branch_at_question(history: Sequence[StoredMessage], answers_before: Sequence[str], *, first: bool) -> BranchPoint:
    """Return the stored question after the last of ``answers_before``, the ids of the answers above it in the client.

    ``first`` is true if there is nothing at all above it. A question that was never stored makes no branch.
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
    """Return the branch that regenerates an answer, or asks its question again if the run failed and stored none."""
    by_id = {each.message_id: each for each in history}
    if message_id in by_id and by_id[message_id].role == "assistant":
        return BranchPoint(regenerate=message_id)
    return BranchPoint(edit=question) if (question := _question_of(message_id)) in by_id else BranchPoint()


def as_regeneration(history: Sequence[StoredMessage], fork: BranchPoint) -> BranchPoint:
    """Turn an edit of a question into a regeneration of its newest answer, if it has one."""
    answers = [each.message_id for each in history if each.role == "assistant" and each.parent_message_id == fork.edit]
    return BranchPoint(regenerate=answers[-1]) if fork.edit and answers else fork


def branch_at_last_answer(history: Sequence[StoredMessage]) -> BranchPoint:
    """Return the branch that regenerates the newest answer, or asks the newest question again if it has none."""
    if not history:
        return BranchPoint()
    last = history[-1]
    return BranchPoint(regenerate=last.message_id) if last.role == "assistant" else BranchPoint(edit=last.message_id)


def _question_of(message_id: str) -> str | None:
    try:
        return question_id(message_id)
    except ValueError:
        return None  # it is not an id of this service
