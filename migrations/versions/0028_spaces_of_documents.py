"""Documents are found by their space."""

from migrations import run_sql_folder

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
