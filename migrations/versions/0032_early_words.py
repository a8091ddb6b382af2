"""Messages keep what a judge said of them before its exam, until that is over."""

from migrations import run_sql_folder

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
