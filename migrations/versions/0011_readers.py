"""Add the readers of documents and sources, and what links to documents are signed with."""

from migrations import run_sql_folder

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
