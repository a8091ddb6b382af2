"""Align two sentences token by token: the runs in which they differ, and how much of each is in the other."""

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from text.language import DROPPABLE, FUNCTION_LETTERS, FUNCTION_WORDS, VIETNAMESE_FUNCTION_WORDS
from tools.claims.claim_tokens import Token
from tools.claims.sentence_parsing import ParsedSentence

Edit = tuple[int, int, int, int]  # bounds of a run in the source, and in the claim

LARGEST_ALIGNMENT = 20_000  # cells of the table that an alignment may need at worst; beyond it nothing is aligned


@dataclass(frozen=True, slots=True)
class Run:
    """A run of tokens that differ, by its places in its sentence, without what may be left out anyway."""

    reading: ParsedSentence
    places: tuple[int, ...]

    @property
    def tokens(self) -> list[Token]:
        return [self.reading.tokens[place] for place in self.places]

    @property
    def keys(self) -> list[str]:
        return [self.reading.keys[place] for place in self.places]

    @property
    def content(self) -> list[int]:
        return [place for place in self.places if is_content(self.reading.tokens[place])]

    @property
    def said(self) -> str:
        return self.reading.said(self.places[0], self.places[-1] + 1) if self.places else ""

    @property
    def lettered(self) -> bool:
        return bool(self.places) and all(token.kind == "letter" for token in self.tokens)


Pair = tuple[Run, Run, Edit]


def is_content(token: Token) -> bool:
    """Whether a token carries content rather than holding a sentence together."""
    if token.kind == "letter":
        return token.key not in FUNCTION_LETTERS
    return token.key not in FUNCTION_WORDS or (
        token.capital and token.start > 0 and token.key in VIETNAMESE_FUNCTION_WORDS
    )


def edits(one: Sequence[str], other: Sequence[str]) -> list[Edit] | None:
    """Return the runs in which two sequences differ, as bounds in both; None where they are too long to align."""
    head = 0
    while head < min(len(one), len(other)) and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < min(len(one), len(other)) - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    a, b = one[head : len(one) - tail], other[head : len(other) - tail]
    if not a and not b:
        return []
    if len(a) * len(b) > LARGEST_ALIGNMENT:
        return None
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [(i + head, j + head, k + head, m + head) for tag, i, j, k, m in blocks if tag != "equal"]


def common_in_order(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Count the longest common subsequence, bit-parallel (Hyyrö, "Bit-parallel LCS-length computation", 2004)."""
    places: dict[Hashable, int] = {}
    for at, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << at
    full = (1 << len(one)) - 1
    row = full
    for item in other:
        match = places.get(item)
        if match:
            shared = row & match
            row = ((row + shared) | (row - shared)) & full
    return len(one) - row.bit_count()


def share_outside(
    reading: ParsedSentence, runs: Sequence[tuple[int, int]], without: Sequence[tuple[int, int]] = ()
) -> float:
    """Return the share of a sentence's content that is outside of some runs, not counting that of others."""
    content = sum(map(is_content, reading.tokens)) - _content_in(reading, without)
    lost = _content_in(reading, runs) - _content_in(reading, without)
    return 1 - lost / content if content else float(not runs)


def _content_in(reading: ParsedSentence, runs: Sequence[tuple[int, int]]) -> int:
    return sum(is_content(reading.tokens[place]) for first, last in runs for place in range(first, last))


def coalesced(source: ParsedSentence, found: Sequence[Edit]) -> list[Edit]:
    """Join edits that one equal letter parts: two names of a script without spaces may share one by chance."""
    joined: list[Edit] = []
    for edit in found:
        if joined and edit[0] - joined[-1][1] == 1 and edit[2] - joined[-1][3] == 1:
            last = joined[-1]
            if all(token.kind == "letter" for token in source.tokens[last[0] : edit[1]]):
                joined[-1] = (last[0], edit[1], last[2], edit[3])
                continue
        joined.append(edit)
    return joined


def pairs_of(source: ParsedSentence, claim: ParsedSentence, found: Sequence[Edit]) -> list[Pair]:
    """Return the two runs of each edit that changes more than what may be left out anyway."""
    runs = [(_run(source, *edit[:2]), _run(claim, *edit[2:]), edit) for edit in found]
    return [(a, b, edit) for a, b, edit in runs if [k.rstrip("?") for k in a.keys] != [k.rstrip("?") for k in b.keys]]


def _run(reading: ParsedSentence, first: int, last: int) -> Run:
    return Run(reading, tuple(place for place in range(first, last) if reading.keys[place] not in DROPPABLE))


def without_moved(pairs: Sequence[Pair]) -> list[Pair]:
    """Take out what was only put elsewhere."""
    lost = Counter(unit for a, _, _ in pairs for unit in _movable(a))
    gained = Counter(unit for _, b, _ in pairs for unit in _movable(b))
    moved = (lost & gained).keys()
    if not moved:
        return list(pairs)
    kept = [(_unmoved(a, moved), _unmoved(b, moved), edit) for a, b, edit in pairs]
    return [pair for pair in kept if pair[0].content or pair[1].content or any(map(negates, pair[:2]))]


def _movable(run: Run) -> list[str]:
    """List the parts of a run that may occur elsewhere: its words; in scripts without spaces only the whole run."""
    if run.lettered:
        return ["".join(run.keys)] if len(run.places) > 1 and run.content else []
    return [run.reading.keys[place] for place in run.content]


def _unmoved(run: Run, moved: Collection[str]) -> Run:
    if run.lettered:
        return Run(run.reading, () if "".join(run.keys) in moved else run.places)
    return Run(run.reading, tuple(place for place in run.places if run.reading.keys[place] not in moved))


def negates(run: Run) -> bool:
    """Whether a run holds a negation."""
    return any(run.reading.negates[place] for place in run.places)
