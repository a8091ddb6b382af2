"""Admission control: limits on how many runs a process answers at once and how many may wait."""

import asyncio
from collections.abc import Callable

from graph.errors import Overloaded

OnMove = Callable[[int], None]


class Admission:
    """Slots for runs, handed out in the order of the requests.

    A waiting run is counted from the moment it is admitted, even while it waits for its session and has not yet asked
    for a slot.
    """

    def __init__(self, max_active: int, max_waiting: int) -> None:
        self._max_active = max_active
        self._max_waiting = max_waiting
        self._active = 0
        self.waiting = 0
        self._line: list[tuple[asyncio.Future[None], OnMove]] = []

    @property
    def room(self) -> int:
        """The number of runs that could start now."""
        return max(0, self._max_active - self._active - len(self._line))

    @property
    def next_position(self) -> int:
        """The position in the line that the next request for a slot would get, counted from 1."""
        return len(self._line) + 1

    def admit(self) -> bool:
        """Take a free slot and return True, or count the run as waiting and return False.

        Raises Overloaded where there is no slot and no more runs may wait.
        """
        if self.room:
            self._active += 1
            return True
        self._wait()
        return False

    def admit_taken_over(self, *, begun: bool) -> None:
        """Admit a run that another process had already admitted, whether there is room or not."""
        if begun:
            self._active += 1
        else:
            self.waiting += 1

    def move_to_waiting(self) -> None:
        """Release the slot of a run that has to wait after all. Raises Overloaded where no more may wait."""
        self._wait()
        self.release()

    async def acquire(self, on_move: OnMove) -> None:
        """Wait for a slot; ``on_move`` is called with the position in the line, counted from 1, whenever it changes."""
        if self.room:
            self._active += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiter = (turn, on_move)
        self._line.append(waiter)
        on_move(len(self._line))
        try:
            await turn
        except asyncio.CancelledError:
            if waiter in self._line:
                self._line.remove(waiter)
                self._report_positions()
            else:
                self.release()  # the slot was granted at the same moment
            raise

    def release(self) -> None:
        """Release a slot to the first in the line."""
        self._active -= 1
        while self._line and self._active < self._max_active:
            turn, _ = self._line.pop(0)
            if not turn.done():
                self._active += 1
                turn.set_result(None)
        self._report_positions()

    def stop_waiting(self) -> None:
        """Stop counting a run as waiting."""
        self.waiting -= 1

    def _wait(self) -> None:
        if self.waiting >= self._max_waiting:
            raise Overloaded(
                f"{self._active} runs are active and {self.waiting} are waiting; this process accepts no more."
            )
        self.waiting += 1

    def _report_positions(self) -> None:
        for position, (_, on_move) in enumerate(self._line, start=1):
            on_move(position)
