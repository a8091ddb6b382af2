"""Of a document that its asker may no longer read, no passage is left in a stored answer."""

from typing import Any

from tools.retrieval.withholding import WITHHELD, hidden_in, withhold

SECRET = "The vault opens at 9."


def body(**more: Any) -> dict[str, Any]:
    source: dict[str, Any] = {
        "document_id": "d", "segment_id": "d:0", "title": "Vault", "heading": "Hours", "excerpt": SECRET,
        "passage": {"start": 0, "end": 21, "quote": SECRET, "heading_path": [SECRET], "context": []},
    }  # fmt: skip
    return {"sources": [], "citations": [], "sections": [], "claims": [], **more, "nearest": [source]}


def test_the_nearest_passages_of_a_refusal_are_withheld_with_their_document() -> None:
    assert SECRET not in str(withhold(body(), {"d"}))
    assert SECRET in str(withhold(body(), {"e"}))


def test_a_document_that_holds_a_copy_is_named_no_more() -> None:
    copy = {"segment_id": "e:0", "document_id": "e", "title": SECRET, "date": "2026", "dated_by": "document"}
    citation = {"document_id": "d", "section_index": 0, "quote": "Open.", "copies": [copy]}
    stored = body(citations=[citation], claims=[{"section_index": 0, "citations": [citation]}])
    del stored["nearest"]
    assert hidden_in(stored, {"e"}, ()) == {"e"}
    shown = withhold(stored, {"e"})
    assert SECRET not in str(shown)
    assert [each["quote"] for each in (*shown["citations"], *shown["claims"][0]["citations"])] == ["Open.", "Open."]


def test_what_a_section_or_a_disagreement_is_written_from_is_withheld_without_a_citation() -> None:
    section = {"text": SECRET, "source_ids": ["e:0"]}
    disagreement = {"segment_ids": ["d:0", "f:1"], "reason": SECRET}
    stored = body(sections=[section], disagreements=[disagreement])
    del stored["nearest"]
    for document_id in ("e", "f"):
        assert hidden_in(stored, {document_id}, ()) == {document_id}
        assert hidden_in(stored, (), {document_id}) == {document_id}
    assert SECRET not in str(withhold(stored, {"e", "f"}))


def test_a_section_that_showed_a_passage_shows_none_any_more() -> None:
    citation: dict[str, Any] = {
        "document_id": "d", "segment_id": "d:0", "segment_index": 0, "page_idx": None, "start": 0, "end": 21,
        "quote": SECRET, "origin": "cited", "verdict": "supported", "source_index": 1, "section_index": 0,
        "highlight": {"start": 0, "end": 21}, "heading_path": [SECRET],
    }  # fmt: skip
    passage = {"segment_id": "d:0", "start": 0, "end": 21, "origin": "cited"}
    section = {"text": SECRET, "source_ids": ["d:0"], "passage": passage}
    shown = withhold(body(citations=[citation], sections=[section]), {"d"})
    assert SECRET not in str(shown)
    assert shown["sections"] == [{"text": WITHHELD, "source_ids": ["d:0"]}]
