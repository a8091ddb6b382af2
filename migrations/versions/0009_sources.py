"""Add sources that the library is kept in step with, the places of documents in them, and the likeness of texts."""

from migrations import run_sql_folder

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
