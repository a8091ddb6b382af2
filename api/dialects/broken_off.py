"""Ends without a whole answer, worded as failures for dialects whose clients know no end but `done` and `error`."""

from graph.events import RunFailed, RunFinished

REWRITTEN = RunFailed(
    code="answer_rewritten",
    message="The answer was interrupted and is being written again; what was shown of it no longer holds.",
    suggestion="Open the conversation again to read the answer.",
    retryable=True,
)
_WHY = {
    "cancel_requested": "The answer was stopped on request.",
    "client_disconnected": "The answer was stopped, since its reader had left.",
    "interrupted": "The answer was stopped in favour of another question.",
    "server_stopped": "The answer was stopped, since the service is shutting down.",
}


def cut_short(end: RunFinished) -> RunFailed:
    """Word the end of a cancelled run, whose client must not take what it has for the whole answer.

    Its code is the reason why the run was stopped.
    """
    return RunFailed(
        code=end.stop_reason,
        message=_WHY.get(end.stop_reason, "The answer was stopped."),
        suggestion="Ask again for the whole answer.",
        retryable=True,
    )
