"""Add guides of documents, questions that follow an answer, what made them spent, and pinned sessions."""

from migrations import run_sql_folder

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
