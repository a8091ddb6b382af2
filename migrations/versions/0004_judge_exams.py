"""Add the exams of judges, which decide whether a judge's verdicts count."""

from migrations import run_sql_folder

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
