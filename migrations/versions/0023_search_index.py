"""Add the state of an index outside of PostgreSQL, and the queue of documents that it lags behind by."""

from migrations import run_sql_folder

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
