"""Split a section into its claims: its sentences, joined where the source's own sentence is longer."""

from tools.claims.readings import read
from tools.claims.sources import Sources
from tools.sentences import sentences, trimmed

_LONGEST = 4  # pieces that may be one source sentence


def claims_of(text: str, sources: Sources) -> list[tuple[int, int]]:
    """Give the spans of the claims of a section, in order, without white space around them.

    A sentence may be split otherwise alone than in its source, where more stands around it; pieces that together are
    a source sentence are one claim. What holds no word joins the claim before it.
    """
    pieces = [trimmed(text, start, end) for start, end in sentences(text)]
    pieces = _joined_wordless(text, [piece for piece in pieces if piece[0] < piece[1]])
    whole = {sentence.reading.keys for _, sentence in sources.places}
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(pieces):
        end = at + 1
        if read(text[slice(*pieces[at])]).keys not in whole:
            for last in range(min(len(pieces), at + _LONGEST), at + 1, -1):
                if read(text[pieces[at][0] : pieces[last - 1][1]]).keys in whole:
                    end = last
                    break
        found.append((pieces[at][0], pieces[end - 1][1]))
        at = end
    return found


def _joined_wordless(text: str, pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in pieces:
        reading = read(text[start:end])
        if found and not reading.tokens and "?" not in reading.folded:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found
