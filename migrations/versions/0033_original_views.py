"""What was seen of originals is stored beside them."""

from migrations import run_sql_folder

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
