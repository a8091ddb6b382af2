"""How a measurement tells how far it is."""

from collections.abc import Callable

Progress = Callable[[int, int], None]  # what is done, of how much
