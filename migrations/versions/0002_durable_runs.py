"""Durable runs: what another process needs to go on with a run, runs that wait, and branches of a session."""

from migrations import run_sql_folder

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
