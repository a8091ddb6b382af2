"""Search one's own history by what was asked and answered, and by titles.

Words are compared without case and accents, from their beginning; Chinese, Japanese and Korean by any part. What of an
answer its reader may no longer read is not found, and not shown.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from psycopg.rows import dict_row
from typing_extensions import TypedDict

from graph.evidence import Identity
from text.late_patterns import late_pattern
from tools.retrieval.withholding import documents_of, find_unreadable, hidden_in, withhold
from tools.sessions.session_rows import SESSION_COLUMNS, Session
from tools.storage.database import Connection

MESSAGES_READ = 4  # of a session that match, the newest
BEFORE, AFTER = 40, 120  # characters of an excerpt around what was found
LONGEST_TITLE = 255
_FIELDS = [field.name for field in fields(Session)]
_FOUND = f"""
SELECT {SESSION_COLUMNS}, coalesce(array_to_tsvector(history_words(title)) @@ asked.said, false) AS titled, (
    SELECT coalesce(json_agg(json_build_object('message_id', m.message_id, 'role', m.role, 'content', m.content,
                                               'body', m.body) ORDER BY m.created_at DESC), '[]')
    FROM (
        SELECT message_id, role, content, body, created_at FROM messages
        WHERE messages.session_id = sessions.session_id AND words @@ asked.said
        ORDER BY created_at DESC LIMIT {MESSAGES_READ}
    ) AS m
) AS messages
FROM sessions CROSS JOIN (SELECT history_query(%(query)s) AS said) AS asked
WHERE workspace = %(workspace)s AND "user" = %(user)s AND NOT ephemeral
  AND (%(before)s::timestamptz IS NULL OR updated_at < %(before)s
       OR updated_at = %(before)s AND session_id > %(after_id)s::uuid)
  AND (array_to_tsvector(history_words(title)) @@ asked.said
       OR session_id IN (SELECT messages.session_id FROM messages WHERE words @@ asked.said))
ORDER BY updated_at DESC, sessions.session_id LIMIT %(limit)s
"""
_DENSE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"  # scripts that are searched by any part
_WORD = late_pattern(rf"[{_DENSE}]+|[^\W_{_DENSE}]+")
_IS_DENSE = late_pattern(f"[{_DENSE}]")


class SessionHit(TypedDict):
    """Where in a session something was found: a part of a message, in which it stands from ``start`` to ``end``."""

    session_id: str
    message_id: str
    role: Literal["user", "assistant"]
    excerpt: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session in which something was found: in its title, or in a message, which is the hit."""

    session: Session
    hit: SessionHit | None


async def search_history(
    connection: Connection, row: dict[str, Any], identity: Identity, query: str
) -> tuple[list[FoundSession], Session | None]:
    """Return what of a page of sessions has all words of a query, last used first, and the last session of a full page.

    ``row`` holds the owner, the place where the page begins, and ``limit``.
    """
    async with connection.cursor(row_factory=dict_row) as cursor:
        values = {**row, "query": query, "limit": row["limit"] + 1}
        found = await (await cursor.execute(_FOUND.encode(), values)).fetchall()
    shown = found[: row["limit"]]
    cited = {each for one in shown for message in one["messages"] for each in documents_of(message["body"])}
    refused, gone = await find_unreadable(connection, row["workspace"], identity, cited)
    words = _WORD.findall(_folded(query)[0])
    kept = []
    for each in shown:
        session = _session(each)
        texts = [(message, _readable(message, refused, gone)) for message in each["messages"]]
        hits = (_hit(session.session_id, message, text, words) for message, text in texts)
        hit = next((hit for hit in hits if hit is not None), None)
        if each["titled"] or hit is not None:
            kept.append(FoundSession(session, hit))
    return kept, _session(shown[-1]) if len(found) > len(shown) else None


def _session(row: dict[str, Any]) -> Session:
    return Session(**{name: row[name] for name in _FIELDS})


def _readable(message: dict[str, Any], refused: set[str], gone: set[str]) -> str:
    """Return what of a message its owner may read today."""
    hidden = hidden_in(message["body"], refused, gone)
    return str(withhold(message["body"], hidden).get("answer", "") if hidden else message["content"])


def _hit(session_id: str, message: dict[str, Any], text: str, words: Sequence[str]) -> SessionHit | None:
    """Return the part of a text where the first of the words stands; None where it lacks one of them."""
    folded, places = _folded(text)
    found = [_find(folded, word) for word in words]
    if not found or any(place < 0 for place in found):
        return None
    first = found[0]
    start, end = places[first], places[first + len(words[0]) - 1] + 1
    begin = max(0, start - BEFORE)
    cut = text[begin : end + AFTER]
    lead = "…" if begin else ""
    rest = "…" if end + AFTER < len(text) else ""
    return SessionHit(
        session_id=session_id,
        message_id=message["message_id"],
        role=message["role"],
        excerpt=f"{lead}{cut}{rest}",
        start=len(lead) + start - begin,
        end=len(lead) + end - begin,
    )


def _find(folded: str, word: str) -> int:
    """Return where a word begins in a folded text; one of a script without spaces may begin anywhere."""
    before = "" if _IS_DENSE.match(word) else rf"(?<![^\W_{_DENSE}])"
    found = re.search(before + re.escape(word), folded)
    return found.start() if found else -1


def _folded(text: str) -> tuple[str, list[int]]:
    """Return a text in small letters without accents, and for each of its letters its place in the text."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        if letter.isascii():
            plain = letter.lower()
        else:
            parts = unicodedata.normalize("NFKD", letter.lower())
            bare = "".join(part for part in parts if not "\u0300" <= part <= "\u036f")
            plain = unicodedata.normalize("NFC", bare).replace("đ", "d")
        letters += plain
        places += [place] * len(plain)
    return "".join(letters), places
