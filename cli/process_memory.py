"""What a process that lives long does about its memory: how it allocates, and how often it collects garbage."""

import ctypes
import gc
import os

M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD = -8, -3, -1  # of glibc's malloc.h
LARGE_BYTES, KEPT_BYTES = 1 << 20, 8 << 20  # of a block that gets pages of its own; of freed memory at the heap's end
NEW_OBJECTS = 10_000  # between two collections of the youngest generation


def share_heap() -> None:
    """Make all threads allocate from one heap, and large blocks apart. Call it before they start; only glibc needs it.

    In a heap of its own, what a thread has freed waits for that thread: it may be a tenth of the process. In any heap,
    what a file of 20 MB took stays with the process while something small stands behind it. Whoever sets glibc's own
    variables has decided otherwise.
    """
    if "MALLOC_ARENA_MAX" in os.environ or "GLIBC_TUNABLES" in os.environ:
        return
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(M_ARENA_MAX, 1)
        set_option(M_MMAP_THRESHOLD, LARGE_BYTES)
        set_option(M_TRIM_THRESHOLD, KEPT_BYTES)


def collect_less() -> None:
    """Exclude the current objects from garbage collection, and collect less often.

    A quarter of a million objects exist from start to end; scanning them all would pause every stream for a tenth of a
    second. And reading one long session makes a hundred thousand.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
