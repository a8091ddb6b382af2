"""Add the versions of documents: replaced texts that are kept for a while, with who replaced them and when."""

from migrations import run_sql_folder

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
