"""Let small workspaces share a pair of tables; those that exist keep their own."""

from migrations import run_sql_folder

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
