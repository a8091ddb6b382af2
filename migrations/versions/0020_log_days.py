"""Partition the log of runs by day, so that a day is dropped where each of its events was deleted."""

from migrations import run_sql_folder

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
