"""Add what of a document's file is not in its text."""

from migrations import run_sql_folder

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
