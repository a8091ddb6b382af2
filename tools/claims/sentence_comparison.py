"""Compare a claim token by token with the source sentence closest to it, and classify the differences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tools.claims import cues
from tools.claims.diff_spans import (
    LETTERS,
    WORD,
    DiffSpan,
    Edit,
    Pair,
    coalesced,
    count_negations,
    edits,
    is_content,
    is_frame,
    is_lettered,
    is_one_word,
    letters_of,
    little_else,
    look_alike,
    pairs_of,
    span_of,
    turns,
    without_moved,
    word_akin,
)
from tools.claims.sentence_parsing import ParsedSentence
from tools.claims.substitutions import (
    LOOSE_UNITS,
    NEAR,
    VERY_NEAR,
    MatchContext,
    are_akin,
    bounded,
    bounds_of,
    comparable,
    in_context,
    is_counted,
    name_conflict,
    number_conflicts,
    quantities,
    quoted,
    same_quantity,
    swaps_letters,
    turned_by,
    with_number,
    with_units,
)

Finding = Literal["same", "part", "order", "differs", "conflict"]

SURE = 0.8
LOPSIDED = 3  # content tokens by which one run may be longer where the sentences differ elsewhere too
LONGEST_RUN = 8  # content tokens; a longer run that was replaced is another wording, not a swapped word
FEWEST = 5  # tokens of a claim in which one swapped word can be told
MOST_ADDED = 4  # tokens of a phrase that bounds a quantity


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a claim is to a sentence. ``near`` is the share in [0, 1] of its content that stands there in order.

    ``swapped`` names the one word of an otherwise equal claim that stands for another and is no known synonym of it.
    """

    finding: Finding
    near: float
    reasons: tuple[str, ...] = ()
    swapped: str | None = None


def compare(
    claim: ParsedSentence,
    source: ParsedSentence,
    begins: int = 0,
    known: Callable[[str], bool] = lambda run: False,
    *,
    copies: bool = False,
) -> Comparison:
    """Compare a claim, from its token ``begins`` on, with a sentence.

    ``known`` tells whether a run of letters stands somewhere in the evidence: a word swapped in from there is a name
    more often than a paraphrase is. ``copies`` says that both are source sentences: nobody copies a sentence and
    puts one word for another in it who does not mean another thing.
    """
    keys = claim.keys[begins:]
    found = edits(source.keys, keys)
    content = sum(map(is_content, claim.tokens[begins:]))
    if found is None:
        return Comparison("differs", 0.0)
    fresh = sum(is_content(claim.tokens[place + begins]) for edit in found for place in range(edit[2], edit[3]))
    near = 1 - fresh / content if content else float(not found)
    shifted = [(i, j, k + begins, m + begins) for i, j, k, m in found]
    return _Difference(claim, source, near, known, copies=copies).judge(shifted)


