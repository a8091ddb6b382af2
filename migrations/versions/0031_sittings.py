"""Exams of judges that are not over keep their answers."""

from migrations import run_sql_folder

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
