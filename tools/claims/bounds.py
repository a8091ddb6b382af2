"""Tell what a few tokens put in or left out do to what stands beside them: bound a quantity, turn or lower a word."""

from collections.abc import Sequence

from tools.claims import cues
from tools.claims.runs import Run

_PREFIXES = frozenset(("non", "anti", "bất", "phi"))
_LOWERING = frozenset(("less", "least", "kém", "ít"))
_COMPARED = frozenset(("hơn", "nhất", "than"))
_ORDINALS = frozenset(("second", "#2", "third", "#3", "#4", "#5", "thứ", "第"))
_REACH = 6  # tokens in which "kém hiệu quả và sáng tạo nhất" says that it compares


def bounds_of(run: Run) -> frozenset[int]:
    """Say by which sides of "more" and "less" a run bounds a quantity; empty where it names no bound."""
    return cues.bound(run.keys)


def bounded(run: Run) -> bool:
    """Tell whether a run bounds the number beside it: "less than" 90%, 两年 "以上"."""
    if not run.places or not bounds_of(run):
        return False
    tokens, first, last = run.reading.tokens, run.places[0], run.places[-1]
    after = tokens[last + 1].kind if last + 1 < len(tokens) else ""
    before = tokens[first - 1].kind if first else ""
    return after == "number" or (tokens[first].kind == "letter" and before in ("number", "unit"))


def turned_by(run: Run) -> bool:
    """Tell whether a run is a word that turns or lowers what is behind it: bất, "least", "second" tallest."""
    keys, tokens = run.reading.keys, run.reading.tokens
    after = run.places[-1] + 1 if run.places else len(keys)
    if after >= len(keys):
        return False
    if len(run.places) == 1 and run.keys[0] in _PREFIXES:
        return tokens[after].kind == "word"
    if len(run.places) == 1 and run.keys[0] in _LOWERING:
        return run.keys[0] == "least" or not _COMPARED.isdisjoint(keys[after : after + _REACH])
    return set(run.keys) <= _ORDINALS and _superlative(keys[after:])


def _superlative(keys: Sequence[str]) -> bool:
    return keys[0] in ("most", "nhất", "大", "长", "高") or (len(keys[0]) > 5 and keys[0].endswith("est"))
