"""How many runs a process answers at once: those on top wait in line, and beyond that line they are refused."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from graph.errors import Overloaded

Moved = Callable[[int], None]


class Admission:
    """Slots for runs, given in the order in which they were asked for."""

    def __init__(self, max_active: int, max_waiting: int) -> None:
        self._max_active = max_active
        self._max_waiting = max_waiting
        self._active = 0
        self._line: list[tuple[asyncio.Future[None], Moved]] = []
        self._elsewhere = 0  # runs that wait for their session before they ask for a slot

    @property
    def room(self) -> int:
        """How many more runs could begin now."""
        return max(0, self._max_active - self._active - len(self._line))

    @property
    def waiting(self) -> int:
        """How many runs wait, for a slot or for their session."""
        return len(self._line) + self._elsewhere

    def refuse_when_full(self) -> None:
        """Raise Overloaded where neither a slot nor a place in the line is left."""
        if self.room == 0 and self.waiting >= self._max_waiting:
            raise Overloaded(f"{self._active} runs are going and {self.waiting} wait; this process takes no more.")

    def try_enter(self) -> bool:
        """Take a slot if one is free and nobody waits for it."""
        if self._active >= self._max_active or self._line:
            return False
        self._active += 1
        return True

    async def enter(self, moved: Moved) -> None:
        """Wait for a slot; ``moved`` is told the place in the line, counted from 1, whenever that changes."""
        if self.try_enter():
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

    def enter_beyond(self) -> None:
        """Take a slot whether one is free or not, for a run that another process had begun."""
        self._active += 1

    @contextmanager
    def waiting_elsewhere(self) -> Iterator[None]:
        """Count a run that waits for its session before it asks for a slot."""
        self._elsewhere += 1
        try:
            yield
        finally:
            self._elsewhere -= 1

    def _tell_places(self) -> None:
        for place, (_, moved) in enumerate(self._line, start=1):
            moved(place)
