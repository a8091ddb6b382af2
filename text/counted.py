"""Numbers of things in English sentences."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 document", "1,000 documents"; ``plural`` where an s does not make it."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
