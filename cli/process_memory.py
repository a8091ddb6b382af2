"""What a process that lives long does about its memory: one heap for its threads, and fewer collections of garbage."""

import ctypes
import gc
import os

M_ARENA_MAX = -8  # of glibc's malloc.h
NEW_OBJECTS = 10_000  # between two collections of the youngest generation


def share_heap() -> None:
    """Make all threads allocate from one heap. Call it before they start; only glibc has more than one.

    In a heap of its own, what a thread has freed waits for that thread: it may be a tenth of the process. Whoever sets
    glibc's own variables has decided otherwise.
    """
    if "MALLOC_ARENA_MAX" in os.environ or "GLIBC_TUNABLES" in os.environ:
        return
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(M_ARENA_MAX, 1)


def collect_less() -> None:
    """Exclude the current objects from garbage collection, and collect less often.

    A quarter of a million objects exist from start to end; scanning them all would pause every stream for a tenth of a
    second. And reading one long session makes a hundred thousand.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
