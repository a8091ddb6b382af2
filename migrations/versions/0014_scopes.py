"""Add what keys are restricted to and how often they may be used, and the audit log."""

from migrations import run_sql_folder

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
