"""Which sentences of an answer a client of each dialect sees a mark behind, in the text and in structured citations."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from api.dialects.citation_marks import JOINER
from tests.api.reading import parse_frames

BRACKET, FOOTNOTE, REFERENCE = re.compile(r"\[\d+\]"), re.compile(r"\[\^\d+\]"), re.compile(r"\[ref:\d+\]")
LINK = re.compile(r"\[\[\d+\]\]\([^()\s]*\)")
Frames = list[dict[str, Any]]


def marked_in_text(shown: str, mark: re.Pattern[str], sentences: Iterable[str]) -> list[str]:
    """Return the sentences of a text that a mark stands in, or right behind."""
    shown = shown.replace(JOINER, "")
    plain = mark.sub("", shown)
    places, taken = list[int](), 0
    for found in mark.finditer(shown):
        places.append(found.start() - taken)
        taken += len(found[0])
    starts = {sentence: plain.index(sentence) for sentence in sentences}
    return [each for each, start in starts.items() if any(start < place <= start + len(each) for place in places)]


def under(spans: Iterable[str], sentences: Sequence[str]) -> list[str]:
    """Return the sentences that citations have the spans of."""
    cited = [span.replace(JOINER, "").strip() for span in spans]
    return [each for each in sentences if any(span in each or each in span for span in cited if span)]


def utf16_slice(text: str, start: int, end: int) -> str:
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def _native(frames: Frames, sentences: Sequence[str]) -> list[str]:
    message = frames[-1]["message"]
    spans = [each["text"][mark["start"] : mark["end"]] for each in message["sections"] for mark in each["marks"]]
    shown = [claim["text"] for claim in message["claims"] if claim["mark"] == "shown"]
    assert spans == shown
    assert {each["mark"] for each in message["citations"]} <= {"shown", "withheld"}
    return under(spans, sentences)


def _text_of(kind: str, field: str, mark: re.Pattern[str]) -> Callable[[Frames, Sequence[str]], list[str]]:
    def read(frames: Frames, sentences: Sequence[str]) -> list[str]:
        shown = "".join(frame[field] for frame in frames if kind in (frame.get("type"), frame.get("event")))
        return marked_in_text(shown, mark, sentences)

    return read


def _conversation(frames: Frames, sentences: Sequence[str]) -> list[str]:
    sent = _text_of("content", "content", BRACKET)(frames, sentences)
    done = frames[-1]["formattedAnswer"]
    assert sent == marked_in_text(done, BRACKET, sentences)
    assert {int(number[1:-1]) for number in BRACKET.findall(done)} == set(range(1, len(frames[-1]["sources"]) + 1))
    return sent


def _openai(frames: Frames, sentences: Sequence[str]) -> list[str]:
    deltas = [choice["delta"] for frame in frames for choice in frame["choices"]]
    shown = "".join(delta.get("content", "") for delta in deltas)
    cited = [each["url_citation"] for delta in deltas for each in delta.get("annotations", [])]
    spans = [shown[each["start_index"] : each["end_index"]] for each in cited]
    return [*marked_in_text(shown, BRACKET, sentences), *under(spans, sentences)]


def _responses(frames: Frames, sentences: Sequence[str]) -> list[str]:
    shown = "".join(frame["delta"] for frame in frames if frame["type"] == "response.output_text.delta")
    added = [each["annotation"] for each in frames if each["type"] == "response.output_text.annotation.added"]
    [message] = [item for item in frames[-1]["response"]["output"] if item["type"] == "message"]
    assert message["content"][0]["annotations"] == added
    spans = [shown[each["start_index"] : each["end_index"]] for each in added]
    return [*marked_in_text(shown, BRACKET, sentences), *under(spans, sentences)]


def _messages(frames: Frames, sentences: Sequence[str]) -> list[str]:
    blocks: dict[int, list[dict[str, Any]]] = {}
    for frame in frames:
        if frame["type"] == "content_block_delta":
            blocks.setdefault(frame["index"], []).append(frame["delta"])
    cited = [deltas for deltas in blocks.values() if any("citation" in delta for delta in deltas)]
    return under(("".join(delta.get("text", "") for delta in deltas) for deltas in cited), sentences)


def _ai_sdk(frames: Frames, sentences: Sequence[str]) -> list[str]:
    shown = "".join(frame["delta"] for frame in frames if frame["type"] == "text-delta")
    [proof] = [frame["data"] for frame in frames if frame["type"] == "data-citations"]
    [ended] = [frame for frame in frames if frame["type"] == "text-end"]
    assert ended["providerMetadata"]["citewell"]["citations"] == proof["citations"]
    return [*marked_in_text(shown, BRACKET, sentences), *_placed(shown, proof, sentences)]


def _ag_ui(frames: Frames, sentences: Sequence[str]) -> list[str]:
    shown = "".join(frame["delta"] for frame in frames if frame["type"] == "TEXT_MESSAGE_CONTENT")
    [proof] = [each["value"] for each in frames if each["type"] == "CUSTOM" and each["name"] == "citations"]
    return [*marked_in_text(shown, BRACKET, sentences), *_placed(shown, proof, sentences)]


def _langgraph(frames: Frames, sentences: Sequence[str]) -> list[str]:
    [block] = frames[-1]["messages"][-1]["content"]
    pieces = [frame["chunk"]["content"][0] for frame in frames if "chunk" in frame]
    assert [each for piece in pieces for each in piece.get("annotations", [])] == block["annotations"]
    sent = marked_in_text("".join(piece["text"] for piece in pieces), LINK, sentences)
    assert sent == marked_in_text(block["text"], LINK, sentences)
    spans = [block["text"][each["start_index"] : each["end_index"]] for each in block["annotations"]]
    return [*sent, *under(spans, sentences)]


def _placed(shown: str, proof: dict[str, Any], sentences: Sequence[str]) -> list[str]:
    spans = [utf16_slice(shown, each["start_index"], each["end_index"]) for each in proof["citations"]]
    shown_claims = [each["text"] for each in proof["claims"] if each["mark"] == "shown"]
    assert under(spans, sentences) == under(shown_claims, sentences)
    return under(spans, sentences)


_READERS: Mapping[str, Callable[[Frames, Sequence[str]], list[str]]] = {
    "native": _native,
    "docmost": _text_of("chunk", "data", FOOTNOTE),
    "docs_chatbot": _text_of("content", "delta", BRACKET),
    "conversation": _conversation,
    "self_rag": _text_of("content", "delta", REFERENCE),
    "openai": _openai,
    "responses": _responses,
    "messages": _messages,
    "ai_sdk": _ai_sdk,
    "ag_ui": _ag_ui,
    "langgraph": _langgraph,
}


def bubbles(stream: bytes) -> set[tuple[str, int, int]]:
    """Return the quotes that the bubbles of ``id_citations`` open; a bubble is a section's, and no sentence's own."""
    row = json.loads(parse_frames(stream.decode())[-1]["data"])["messages"][-1]
    citations = [each for section in row["metadata"]["sections"] for each in section["citations"]]
    assert citations == row["metadata"]["citations"]
    return {(each["document_id"], quote["start"], quote["end"]) for each in citations for quote in each["quotes"]}


def _object(data: Any) -> dict[str, Any]:
    return {"chunk": data[0]} if isinstance(data, list) else data


def marked_sentences(dialect: str, stream: bytes, sentences: Sequence[str]) -> list[str]:
    """Return the sentences that a client of a dialect sees a mark behind, in the text or in structured citations.

    All dialects but ``id_citations``, which marks sections.
    """
    told = parse_frames(stream.decode())
    frames = [
        {**_object(json.loads(each["data"])), **({"event": each["event"]} if "event" in each else {})}
        for each in told
        if each["data"] != "[DONE]"
    ]
    return list(dict.fromkeys(_READERS[dialect](frames, sentences)))
