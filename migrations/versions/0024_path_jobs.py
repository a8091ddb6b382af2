"""Jobs made of paths, whose files are read where they are: what bulk ingestion on a cluster takes up again."""

from migrations import run_sql_folder

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
