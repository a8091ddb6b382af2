"""How much of the processor a process takes while others want it."""

import os
from contextlib import suppress
from pathlib import Path

NICENESS = 10  # a tenth of what another process gets
SESSION_NICENESS = 6  # a quarter of what another session gets, of which a busy machine has many


def give_way(process: int | None = None) -> None:
    """Let others go before a process, this one unless named, that leads a session, and before what it will start.

    Where Linux shares the processor between sessions first (autogroups), niceness alone counts within one session.
    """
    process = process or os.getpid()
    own = os.getpriority(os.PRIO_PROCESS, process)  # to lower a higher one takes a right
    os.setpriority(os.PRIO_PROCESS, process, max(own, NICENESS))
    with suppress(OSError):  # not Linux, or without autogroups
        Path(f"/proc/{process}/autogroup").write_text(str(SESSION_NICENESS), encoding="ascii")
