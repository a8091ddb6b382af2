"""Stored messages as somebody may see them today, and what a process keeps of them for the next reading.

What was said never changes once it is stored. Of a message that was sent before, the bytes that were sent are kept, and
neither its body is read again nor decoded. What does change is looked up each time: who may read a document, and
whether the quotes are where they were.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic_core import from_json

from graph.evidence import Identity
from tools.retrieval.segment_store import SegmentStore
from tools.retrieval.withholding import brought_in, documents_of, withhold
from tools.sessions.freshness import Checked, call_fresh, check_freshness, cited_segments
from tools.sessions.history import BranchMessage, StoredMessage
from tools.storage.database import Connection, Database

Encode = Callable[[StoredMessage], bytes]
MOST_BYTES = 16_000_000
_NOTHING: frozenset[str] = frozenset()
_PARSED_BYTES = 2  # of memory for a character of JSON
_OTHER_BYTES = 1500  # of memory for the ids of a message and of what it cites
_MESSAGES = """
SELECT message_id::text, xmin::text, run_id::text, parent_message_id::text, role, content, body::text, outcome,
       stop_reason, created_at
FROM messages WHERE message_id = ANY(%s::uuid[])
"""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A message as a wire format sends it, where its quotes are fresh and nothing is withheld."""

    encode: Encode
    place: BranchMessage
    text: bytes


@dataclass(frozen=True, slots=True)
class KnownMessage:
    """What is known of a stored message. Its ``message`` calls all citations fresh, and all who read it share it.

    ``documents`` are those that it shows something of, and ``brought`` those of them that its run stored for its asker.
    ``segments`` are those that it quotes, and ``fresh_in`` is their fingerprint when all quotes were last found to be
    fresh. ``size`` is that of the body, in characters of JSON.
    """

    message_id: str
    version: str
    run_id: str | None
    stop_reason: str | None
    created_at: datetime
    documents: frozenset[str]
    brought: frozenset[str]
    segments: tuple[str, ...]
    size: int
    message: StoredMessage | None
    fresh_in: bytes | None = None
    encoded: Encoded | None = None

    @property
    def memory(self) -> int:
        """The bytes that it takes in memory, about."""
        parsed = 0 if self.message is None else self.size * _PARSED_BYTES
        return parsed + (0 if self.encoded is None else len(self.encoded.text)) + _OTHER_BYTES

    def serves(self, place: BranchMessage, encode: Encode | None) -> bool:
        """Whether a reader needs no more of it than this, if its quotes are fresh and nothing is to be withheld."""
        if self.version != place.version:
            return False
        return self.message is not None or self.encoded_as(place, encode) is not None

    def hidden(self, refused: Collection[str], gone: Collection[str]) -> frozenset[str]:
        """Return the documents that are to be withheld of it; see ``tools.retrieval.withholding.hidden_in``."""
        return self.documents & {*refused, *(set(gone) - self.brought)} if refused or gone else _NOTHING

    def encoded_as(self, place: BranchMessage, encode: Encode | None) -> bytes | None:
        """Return what was sent of it, if that was in the same wire format and is still what is to be sent."""
        kept = self.encoded
        return kept.text if kept is not None and (kept.encode, kept.place) == (encode, place) else None


