"""Regular expressions that are compiled when they are first used.

Python compiles them in Python: one with the ranges of several scripts takes milliseconds, all of ours half a second. A
command tries few of them, and a server needs none until it is asked something.
"""

import re
from typing import Any, cast


def late_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern whose methods cost what those of ``re`` do from their first use on."""
    return cast("re.Pattern[str]", _LatePattern(pattern, flags))


class _LatePattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:  # only where the instance does not have it yet
        found = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, found)
        return found
