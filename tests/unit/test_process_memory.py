"""A process that serves has one heap for all its threads, unless whoever started it has set glibc's own variables."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has a heap for each thread")

HEAPS = """
import ctypes, threading
from cli.process_memory import share_heap

share_heap()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
together = threading.Barrier(8)

def allocate():
    together.wait()
    libc.malloc(10_000)
    together.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for each in threads:
    each.start()
for each in threads:
    each.join()
libc.fdopen.restype = ctypes.c_void_p
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.fflush.argtypes = [ctypes.c_void_p]
out = libc.fdopen(1, b"w")
libc.malloc_info(0, out)
libc.fflush(out)
"""


@pytest.mark.parametrize(("variables", "several"), [({}, False), ({"MALLOC_ARENA_MAX": "8"}, True)])
def test_threads_share_one_heap_unless_the_environment_says_otherwise(variables: dict[str, str], several: bool) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")}
    told = subprocess.run(
        [sys.executable, "-c", HEAPS],
        env=kept | variables,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (told.stdout.count("<heap nr=") > 1) is several
