"""Silence about how an answer comes about, for dialects whose clients have no words for it."""

from graph.events import AnyEvent


class Reticent:
    """Says nothing of what is done inside a run, nor of drafts and verdicts: sections are told once they are final.

    Whatever else a dialect is silent about it says itself, ``silent`` by name, so that the type check still fails where
    a dialect has not decided what becomes of a new event.
    """

    def silent(self, event: AnyEvent) -> bytes:
        """Give no frame."""
        return b""

    run_resumed = silent
    step_finished = silent
    pages_loaded = silent
    sources_found = silent
    sources_disagree = silent
    query_rewritten = silent
    section_started = silent
    text_delta = silent
    section_finished = silent
    section_checked = silent
    section_revised = silent
    content_removed = silent
    title_changed = silent
