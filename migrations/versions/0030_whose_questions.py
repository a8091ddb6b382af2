"""Guides and questions that follow answers say whose questions they are."""

from migrations import run_sql_folder

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
