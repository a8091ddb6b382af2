"""Where a run is kept when nobody says where."""

from datetime import UTC, datetime
from pathlib import Path

RUNS = Path("runs")


def new_run_path(*named: str) -> Path:
    """Name a folder below ``runs/`` after what is run, and when."""
    return RUNS / "-".join((*named, f"{datetime.now(UTC):%Y%m%d-%H%M%S}"))
