"""Text of documents made fit for a terminal."""

_CONTROL = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_CONTROL |= {code: 0xFFFD for code in range(0x7F, 0xA0)}
_CONTROL |= {code: 0xFFFD for code in (0x202D, 0x202E)}  # overrides of direction, which make text read as another


def printable(text: str) -> str:
    """Show control characters instead of obeying them: a document must not drive the reader's terminal."""
    return text.translate(_CONTROL)


def one_line(text: str) -> str:
    """Fold white space, so that a quote of several lines stands as one paragraph."""
    return printable(" ".join(text.split()))
