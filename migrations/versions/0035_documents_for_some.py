"""Index what not everybody may read, so that a word of it is not taken for one that all may know."""

from migrations import run_sql_folder

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
