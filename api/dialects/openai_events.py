"""Open WebUI's own events, which travel in the ``event`` field of a chunk: what was found, and what is being done.

Open WebUI lists sources in the order in which they arrive, one for each ``metadata.source``, and links ``[n]`` in the
text to the n-th of them; so they are sent by index, before the text. The browser's direct connections ignore events.
"""

from collections.abc import Mapping
from typing import Any

from graph.events import RunFinished
from graph.evidence import Message, Source

STEPS: Mapping[str, str] = {
    "decide_retrieval": "Reading the question",
    "load_selected_pages": "Reading the selected pages",
    "search_segments": "Searching the library",
    "search_web": "Searching the web",
    "grade_segments": "Weighing what was found",
    "rewrite_query": "Wording the search anew",
    "generate_answer": "Writing the answer",
    "answer_directly": "Writing the answer",
    "check_claims": "Checking every claim against its sources",
    "assess_quality": "Assessing the answer",
}


def source_event(source: Source, url: str) -> dict[str, Any]:
    """Describe a source; its score of 0 to 1 is shown as a percentage, its page number from 1."""
    metadata: dict[str, Any] = {"source": source["segment_id"], "name": source["title"] or url, "source_url": url}
    if source["page_idx"] is not None:
        metadata["page"] = source["page_idx"]
    return {
        "type": "source",
        "data": {
            "source": {"id": source["segment_id"], "name": metadata["name"], "url": url},
            "document": [source["excerpt"]],
            "metadata": [metadata],
            "distances": [source["score"]],
        },
    }


def status_event(description: str, *, done: bool = False) -> dict[str, Any]:
    """Say what is being done, or with ``done`` how it ended."""
    return {"type": "status", "data": {"description": description, "done": done}}


def ending(event: RunFinished) -> str:
    """Say in a line how a run ended."""
    if event.outcome == "cancelled":
        return "Stopped before the end"
    if event.outcome == "abstained":
        return "No answer that the sources prove"
    return _proof(event.message)


def _proof(message: Message) -> str:
    claims = message.get("claims", [])
    if not claims:
        return "Answered without the library"
    proven = sum(claim["verdict"] == "supported" for claim in claims)
    return f"{proven} of {len(claims)} claims proven by the sources"
