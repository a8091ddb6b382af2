"""The words of a library, and how the words of a question are spelt there.

A word that the library does not know is looked for as the known words that it may be meant for, and two words as one
where the library writes them so. For whoever asks, the library knows the words of the texts that they may read: others
are neither told, nor noticed by what is told without them.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from graph.evidence import Identity
from text.near_words import LEAST_LETTERS, STEM, differ_at_end, ends_of, is_listed, near_words, nearest
from text.normal_forms import without_marks
from text.terms import AS_WRITTEN, TERMS_VERSION, Respelling, split_words, term_of
from tools.retrieval.scope import LASTING, READABLE, readable, reading_as
from tools.retrieval.search_sql import Statement, numbered, planned
from tools.storage.database import Connection
from tools.storage.partitions import Place, ReadTables

MOST_NEAR = 4000  # words that begin or end as one does, and are compared with it
MOST_UNKNOWN = 4  # words of one question that are looked up
MOST_READ = 200  # segments with a word that are looked at for one that may be read
MOST_LOOKED_AT = 20_000  # where none of their text is read
KEPT_SECONDS = 60.0
MOST_KEPT = 50_000  # words of a workspace
_BETWEEN = r"[^[:alnum:]]{1,2}"  # two words that are one in the question

ITSELF = 2.0  # how alike a word is to itself spelt otherwise, more than to any other
Option = tuple[str, ...]  # one word, or two that stand side by side


@dataclass(frozen=True, slots=True)
class Respelled:
    """A question's words as the library spells them; ``also`` are those that it was searched for besides."""

    respelling: Respelling = AS_WRITTEN
    also: tuple[str, ...] = ()


_NOTHING = Respelled()
_OLDER = Respelled(Respelling(is_older=True))


@dataclass(slots=True)
class _Kept:
    """Words that were looked up since ``read_at`` for one asker, whether each is known, and what it may be meant for.

    ``is_older``: the library has to be reindexed before anybody can tell; None where that was not asked yet.
    """

    read_at: float
    is_older: bool | None = None
    words: OrderedDict[str, bool] = field(default_factory=OrderedDict)
    meant: dict[str, list[tuple[float, Option]]] = field(default_factory=dict)


class Vocabulary:
    """Spells questions as libraries do. What words are known is kept for a minute, so most questions cost nothing."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Identity], _Kept] = {}

    async def respell(self, conn: Connection, place: Place, question: str, identity: Identity) -> Respelled:
        """Return how a workspace spells a question's words, for what an identity may read."""
        words = list(dict.fromkeys(split_words(question)))
        listed = [word for word in words if is_listed(word)]
        pairs = [(a, b) for a, b in pairwise(words) if a.isalpha() and b.isalpha() and is_listed(a + b)]
        asked = dict.fromkeys([*listed, *(a + b for a, b in pairs)])
        kept = self._kept(place.workspace, identity)
        known = await _which(conn, place, asked, identity, kept)
        if known is None:
            return _OLDER if kept.is_older else _NOTHING
        joined = [pair for pair in pairs if known["".join(pair)]]
        parts = {word for pair in joined for word in pair}
        unknown = [word for word in listed if not known[word] and word not in parts and _may_be_meant(word)]
        found = await _instead(conn, place, unknown[:MOST_UNKNOWN], identity, kept) if unknown else {}
        if not found and not joined:
            return _NOTHING
        told = [" ".join(option) for word, options in found.items() for option in options if _is_told(word, option)]
        respelling = Respelling({word: _as_expected(options) for word, options in found.items()}, joined)
        return Respelled(respelling, tuple(dict.fromkeys(told)))

    def _kept(self, workspace: int, identity: Identity) -> _Kept:
        now, key = time.monotonic(), (workspace, identity)
        kept = self._known.get(key)
        if kept is None or now - kept.read_at > KEPT_SECONDS:
            self._known = {n: each for n, each in self._known.items() if now - each.read_at <= KEPT_SECONDS}
            kept = self._known[key] = _Kept(now)
        return kept


