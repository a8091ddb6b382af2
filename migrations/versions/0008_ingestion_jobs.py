"""Add jobs of ingestion, their files and their uploads."""

from migrations import run_sql_folder

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
