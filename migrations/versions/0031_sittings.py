"""Exams of judges that are not over keep their answers, and messages what a judge said before its exam."""

from migrations import run_sql_folder

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql_folder(revision)
