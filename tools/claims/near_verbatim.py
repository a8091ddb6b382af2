"""Find the source sentence that a claim nearly repeats, and say what differs.

A few other words in a sentence that is otherwise the source's own read as if nothing had changed, to people and to
models alike ("since" for "because", "may" for "will", "According to ..." before it). So a judge may fail such a claim,
but its approval does not prove it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice

from text.language import word_set
from text.words import written_runs
from tools.claims.cited_sources import Sources, compounds_of, exact_words
from tools.claims.claim_tokens import UNSPACED
from tools.claims.exact_forms import ExactForm, exact_form
from tools.claims.source_sentences import rough_words

# Of 160 true sentences as strong models write them, three are as near to a source sentence.
MOST_DIFFERENT = 3  # words, and half of the sentence
MOST_LETTERS = 4  # of a script without spaces, in which a word has one or two
MOST_SHOWN = 3  # changes that are named
LONGEST = 120  # tokens; a longer claim repeats no single sentence but for a word
SHORTEST = 4  # tokens of a source sentence that stands whole within a claim
_LETTER = re.compile(f"[{UNSPACED}]")
_SIGNS = frozenset("，、；。：！？（）《》,;.:!?()[]\"'…-·")
_POINTERS = word_set(
    "it its this these that those they them their he him his she her the a an of 's such"
    " nó họ này đó ấy của các những 它 他 她 其 该 此 这 那 的"
)


def near_verbatim_changes(claim: str, sources: Sources, named: frozenset[str]) -> tuple[str, ...]:
    """Return what a claim changes in the source sentence that it nearly repeats, nothing where there is none.

    Two words or more are a change: those of the source, "" where the claim adds some, and those of the claim instead.

    To name what the sentence points to is no change, nor to name what it hangs on, such as the term that it defines;
    ``named`` holds the words of titles, headings and the question, in lower case.
    """
    said = _tokens(exact_form(claim))
    if not said or len(said) > LONGEST:
        return ()
    change: tuple[str, ...] = ()
    compounds = compounds_of(claim)
    folded = {key: key.casefold() for key in said}
    named_anywhere = frozenset(key for key, lower in folded.items() if lower in named)
    for place in sources.sharing(rough_words(claim), fewest=1):
        at, sentence = sources.places[place]
        source = _tokens(sentence.unmarked)
        around = sources.named_around(at, sentence)
        also = around.written - exact_words(compounds - around.compounds) if around.written else around.written
        named_here = named_anywhere.union(key for key, lower in folded.items() if lower in also)
        if named_here:
            named_here = named_here.difference(source)
        bare = tuple(key for key in said if key not in named_here) if named_here else said
        if not (_is_near(bare, source) or _holds(bare, source) or bare == source != said):
            continue
        if _only_names(bare, said, source):
            return ()
        change = change or _difference(said, source, claim, sentence.text)
    return change


def _only_names(bare: Sequence[str], said: Sequence[str], source: Sequence[str]) -> bool:
    """Whether all that a claim changes is to name what the sentence points to."""
    return len(bare) < len(said) and all(
        _POINTERS.issuperset((*gained, *left)) for gained, left in _changes(bare, source)
    )


@lru_cache(maxsize=1024)  # a source sentence is compared with many claims; some 2 KB each
def _tokens(form: ExactForm) -> tuple[str, ...]:
    """Return the words and signs that carry meaning; capitals count where they are more than a word's first."""
    keys = [key.casefold() if key[1:].islower() else key for key in form]
    return tuple([key for at, key in enumerate(keys) if key not in _SIGNS or (key == "-" and _joins_number(keys, at))])


def _joins_number(keys: Sequence[str], at: int) -> bool:
    return any(key[:1].isdecimal() for key in keys[max(0, at - 1) : at + 2])


def _is_near(said: Sequence[str], source: Sequence[str]) -> bool:
    longest = max(len(said), len(source))
    if abs(len(said) - len(source)) > MOST_LETTERS or len(set(said).difference(source)) > MOST_LETTERS:
        return False  # a quick look
    most = min(MOST_LETTERS if any(map(_LETTER.match, said)) else MOST_DIFFERENT, longest // 2)
    if said == source or abs(len(said) - len(source)) > most:
        return False
    unshared = sum((Counter(said) - Counter(source)).values())
    return unshared <= most and 0 < _distance(said, source) <= most


def _distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the fewest words to replace, add or leave out (Levenshtein 1966)."""
    row = list(range(len(other) + 1))
    for at, key in enumerate(one, start=1):
        before, row = row, [at]
        for to, each in enumerate(other):
            row.append(min(before[to + 1] + 1, row[to] + 1, before[to] + (key != each)))
    return row[-1]


def _holds(said: Sequence[str], source: Sequence[str]) -> bool:
    """Whether a whole source sentence stands within a claim that says more."""
    size = len(source)
    return SHORTEST <= size < len(said) and any(
        said[at : at + size] == source for at in range(len(said) - size + 1) if said[at] == source[0]
    )


def _changes(said: Sequence[str], source: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield what a claim has in each place where it differs, and what its source has there."""
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, source, said, autojunk=False).get_opcodes():
        if kind != "equal":
            yield said[j1:j2], source[i1:i2]


def _difference(said: Sequence[str], source: Sequence[str], claim: str, sentence: str) -> tuple[str, ...]:
    changes = islice(_changes(said, source), MOST_SHOWN)
    return tuple(side for added, left in changes for side in (_as_written(left, sentence), _as_written(added, claim)))


def _as_written(keys: Sequence[str], text: str) -> str:
    written = {word.casefold(): word for word in written_runs(text)}
    words = [written.get(key, key) for key in keys]
    return ("" if any(map(_LETTER.match, words)) else " ").join(words)
