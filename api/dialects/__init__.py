"""The wire formats in which a run can be told. A dialect that misses an event fails the type check here."""

from collections.abc import Callable, Mapping

from api.dialects.frames import Dialect
from api.dialects.native import NativeDialect

DIALECTS: Mapping[str, Callable[[], Dialect]] = {"native": NativeDialect}
