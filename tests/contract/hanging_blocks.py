"""A parsed file as a test reads it: each block with its words and with the words that it hangs on."""

from tests.contract.parser_kit import check_parsed
from tools.parsers import Parsed


def hanging(parsed: Parsed) -> list[tuple[str, str, list[str]]]:
    """Return the kind and the words of each block, and the words that it hangs on; check what holds of all parsers."""
    check_parsed(parsed)
    words = [parsed.text[block.start : block.end] for block in parsed.blocks]
    for index, block in enumerate(parsed.blocks):
        assert all(above < index for above in block.hangs_on)
        assert len(set(block.hangs_on)) == len(block.hangs_on)
    return [
        (block.kind, text, [words[above] for above in block.hangs_on])
        for block, text in zip(parsed.blocks, words, strict=True)
    ]
