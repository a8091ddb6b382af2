"""Moves of workspaces to other databases: their state, and what refuses changes while and after one moves."""

from migrations import run_sql_folder

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