async def _which(
    conn: Connection, place: Place, words: Iterable[str], identity: Identity, kept: _Kept
) -> dict[str, bool] | None:
    """Return which words an identity's texts have; None where there is no library, or it has to be reindexed before."""
    new = [word for word in words if word not in kept.words]
    if not kept.is_older and (new or kept.is_older is None):
        bound = {"workspace": place.workspace, "words": new, **reading_as(identity)}
        async with planned(conn):
            rows = await _statement(_KNOWN, place).execute(conn, bound)
        if not rows:
            return None
        [(version, known)] = rows
        kept.is_older = version < TERMS_VERSION
        kept.words.update(dict.fromkeys(new, False))
        kept.words.update(dict.fromkeys(known or (), True))
    if kept.is_older:
        return None
    found = {word: kept.words.get(word, False) for word in words}
    while len(kept.words) > MOST_KEPT:
        kept.words.popitem(last=False)
    return found


async def _instead(
    conn: Connection, place: Place, unknown: Sequence[str], identity: Identity, kept: _Kept
) -> dict[str, list[Option]]:
    """Return for words that are not known what a text has that the identity may read now, the likeliest first."""
    if new := [word for word in unknown if word not in kept.meant]:
        near = await _near(conn, place.workspace, new)
        kept.meant.update(await asyncio.to_thread(_options, new, near))  # thousands are compared
    meant = {word: kept.meant[word] for word in unknown}
    asked = [(word, option) for word, options in meant.items() for _, option in options]
    while len(kept.meant) > MOST_KEPT:
        del kept.meant[next(iter(kept.meant))]
    if not asked:
        return {}
    bound = {
        "workspace": place.workspace,
        "first": [term_of(option[0]) for _, option in asked],
        "second": [term_of(option[-1]) for _, option in asked],
        "side_by_side": [_BETWEEN.join(option) if option[1:] else "" for _, option in asked],
        **reading_as(identity),
    }
    async with planned(conn):
        seen = {asked[number - 1] for (number,) in await _statement(_SEEN_OPTIONS, place).execute(conn, bound)}
    found: dict[str, list[Option]] = {}
    for word, options in meant.items():
        left = [(alike, option) for alike, option in options if (word, option) in seen]
        itself = [option for alike, option in left if alike == ITSELF]
        if told := [*itself, *nearest(left[len(itself) :])]:
            found[word] = told
    return found


def _is_told(word: str, option: Option) -> bool:
    """Whether a reader has to be told: not of the same word without its marks or with another ending."""
    return option[0][0] != "~" and (option[1:] != () or not differ_at_end(word, option[0]))


async def _near(conn: Connection, workspace: int, unknown: Sequence[str]) -> dict[str, set[str]]:
    """Return the known words that begin or end as one of the ``unknown`` does, and those that it may be made of."""
    begin, end = zip(*map(ends_of, unknown), strict=True)
    parts = [f" {' '.join(each for at in _cuts(word) for each in (word[:at], word[at:]))} " for word in unknown]
    bound = {"workspace": workspace, "words": list(unknown), "begin": list(begin), "end": [each[::-1] for each in end]}
    rows = await conn.execute(_NEAR, {**bound, "parts": parts, "most": MOST_NEAR}, prepare=True)
    near: dict[str, set[str]] = {}
    for word, known in await rows.fetchall():
        near.setdefault(word, set()).add(known)
    return near


def _may_be_meant(word: str) -> bool:
    """Whether a word that is not known may be meant for another: a short one only for itself without its marks."""
    return len(word) >= STEM or without_marks(word) != word


def _cuts(word: str) -> range:
    return range(LEAST_LETTERS, len(word) - LEAST_LETTERS + 1)


def _options(unknown: Sequence[str], near: Mapping[str, Collection[str]]) -> dict[str, list[tuple[float, Option]]]:
    """Return how each word may be spelt, and how alike that is: without marks, as two words, and as those near it."""
    options: dict[str, list[tuple[float, Option]]] = {}
    for word in unknown:
        plain, known = without_marks(word), near.get(word, ())
        bare = [(plain,), (f"~{plain}",)] if plain != word else []
        apart = [(word[:at], word[at:]) for at in _cuts(word) if word[:at] in known and word[at:] in known]
        # The word itself is among the known ones where only others may read it.
        others = near_words(word, [each for each in known if each != word])
        options[word] = [*((ITSELF, each) for each in (*bare, *apart)), *((alike, (each,)) for alike, each in others)]
    return options


