"""Keep the words of each library, to which a mistyped word of a question is near; reindexing fills in older ones."""

from migrations import run_sql_folder

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
