"""A library that changes under the load: documents go in and out, and what is there in the end is compared."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from bench.corpus import BenchDocument, Corpus
from bench.soak.readers import GaveUp, Readers

SEED = 23
LIVING = 25
PAUSE_SECONDS = 2.0
JOB_SECONDS = 180.0


@dataclass(slots=True)
class DocumentsChurn:
    """Puts a document in every few seconds and deletes the oldest; ``present`` are those that have to be there.

    ``unknown`` are those whose last request nobody answered, so that they may be there or not.
    """

    readers: Readers
    present: list[str] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    stored: int = 0
    deleted: int = 0
    refused: list[str] = field(default_factory=list)
    _documents: Iterator[BenchDocument] = field(default_factory=lambda: Corpus(SEED).documents(100_000))

    async def churn(self) -> None:
        """Go on until cancelled."""
        for _ in count():
            await self._put(next(self._documents))
            if len(self.present) > LIVING:
                await self._delete(self.present.pop(0))
            await asyncio.sleep(PAUSE_SECONDS)

    async def compare(self) -> list[str]:
        """Return what the library has too much of or too little, of the documents put in here."""
        found: set[str] = set()
        query = {"limit": "100", "title": "soaked"}
        while True:
            page = (await self.readers.insist("GET", "/api/documents", params=query)).json()
            found |= {each["document_id"] for each in page["documents"]}
            if page["next_cursor"] is None:
                break
            query["cursor"] = page["next_cursor"]
        lost = set(self.present) - found
        extra = found - set(self.present) - self.unknown
        return [*(f"document {each} is lost" for each in lost), *(f"document {each} is still there" for each in extra)]

    async def _put(self, document: BenchDocument) -> None:
        self.unknown.add(document.document_id)
        body = {"text": document.text, "title": f"soaked {document.title}"}
        try:
            reply = await self.readers.insist("PUT", f"/api/documents/{document.document_id}", json=body)
            if reply.status_code == 202 and not await self._job_ends(reply.headers["location"]):
                self.refused.append(document.document_id)
                return
        except GaveUp:
            return
        self.unknown.discard(document.document_id)
        self.present.append(document.document_id)
        self.stored += 1

    async def _job_ends(self, path: str) -> bool:
        async with asyncio.timeout(JOB_SECONDS):
            while True:
                job = (await self.readers.insist("GET", path)).json()["job"]
                if job["state"] in ("finished", "cancelled"):
                    return bool(job["counts"]["stored"] + job["counts"]["unchanged"])
                await asyncio.sleep(1)

    async def _delete(self, document_id: str) -> None:
        self.unknown.add(document_id)
        try:
            await self.readers.insist("DELETE", f"/api/documents/{document_id}")
        except GaveUp:
            return
        self.unknown.discard(document_id)
        self.deleted += 1