def _as_expected(options: Sequence[Option]) -> list[tuple[str, float]]:
    """Return the words of options, of which those of the first are expected."""
    return [(word, float(place == 0)) for place, option in enumerate(options) for word in option]


def _is_in_text(*terms: str, beside: str = "true", most: int = MOST_READ) -> str:
    """Return the condition that a text with some terms is there which whoever asks may read."""
    keys = ", ".join(f"{{term_key}}{each}" for each in terms)
    return f"""EXISTS (
        SELECT 1 FROM (SELECT document_id, body FROM {{indexed}} @> ARRAY[{keys}] LIMIT {most}) AS s
            JOIN documents AS d ON d.workspace = {{workspace}} AND d.document_id = s.document_id
        WHERE d.deleted_at IS NULL AND {READABLE} AND {LASTING} AND {beside}
    )"""


# Ordered as the index of words is: where PostgreSQL has not counted a workspace's words yet, it would take any index.
# Where all may be read, as in most libraries, no word is looked for in a text.
_KNOWN = f"""
SELECT l.terms_version, (
    SELECT array_agg(v.word) FROM unnest(%(words)s::text[]) AS w (word) CROSS JOIN LATERAL (
        SELECT * FROM vocabulary AS v WHERE v.workspace = l.workspace AND v.word BETWEEN w.word AND w.word
        ORDER BY v.word
    ) AS v WHERE ((SELECT %(allowed_spaces)s::text[] IS NULL AND NOT EXISTS (
            SELECT 1 FROM documents AS d WHERE d.workspace = {{workspace}} AND d.deleted_at IS NULL AND {LASTING}
                AND (d.owner IS NOT NULL OR d.readers IS NOT NULL)
                AND NOT coalesce(d.readers @> '{{{{everyone}}}}', false) AND {readable("d")} IS NOT TRUE
        )) OR {_is_in_text("v.term", most=MOST_LOOKED_AT)})
) FROM library_statistics AS l WHERE l.workspace = {{workspace}} AND {{here}}
"""
_SIDE_BY_SIDE = "(o.side_by_side = '' OR s.body ~* o.side_by_side)"
_SEEN_OPTIONS = f"""
SELECT o.number::integer FROM unnest(%(first)s::integer[], %(second)s::integer[], %(side_by_side)s::text[])
    WITH ORDINALITY AS o (first, second, side_by_side, number)
WHERE {_is_in_text("o.first", "o.second", beside=_SIDE_BY_SIDE)} AND {{here}}
"""
_NEAR = """
SELECT u.word, near.word FROM unnest(%(words)s::text[], %(begin)s::text[], %(end)s::text[], %(parts)s::text[])
    AS u (word, beginning, ending, parts) CROSS JOIN LATERAL (
    (SELECT v.word FROM vocabulary AS v WHERE v.workspace = %(workspace)s
        AND v.word >= u.beginning AND v.word < u.beginning || chr(1114111)
        AND abs(length(v.word) - length(u.word)) <= 3 ORDER BY v.word LIMIT %(most)s)
    UNION
    (SELECT v.word FROM vocabulary AS v WHERE v.workspace = %(workspace)s
        AND reverse(v.word) COLLATE "C" >= u.ending AND reverse(v.word) COLLATE "C" < u.ending || chr(1114111)
        AND abs(length(v.word) - length(u.word)) <= 3 ORDER BY reverse(v.word) COLLATE "C" LIMIT %(most)s)
    UNION
    SELECT v.word FROM unnest(string_to_array(trim(u.parts), ' ')) AS p (word) CROSS JOIN LATERAL (
        SELECT * FROM vocabulary AS v
        WHERE v.workspace = %(workspace)s AND v.word BETWEEN p.word AND p.word ORDER BY v.word
    ) AS v
) AS near
"""


def _statement(template: str, place: Place) -> Statement:
    return _built(template, place.workspace if place.own else None, place.parts)


@lru_cache(maxsize=512)
def _built(template: str, own: int | None, parts: int) -> Statement:
    tables = ReadTables.of(own, parts)
    slots = {"indexed": tables.indexed, "term_key": tables.term_key, "workspace": tables.workspace, "here": tables.here}
    return numbered(template.format(**slots))
