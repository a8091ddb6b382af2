"""Add hops, which find documents by the names that other documents use for them."""

from migrations import run_sql_folder

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
