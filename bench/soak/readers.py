"""Clients of the deployment: they ask, read, lose their connection, come back, cancel, and check what they read."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx

from bench.paced_model import PACED
from bench.soak.run_check import ENDS, RunCheck

PATIENCE_SECONDS = 240.0  # for the end of a run, whatever goes wrong meanwhile
SILENCE_SECONDS = 20.0  # a stream without even a ping is given up and joined again
TURNS = 6  # questions of a session
SESSIONS = 60  # in use at a time
WITH_MODEL, CANCELLED, CUT, LEFT = 0.2, 0.05, 0.1, 0.02  # shares of runs
TRIES = 6
NOT_THE_END = "database_unavailable"  # a reader is told so while the run goes on elsewhere


@dataclass(frozen=True, slots=True)
class Read:
    """What a client saw of a run whose end it read."""

    seq: int
    digest: bytes
    end: str
    withheld: bool


@dataclass(slots=True)
class Readers:
    """Everything that clients did and saw. ``faults`` are breaks of a promise, each with its run."""

    urls: Sequence[str]
    questions: Sequence[str]
    random: random.Random
    read: dict[str, Read] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    in_flight: int = 0
    seconds: list[float] = field(default_factory=list)
    _sessions: list[tuple[str, int]] = field(default_factory=list)
    _open: set[anyio.CancelScope] = field(default_factory=set)
    _background: set[asyncio.Task[None]] = field(default_factory=set)
    _client: httpx.AsyncClient = field(init=False)

    def __post_init__(self) -> None:
        """Open the client."""
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        self._client = httpx.AsyncClient(trust_env=False, timeout=httpx.Timeout(SILENCE_SECONDS), limits=limits)

    async def close(self) -> None:
        """Close the client, once what it sends in the background has been answered."""
        await asyncio.gather(*self._background)
        await self._client.aclose()

    def cut_all(self) -> int:
        """Break off every stream that is open; return how many."""
        scopes = list(self._open)
        for scope in scopes:
            scope.cancel()
        return len(scopes)

    async def ask(self) -> None:
        """Ask one question and follow it to its end."""
        self.in_flight += 1
        began = time.monotonic()
        try:
            session_id, turns = await self._session()
            check = RunCheck()
            if await self._post(session_id, check):
                await self._follow(check)
                self._record(check, time.monotonic() - began)
            if turns + 1 < TURNS and len(self._sessions) < SESSIONS and check.end:
                self._sessions.append((session_id, turns + 1))
        except GaveUp as reason:
            self.refusals[str(reason)] += 1
        finally:
            self.in_flight -= 1

    async def _session(self) -> tuple[str, int]:
        if self._sessions and self.random.random() < 0.6:
            return self._sessions.pop(self.random.randrange(len(self._sessions)))
        reply = await self.insist("POST", "/api/sessions", json={})
        return str(reply.json()["session_id"]), 0

    async def insist(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Send a request until a server takes it; what it asks may be done twice. Raises GaveUp."""
        reason = ""
        for attempt in range(TRIES):
            try:
                reply = await self._client.request(method, self._any() + path, **request)
                if reply.is_success or reply.status_code == 404:
                    return reply
                reason = await _refusal(method, reply)
                if reply.status_code not in (429, 500, 502, 503, 504):
                    break
            except httpx.HTTPError as error:
                reason = f"{method} without a reply: {type(error).__name__}"
            await asyncio.sleep(min(8.0, 0.5 * 2**attempt))
        raise GaveUp(reason)

    async def _post(self, session_id: str, check: RunCheck) -> bool:
        """Ask, and read the answer as far as the connection goes; return whether a run is known of."""
        body: dict[str, Any] = {"question": self.random.choice(self.questions), "while_running": "enqueue"}
        leaves = self.random.random() < LEFT
        body["on_disconnect"] = "cancel" if leaves else "continue"
        if self.random.random() < WITH_MODEL:
            body["model"] = PACED
        stops_at = self.random.randrange(2, 12) if leaves or self.random.random() < CUT else 0
        for attempt in range(TRIES):
            self.counts["questions sent"] += 1
            taken, reason = await self._read(
                "POST", f"/api/sessions/{session_id}/runs", check, json=body, stops_at=stops_at
            )
            if taken:
                break
            self.refusals[reason] += 1
            await asyncio.sleep(min(4.0, 0.5 * 2**attempt))
        if leaves and check.run_id and not check.end:
            self.left.add(check.run_id)
            self.counts["readers that left"] += 1
            return False
        return bool(check.run_id)

    async def _follow(self, check: RunCheck) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not check.end and time.monotonic() < until:
            self.counts["streams joined again"] += 1
            headers = {"Last-Event-ID": f"{check.run_id}:{check.seq}"}
            taken, reason = await self._read("GET", f"/api/runs/{check.run_id}/stream", check, headers=headers)
            if not taken:
                self.refusals[reason] += 1
                await asyncio.sleep(0.5)

    def _record(self, check: RunCheck, seconds: float) -> None:
        self.faults += [f"{check.run_id}: {fault}" for fault in check.faults]
        if not check.end:
            self.faults.append(f"{check.run_id}: no end within {PATIENCE_SECONDS:.0f} s")
            return
        if check.run_id in self.read:
            self.faults.append(f"{check.run_id}: two questions became one run")
        self.read[check.run_id] = Read(check.seq, check.digest(), check.end, check.withheld)
        self.counts[f"ended {check.end}"] += 1
        self.counts["resumed after a crash"] += bool(check.resumed)
        self.seconds.append(seconds)

    async def _read(
        self, method: str, path: str, check: RunCheck, *, stops_at: int = 0, **request: Any
    ) -> tuple[bool, str]:
        """Read a stream until it ends, breaks off, or is cut; return whether the server took the request, else why."""
        taken, rejoined = False, method == "GET"
        with anyio.CancelScope() as scope:
            self._open.add(scope)
            try:
                async with self._client.stream(method, self._any() + path, **request) as reply:
                    if reply.status_code == 204:
                        check.faults.append(f"nothing after event {check.seq}, which is no end")
                        check.end = "lost"
                        return True, ""
                    if not reply.is_success:
                        return False, await _refusal(method, reply)
                    taken = True
                    async for kind, event in _frames(reply):
                        if kind == "run_failed" and event["code"] == NOT_THE_END and await self._goes_on(event):
                            self.counts["readers told that the database is away"] += 1
                            return True, ""
                        check.run_id = check.run_id or str(event["run_id"])
                        check.add(kind, event, rejoined=rejoined)
                        rejoined = False
                        await self._meddle(check)
                        if stops_at and check.seq >= stops_at and kind not in ENDS:
                            return True, ""
            except httpx.HTTPError as error:
                return taken, f"{method} without a reply: {type(error).__name__}"
            finally:
                self._open.discard(scope)
        return taken or scope.cancelled_caught, f"{method} cut off"

    async def _meddle(self, check: RunCheck) -> None:
        """Cancel a few of the runs, through whichever server."""
        if check.seq == 4 and self.random.random() < CANCELLED:
            self.counts["cancels sent"] += 1
            self._later(self.insist("POST", f"/api/runs/{check.run_id}/cancel"))

    def _later(self, request: Awaitable[object]) -> None:
        async def send() -> None:
            try:
                await request
            except GaveUp as reason:
                self.refusals[f"cancel: {reason}"] += 1

        task = asyncio.create_task(send())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _goes_on(self, event: Mapping[str, Any]) -> bool:
        """Return whether a run that a reader was told has failed is still being answered."""
        try:
            reply = await self.insist("GET", f"/api/runs/{event['run_id']}")
        except GaveUp:
            return True
        return bool(reply.json()["status"] != "finished")

    def _any(self) -> str:
        return self.random.choice(self.urls)


class GaveUp(Exception):
    """A request that no server took."""


async def _refusal(method: str, reply: httpx.Response) -> str:
    try:
        code = json.loads(await reply.aread()).get("code", reply.status_code)
    except ValueError:
        code = reply.status_code
    return f"{method} refused with {code}"


async def _frames(reply: httpx.Response) -> AsyncIterator[tuple[str, Mapping[str, Any]]]:
    kind = ""
    async for line in reply.aiter_lines():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))


@asynccontextmanager
async def reading(urls: Sequence[str], questions: Sequence[str], seed: int) -> AsyncIterator[Readers]:
    """Open the clients."""
    readers = Readers(urls, questions, random.Random(seed))
    try:
        yield readers
    finally:
        await readers.close()
