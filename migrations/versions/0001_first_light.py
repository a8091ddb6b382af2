"""Add workspaces, documents, segments, sessions, runs and their events."""

from migrations import run_sql_folder

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
