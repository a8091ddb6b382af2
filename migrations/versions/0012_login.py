"""Add the logins of people, whom a cookie identifies."""

from migrations import run_sql_folder

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
