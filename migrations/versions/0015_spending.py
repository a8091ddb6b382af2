"""Add what runs and verifications spent, by model, so that limits by day hold over all processes."""

from migrations import run_sql_folder

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