class _Difference:
    """The differences of one claim and one sentence, sorted into what they mean."""

    def __init__(
        self, claim: ParsedSentence, source: ParsedSentence, near: float, known: Callable[[str], bool], *, copies: bool
    ) -> None:
        self.claim, self.source, self.near, self.known, self.copies = claim, source, near, known, copies
        self.conflicts: list[str] = []
        self.added: list[DiffSpan] = []
        self.dropped: list[DiffSpan] = []
        self.replaced = 0
        self.moved = False
        self.alone = False
        self.tight = 0.0

    def judge(self, found: list[Edit]) -> Comparison:
        pairs = pairs_of(self.source, self.claim, found)
        joined = coalesced(self.source, [edit for _, _, edit in pairs])
        if len(joined) < len(pairs):
            pairs = pairs_of(self.source, self.claim, joined)
        self.tight = self._tightness(found)
        kept = without_moved(pairs)
        self.moved, pairs = kept is not None, pairs if kept is None else kept
        self.alone = len(pairs) == 1 and len(self.claim.tokens) - len(pairs[0][1].places) >= 3
        for a, b, edit in pairs:
            self._sort(a, b, edit)
        self._leftovers()
        self._polarity(pairs)
        close = self.near >= NEAR or (self.alone and self.replaced == 1 and self.near >= 0.3)
        if self.conflicts and close:
            return Comparison("conflict", self.near, tuple(dict.fromkeys(self.conflicts)))
        if pairs and (self.replaced or self.added or self.conflicts):
            return Comparison("differs", self.near, swapped=self._swapped(pairs))
        if self.moved:
            return Comparison("order", self.near)
        if self.dropped:
            return Comparison("part", self.near)
        if self.source.asks != self.claim.asks:
            return Comparison("differs", self.near)
        return Comparison("same", self.near)

    def _tightness(self, found: Sequence[Edit]) -> float:
        """Give the share of the sentence's content that stands in the claim in order."""
        content = sum(map(is_content, self.source.tokens))
        lost = sum(is_content(self.source.tokens[place]) for edit in found for place in range(edit[0], edit[1]))
        return 1 - lost / content if content else 0.0

    def _swapped(self, pairs: Sequence[Pair]) -> str | None:
        """Tell one word, in a claim that says just what the sentence says, that stands for a word of another sense."""
        if len(pairs) != 1 or self.moved or self.near < VERY_NEAR or len(self.claim.tokens) < FEWEST:
            return None
        a, b, edit = pairs[0]
        if not (is_one_word(a) and is_one_word(b)) or look_alike(a, b) or are_akin(a, b, edit) or word_akin(a, b):
            return None
        said, answered = (self._wide(run.reading, *span_of(run)) if is_lettered(run) else run.said for run in (a, b))
        return f"the answer says {answered} where the source says {said}"

    def _sort(self, a: DiffSpan, b: DiffSpan, edit: Edit) -> None:
        if a.places and b.places:
            self.replaced += 1
            self._replaced(a, b, edit)
        elif b.places:
            if is_counted(b) and b.tokens[0].kind == "unit" and b.tokens[0].key not in LOOSE_UNITS and edit[0] > 0:
                self._conflict(a.reading.said(edit[0] - 1, edit[0]), with_number(b.reading, b.places[0]))
            self.added.append(b)
            self._lengthened(b, edit)
        else:
            self.dropped.append(a)
            self._lengthened(a, edit)

    def _lengthened(self, run: DiffSpan, edit: Edit) -> None:
        """Tell a phrase from a longer one that excludes it: "only" and "not only", "when" and "before when"."""
        if self.near < VERY_NEAR or len(run.places) > MOST_ADDED or turns(run):
            return
        if turned_by(run) or (self.tight >= NEAR and bounded(run)):
            self._conflict(*(in_context(*side) for side in ((self.source, *edit[:2]), (self.claim, *edit[2:]))))
        elif min(self.tight, self.near) < VERY_NEAR or len(run.places) > WORD:
            return
        elif cues.opposed(self.source.keys, self.claim.keys, edit):
            self._conflict(*(in_context(*side) for side in ((self.source, *edit[:2]), (self.claim, *edit[2:]))))

    def _replaced(self, a: DiffSpan, b: DiffSpan, edit: Edit) -> None:
        if len(a.content) > LONGEST_RUN or len(b.content) > LONGEST_RUN:
            self.added.append(b)
            self.dropped.append(a)
            return
        before = len(self.conflicts)
        if self.tight >= NEAR or abs(len(a.content) - len(b.content)) <= LOPSIDED:
            for pair in number_conflicts(a, b):
                self._conflict(*pair)
        setting = MatchContext(self.near, self.tight, self.alone, self.known)
        if names := name_conflict(a, b, setting):
            self._conflict(*names)
        if len(self.conflicts) == before:
            self._reworded(a, b, edit, setting)
        self.added.append(b)
        self.dropped.append(a)

    def _reworded(self, a: DiffSpan, b: DiffSpan, edit: Edit, setting: MatchContext) -> None:
        """Tell a conflict of words: opposites, bounds, closed classes, names in a script without capitals."""
        if cues.opposed(self.source.keys, self.claim.keys, edit) or cues.opposed(
            self.source.keys, self.claim.keys, (*span_of(a), *span_of(b))
        ):
            if is_lettered(a) and is_lettered(b):
                self._conflict(self._wide(self.source, edit[0], edit[1]), self._wide(self.claim, edit[2], edit[3]))
            else:
                self._conflict(a.said, b.said)
        elif min(self.near - VERY_NEAR, self.tight - NEAR) >= 0 and self._rebounded(a, b):
            self._conflict(in_context(self.source, *edit[:2]), in_context(self.claim, *edit[2:]))
        elif self.alone and self.near >= VERY_NEAR and self._decided(a, b, edit):
            self._conflict(a.said, b.said)
        elif swaps_letters(a, b, edit, setting):
            self._conflict(self._wide(self.source, edit[0], edit[1]), self._wide(self.claim, edit[2], edit[3]))
        elif self.copies and self._another_word(a, b):
            self._conflict(a.said, b.said)

    @staticmethod
    def _rebounded(a: DiffSpan, b: DiffSpan) -> bool:
        """Tell whether a bound, or a word of a closed class within a short run, gave way to its opposite."""
        if bounds_of(a) != bounds_of(b) and (bounded(a) or bounded(b)):
            return True
        return max(len(a.places), len(b.places)) <= LETTERS and cues.opposed_within(a.keys, b.keys)

    def _decided(self, a: DiffSpan, b: DiffSpan, edit: Edit) -> bool:
        """Tell whether a quantity, order or comparison gave way to one or two words not known to mean it."""
        return len(b.places) <= 2 and not is_lettered(b) and cues.decides(a.keys) and not are_akin(a, b, edit)

    def _another_word(self, a: DiffSpan, b: DiffSpan) -> bool:
        """Tell whether a copy of a sentence differs in one word, which no other form of the word stands for."""
        if not self.alone or self.near < VERY_NEAR or not a.content or not b.content:
            return False
        if is_lettered(a) and is_lettered(b):
            return not set(letters_of(a)) & set(letters_of(b))
        theirs = {cues.stem(a.reading.keys[place])[:4] for place in a.places}
        return theirs.isdisjoint(cues.stem(b.reading.keys[place])[:4] for place in b.places)

    def _conflict(self, source: str, claim: str) -> None:
        self.conflicts.append(f"the source says {source}, the answer says {claim}")

    @staticmethod
    def _wide(reading: ParsedSentence, first: int, last: int) -> str:
        return in_context(reading, first, last) if last - first == 1 else reading.said(first, last)

    def _leftovers(self) -> None:
        """Match a number that was dropped in one place with one that was added in another."""
        if self.conflicts or min(self.near, self.tight) < NEAR:
            return
        lost = [(run.reading, place) for run in self.dropped for place in quantities(run)]
        gained = [(run.reading, place) for run in self.added for place in quantities(run)]
        lost = [one for one in lost if not any(same_quantity(one, other) for other in gained)]
        gained = [one for one in gained if not any(same_quantity(one, other) for other in lost)]
        if len(lost) == len(gained) == 1 and comparable(
            lost[0][0].tokens[lost[0][1]], gained[0][0].tokens[gained[0][1]]
        ):
            self._conflict(*with_units(lost[0], gained[0]))

    def _polarity(self, pairs: Sequence[Pair]) -> None:
        if self.near < SURE and self.tight < NEAR:
            return
        theirs = [run for run, _, _ in pairs if turns(run) and little_else(run)]
        ours = [run for _, run, _ in pairs if turns(run) and little_else(run)]
        if any(turns(run) for pair in pairs if not self._cut(pair) for run in pair[:2] if run not in (*theirs, *ours)):
            return
        if theirs and ours:
            if len(pairs) == 1 and (count_negations(theirs[0]) + count_negations(ours[0])) % 2:
                self._conflict(quoted(theirs[0]), quoted(ours[0]))
            return
        theirs = [run for run in theirs if not is_frame(run)]
        for run in theirs:
            if count_negations(run) % 2:
                self.conflicts.append(f"the source says {quoted(run)}, the answer leaves that out")
        for run in ours:
            if count_negations(run) % 2:
                self.conflicts.append(f"the answer says {quoted(run)}, the source does not")

    def _cut(self, pair: Pair) -> bool:
        """Tell the beginning or the end of a sentence that a claim leaves off."""
        a, b, edit = pair
        return not b.places and len(a.places) > WORD and (edit[0] == 0 or edit[1] == len(self.source.tokens))
