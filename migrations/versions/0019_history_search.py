"""Add what the search of one's own history needs: the words of titles and messages, in an index."""

from migrations import run_sql_folder

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
