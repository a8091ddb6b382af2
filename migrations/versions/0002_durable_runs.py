"""Add durable runs, which another process can resume, queued runs, and session branches."""

from migrations import run_sql_folder

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
