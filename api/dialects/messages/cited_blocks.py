"""An answer as content blocks: one with citations for each marked claim, and plain ones for the text between them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from answers.marks import marked_citations
from api.dialects.annotated_text import SourceAddresses
from api.dialects.citation_marks import BETWEEN_SECTIONS
from api.dialects.quotes import quote_of
from api.dialects.section_buffer import FinalSection, final_sections
from graph.evidence import Citation, Claim, Message

Event = dict[str, Any]
Kind = Literal["thinking", "plain", "cited"]


class CitedBlocks:
    """The text of an answer as the events of its content blocks, which joined are the text.

    There are no marks in the text: a citation stands for the whole block that it is of. Claims that share a quote are
    one block. A claim that leaves before its mark is decided has a block that stays open until it is. Documents are
    numbered from 0 in the order in which they are cited.
    """

    def __init__(self, addresses: SourceAddresses) -> None:
        self._addresses = addresses
        self._documents: dict[str, int] = {}
        self._index = -1
        self._open: Kind | None = None

    def think(self, delta: str) -> Iterator[Event]:
        """Yield the events of a thought."""
        yield from self._in("thinking")
        yield self._delta({"type": "thinking_delta", "thinking": delta})

    def write(self, section: FinalSection) -> Iterator[Event]:
        """Yield the events of a part of a section."""
        text, at = section.text, section.start
        if section.position and not at:
            yield from self._text("plain", BETWEEN_SECTIONS)
        for claims, decided in _groups(section):
            start, end = max(at, claims[0]["start"]), max(at, claims[-1]["end"])
            citations = marked_citations(claims[-1]) if decided else []
            if self._open != "cited":
                yield from self._text("plain", text[at:start])
                at = start
            if citations or not decided or self._open == "cited":
                yield from self._text("cited", text[at:end])
            else:
                yield from self._text("plain", text[at:end])
            at = end
            for citation in citations:
                yield self._delta({"type": "citations_delta", "citation": self._citation(citation)})
            if decided and self._open == "cited":
                yield from self.close()
        yield from self._text(self._open if self._open == "cited" else "plain", text[at:])

    def close(self) -> Iterator[Event]:
        """Yield the end of the block that is open, if any is."""
        if self._open is not None:
            self._open = None
            yield {"type": "content_block_stop", "index": self._index}

    def _text(self, kind: Kind, text: str) -> Iterator[Event]:
        if text:
            yield from self._in(kind)
            yield self._delta({"type": "text_delta", "text": text})

    def _in(self, kind: Kind) -> Iterator[Event]:
        if self._open == kind:
            return
        yield from self.close()
        self._open = kind
        self._index += 1
        block: Event = {"type": "text", "text": ""}
        if kind == "thinking":
            block = {"type": "thinking", "thinking": "", "signature": ""}
        elif kind == "cited":
            block["citations"] = []
        yield {"type": "content_block_start", "index": self._index, "content_block": block}

    def _delta(self, delta: Event) -> Event:
        return {"type": "content_block_delta", "index": self._index, "delta": delta}

    def _citation(self, citation: Citation) -> dict[str, Any]:
        """Return a citation by page where its document has pages, else by characters of the document's text.

        ``citewell`` has what the format has no field for: the address, the exact place, and what the quote hangs on.
        """
        url, title = self._addresses.cited(citation)
        document = citation["document_id"]
        place = {"start": citation["start"], "end": citation["end"]}
        ours = {"url": url, "document_id": document, "segment_id": citation["segment_id"], **place}
        located: dict[str, Any]
        if citation["page_idx"] is None:
            located = {
                "type": "char_location",
                "start_char_index": citation["start"],
                "end_char_index": citation["end"],
            }
        else:
            page = citation["page_idx"] + 1
            located = {"type": "page_location", "start_page_number": page, "end_page_number": page + 1}
        return {
            **located,
            "cited_text": citation["quote"],
            "document_index": self._documents.setdefault(document, len(self._documents)),
            "document_title": title,
            "file_id": None,
            "citewell": ours | {name: value for name, value in quote_of(citation).items() if name != "quote"},
        }


def _groups(section: FinalSection) -> Iterator[tuple[Sequence[Claim], bool]]:
    """Yield the claims of a part that share marks, and whether those are decided, which the last ones may not be."""
    marked = {claim["end"] for claim in section.marked_claims}
    group: list[Claim] = []
    for claim in section.undecided_claims:
        group.append(claim)
        if claim["end"] in marked:
            yield group, True
            group = []
    if group:
        yield group, False


def whole_blocks(message: Message, addresses: SourceAddresses, thinking: str) -> list[dict[str, Any]]:
    """Return the content blocks of a finished message, with the thoughts before them."""
    blocks = CitedBlocks(addresses)
    content: list[dict[str, Any]] = []
    for event in _events(blocks, message, thinking):
        if event["type"] == "content_block_start":
            content.append(event["content_block"])
        elif event["type"] == "content_block_delta":
            _add(content[-1], event["delta"])
    return content


def _events(blocks: CitedBlocks, message: Message, thinking: str) -> Iterable[Event]:
    if thinking:
        yield from blocks.think(thinking)
    for section in final_sections(message):
        yield from blocks.write(section)


def _add(block: dict[str, Any], delta: Event) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "citations_delta":
            block["citations"].append(delta["citation"])
