"""What holds of whatever a parser gives, in any format."""

from tools.parsers import Parsed


def check_parsed(parsed: Parsed) -> None:
    """Check that a parsed file keeps the promises that segmenting, storing and citing stand on."""
    text = parsed.text
    assert text.strip()
    assert "\x00" not in text
    assert text.encode("utf-8").decode("utf-8") == text
    end = 0
    for block in parsed.blocks:
        assert end <= block.start < block.end <= len(text)
        words = text[block.start : block.end]
        assert words.strip()
        assert not words[-1].isspace()
        assert not text[end : block.start].strip(), "words lie outside of every block"
        end = block.end
    assert not text[end:].strip(), "words lie after the last block"
    pages = [block.page_idx for block in parsed.blocks]
    paged = [page for page in pages if page is not None]
    assert paged == sorted(paged)
    assert len(paged) in (0, len(pages))
    if paged:
        assert paged[0] >= 0
        assert parsed.page_count == paged[-1] + 1
    for block in parsed.blocks:
        if block.kind == "heading":
            assert block.heading.endswith(text[block.start : block.end])
