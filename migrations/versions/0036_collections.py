"""People name sets of documents, and a title that a person gave stays when the document is read anew."""

from migrations import run_sql_folder

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
