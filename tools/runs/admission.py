"""Admission control: how many runs a process answers at once, how many wait in line, and when to refuse more."""

import asyncio
from collections.abc import Callable

from graph.errors import Overloaded

OnPlaceChange = Callable[[int], None]


class Admission:
    """Slots for runs, given in the order in which they were asked for.

    A run that waits is counted from the moment it is let in, be it that it waits for its session before it asks for a
    slot.
    """

    def __init__(self, max_active: int, max_waiting: int) -> None:
        self._max_active = max_active
        self._max_waiting = max_waiting
        self._active = 0
        self.waiting = 0
        self._line: list[tuple[asyncio.Future[None], OnPlaceChange]] = []

    @property
    def room(self) -> int:
        """How many more runs could begin now."""
        return max(0, self._max_active - self._active - len(self._line))

    @property
    def next_place(self) -> int:
        """The place in the line of whoever asks for a slot now, counted from 1."""
        return len(self._line) + 1

    def let_in(self) -> bool:
        """Take a slot if one is free (True), or else a place among those that wait (False).

        Raises Overloaded where neither is left.
        """
        if self.room:
            self._active += 1
            return True
        self._wait()
        return False

    def let_in_beyond(self, *, begun: bool) -> None:
        """Let a run in whether there is room or not: one that another process had let in."""
        if begun:
            self._active += 1
        else:
            self.waiting += 1

    def wait_instead(self) -> None:
        """Give the slot of a run back that has to wait after all. Raises Overloaded where no more may wait."""
        self._wait()
        self.leave()

    async def enter(self, moved: OnPlaceChange) -> None:
        """Wait for a slot; ``moved`` is told the place in the line, counted from 1, whenever that changes."""
        if self.room:
            self._active += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        place = (turn, moved)
        self._line.append(place)
        moved(len(self._line))
        try:
            await turn
        except asyncio.CancelledError:
            if place in self._line:
                self._line.remove(place)
                self._tell_places()
            else:
                self.leave()  # the slot had come at the same moment
            raise

    def leave(self) -> None:
        """Give a slot back; the first in the line has it next."""
        self._active -= 1
        while self._line and self._active < self._max_active:
            turn, _ = self._line.pop(0)
            if not turn.done():
                self._active += 1
                turn.set_result(None)
        self._tell_places()

    def wait_no_more(self) -> None:
        """Count a run no longer among those that wait."""
        self.waiting -= 1

    def _wait(self) -> None:
        if self.waiting >= self._max_waiting:
            raise Overloaded(f"{self._active} runs are going and {self.waiting} wait; this process takes no more.")
        self.waiting += 1

    def _tell_places(self) -> None:
        for place, (_, moved) in enumerate(self._line, start=1):
            moved(place)
