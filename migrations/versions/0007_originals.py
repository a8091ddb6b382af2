"""Add the originals of documents: the files that their texts were read from."""

from migrations import run_sql_folder

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