class RecentMessages:
    """What is known of the messages that were read last, in ``most`` bytes of memory, about."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._messages: OrderedDict[str, KnownMessage] = OrderedDict()
        self._memory = 0

    def of(self, message_ids: Iterable[str]) -> dict[str, KnownMessage]:
        """Return what is known of some messages, by their ids."""
        return {each: self._messages[each] for each in message_ids if each in self._messages}

    def keep(self, messages: Iterable[KnownMessage]) -> None:
        """Keep messages, of which the last are the last to go, and drop those that were not read for longest."""
        for message in messages:
            before = self._messages.pop(message.message_id, None)
            self._memory += message.memory - (0 if before is None else before.memory)
            self._messages[message.message_id] = message
        while self._memory > self._most:
            self._memory -= self._messages.popitem(last=False)[1].memory

    def forget(self, message_ids: Iterable[str]) -> None:
        """Drop what is known of some messages."""
        for each in message_ids:
            message = self._messages.pop(each, None)
            if message is not None:
                self._memory -= message.memory


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """A message of a branch, its body with the freshness of each citation, and the documents to be withheld of it.

    The body is None where all that was asked for is what was sent before.
    """

    place: BranchMessage
    known: KnownMessage
    body: dict[str, Any] | None
    hidden: Collection[str]

    def shown(self, *, also: Collection[int] = ()) -> StoredMessage:
        """Return the message without what is to be withheld, and without the text of some more sections."""
        assert self.known.message is not None
        assert self.body is not None
        message, body = self.known.message, withhold(self.body, self.hidden, also=also)
        return replace(
            message,
            content=body.get("answer", message.content),
            body=body,
            versions=self.place.versions,
            feedback=self.place.feedback,
        )

    def encoded(self, encode: Encode) -> tuple[bytes, KnownMessage]:
        """Return the message as a wire format sends it, and what is to be known of it from now on."""
        message = self.known.message
        if self.hidden or (message is not None and self.body is not message.body):
            return encode(self.shown()), self.known
        sent = self.known.encoded_as(self.place, encode)
        if sent is not None:
            return sent, self.known
        text = encode(self.shown())
        return text, replace(self.known, message=None, encoded=Encoded(encode, self.place, text))


class MessageReader:
    """Reads messages of sessions, and keeps in memory what the next reader needs of them."""

    def __init__(self, database: Database, segments: SegmentStore) -> None:
        self._database = database
        self._segments = segments
        self.recent = RecentMessages()

    async def read(
        self, connection: Connection, places: Sequence[BranchMessage], encode: Encode | None = None
    ) -> list[tuple[BranchMessage, KnownMessage]]:
        """Read messages, those that are not known from the database; deleted ones are left out.

        With ``encode`` the bodies of messages that were sent in that wire format before are left where they are.
        """
        known = self.recent.of(place.message_id for place in places)
        unread = [
            place.message_id
            for place in places
            if place.message_id not in known or not known[place.message_id].serves(place, encode)
        ]
        if unread:
            known |= await _fetch(connection, unread, known)
        return [(place, known[place.message_id]) for place in places if place.message_id in known]

    async def check(
        self,
        found: Sequence[tuple[BranchMessage, KnownMessage]],
        refused: Collection[str],
        gone: Collection[str],
        viewer: Identity,
    ) -> list[ReadMessage]:
        """Look up the quotes of messages in today's text.

        ``refused`` and ``gone`` are the documents that ``find_unreadable`` returns for all that they show.
        """
        proven = await self._proven([known for _, known in found], viewer)
        without = {
            known.message_id: known
            for _, known in found
            if known.message is None and (known.message_id not in proven or known.hidden(refused, gone))
        }
        if without:
            async with self._database.connection() as connection:
                whole = await _fetch(connection, list(without), without)
            found = [
                (place, whole.get(known.message_id, known))
                for place, known in found
                if known.message_id in whole or known.message_id not in without
            ]
        unproven = {
            known.message_id: known.message.body
            for _, known in found
            if known.message is not None and known.message_id not in proven
        }
        checked = dict(
            zip(unproven, await check_freshness(list(unproven.values()), self._segments, viewer), strict=True)
        )
        return [
            _as_read(place, known, checked.get(known.message_id), known.hidden(refused, gone)) for place, known in found
        ]

    async def _proven(self, known: Sequence[KnownMessage], viewer: Identity) -> set[str]:
        """Return the messages that quote nothing, or whose segments are as they were when all quotes were fresh."""
        proven = {each.message_id for each in known if not each.segments}
        before = [each for each in known if each.fresh_in is not None]
        today = await self._segments.fingerprints([each.segments for each in before], viewer) if before else []
        return proven | {each.message_id for each, now in zip(before, today, strict=True) if each.fresh_in == now}


def _as_read(place: BranchMessage, known: KnownMessage, checked: Checked | None, hidden: frozenset[str]) -> ReadMessage:
    if checked is None:
        return ReadMessage(place, known, None if known.message is None else known.message.body, hidden)
    if known.fresh_in != checked.fingerprint:
        known = replace(known, fresh_in=checked.fingerprint)
    return ReadMessage(place, known, checked.body, hidden)


async def _fetch(
    connection: Connection, message_ids: Sequence[str], before: Mapping[str, KnownMessage]
) -> dict[str, KnownMessage]:
    """Read messages with their bodies; what is known of those that were not written anew meanwhile stays known."""
    found: dict[str, KnownMessage] = {}
    for row in await (await connection.execute(_MESSAGES, [list(message_ids)])).fetchall():
        message_id, version, run_id, parent, role, content, text, outcome, stop_reason, created_at = row
        body = from_json(text)
        call_fresh(body)
        message = StoredMessage(
            message_id=message_id,
            run_id=run_id,
            parent_message_id=parent,
            role=role,
            content=content,
            body=body,
            outcome=outcome,
            stop_reason=stop_reason,
            created_at=created_at,
        )
        of = before.get(message_id)
        found[message_id] = (
            replace(of, message=message)
            if of is not None and of.version == version
            else KnownMessage(
                message_id=message_id,
                version=version,
                run_id=run_id,
                stop_reason=stop_reason,
                created_at=created_at,
                documents=frozenset(documents_of(body)),
                brought=frozenset(brought_in(body)),
                segments=cited_segments(body),
                size=len(text),
                message=message,
            )
        )
    return found
